"""Grade any patch on a proven task: what an agent's work will be graded by, and anyone's by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

from berbench.errors import EmptyPatch, EngineError, PatchConflict, Refusal
from berbench.model.grading import Grade, GradeName
from berbench.model.task import TaskFiles, TaskState
from berbench.stages.candidate import Prepared, prepare
from berbench.stages.grading import Graded, Grader
from berbench.stages.standing import stand_one
from berbench.stages.trees import trees_of
from berbench.stages.validate import Bench
from berbench.verdicts import Trialed

SCHEMA = "berbench.verify/1"
CANDIDATE = "candidate"
KILLED = (137, 143)  # exit codes of what a KILL or TERM ended

NOTHING = "the patch changes nothing: there is nothing to grade"
NO_DIFF = (
    "no change to any file can be read from the patch: it is no diff, or one with colours or in another encoding; "
    "write it with `git diff --binary --full-index`"
)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Verified:
    """How the grading of one candidate ended."""

    id: str
    grade: Grade
    trials: dict[str, Trialed] = field(default_factory=dict)
    logs: Path | None = None
    seconds: float = 0.0


def verify(bench: Bench, task_id: str, patch: bytes, say: Say) -> Verified:
    """Grade a patch. Refusal when the task's proof does not hold, since nothing can be measured by it then."""
    started = monotonic()
    files = bench.lint.project.read_task(task_id)
    _require_proof(bench, files)
    try:
        dockerfile = bench.lint.project.read_dockerfile(files.task.environment.dockerfile)
        graded = grade_patch(bench, files, dockerfile, patch, say)
    except EngineError as error:
        graded = Graded(_no_grade(error))
    verified = Verified(task_id, graded.grade, graded.trials, seconds=monotonic() - started)
    record = json.dumps(document(verified), indent=1).encode("ascii") + b"\n"
    logs = bench.data.save_grade(task_id, bench.now(), record, patch, graded.trials)
    return replace(verified, logs=logs)


def unreachable(task_id: str, error: EngineError) -> Verified:
    """What is told of a candidate when no engine answers."""
    return Verified(task_id, _no_grade(error))


def _no_grade(error: EngineError) -> Grade:
    return Grade(GradeName.ENGINE_ERROR, (error.message, error.remedy), details=error.details)


def _require_proof(bench: Bench, files: TaskFiles) -> None:
    standing = stand_one(bench.lint.project, bench.lint.history, files)
    if standing.state is not TaskState.FRESH:
        raise Refusal(
            f"Task {files.task.id} is {standing.state}: {standing.reason or 'its proof does not hold'}.",
            remedy=f"prove it first: `berbench task validate {files.task.id}`",
        )


def grade_patch(
    bench: Bench, files: TaskFiles, dockerfile: bytes, patch: bytes, say: Say, *, even_nothing: bool = False
) -> Graded:
    """The grade of a patch on a task that was read and found fresh; EngineError when the engine fails.

    With `even_nothing` the base itself is put to the trial when the patch changes nothing: what is known of it
    without one is taken for granted otherwise.
    """
    history = bench.lint.history
    trees = trees_of(history, files)
    try:
        prepared = prepare(history, files, trees, patch, bench.lint.config.harvest.test_patterns)
    except EmptyPatch:
        if not even_nothing:
            return Graded(Grade(GradeName.FAIL, (NOTHING if not patch.strip() else NO_DIFF,)))
        prepared = Prepared(trees.with_tests, (), ())
    except PatchConflict as conflict:
        return Graded(Grade(GradeName.PATCH_CONFLICT, (conflict.message,)))
    if prepared.tree == trees.with_tests and not even_nothing:
        said = "nothing of the patch reaches the verifier: what is left is the base itself"
        return Graded(Grade(GradeName.FAIL, (said,), dropped=prepared.dropped))
    graded = _graded(Grader(bench.verifier, files, dockerfile, trees), prepared, say)
    return replace(graded, grade=replace(graded.grade, dropped=prepared.dropped))


def _graded(grader: Grader, prepared: Prepared, say: Say) -> Graded:
    """A failure on a shared image is confirmed on one built from this very base before it counts, and one of a trial
    that was killed by another trial: somebody outside may have killed it, and whoever kills its own fails twice."""
    image = grader.image(say)
    say("trial: the candidate with the hidden tests")
    graded = grader.grade(image, {CANDIDATE: prepared.tree})[CANDIDATE]
    if graded.grade.name is not GradeName.PASS and image.tree != grader.trees.base:
        say(f"{graded.grade.name} on a shared image: confirming on one built from this base commit")
        image = grader.image(say, exact=True)
        graded = grader.grade(image, {CANDIDATE: prepared.tree})[CANDIDATE]
    if graded.grade.name is not GradeName.PASS and any(map(_killed, graded.trials.values())):
        say(f"{graded.grade.name} in a trial that was killed: confirming by another one")
        graded = grader.grade(image, {CANDIDATE: prepared.tree})[CANDIDATE]
    return graded


def _killed(trialed: Trialed) -> bool:
    """By a signal that neither its own time nor its own memory explains."""
    facts = trialed.facts
    return facts.exit_code in KILLED and not (facts.timed_out or facts.out_of_memory)


def exit_code(verified: Verified) -> int:
    """0 for a pass alone, 3 when the engine failed, else 1."""
    if verified.grade.name is GradeName.ENGINE_ERROR:
        return EngineError.exit_code
    return 0 if verified.grade.name is GradeName.PASS else 1


def document(verified: Verified) -> dict[str, Any]:
    """The grade as `--json` prints it."""
    found = verified.grade
    facts = {name: trialed.facts for name, trialed in verified.trials.items()}
    return {
        "schema": SCHEMA,
        "id": verified.id,
        "verdict": found.name.value,
        "reasons": [reason for reason in found.reasons if reason],
        "dropped_paths": [{"path": one.path, "reason": one.reason} for one in found.dropped],
        "tests": [
            *({"id": result.id, "outcome": result.outcome.value} for result in found.tests),
            *({"id": name, "outcome": "missing"} for name in found.missing),
        ],
        "trials": {
            name: {"exit_code": one.exit_code, "seconds": round(one.seconds, 2), "image": one.image}
            for name, one in facts.items()
        },
        "details": list(found.details),
        "seconds": round(verified.seconds, 2),
        "logs": str(verified.logs) if verified.logs else "",
    }
