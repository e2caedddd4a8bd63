"""The reference graded with canaries, as any candidate will be: part of every validation.

It shows which canaries a task's command can carry, and how the command ends when planted tests fail. Without
that, a canary that never shows up could be the task's own doing, and an honest candidate would be accused.
"""

from __future__ import annotations

from collections.abc import Mapping

from berbench.canaries import affordable
from berbench.model.grading import BESIDE, INSIDE, TWIN, GradeName
from berbench.model.task import Control, TaskFiles
from berbench.model.trial import Image, Verdict
from berbench.stages.grading import PLACES, Plan, Say, hidden_files, plan
from berbench.stages.trees import Trees
from berbench.stages.verifier import Verifier
from berbench.verdicts import Needs, Trialed, grade

NAME = "control"


def calibrate(
    verifier: Verifier,
    files: TaskFiles,
    image: Image,
    trees: Trees,
    verdict: Verdict,
    first: tuple[Plan, Mapping[str, Trialed]],
    say: Say,
) -> Control:
    """What canaries do under this task's command. `first` is the control trial, with the proof's own beside it.

    Where the reference does not pass with canaries in every place, fewer places are tried.
    """
    needed = (*verdict.fail_to_pass, *verdict.pass_to_pass)
    planned, trials = first
    if planned.candidate is None or not needed:
        return Control(reason=_why_none(files, needed))
    places: tuple[str, ...] = PLACES
    others: list[tuple[str, ...]] = [(INSIDE, BESIDE), (BESIDE,), (INSIDE,)]
    while True:
        control = _proven(planned, trials, places, needed)
        if control is not None:
            again = _affordable(verifier, trees, first[1]["reference"]) if TWIN in control.places else ()
            return control.model_copy(update={"twins": again})
        if not others:
            return Control(reason="the reference does not pass with planted tests beside the hidden ones")
        places = others.pop(0)
        say(f"canaries: trying them {' and '.join(places)} the hidden files alone")
        planned = plan(files.task, hidden_files(verifier.history, trees), places)
        if planned.candidate is None:
            trials = {}
            continue
        trials = verifier.run(files.task, image, planned.runs(NAME, trees.solved))


def _affordable(verifier: Verifier, trees: Trees, reference: Trialed) -> tuple[str, ...]:
    """The hidden tests that are cheap enough to be run again in every graded trial."""
    seen, hidden = reference.evidence, hidden_files(verifier.history, trees)
    return affordable(hidden, seen.results, seen.runner, reference.facts.seconds)


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
