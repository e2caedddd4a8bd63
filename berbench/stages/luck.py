"""What shakes a proof: repeats of its trials, the tests in another order, the clock at another date.

Repeats run beside the first pair. Another order and another date are tried only on what is proven otherwise,
since they can only refuse; where one can't be tried, the verdict carries a warning that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from berbench.model.task import Task
from berbench.model.trial import Image, Verdict, VerdictName
from berbench.runners import clock_trouble, order_trouble
from berbench.stages.trees import Trees
from berbench.stages.verifier import Run, Verifier
from berbench.verdicts import Hidden, Trialed
from berbench.verdicts.luck import Pair, clock_unmoved, judge_clock, judge_order, order_unproven

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Luck:
    """How much luck is taken out of a proof."""

    repeat: int = 1  # how often each trial runs
    seed: int | None = None  # of one more pair of trials, in another order
    clock: str = ""  # offset of the clock in one more pair of trials: "+400d"


ONCE = Luck()


@dataclass(frozen=True, slots=True)
class Proven:
    """A verdict, the trials behind it by name, and the hidden tests it was made for."""

    verdict: Verdict
    trials: dict[str, Trialed]
    hidden: Hidden


def repeats(trees: Trees, repeat: int) -> dict[str, Run]:
    """The trials by name: base, reference, base-2, reference-2, …"""
    return {
        name + _suffix(number): Run(tree)
        for number in range(1, repeat + 1)
        for name, tree in (("base", trees.with_tests), ("reference", trees.solved))
    }


def pairs_of(trials: Mapping[str, Trialed], repeat: int) -> list[Pair]:
    """The repeats by twos; the first pair is that of the proof."""
    return [_pair(trials, _suffix(number), "repeated" * (number > 1)) for number in range(1, repeat + 1)]


def _suffix(number: int) -> str:
    return f"-{number}" if number > 1 else ""


def _pair(trials: Mapping[str, Trialed], suffix: str, label: str) -> Pair:
    return Pair(trials[f"base{suffix}"], trials[f"reference{suffix}"], label)


class _Extra(Protocol):
    """One more pair of trials, in circumstances of its own."""

    suffix: str  # of the trials' names
    label: str  # what messages call them
    unable: str  # begins the warning when it can't be

    def told(self) -> str:
        """The circumstances, for people."""

    def run(self, tree: str) -> Run:
        """The run on a tree."""

    def trouble(self, task: Task) -> str:
        """Why it can't be, as far as the command tells."""

    def unproven(self, usual: Pair, other: Pair) -> str:
        """Why the trials don't count, as far as they tell."""

    def judge(self, usual: Pair, other: Pair, hidden: Hidden) -> Verdict | None:
        """What they say against the proof."""


@dataclass(frozen=True)
class _Order:
    seed: int
    suffix = "shuffled"
    label = "shuffled"
    unable = "the order could not be changed"

    def told(self) -> str:
        return f"in another order (seed {self.seed})"

    def run(self, tree: str) -> Run:
        return Run(tree, shuffle=self.seed)

    def trouble(self, task: Task) -> str:
        return order_trouble(task.verify.command, task.verify.evidence)

    def unproven(self, usual: Pair, other: Pair) -> str:
        return order_unproven(usual.reference, other.reference)

    def judge(self, usual: Pair, other: Pair, hidden: Hidden) -> Verdict | None:
        return judge_order(usual, other, hidden, seed=self.seed)


@dataclass(frozen=True)
class _Clock:
    offset: str
    suffix = "clock"
    label = "clock-moved"
    unable = "could not move the clock"

    def told(self) -> str:
        return f"with the clock moved by {self.offset}"

    def run(self, tree: str) -> Run:
        return Run(tree, clock=self.offset)

    def trouble(self, task: Task) -> str:
        return clock_trouble(task.verify.command)

    def unproven(self, usual: Pair, other: Pair) -> str:
        return clock_unmoved(other.base.facts) or clock_unmoved(other.reference.facts)

    def judge(self, usual: Pair, other: Pair, hidden: Hidden) -> Verdict | None:
        return judge_clock(usual, other, hidden, offset=self.offset)


def _extras(luck: Luck) -> tuple[_Extra, ...]:
    order: tuple[_Extra, ...] = (_Order(luck.seed),) if luck.seed is not None else ()
    return (*order, _Clock(luck.clock)) if luck.clock else order


def shake(
    verifier: Verifier, task: Task, image: Image, trees: Trees, proof: Proven, luck: Luck, say: Say
) -> Proven:
    """The verdict and the trials after the extra ones. Nothing is run for a task that is refused already."""
    extras = _extras(luck)
    if proof.verdict.name is not VerdictName.VALIDATED or not extras:
        return proof
    troubles = {extra.suffix: extra.trouble(task) for extra in extras}
    ready = [extra for extra in extras if not troubles[extra.suffix]]
    trials: dict[str, Trialed] = {}
    if ready:
        say("trials " + " and ".join(extra.told() for extra in ready))
        trials = verifier.run(
            task,
            image,
            {
                f"{name}-{extra.suffix}": extra.run(tree)
                for extra in ready
                for name, tree in (("base", trees.with_tests), ("reference", trees.solved))
            },
        )
    usual = _pair(proof.trials, "", "")
    refusals, warnings = [], []
    for extra in extras:
        other = _pair(trials, f"-{extra.suffix}", extra.label) if extra in ready else None
        trouble = troubles[extra.suffix] or (extra.unproven(usual, other) if other else "")
        if trouble:
            warnings.append(f"{extra.unable}: {trouble}")
        elif other and (refusal := extra.judge(usual, other, proof.hidden)):
            refusals.append(refusal)
    verdict = (refusals or [proof.verdict])[0]
    verdict = replace(verdict, warnings=(*proof.verdict.warnings, *warnings))
    return Proven(verdict, {**proof.trials, **trials}, proof.hidden)
