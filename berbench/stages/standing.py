"""Where every task stands, without an engine: fresh, stale (with what changed), unvalidated, forged or broken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from berbench.environments import build_arguments
from berbench.errors import BerbenchError
from berbench.fingerprint import inputs_of, standing
from berbench.history.door import History
from berbench.model.task import Standing, Task, TaskFiles, TaskState, Validation
from berbench.store import Project

SCHEMA = "berbench.tasks/1"


@dataclass(frozen=True, slots=True)
class Listed:
    """A task as `task list` shows it; `files` is None when the documents can't be read."""

    id: str
    standing: Standing
    files: TaskFiles | None = None

    def age_s(self, now: datetime) -> float | None:
        """Seconds since the task was proven, None where it was not."""
        block = self.files.task.validation if self.files else None
        if block is None:
            return None
        at = block.validated_at
        return (now - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()


def build_arguments_of(task: Task) -> tuple[tuple[str, str], ...]:
    """All build arguments that a build of the task is offered: berbench's own and the task's."""
    offered = dict(build_arguments(task.source, task.environment.as_of))
    return tuple(sorted((offered | task.environment.build_args).items()))


def inputs_today(project: Project, history: History, files: TaskFiles) -> dict[str, str]:
    """The task's inputs as they are now. Errors: the base commit or the Dockerfile is not there."""
    return inputs_of(
        files,
        base_tree=history.tree_of(files.task.source.base_commit),
        dockerfile=project.read_dockerfile(files.task.environment.dockerfile),
        build_args=build_arguments_of(files.task),
    )


def stand(project: Project, history: History, ids: Iterable[str]) -> tuple[Listed, ...]:
    """The standing of each task. One git process serves them all."""
    read: list[tuple[str, TaskFiles | BerbenchError]] = [
        (task_id, _read(project, task_id)) for task_id in ids
    ]
    trees = history.trees_of(
        [files.task.source.base_commit for _, files in read if isinstance(files, TaskFiles)]
    )
    dockerfiles = _Dockerfiles(project)
    return tuple(
        Listed(task_id, Standing(TaskState.BROKEN, reason=found.message))
        if isinstance(found, BerbenchError)
        else Listed(
            task_id, _standing(found, trees.get(found.task.source.base_commit, ""), dockerfiles), found
        )
        for task_id, found in read
    )


def _read(project: Project, task_id: str) -> TaskFiles | BerbenchError:
    try:
        return project.read_task(task_id)
    except BerbenchError as error:
        return error


def _standing(files: TaskFiles, base_tree: str, dockerfiles: _Dockerfiles) -> Standing:
    if not base_tree:
        commit = files.task.source.base_commit
        reason = (
            f"the base commit {commit[:12]} is not in this repository: fetch it (`git fetch --unshallow`)"
        )
        return Standing(TaskState.BROKEN, reason=reason)
    inputs = inputs_of(
        files,
        base_tree=base_tree,
        dockerfile=dockerfiles.read(files.task.environment.dockerfile),
        build_args=build_arguments_of(files.task),
    )
    return standing(files, inputs)


def stand_one(project: Project, history: History, files: TaskFiles) -> Standing:
    """The standing of a task that was read already."""
    commit = files.task.source.base_commit
    return _standing(files, history.trees_of([commit]).get(commit, ""), _Dockerfiles(project))


def document(listed: Iterable[Listed]) -> dict[str, object]:
    """The list as `--json` prints it."""
    return {"schema": SCHEMA, "tasks": [_row(item) for item in listed]}


def _row(item: Listed) -> dict[str, object]:
    row: dict[str, object] = {
        "id": item.id,
        "state": item.standing.state.value,
        "changed": list(item.standing.changed),
        "reason": item.standing.reason,
    }
    if item.files is not None:
        task = item.files.task
        row |= {
            "description": task.description,
            "pull_request": task.source.pull_request,
            "landing_commit": task.source.landing_commit,
            "tags": list(task.tags),
            "fingerprint": task.validation.fingerprint if task.validation else "",
            "validated_at": task.validation.validated_at.isoformat() if task.validation else "",
            "broken": _broken(task.validation),
        }
    return row


def _broken(block: Validation | None) -> dict[str, object] | None:
    """Since when and why the proof does not reproduce, None where it was not seen to fail."""
    if block is None or block.broken is None:
        return None
    return block.broken.model_dump(mode="json")


class _Dockerfiles:
    """Each Dockerfile is read once; one that is missing hashes as empty, which makes its tasks stale."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._read: dict[str, bytes] = {}

    def read(self, name: str) -> bytes:
        if name not in self._read:
            try:
                self._read[name] = self._project.read_dockerfile(name)
            except BerbenchError:
                self._read[name] = b""
        return self._read[name]
