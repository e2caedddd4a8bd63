"""What agents print, what their proxy logs, and what is kept out of both."""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args
from urllib.parse import quote, quote_plus

from berbench.agents.secrets import secret_words
from berbench.engine import egress, refusals
from berbench.errors import ConfigError
from berbench.masking import MASK, Masked, mask
from berbench.matrix.reach import FORGES, destinations, patterns, refusal
from berbench.model.agent import SecretFile
from berbench.model.cells import CellOutcome, CellResult, Usage
from berbench.model.tools import TelemetryFormat
from berbench.store.cellfiles import CellRecord, cell_file, cell_from
from berbench.telemetry import read_usage
from berbench.telemetry.said import MESSAGE, REASON

_CUT = b"\n%%%%\n"
_CAPTURES = Path(__file__).resolve().parents[2] / "tests" / "telemetry" / "captures"
_FORMATS: tuple[TelemetryFormat, ...] = get_args(TelemetryFormat)
_RESULT = CellResult("0" * 64, "1", "f", "a", "a", "", "", (), 1, CellOutcome.PASS)


def captures() -> Iterator[bytes]:
    """What real tools printed."""
    for path in sorted(_CAPTURES.iterdir()):
        yield path.read_bytes()


# --- usage --------------------------------------------------------------------------------------------------


def check_telemetry(data: bytes) -> None:
    """Whatever is printed, usage is of the right kind and can be kept; what is not told is None."""
    for kind in _FORMATS:
        usage = read_usage(kind, data)
        _sound(usage)
        kept = cell_from(cell_file(CellRecord(replace(_RESULT, usage=usage))))
        assert kept.result.usage == usage
        assert read_usage(kind, data) == usage


def _sound(usage: Usage) -> None:
    for count in (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.turns):
        assert count is None or (type(count) is int and count >= 0), count
    cost = usage.cost_usd
    assert cost is None or (type(cost) is float and math.isfinite(cost) and cost >= 0), cost
    assert len(usage.final_message) <= MESSAGE
    assert len(usage.refused) <= REASON + 40 and "\n" not in usage.refused
    assert usage.refused or not usage.unanswered
    (usage.final_message + usage.refused).encode()


# --- the proxy ----------------------------------------------------------------------------------------------

_FORGE = "forge.acme.example"
_ALWAYS = (*FORGES, _FORGE)


def check_egress(data: bytes) -> None:
    """Refusals are read of any log, and no entry of a tool's hosts lets a forge through, however it is written."""
    lines = data.split(b"\n")[:200]
    for line in lines:
        told = refusals.denied(line, datetime(2024, 1, 1, tzinfo=UTC))
        assert told is None or not refusals.unreached(line)
        if told is not None:
            assert type(told.port) is int and 0 <= told.port < 65536
            assert len(told.host) <= len(line) and "\n" not in told.host
            told.host.encode()
    for line in lines[:20]:
        entry = line.decode("utf-8", "surrogateescape")
        why = refusal(entry, [_FORGE])
        try:
            found = destinations([entry], [_FORGE])
        except ConfigError:
            assert why
            continue
        assert not why
        expressions = [re.compile(text) for one in found for text in patterns(one)]
        for name in _ALWAYS:
            for host in (name, f"www.{name}", f"a.b.{name}"):
                for asked in (f"{host}:443", f"{host}:80", f"http://{host}:80/x"):
                    assert not any(one.search(asked) for one in expressions), (
                        f"{entry!r} lets {asked} through"
                    )
        for text in egress.documents("198.18.0.3", found, {}).values():
            text.decode("ascii")


# --- secrets ------------------------------------------------------------------------------------------------


def _forms(secret: str) -> Iterator[str]:
    """How programs write a secret down."""
    yield secret
    for safe in ("", "/"):
        yield quote(secret, safe=safe, errors="replace")
        yield re.sub(
            "%[0-9A-F]{2}", lambda found: found[0].lower(), quote(secret, safe=safe, errors="replace")
        )
    yield quote_plus(secret, errors="replace")
    for whole in (True, False):
        yield json.dumps(secret, ensure_ascii=whole)[1:-1]
        yield json.dumps(json.dumps(secret, ensure_ascii=whole))[3:-3]
    data = secret.encode("utf-8", "replace")
    for before in (b"", b"u", b"u:"):
        inner = b64encode(before + data).decode("ascii").rstrip("=")
        yield inner[-(-len(before) * 8 // 6) : (len(before) + len(data)) * 8 // 6]


def check_masking(data: bytes) -> None:
    """No form of a secret that is long enough is left, wherever a stream is cut, and nothing else is touched.

    Secrets are lines of the first part; the second is what stands around them.
    """
    first, _, rest = data[: 1 << 12].partition(_CUT)  # it is written a dozen times
    secrets = [line.decode("utf-8", "replace")[:300] for line in first.split(b"\n")[:4]]
    words = [*secrets, *secret_words([("A", one) for one in secrets], [SecretFile("/x", rest)])]
    around = rest[:500].decode("utf-8", "replace")
    forms = [
        form for one in secrets if len(one) >= 4 for form in _forms(one) if len(form) >= 8 or form == one
    ]
    text = around.join(("", *forms, ""))
    shown = mask(text, words)
    stream = _streamed(text.encode("utf-8", "surrogateescape"), words, 1 + len(data) % 7)
    assert stream == _streamed(text.encode("utf-8", "surrogateescape"), words, 1 << 16)
    for made in (shown, stream.decode("utf-8", "replace")):
        for form in forms:
            # What masks themselves put together is nobody's secret.
            assert "*" in form or form not in made, f"{form!r} is left of {secrets!r}"
    if not forms and not any(len(word) >= 4 for word in words):
        assert shown == text and stream == text.encode("utf-8", "surrogateescape")
    assert mask(around, ["no secret that is here"]) == around
    assert MASK in shown or not forms


def _streamed(data: bytes, secrets: list[str], size: int) -> bytes:
    out = bytearray()
    masked = Masked(out.extend, secrets)
    for at in range(0, len(data), size):
        masked.feed(data[at : at + size])
    masked.close()
    return bytes(out)
