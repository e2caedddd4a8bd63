"""The statistics of a report: rates with intervals, paired differences, amounts of which a part may be unknown.

Tasks are the sample. Attempts at one task are alike, so they are averaged first, and an interval stands on the
number of tasks alone: more attempts make a task's own share steadier, but never pretend to be more tasks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

Z_95 = 1.959963984540054  # two-sided, of the normal distribution


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends of a 95 % interval, each from 0 to 1."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Rate:
    """A weighted mean of tasks' shares, from 0 to 1; None where no task was measured."""

    value: float | None
    interval: Interval | None
    tasks: int


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum over things of which some are not known. `total` and `median` are of the known ones.

    Nothing known at all: both are None. A part known: the total is a lower bound.
    """

    known: int = 0
    unknown: int = 0
    total: float | None = None
    median: float | None = None

    @property
    def is_bound(self) -> bool:
        """Whether the true total may be more than `total`."""
        return self.total is not None and self.unknown > 0

    @property
    def mean(self) -> float | None:
        """Total per thing, the unknown ones counted in: a lower bound where the total is one."""
        return None if self.total is None else self.total / (self.known + self.unknown)


@dataclass(frozen=True, slots=True)
class Paired:
    """Two configurations over the tasks that both were measured on: how many the first won, lost and tied.

    `difference` is the weighted mean of the first's share less the second's, from -1 to 1; None for no tasks.
    """

    tasks: int
    won: int
    lost: int
    tied: int
    difference: float | None


def wilson(share: float, number: float, z: float = Z_95) -> Interval:
    """Wilson's score interval of a share of `number` tries; share and number need not come from whole counts.

    E. B. Wilson, J. Am. Stat. Assoc. 22 (1927), 209–212. ValueError for no tries or a share outside 0 to 1.
    """
    if number <= 0 or not 0 <= share <= 1:
        raise ValueError(f"no interval for a share of {share} of {number} tries")
    wide = z * z / number
    middle = (share + wide / 2) / (1 + wide)
    half = z / (1 + wide) * math.sqrt(share * (1 - share) / number + wide / number / 4)
    # The share lies within, and at the ends the bound is exact, which floating point would miss by a hair.
    low = min(share, max(0.0, middle - half)) if share else 0.0
    high = max(share, min(1.0, middle + half)) if share < 1 else 1.0
    return Interval(low, high)


def rate(shares: Sequence[tuple[float, float]]) -> Rate:
    """The rate over tasks, each a share of passed attempts and a weight; those of weight 0 are left out.

    Unequal weights carry less than their number: the interval stands on (Σw)² / Σw² tasks (Kish's effective size).
    """
    weighed = [(share, weight) for share, weight in shares if weight > 0]
    if not weighed:
        return Rate(None, None, 0)
    weights = _scaled([weight for _, weight in weighed])
    whole = math.fsum(weights)
    passed = math.fsum(share * weight for (share, _), weight in zip(weighed, weights, strict=True))
    value = min(1.0, max(0.0, passed / whole))
    effective = whole**2 / math.fsum(weight**2 for weight in weights)
    return Rate(value, wilson(value, effective), len(weighed))


def _scaled(weights: Sequence[float]) -> list[float]:
    """Weights are only relative: brought near 1 by a power of two, which is exact, so that no square runs over."""
    _, power = math.frexp(max(weights))
    return [math.ldexp(weight, -power) for weight in weights]


def amount(values: Iterable[float | None]) -> Amount:
    """What is known of a sum; None is unknown, and never 0."""
    every = list(values)
    known = [value for value in every if value is not None]
    if not known:
        return Amount(unknown=len(every))
    return Amount(len(known), len(every) - len(known), math.fsum(known), median(known))


def paired(first: Mapping[str, float], second: Mapping[str, float], weights: Mapping[str, float]) -> Paired:
    """Two configurations' shares by task, compared where both have one and the task's weight is not 0."""
    common = [task for task in first if task in second and weights.get(task, 1.0) > 0]
    signs = [(first[task] > second[task]) - (first[task] < second[task]) for task in common]
    difference = None
    if common:
        scaled = _scaled([weights.get(task, 1.0) for task in common])
        leads = (first[task] - second[task] for task in common)
        lead = math.fsum(lead * weight for lead, weight in zip(leads, scaled, strict=True))
        difference = lead / math.fsum(scaled)
    return Paired(len(common), signs.count(1), signs.count(-1), signs.count(0), difference)


def front(points: Sequence[tuple[float, float]]) -> tuple[bool, ...]:
    """Which points (cost, rate) no other beats, by costing no more and passing no less, and one of both truly."""
    return tuple(
        not any(other != point and other[0] <= point[0] and other[1] >= point[1] for other in points)
        for point in points
    )
