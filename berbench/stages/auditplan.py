"""Which trees an audit of one task runs on, and what each of them stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from berbench.errors import BerbenchError
from berbench.history.door import History
from berbench.model.grading import Grade, GradeName
from berbench.model.task import TaskFiles
from berbench.stages.opponents import Opponent, opponents_of
from berbench.stages.trees import Trees
from berbench.stages.variants import (
    Reference,
    mutants_of,
    mutated,
    read_reference,
)
from berbench.strength.adversaries import NOTHING
from berbench.strength.audit import Faced, Seen
from berbench.strength.cuts import Cut, cuts_of
from berbench.strength.mutants import Mutant
from berbench.strength.seen import Noticed, Sight


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an audit is asked for: so many mutants, drawn by `seed`, and `jobs` trials at a time."""

    mutants: int = 0
    seed: int = 0
    jobs: int = 2


@dataclass(frozen=True, slots=True)
class Run:
    """One trial: a tree, and whether canaries watch it, as they watch a candidate's."""

    tree: str
    watched: bool = False


@dataclass(frozen=True, slots=True)
class Saw:
    """What came of a trial."""

    grade: Grade
    sight: Sight


@dataclass(frozen=True)
class Plan:
    """Everything that is asked about one task. Equal trees are run once."""

    trees: Trees
    cuts: tuple[tuple[Cut, Sight | Run], ...]
    mutants: tuple[tuple[Mutant, Run], ...]
    opponents: tuple[Opponent, ...]

    @property
    def control(self) -> Run:
        """The reference itself, which must pass for anything else to mean something."""
        return Run(self.trees.solved)

    @cached_property
    def runs(self) -> Mapping[Run, str]:
        """Every trial, with a name for people."""
        named: dict[Run, str] = {self.control: "reference"}
        numbers: dict[str, int] = {}
        asked = [(cut.kind, run) for cut, run in self.cuts if isinstance(run, Run)]
        asked += [("mutant", run) for _, run in self.mutants]
        for kind, run in asked:
            numbers[kind] = numbers.get(kind, 0) + 1
            named.setdefault(run, f"{kind}-{numbers[kind]}")
        for opponent in self.opponents:
            if opponent.tree:
                named.setdefault(_watched(opponent), opponent.adversary.name)
        return named

    def seen_cuts(self, kind: str, seen: Mapping[Run, Saw]) -> tuple[Seen[Cut], ...]:
        """Hunks, or files, with how their absence was noticed."""
        return tuple(
            Seen(cut, _fair(cut, seen[known].sight) if isinstance(known, Run) else known)
            for cut, known in self.cuts
            if cut.kind == kind
        )

    def seen_mutants(self, seen: Mapping[Run, Saw]) -> tuple[Seen[Mutant], ...]:
        """Mutants with how they were noticed."""
        return tuple(Seen(mutant, seen[run].sight) for mutant, run in self.mutants)

    def faced(self, seen: Mapping[Run, Saw]) -> tuple[Faced, ...]:
        """What became of each adversary; the first is the base itself, which the proof has tried."""
        found = [
            Faced(NOTHING, GradeName.FAIL.value, "the proof shows it: the base with the hidden tests fails")
        ]
        for opponent in self.opponents:
            if opponent.known is not None:
                found.append(opponent.known)
            else:
                grade = seen[_watched(opponent)].grade
                told = "; ".join(reason for reason in grade.reasons[:2] if reason)
                found.append(Faced(opponent.adversary.name, grade.name.value, told))
        return tuple(found)


def make_plan(
    history: History, files: TaskFiles, trees: Trees, test_patterns: Sequence[str], wanted: Wanted
) -> Plan:
    """The trees of one task's audit. PatchConflict when its reference can't be read."""
    reference = read_reference(history, trees, files.reference_patch)
    cuts = cuts_of(reference.files, reference.changes, reference.old, reference.new)
    return Plan(
        trees,
        tuple((cut, _asked(reference, cut)) for cut in cuts),
        tuple(
            (mutant, Run(mutated(reference, mutant)))
            for mutant in mutants_of(reference, wanted.mutants, wanted.seed)
        ),
        opponents_of(reference, files, test_patterns),
    )


def _watched(opponent: Opponent) -> Run:
    return Run(opponent.tree, watched=True)


def _fair(cut: Cut, found: Sight) -> Sight:
    """Annotations that nothing reads are no code, whatever they look like."""
    if cut.only_hints and found.noticed is Noticed.NO:
        return Sight(Noticed.NO_CODE, "annotations of functions alone, and the tests pass without them")
    return found


def _asked(reference: Reference, cut: Cut) -> Sight | Run:
    """The trial that a cut asks for, or what is known without one."""
    if cut.no_code:
        return Sight(Noticed.NO_CODE, "prose, comments or layout: no test could notice")
    try:
        tree = reference.without(cut)
    except BerbenchError as error:
        return Sight(Noticed.APART, error.message)
    if not tree:
        return Sight(Noticed.APART, "another path stands in its place")
    if tree == reference.trees.with_tests:
        return Sight(Noticed.WHOLE, "nothing else changes: the proof shows that the tests fail without it")
    return Run(tree)
