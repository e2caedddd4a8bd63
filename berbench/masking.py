"""Keeps secrets out of what is shown or kept: the value itself, and what becomes of it in base64 and addresses.

For text that someone else wrote: what a forge answers, what a build prints. berbench's own messages name the
variable that holds a secret and never the value.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

MASK = "***"
_FEWEST = 4  # characters; a shorter value is no secret, and would blot out half of any text
_FEWEST_ENCODED = 8


def mask(text: str, secrets: Iterable[str]) -> str:
    """`text` with every form of every secret replaced by `***`."""
    for form in _longest_first(form for secret in secrets for form in _forms(secret)):
        text = text.replace(form, MASK)
    return text


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
