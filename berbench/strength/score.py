"""One number for how much a task's outcome says: a weighted mean of what could be measured. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from berbench.strength.seen import MEASURED, Noticed

# The weights of the parts. A part that could not be measured leaves its weight to the others.
WEIGHTS = {"hunks": 0.5, "mutants": 0.3, "scope": 0.2}


@dataclass(frozen=True, slots=True)
class Score:
    """Each in [0, 1], None where nothing could be measured.

    `hunks`: the share of measured hunks whose absence was noticed. `mutants`: the share of those that ran and were
    killed. `scope`: 1 / (1 + number of things that can only be guessed). `total`: their weighted mean; 0 when an
    adversary passes; None when neither hunks nor mutants could be measured, for scope alone says nothing of tests.
    """

    total: float | None = None
    hunks: float | None = None
    mutants: float | None = None
    scope: float | None = None


def score_of(
    hunks: Iterable[Noticed], mutants: Iterable[Noticed], guesses: int, *, passed_by_adversary: bool = False
) -> Score:
    """The score of a task."""
    of_hunks, of_mutants = _share(hunks), _share(mutants, apart=frozenset({Noticed.BREAKS}))
    scope = 1 / (1 + guesses)
    parts = {"hunks": of_hunks, "mutants": of_mutants, "scope": scope}
    measured = {name: value for name, value in parts.items() if value is not None}
    total = None
    if of_hunks is not None or of_mutants is not None:
        total = sum(WEIGHTS[name] * value for name, value in measured.items())
        total /= sum(WEIGHTS[name] for name in measured)
    if passed_by_adversary:
        total = 0.0
    return Score(*(None if part is None else round(part, 3) for part in (total, of_hunks, of_mutants, scope)))


def _share(found: Iterable[Noticed], *, apart: frozenset[Noticed] = frozenset()) -> float | None:
    """The share that was noticed; None of nothing. A mutant that does not run is no mutant."""
    counts = Counter(one for one in found if one in MEASURED - apart)
    total = counts.total()
    return (total - counts[Noticed.NO]) / total if total else None
