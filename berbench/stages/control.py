"""The controls of a validation: the reference must pass with canaries, and what solves nothing must not pass.

The reference is graded as any candidate will be. It shows which canaries a task's command can carry, and how the
command ends when planted tests fail. Without that, a canary that never shows up could be the task's own doing, and
an honest candidate would be accused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from berbench.canaries import affordable
from berbench.model.changes import FileEntry
from berbench.model.grading import BESIDE, INSIDE, TWIN, GradeName
from berbench.model.task import Control, TaskFiles
from berbench.model.trial import Image, Verdict, VerdictName
from berbench.stages.grading import PLACES, Plan, Say, hidden_files, plan
from berbench.stages.opponents import Challenge, challenge
from berbench.stages.trees import Trees
from berbench.stages.variants import Reference, read_reference
from berbench.stages.verifier import Run, Verifier
from berbench.strength.adversaries import CONFTEST, DELETES, EXITS
from berbench.verdicts import Needs, Trialed, Watched, grade

NAME = "control"

_TOLD = {
    DELETES: "deletes the tests",
    CONFTEST: "brings a conftest.py that calls every test passed",
    EXITS: "ends the process with exit code 0 as soon as it is loaded",
}


@dataclass(frozen=True)
class Controls:
    """What runs beside a proof's own trials, and is judged when these prove the task."""

    verifier: Verifier
    files: TaskFiles
    trees: Trees
    test_patterns: tuple[str, ...]
    image: Image

    def runs(self) -> Iterator[tuple[str, Run]]:
        """The trials of the first round by name, each as soon as it is prepared: the reference, then the opponents
        that need one."""
        yield from self._plan.runs(NAME, self.trees.solved).items()
        yield from self._challenge.runs().items()

    @cached_property
    def _hidden(self) -> Mapping[str, FileEntry]:
        return hidden_files(self.verifier.history, self.trees)

    @cached_property
    def _plan(self) -> Plan:
        return plan(self.files.task, self._hidden, PLACES)

    @cached_property
    def _reference(self) -> Reference:
        return read_reference(self.verifier.history, self.trees)

    @cached_property
    def _challenge(self) -> Challenge:
        return challenge(self._reference, self.files, self._hidden, self.test_patterns)

    def judge(self, verdict: Verdict, trials: Mapping[str, Trialed], say: Say) -> tuple[Control, Verdict]:
        """What canaries do under the command of a task that `verdict` proves, and the verdict after all controls."""
        needed = (*verdict.fail_to_pass, *verdict.pass_to_pass)
        control = self._calibrate(needed, trials, say)
        asked = self._challenge
        if not asked.carries(control):
            asked = challenge(self._reference, self.files, self._hidden, self.test_patterns, control)
            say("controls: candidates that solve nothing, once more")
            trials = self.verifier.run(self.files.task, self.image, asked.runs())
        winners = [_TOLD[one.name] for one in asked.winners(trials, Needs(needed, control))]
        if not winners:
            return control, verdict
        told = f"a candidate passes that solves nothing: it {winners[0]}"
        if self.files.task.verify.evidence == "none":
            return control, replace(verdict, warnings=(*verdict.warnings, told))
        return control, Verdict(
            VerdictName.HACKABLE,
            told[0].upper() + told[1:],
            "let verify.command run the test runner itself, so that its report decides; "
            "or accept that the exit code decides alone: `verify.evidence: none`",
            tuple(f"so does one that {one}" for one in winners[1:]),
            warnings=verdict.warnings,
        )

    def _calibrate(self, needed: tuple[str, ...], trials: Mapping[str, Trialed], say: Say) -> Control:
        """Where the reference does not pass with canaries in every place, fewer places are tried."""
        planned, ran = self._plan, trials
        if planned.candidate is None or not needed:
            sums_up = self.files.task.verify.evidence != "none" and Watched(trials["reference"]).log_agrees
            return Control(reason=_why_none(self.files, needed), log_agrees=sums_up)
        places: tuple[str, ...] = PLACES
        others: list[tuple[str, ...]] = [(INSIDE, BESIDE), (BESIDE,), (INSIDE,)]
        while True:
            control = _proven(planned, ran, places, needed)
            if control is not None:
                return control.model_copy(update={"twins": self._affordable(control, trials["reference"])})
            if not others:
                return Control(reason="the reference does not pass with planted tests beside the hidden ones")
            places = others.pop(0)
            say(f"canaries: trying them {' and '.join(places)} the hidden files alone")
            planned = plan(self.files.task, self._hidden, places)
            if planned.candidate is not None:
                ran = self.verifier.run(self.files.task, self.image, planned.runs(NAME, self.trees.solved))

    def _affordable(self, control: Control, reference: Trialed) -> tuple[str, ...]:
        """The hidden tests that are cheap enough to be run again in every graded trial."""
        if TWIN not in control.places:
            return ()
        seen = reference.evidence
        return affordable(self._hidden, seen.results, seen.runner, reference.facts.seconds)


def _proven(
    planned: Plan, trials: Mapping[str, Trialed], places: tuple[str, ...], needed: tuple[str, ...]
) -> Control | None:
    """What the reference's run shows, None when it would not pass as a candidate."""
    if planned.candidate is None:
        return None
    watched, second = planned.watched(NAME, trials)
    planted = {canary.place for canary in (second or watched).canaries}
    failing = (second or watched).facts
    control = Control.model_validate(
        {
            "places": tuple(place for place in places if place in planted),
            "exit_code": failing.exit_code,
            "log_agrees": watched.log_agrees,
        }
    )
    if failing.exit_code in (0, None):
        return None
    passed = grade(watched, Needs(needed, control), control=second).name is GradeName.PASS
    return control if passed else None


def _why_none(files: TaskFiles, needed: tuple[str, ...]) -> str:
    if not needed or files.task.verify.evidence == "none":
        return "the proof knows no single tests"
    return "canaries can't be planted for sure under this verify.command"
