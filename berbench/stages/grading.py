"""Grades trees of candidates: canaries are planted, trials run side by side, and each tree gets its grade.

What proves a task grades an agent: the same verifier, image and command. A candidate's tree already holds the
hidden tests and nothing that the candidate may not bring (see `candidate`).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from berbench.canaries import plant
from berbench.errors import EngineError
from berbench.evidence.names import is_test_file
from berbench.history.door import History
from berbench.model.changes import FileEntry
from berbench.model.grading import BESIDE, INSIDE, TWIN, Canary, Grade, Planting
from berbench.model.task import Control, Task, TaskFiles
from berbench.model.trial import Image
from berbench.stages.trees import Trees
from berbench.stages.verifier import Run, Verifier
from berbench.verdicts import Needs, Trialed, Watched, grade
from berbench.verdicts.drift import elsewhere

Say = Callable[[str], None]

PLACES = (INSIDE, BESIDE, TWIN)

_QUICK_S = 0.2  # what a test may take to be run again where nothing is known of it


@dataclass(frozen=True, slots=True)
class Plan:
    """What is planted for one tree: in its own trial, and in a second one where the command asks for that."""

    candidate: Planting | None = None
    control: Planting | None = None

    def runs(self, name: str, tree: str) -> dict[str, Run]:
        """The trials of a tree, by name."""
        first = {name: Run(tree, self.candidate)}
        return first | ({f"{name}-control": Run(tree, self.control)} if self.control else {})

    def watched(self, name: str, trials: Mapping[str, Trialed]) -> tuple[Watched, Watched | None]:
        """What those trials gave, with the canaries that were in them."""
        second = trials.get(f"{name}-control")
        first = Watched(trials[name], _canaries(self.candidate))
        return first, Watched(second, _canaries(self.control)) if second else None


def _canaries(planting: Planting | None) -> tuple[Canary, ...]:
    return planting.canaries if planting else ()


def hidden_files(history: History, trees: Trees) -> dict[str, FileEntry]:
    """The files of tests.patch that hold tests, as they are in a trial's tree."""
    changes = {
        change.path: change
        for change in history.changes(trees.base, trees.with_tests)
        if change.status != "D" and is_test_file(change.path)
    }
    contents = history.read(trees.with_tests, tuple(changes))
    return {path: FileEntry(path, changes[path].new_mode, data) for path, data in contents.items()}


def plan(
    task: Task,
    hidden: Mapping[str, FileEntry],
    places: Collection[str],
    again: Collection[str] | None = None,
) -> Plan:
    """Fresh canaries for one tree, in those places; none where the command can't carry any.

    `again`: the hidden tests that a twin may run once more. None: any that turns out to be quick."""
    if not places or task.verify.evidence == "none":
        return Plan()
    seed = secrets.token_hex(16)
    quick = _QUICK_S if again is None else None
    full = plant(task.verify.command, hidden, seed=seed, places=places, again=again, quick=quick)
    if full is None:
        return Plan()
    if not full.apart:
        return Plan(full)
    quiet = plant(
        task.verify.command, hidden, seed=seed, places=places, again=again, quick=quick, failing=False
    )
    return Plan(quiet, full)


@dataclass(frozen=True, slots=True)
class Graded:
    """A tree's grade, and the trials it stands on."""

    grade: Grade
    trials: dict[str, Trialed] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Grader:
    """Grades trees of one proven task."""

    verifier: Verifier
    files: TaskFiles
    dockerfile: bytes
    trees: Trees

    @property
    def needs(self) -> Needs:
        """What the task's proof asks of a candidate."""
        proof = self.files.task.validation
        if proof is None:
            return Needs(())
        return Needs((*proof.fail_to_pass, *proof.pass_to_pass), proof.control)

    def image(self, say: Say, *, exact: bool = False) -> Image:
        """The image that the task is proven on. EngineError when it can't be built any more."""
        build = self.verifier.build(self.files.task, self.dockerfile, self.trees.base, exact=exact, say=say)
        if build.image is None:
            raise EngineError(
                f"The image of task {self.files.task.id} can't be built any more.",
                remedy="see why with `berbench task validate`",
                details=build.log.splitlines()[-12:],
            )
        self._check(build.image, say)
        return build.image

    def _check(self, image: Image, say: Say) -> None:
        """EngineError for an image that the proof says nothing about."""
        task, proof = self.files.task, self.files.task.validation
        if proof is None:
            return
        if other := elsewhere(proof, image):
            raise EngineError(
                f"Task {task.id} can't be measured here: {other}.",
                remedy=f"use the engine and the base image of the proof, or prove the task on these: "
                f"`berbench task validate {task.id}`",
            )
        if proof.image != image.id:
            say(f"drift: the proof was made on image {_short(proof.image)}, and this is {_short(image.id)}")

    def grade(self, image: Image, trees: Mapping[str, str], *, canaries: bool = True) -> dict[str, Graded]:
        """The grade of each named tree, all side by side. EngineError when the engine fails in any of them."""
        needs = self.needs if canaries else Needs(self.needs.tests, Control(reason="none was asked for"))
        hidden = hidden_files(self.verifier.history, self.trees) if needs.control.places else {}
        plans = {
            name: plan(self.files.task, hidden, needs.control.places, needs.control.twins) for name in trees
        }
        runs: dict[str, Run] = {}
        for name, tree in trees.items():
            runs |= plans[name].runs(name, tree)
        trials = self.verifier.run(self.files.task, image, runs)
        graded = {}
        for name, planned in plans.items():
            candidate, control = planned.watched(name, trials)
            own = {run: trials[run] for run in planned.runs(name, trees[name])}
            graded[name] = Graded(grade(candidate, needs, control=control), own)
        return graded


def _short(image: str) -> str:
    return image.removeprefix("sha256:")[:12]
