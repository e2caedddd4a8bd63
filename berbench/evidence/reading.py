"""What every reader returns, and the text all of them start from."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from berbench.model.trial import Outcome, TestResult

MESSAGE_CHARS = 600
_ILLEGIBLE = frozenset({"Cc", "Cs", "Zl", "Zp"})  # controls, surrogates, line and paragraph separators

# CSI (colours, cursor), OSC (titles, links; ended by BEL or ST on its line), and the short escapes.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|\x1b[@-Z\\\]^_]|\x1b[()][A-Z0-9]"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """The results of one report or stream. `complete` is False when its own end is missing.

    `nothing`: the runner says that what the command names is not there. `retried` are ids of tests that passed
    only when they were run again.
    """

    results: tuple[TestResult, ...] = ()
    collection_failed: bool = False
    complete: bool = True
    problems: tuple[str, ...] = ()
    nothing: bool = False
    retried: tuple[str, ...] = ()


def without_escapes(text: str) -> str:
    """Text without what only a terminal obeys: colours, cursor moves, titles."""
    return _ESCAPES.sub("", text)


def plain_text(data: bytes) -> str:
    """A log as text for reading: escapes stripped, stray bytes replaced, line ends made plain."""
    text = without_escapes(data.decode("utf-8", "replace"))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def shorten(message: str) -> str:
    """The first lines of a failure."""
    lines = without_escapes(message[: MESSAGE_CHARS * 8]).strip().splitlines()[:12]
    return "\n".join(legible(line.expandtabs(4)) for line in lines)[:MESSAGE_CHARS]


def join(readings: Iterable[Reading]) -> Reading:
    """Several reports as one."""
    readings = tuple(readings)
    return Reading(
        results=tuple(result for reading in readings for result in reading.results),
        collection_failed=any(reading.collection_failed for reading in readings),
        complete=all(reading.complete for reading in readings),
        problems=tuple(problem for reading in readings for problem in reading.problems),
        nothing=any(r.nothing for r in readings) and all(r.nothing or not r.results for r in readings),
        retried=tuple(name for reading in readings for name in reading.retried),
    )


def legible(text: str) -> str:
    """A test's name with control characters, line ends and lone surrogates written out (`\\x1b`, `\\n`).

    Names go into documents and onto terminals, where such characters can't be kept or do harm. Python's own
    notation is what pytest writes already.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in _ILLEGIBLE else c for c in text
    )


def seconds_of(told: object) -> float | None:
    """How long a test took as its report tells it; None for what is no such number."""
    if not isinstance(told, str | int | float) or isinstance(told, bool):
        return None
    try:
        seconds = float(told)
    except (ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds < math.inf else None


def number_repeats(results: Iterable[TestResult]) -> tuple[TestResult, ...]:
    """The same results with unique ids: the second `a` becomes `a#2`."""
    seen: Counter[str] = Counter()
    taken: set[str] = set()
    unique = []
    for result in results:
        seen[result.id] += 1
        name = result.id if seen[result.id] == 1 else f"{result.id}#{seen[result.id]}"
        while name in taken:
            seen[result.id] += 1
            name = f"{result.id}#{seen[result.id]}"
        taken.add(name)
        unique.append(result if name == result.id else replace(result, id=name))
    return tuple(unique)


def count(results: Iterable[TestResult]) -> tuple[tuple[Outcome, int], ...]:
    """Results by outcome, in the order outcomes are declared."""
    counter = Counter(result.outcome for result in results)
    return tuple((outcome, counter[outcome]) for outcome in Outcome if counter[outcome])
