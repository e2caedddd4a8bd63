"""Reading what a tool wrote as JSON: whatever is missing, of another type or beyond reason is None.

A tool's output is written by programs of others and may be cut anywhere, so nothing here raises.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
_DECODER = json.JSONDecoder()

MESSAGE = 100_000  # characters of a last message that are kept
REASON = 2_000  # characters of an error
MOST = 10**15  # a count or a cost beyond this is none


def objects(data: bytes) -> Iterator[Json]:
    """The lines that hold a whole JSON object, in order."""
    for line in data.split(b"\n"):
        if line.lstrip()[:1] == b"{" and (found := parsed(line)):
            yield found


def parsed(data: bytes) -> Json:
    """A JSON object, {} for anything else."""
    try:
        found = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def beginning(words: str, start: int) -> Json:
    """The JSON object that begins at a position, whatever follows it; {} when there is none."""
    try:
        found, _ = _DECODER.raw_decode(words, start)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def at(value: Any, *path: str | int) -> Any:
    """What lies at a path of keys and positions, None when there is no such place."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
    return value


def items(value: Any, *path: str | int) -> list[Any]:
    """The list at a path, empty when there is none."""
    found = at(value, *path)
    return found if isinstance(found, list) else []


def count(value: Any, *path: str | int) -> int | None:
    """A whole number from 0."""
    found = at(value, *path)
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < MOST else None


def money(value: Any, *path: str | int) -> float | None:
    """An amount from 0."""
    found = at(value, *path)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return float(found) if 0 <= found < MOST and math.isfinite(found) else None


def text(value: Any, *path: str | int, most: int = MESSAGE) -> str:
    """A text, "" when there is none. Halves of characters, which no stream takes, are replaced."""
    found = at(value, *path)
    return clean(found, most) if isinstance(found, str) else ""


def clean(words: str, most: int = MESSAGE) -> str:
    """A text without what no stream takes; a long one is cut."""
    whole = words[: most + 1].encode("utf-8", "replace").decode("utf-8").strip()
    return whole if len(whole) <= most else whole[: most - 1] + "…"


def total(*parts: int | None) -> int | None:
    """The sum, None when a part is unknown."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) and parts else None
