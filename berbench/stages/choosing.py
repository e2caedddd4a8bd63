"""Which tasks a validation is for: those named, all, or those whose proof does not serve any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from berbench.errors import UsageError
from berbench.history.door import History
from berbench.model.task import TaskState
from berbench.stages.standing import Listed, stand
from berbench.store import Project


@dataclass(frozen=True, slots=True)
class Choice:
    """Tasks by name, or `every` one, or the `stale` ones: all that are not fresh.

    `max_age_s` counts a proof that is older as stale too, and chooses the stale ones by itself.
    """

    ids: Sequence[str] = ()
    every: bool = False
    stale: bool = False
    max_age_s: float | None = None


def choose(project: Project, history: History, choice: Choice, now: datetime) -> tuple[str, ...]:
    """The tasks to prove. UsageError unless asked for in one way, or for a name that is no task."""
    aged = choice.max_age_s is not None
    if aged and (choice.ids or choice.every):
        raise UsageError(
            "--max-age chooses among all tasks those that are stale or older.",
            remedy="name task ids, or give --all, or give --max-age",
        )
    if bool(choice.ids) + choice.every + (choice.stale or aged) != 1:
        raise UsageError(
            "Say which tasks to validate, one way.",
            remedy="name task ids, or give --all, or give --stale-only",
        )
    if choice.ids:
        for task_id in choice.ids:
            project.read_task(task_id)  # a name that is no task is a usage error, before anything runs
        return tuple(dict.fromkeys(choice.ids))
    known = project.task_ids()
    if choice.every:
        return known
    listed = stand(project, history, known)
    return tuple(item.id for item in listed if _is_due(item, choice.max_age_s, now))


def _is_due(item: Listed, max_age_s: float | None, now: datetime) -> bool:
    if item.standing.state is not TaskState.FRESH:
        return True
    age_s = item.age_s(now)
    return max_age_s is not None and age_s is not None and age_s > max_age_s
