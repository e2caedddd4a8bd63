"""Keeps secrets out of what is shown or kept: the value itself, and what becomes of it in base64, addresses, JSON
and HTML.

For text that someone else wrote: what a forge answers, what a build prints. berbench's own messages name the
variable that holds a secret and never the value.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable
from urllib.parse import quote, quote_plus

MASK = "***"
_FEWEST = 4  # characters; a shorter value is no secret, and would blot out half of any text
_FEWEST_ENCODED = 8
_FEWEST_IN_WORK = 16  # characters; keys are longer
_UNTOUCHED = ("", "/", "!'()*")  # the last by JavaScript
_PERCENT = re.compile("%[0-9A-F]{2}")


def mask(text: str, secrets: Iterable[str]) -> str:
    """`text` with every form of every secret replaced by `***`."""
    for form in _longest_first(form for secret in secrets for form in _forms(secret)):
        text = text.replace(form, MASK)
    return text


def holds(data: bytes, secrets: Iterable[str]) -> bool:
    """Whether any form of any secret is in it."""
    return any(form in data for form in _as_bytes(secrets))


def mask_added(patch: bytes, secrets: Iterable[str]) -> bytes:
    """The patch with long secrets masked in the lines that it adds, so that it applies as before.

    A short one, "test" say, may be a word of any program: it is left, since another patch would be another answer."""
    forms = _as_bytes(secret for secret in secrets if len(secret) >= _FEWEST_IN_WORK)
    if not any(form in patch for form in forms):
        return patch
    found = _any_of(forms)
    lines = patch.split(b"\n")
    return b"\n".join(
        found.sub(MASK.encode(), line) if line.startswith(b"+") and not line.startswith(b"+++ ") else line
        for line in lines
    )


class Masked:
    """A stream of bytes on its way to `sink`, with every form of every secret masked, wherever it is cut."""

    def __init__(self, sink: Callable[[bytes], object], secrets: Iterable[str]) -> None:
        self._forms = _as_bytes(secrets)
        self._any = _any_of(self._forms) if self._forms else None
        self._keep = max(map(len, self._forms), default=1) - 1
        self._rest = b""
        self._sink = sink

    def feed(self, piece: bytes) -> None:
        """Take the next bytes; the last few are held back, since a secret may begin there."""
        if self._any is None:
            self._sink(piece)
            return
        data = self._rest + piece
        if (
            len(data) < 2 * self._keep
        ):  # a long secret's length is not looked through for each byte that comes
            self._rest = data
            return
        hold = len(data) - self._keep
        at, out = 0, []
        for found in self._any.finditer(data):
            if found.end() > hold:  # it may be the beginning of a longer one
                hold = min(hold, found.start())
                break
            out += [data[at : found.start()], MASK.encode()]
            at = found.end()
        self._rest = data[hold:]
        self._sink(b"".join((*out, data[at:hold])))

    def close(self) -> None:
        """Hand on what was held back."""
        rest, self._rest = self._rest, b""
        if self._any is not None and rest:
            self._sink(self._any.sub(MASK.encode(), rest))


def _forms(secret: str) -> Iterable[str]:
    if len(secret) < _FEWEST:
        return
    yield from {secret, html.escape(secret), html.escape(secret, quote=False)}
    yield from _in_addresses(secret)
    yield from _in_json(secret)
    data = secret.encode("utf-8", "replace")
    # Within longer data ("user:secret") base64 depends on where the secret starts; its inner part does not.
    for offset in range(3):
        first, last = -(-offset * 8 // 6), (offset + len(data)) * 8 // 6
        inner = b64encode(bytes(offset) + data).decode("ascii")[first:last]
        if len(inner) >= _FEWEST_ENCODED:
            yield from {inner, inner.replace("+", "-").replace("/", "_")}


def _in_addresses(secret: str) -> Iterable[str]:
    """Percent signs, of capitals or not; what stays as it is differs between languages, and between path and query."""
    written = {quote(secret, safe=safe, errors="replace") for safe in _UNTOUCHED}
    written.add(quote_plus(secret, errors="replace"))
    for form in written:
        yield from (form, _PERCENT.sub(lambda found: found[0].lower(), form))


def _in_json(secret: str) -> Iterable[str]:
    """As a text in JSON, and as one in JSON that is itself a text in JSON, as tools tell of what they were asked."""
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)
        yield once[1:-1]
        yield from (json.dumps(once, ensure_ascii=again)[3:-3] for again in (True, False))


def _as_bytes(secrets: Iterable[str]) -> list[bytes]:
    """Every form of every secret, the longest first."""
    forms = _longest_first(form for secret in secrets for form in _forms(secret))
    return [form.encode("utf-8", "surrogateescape") for form in forms]


def _any_of(forms: Iterable[bytes]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(map(re.escape, forms)))


def _longest_first(forms: Iterable[str]) -> list[str]:
    return sorted(set(forms), key=len, reverse=True)
