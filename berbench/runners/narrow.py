"""Deselects single tests by the runner's own means: the environment's noise goes, all else stays.

Every way here is exact, or there is none: a pattern that could also deselect a test that passes gives None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from berbench.model.trial import TestResult
from berbench.runners.recognise import Found, find_runners
from berbench.runners.shell import Word, insert, parse, quote

_MOST_WORDS = 150


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to leave out and what must stay, and all results by id."""

    command: str
    found: Found
    noise: tuple[str, ...]
    passing: tuple[str, ...]
    results: dict[str, TestResult]


def narrow(
    command: str, runner: str, noise: Sequence[str], passing: Sequence[str], results: Sequence[TestResult]
) -> str | None:
    """The command without the tests in `noise` and with all in `passing`; None when it can't be said exactly.

    `results` are the reference trial's, whose ids the other two use.
    """
    found = [one for one in find_runners(parse(command)) if one.runner == runner]
    way = _WAYS.get(runner)
    if way is None or len(found) != 1 or not noise or not passing:
        return None
    if any("#" in name and name.rsplit("#", 1)[-1].isdigit() for name in noise):
        noise = _without_repeats(noise)
    wanted = Wanted(command, found[0], tuple(noise), tuple(passing), {r.id: r for r in results})
    if set(wanted.noise) & set(wanted.passing):
        return None
    return way(wanted)


def _without_repeats(noise: Sequence[str]) -> list[str]:
    """`a#2` is the second result of test `a`: it goes with it."""
    names = []
    for name in noise:
        plain, _, number = name.rpartition("#")
        names.append(plain if plain and number.isdigit() else name)
    return list(dict.fromkeys(names))


def _pytest(wanted: Wanted) -> str | None:
    """`--deselect` takes prefixes of ids; where one would also hit a test that passes, those are named instead.
    A file that can't be collected stops the session, so it is not named any more."""
    lost = [name for name in wanted.noise if "::" not in name]
    noise = [name for name in wanted.noise if "::" in name]
    edits: list[tuple[int, str]] = []
    command = wanted.command
    for file in lost:
        words = [word for word in wanted.found.command.words[wanted.found.at + 1 :] if word.text == file]
        if words:
            edits += [(word.start, "") for word in words]
            command = _blank(command, words)
        else:
            edits.append((wanted.found.insert_at, f" --ignore={quote(file)}"))
    if any(passing.startswith(name) for name in noise for passing in wanted.passing):
        return None
    edits += [(wanted.found.command.words[-1].end, f" --deselect {quote(name)}") for name in noise]
    return " ".join(insert(command, edits).split("\0")).strip()


def _blank(command: str, words: Sequence[Word]) -> str:
    for word in words:
        command = command[: word.start] + " " * (word.end - word.start) + command[word.end :]
    return command


_WAYS: dict[str, Callable[[Wanted], str | None]] = {"pytest": _pytest}
