"""Keeps secrets out of what is shown or kept: the value itself, and what becomes of it in base64 and addresses.

For text that someone else wrote: what a forge answers, what a build prints. berbench's own messages name the
variable that holds a secret and never the value.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable
from urllib.parse import quote, quote_plus

MASK = "***"
_FEWEST = 4  # characters; a shorter value is no secret, and would blot out half of any text
_FEWEST_ENCODED = 8


def mask(text: str, secrets: Iterable[str]) -> str:
    """`text` with every form of every secret replaced by `***`."""
    for form in _longest_first(form for secret in secrets for form in _forms(secret)):
        text = text.replace(form, MASK)
    return text


class Masked:
    """A stream of bytes on its way to `sink`, with every form of every secret masked, wherever it is cut."""

    def __init__(self, sink: Callable[[bytes], object], secrets: Iterable[str]) -> None:
        forms = _longest_first(form for secret in secrets for form in _forms(secret))
        self._forms = [form.encode("utf-8", "surrogateescape") for form in forms]
        self._any = re.compile(b"|".join(map(re.escape, self._forms))) if self._forms else None
        self._keep = max(map(len, self._forms), default=1) - 1
        self._rest = b""
        self._sink = sink

    def feed(self, piece: bytes) -> None:
        """Take the next bytes; the last few are held back, since a secret may begin there."""
        if self._any is None:
            self._sink(piece)
            return
        data = self._rest + piece
        hold = max(0, len(data) - self._keep)
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
    yield from {secret, quote(secret, safe="", errors="replace"), quote_plus(secret, errors="replace")}
    data = secret.encode("utf-8", "replace")
    # Within longer data ("user:secret") base64 depends on where the secret starts; its inner part does not.
    for offset in range(3):
        first, last = -(-offset * 8 // 6), (offset + len(data)) * 8 // 6
        inner = b64encode(bytes(offset) + data).decode("ascii")[first:last]
        if len(inner) >= _FEWEST_ENCODED:
            yield from {inner, inner.replace("+", "-").replace("/", "_")}


def _longest_first(forms: Iterable[str]) -> list[str]:
    return sorted(set(forms), key=len, reverse=True)
