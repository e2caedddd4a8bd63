"""Where every task stands, without an engine: fresh, stale (with what changed), unvalidated, forged or broken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from berbench.environments import build_arguments
from berbench.errors import BerbenchError
from berbench.fingerprint import fingerprint, inputs_of, standing
from berbench.history.door import History
from berbench.model.task import Standing, Task, TaskFiles, TaskState, Validation
from berbench.store import DataDir, Last, Project

SCHEMA = "berbench.tasks/1"


@dataclass(frozen=True, slots=True)
class Listed:
    """A task as `task list` shows it; `files` is None when the documents can't be read.

    `last` is its newest validation on this machine, where that was asked for.
    """

    id: str
    standing: Standing
    files: TaskFiles | None = None
    last: Last | None = None
    last_outdated: bool = False  # the task is not what it was then

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


def stand(
    project: Project, history: History, ids: Iterable[str], data: DataDir | None = None
) -> tuple[Listed, ...]:
    """The standing of each task, and with `data` its last validation. One git process serves them all."""
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
        else _listed(found, trees.get(found.task.source.base_commit, ""), dockerfiles, data)
        for task_id, found in read
    )


def _read(project: Project, task_id: str) -> TaskFiles | BerbenchError:
    try:
        return project.read_task(task_id)
    except BerbenchError as error:
        return error


def _listed(files: TaskFiles, base_tree: str, dockerfiles: _Dockerfiles, data: DataDir | None) -> Listed:
    inputs = _inputs(files, base_tree, dockerfiles)
    last = data.last_validation(files.task.id) if data else None
    # "" where none was noted then: nothing can be told.
    outdated = last is not None and last.fingerprint not in ("", fingerprint(inputs))
    return Listed(files.task.id, _standing(files, base_tree, inputs), files, last, outdated)


def fingerprint_today(project: Project, history: History, files: TaskFiles) -> str:
    """The fingerprint of a task as it is now, whatever of it is missing."""
    return fingerprint(_inputs(files, _base_tree(history, files), _Dockerfiles(project)))


def _inputs(files: TaskFiles, base_tree: str, dockerfiles: _Dockerfiles) -> dict[str, str]:
    return inputs_of(
        files,
        base_tree=base_tree,
        dockerfile=dockerfiles.read(files.task.environment.dockerfile),
        build_args=build_arguments_of(files.task),
    )


def _base_tree(history: History, files: TaskFiles) -> str:
    commit = files.task.source.base_commit
    return history.trees_of([commit]).get(commit, "")


def _standing(files: TaskFiles, base_tree: str, inputs: dict[str, str]) -> Standing:
    if not base_tree:
        commit = files.task.source.base_commit
        reason = (
            f"the base commit {commit[:12]} is not in this repository: fetch it (`git fetch --unshallow`)"
        )
        return Standing(TaskState.BROKEN, reason=reason)
    return standing(files, inputs)


def stand_one(project: Project, history: History, files: TaskFiles) -> Standing:
    """The standing of a task that was read already."""
    return stand_read(project, history, files).standing


def stand_read(project: Project, history: History, files: TaskFiles, data: DataDir | None = None) -> Listed:
    """As `stand`, of a task that was read already."""
    return _listed(files, _base_tree(history, files), _Dockerfiles(project), data)


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
            **last_row(item.last, outdated=item.last_outdated),
        }
    return row


def last_row(last: Last | None, *, outdated: bool) -> dict[str, object]:
    """The last validation on this machine, as documents tell it."""
    return {
        "last_verdict": last.verdict.name.value if last else "",
        "last_reason": last.verdict.reason if last else "",
        "last_outdated": outdated,
    }


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
