"""What the proxy's log tells, line by line: who was refused, and who did not answer."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import urlsplit

from berbench.engine.workspace import Denied

# What stands in front of what tinyproxy says. Requests are logged as they were sent, so what looks like a refusal
# further on is a program's own word. A long line is cut, and its last quote with it.
_BEFORE = rb"(?:NOTICE|INFO) +\w+ +[0-9]+ [0-9:.]+ \[[0-9]+\]: "
_REFUSED = re.compile(
    _BEFORE + rb'(?:Proxying refused on filtered (?:url|domain) "(.*?)"?'
    rb"|Unknown method \([^ ]*\) or protocol \((.*?)\)?)"
)
# What was asked for, the name in TLS's greeting, what became of it, cause and status, an error, a remark.
_GREETING = re.compile(rb"greeting (\S+) (\S+) (\S+) (\S+)/([0-9]+) (\S+) (\S+)")

_NOT_LISTED = "not among the hosts of the tool"


def denied(line: bytes, at: datetime | None = None) -> Denied | None:
    """The refusal that a line of the log tells, if it does."""
    at = at or datetime.now(UTC)
    if greeting := _GREETING.fullmatch(line.strip()):
        return _by_greeting(greeting, at)
    found = _REFUSED.fullmatch(line.rstrip(b"\n"))
    if found is None:
        return None
    text = (found[1] or found[2] or b"").decode("utf-8", "replace")
    return Denied(*_asked(text), at, _NOT_LISTED)


def unreached(line: bytes) -> str:
    """The `host:port` that was let through and did not answer, or ""."""
    found = _GREETING.fullmatch(line.strip())
    if found is None or found[3] != b"splice" or found[4] != b"NONE_NONE" or int(found[5][:3]) < 500:
        return ""
    return found[1].decode("ascii", "replace")


def _by_greeting(found: re.Match[bytes], at: datetime) -> Denied | None:
    asked, name, became, cause, _, error, remark = (
        part.decode("ascii", "replace") for part in found.groups()
    )
    host, port = _asked(asked)
    refused = cause.startswith("TCP_DENIED")
    if became == "terminate" or (refused and name != "-"):
        if name == "-":
            return Denied(host, port, at, "its greeting of TLS names no host")
        return Denied(name, port, at, f"named in the greeting of TLS to {host}")
    if refused and became == "peek":
        return Denied(host, port, at, "it was spoken to neither in TLS nor in HTTP")
    if refused:
        return Denied(host, port, at, _NOT_LISTED)
    if error == "ERR_PROTOCOL_UNKNOWN" and remark == "-":
        return Denied(host, port, at, "it was not spoken to in TLS")
    return None


def _asked(text: str) -> tuple[str, int]:
    """Host and port of what a request names. Before an address that is no request of plain HTTP the proxy logs the
    place where it was asked."""
    text = re.sub(r"^http://[0-9.]+:[0-9]+(?=[^/:0-9])", "", text)
    scheme, address, rest = text.partition("://")
    try:
        parts = urlsplit(f"//{rest if address else text}")
        default = {"http": 80, "ftp": 21}.get(scheme.lower() if address else "", 443)
        return parts.hostname or text, parts.port or default
    except ValueError:
        return text[:300], 0
