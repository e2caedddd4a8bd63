"""Candidates that solve nothing, as trees to be graded: what every validation and every audit holds against a task.

Most of them need no trial. What is dropped from a candidate leaves the base with the hidden tests, and that tree
fails: the proof has shown it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from berbench.errors import BerbenchError
from berbench.model.changes import FileEntry
from berbench.model.grading import Grade, GradeName
from berbench.model.task import Control, TaskFiles
from berbench.stages.candidate import prepare
from berbench.stages.grading import PLACES, Plan, plan
from berbench.stages.variants import Reference, adversaries_of, told_paths
from berbench.stages.verifier import Run
from berbench.strength.adversaries import STUBS, Adversary
from berbench.strength.audit import Faced
from berbench.verdicts import Needs, Trialed, grade

ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Opponent:
    """An adversary with its tree, or with what is known without a trial."""

    adversary: Adversary
    tree: str = ""
    known: Faced | None = None


def opponents_of(
    reference: Reference, files: TaskFiles, test_patterns: Sequence[str], without: str = ""
) -> tuple[Opponent, ...]:
    """All adversaries of a task but the one named `without`, prepared as any candidate is."""
    return tuple(
        _opponent(reference, files, adversary, test_patterns)
        for adversary in adversaries_of(reference)
        if adversary.name != without
    )


def _opponent(
    reference: Reference, files: TaskFiles, adversary: Adversary, test_patterns: Sequence[str]
) -> Opponent:
    if adversary.absent:
        return Opponent(adversary, known=Faced(adversary.name, ABSENT, adversary.absent))
    try:
        patch = reference.candidate(adversary)
        if not patch:
            return Opponent(adversary, known=Faced(adversary.name, ABSENT, "it would change nothing here"))
        prepared = prepare(reference.history, files, reference.trees, patch, test_patterns)
    except BerbenchError as error:
        return Opponent(adversary, known=Faced(adversary.name, ABSENT, f"it can't be made: {error.message}"))
    if prepared.tree == reference.trees.with_tests:
        paths = told_paths(tuple(one.path for one in prepared.dropped))
        told = f"nothing of it reaches the verifier; dropped: {paths}"
        return Opponent(adversary, known=Faced(adversary.name, GradeName.FAIL.value, told))
    return Opponent(adversary, prepared.tree)


@dataclass(frozen=True, slots=True)
class Challenge:
    """The opponents of a validation that need a trial, each with canaries as any candidate has them."""

    opponents: tuple[Opponent, ...]
    plans: tuple[Plan, ...]

    def runs(self) -> dict[str, Run]:
        """Their trials, by name."""
        runs: dict[str, Run] = {}
        for opponent, planned in self._each():
            runs |= planned.runs(_name(opponent), opponent.tree)
        return runs

    def carries(self, control: Control) -> bool:
        """Whether what was planted is what the reference was shown to pass with."""
        planted = {canary.place for one in self.plans if one.candidate for canary in one.candidate.canaries}
        return planted <= set(control.places)

    def winners(self, trials: Mapping[str, Trialed], needs: Needs) -> tuple[Adversary, ...]:
        """Those that pass, by the trials that ran."""
        return tuple(
            opponent.adversary
            for opponent, planned in self._each()
            if _graded(planned, _name(opponent), trials, needs).name is GradeName.PASS
        )

    def _each(self) -> Iterator[tuple[Opponent, Plan]]:
        return zip(self.opponents, self.plans, strict=True)


def challenge(
    reference: Reference,
    files: TaskFiles,
    hidden: Mapping[str, FileEntry],
    test_patterns: Sequence[str],
    control: Control | None = None,
) -> Challenge:
    """What a validation tries beside its own trials, with canaries in the places of `control`, or in all.

    The emptied reference is left to audits: that it passes says that the tests are weak, not that they can be
    turned off."""
    opponents = tuple(one for one in opponents_of(reference, files, test_patterns, STUBS) if one.tree)
    places, again = (control.places, control.twins) if control else (PLACES, None)
    return Challenge(opponents, tuple(plan(files.task, hidden, places, again) for _ in opponents))


def _graded(planned: Plan, name: str, trials: Mapping[str, Trialed], needs: Needs) -> Grade:
    watched, second = planned.watched(name, trials)
    return grade(watched, needs, control=second)


def _name(opponent: Opponent) -> str:
    return f"control-{opponent.adversary.name}"
