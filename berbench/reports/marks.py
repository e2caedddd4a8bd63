"""HTML and SVG in small: text is escaped by `text`, and by nothing else."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from berbench.evidence.reading import legible

# Characters that turn the direction of what stands beside them: a name could pass for another one.
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(value: str) -> str:
    """Text on one line, with everything written out that is no character to be seen, or turns others round."""
    seen = legible(value)
    return seen if seen.isascii() else _TURNING.sub(lambda found: f"\\u{ord(found[0]):04x}", seen)


def text(value: str) -> str:
    """Text that is safe between tags and in quoted attributes, and legible whatever was in it."""
    return html.escape(plain(value), quote=True)


def letters(number: int) -> str:
    """The name of a column: A, B, … Z, AA, AB, …; `number` counts from 0."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


def options(values: Iterable[tuple[str, str]]) -> str:
    """The choices of a select: value and name."""
    return "".join(f'<option value="{text(value)}">{text(name)}</option>' for value, name in values)
