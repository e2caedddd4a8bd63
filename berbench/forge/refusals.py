"""From a forge's no, or a broken line, to an error of the house with its remedy. Pure."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator

from berbench.errors import ForgeDown, ForgeError, NotOnForge, RateLimited
from berbench.forge.credentials import Credentials
from berbench.masking import mask

# Statuses that say "my fault, try again"; the last five are a content network's.
BROKEN = frozenset({500, 502, 503, 504, 520, 521, 522, 523, 524})

_OFFLINE = "or work from local history with --no-api"


def refusal(status: int, body: bytes, host: str, path: str, credentials: Credentials) -> ForgeError:
    """The error for a status that is neither success nor redirect nor rate limit."""
    # Some servers say what they were sent.
    said, source = mask(_said(body), [credentials.token]), credentials.source
    note = f"; {credentials.note}" if credentials.note else ""
    if status == 401:
        if source:
            return ForgeError(
                f"{host} does not accept the token from {source}{said}", remedy=f"renew {source}"
            )
        return ForgeError(
            f"{host} asks for a token{said}",
            remedy=f"set GITHUB_TOKEN or GITLAB_TOKEN, or log in with gh or glab, {_OFFLINE}{note}",
        )
    if status == 403:
        return ForgeError(
            f"{host} forbids this{said}",
            remedy=f"use a token that may read this repository, {_OFFLINE}{note}",
        )
    if status in (404, 410):
        unseen = f"; the token from {source} may not be allowed to see it"
        hint = unseen if source else "; a private repository needs a token"
        gone = "was deleted" if status == 410 else "is not there, or may not be seen"
        return NotOnForge(f"{host}{path} {gone}", remedy=f"check the number and the remote{hint}{note}")
    if status == 422 and "no commit found" in said.lower():
        return NotOnForge(f"{host} knows no such commit", remedy="push the commit, or use --no-api")
    if status in BROKEN:
        return ForgeDown(f"{host} fails with status {status}{said}", remedy=f"try again later, {_OFFLINE}")
    return ForgeError(
        f"{host}{path} answered with status {status}{said}", remedy=f"check api_url in the config, {_OFFLINE}"
    )


def rate_limited(wait_s: float, host: str, credentials: Credentials) -> RateLimited:
    """The error for a wait that is too long to sit through."""
    span = f"{wait_s:.0f} s" if wait_s < 120 else f"{wait_s / 60:.0f} min"
    more = "" if credentials.source else "; a token raises the limit"
    return RateLimited(
        f"{host} asks to wait {span} before more requests",
        wait_s=wait_s,
        remedy=f"try again then, {_OFFLINE}{more}",
    )


def broken_line(host: str, cause: BaseException) -> tuple[ForgeDown, bool]:
    """The error for a connection that could not be made or broke, and whether another try may help."""
    for reason in _causes(cause):
        if isinstance(reason, socket.gaierror):
            error = ForgeDown(
                f"the host {host} could not be found: {reason.strerror}",
                remedy=f"check the network and the remote's address, {_OFFLINE}",
            )
            return error, reason.errno == socket.EAI_AGAIN
        if isinstance(reason, ssl.SSLCertVerificationError):
            error = ForgeDown(
                f"the certificate of {host} is not trusted: {reason.verify_message}",
                remedy="add the authority to the system's store, or name its file in SSL_CERT_FILE",
            )
            return error, False
    what = str(cause) or type(cause).__name__
    remedy = f"check the network and the remote's address, {_OFFLINE}"
    return ForgeDown(f"the connection to {host} broke: {what}", remedy=remedy), True


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _said(body: bytes) -> str:
    """What the API says in words, for an error's end; "" when it says nothing readable."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    message = data.get("message") or data.get("error") if isinstance(data, dict) else None
    return f": {' '.join(message.split())[:200]}" if isinstance(message, str) and message.strip() else ""
