"""A proof that does not reproduce any more: the task is broken, and the block says since when and why."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from berbench.errors import BerbenchError, StoreError
from berbench.fingerprint import seal
from berbench.history.door import History
from berbench.model.task import Broken, TaskFiles, TaskState, Validation
from berbench.model.trial import Facts, Image, Verdict, VerdictName
from berbench.stages.standing import inputs_today, stand_one
from berbench.store import DataDir, Project
from berbench.verdicts import Trialed
from berbench.verdicts.drift import Before, difference, moved

# Verdicts of whole trials that contradict an earlier proof. A time-out or a failing build says nothing of the kind.
_REFUTES = frozenset(
    {
        VerdictName.BASE_PASSES,
        VerdictName.REFERENCE_FAILS,
        VerdictName.INCONSISTENT,
        VerdictName.HACKABLE,
        VerdictName.NO_TESTS_RAN,
        VerdictName.WRONG_TESTS,
    }
)


def refutes(verdict: Verdict) -> bool:
    """Whether a refusal contradicts an older proof of the same inputs.

    Repeats that disagree do. Another order or another date does not: the proof was made in the usual one."""
    return verdict.name in _REFUTES or (verdict.name is VerdictName.FLAKY and verdict.moved_by == "repeat")


def mark_broken(
    project: Project,
    history: History,
    data: DataDir,
    files: TaskFiles,
    verdict: Verdict,
    trials: Mapping[str, Trialed],
    at: datetime,
) -> str:
    """Write into the block why the proof does not hold, if the refusal contradicts it; what to tell the user.

    Only a fresh proof can be contradicted. One of other inputs stays what it is, and a proof that is broken
    already keeps the reason that was found first.
    """
    block = files.task.validation
    if block is None:
        return ""
    state = stand_one(project, history, files).state
    if state is TaskState.STALE:
        return "the older proof is of other inputs, and stays stale"
    if state is not TaskState.FRESH:
        return ""
    if not refutes(verdict):
        return "the proof that the task has is not contradicted by this, and stays"
    if not _unedited(project, history, files):
        return "the task was edited meanwhile, so its proof was left as it is"
    before = Before(block, _installed(data, files.task.id, block))
    broken = Broken(
        at=at,
        verdict=verdict.name.value,
        reason=verdict.reason,
        difference=difference(before, trials["base"], trials["reference"]),
    )
    marked = block.model_copy(update={"broken": broken, "seal": ""})
    project.write_validation(files.task.id, marked.model_copy(update={"seal": seal(marked)}))
    return "the task is broken now: its proof does not reproduce any more"


def moved_since(
    project: Project, history: History, data: DataDir, files: TaskFiles, image: Image, now: Facts
) -> tuple[str, ...]:
    """What of the environment is not as it was when the task was proven last, a line each; nothing of a stale proof."""
    block = files.task.validation
    if block is None or stand_one(project, history, files).state is not TaskState.FRESH:
        return ()
    return moved(Before(block, _installed(data, files.task.id, block)), image, now.installed)


def _unedited(project: Project, history: History, files: TaskFiles) -> bool:
    try:
        on_disk = project.read_task(files.task.id)
        same = inputs_today(project, history, on_disk) == inputs_today(project, history, files)
    except BerbenchError:
        return False
    return same and on_disk.task.validation == files.task.validation


def _installed(data: DataDir, task_id: str, block: Validation) -> tuple[str, ...] | None:
    """What the proof's image had installed, by the record of a validation on that image."""
    for record in reversed(data.validations(task_id)):
        with suppress(StoreError):  # a record that is gone or spoilt tells nothing
            if data.load_verdict(record).name is not VerdictName.VALIDATED:
                continue
            facts = data.load_facts(record, "reference")
            if facts.image == block.image:
                return facts.installed
    return None
