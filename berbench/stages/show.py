"""One task as a reviewer reads it: where it comes from, what is asked, what is hidden, what proves it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from berbench.diffs import PatchFile, read_patch
from berbench.history.door import History
from berbench.model.task import Standing, TaskFiles, TaskState
from berbench.stages.standing import last_row, stand_read
from berbench.store import DataDir, Last, Project
from berbench.strength.audit import SCHEMA as AUDIT_SCHEMA

SCHEMA = "berbench.show/1"


@dataclass(frozen=True, slots=True)
class Overview:
    """All that `task show` tells. `last` is the newest recorded validation on this machine."""

    folder: Path
    files: TaskFiles
    standing: Standing
    tests: tuple[PatchFile, ...]
    reference: tuple[PatchFile, ...]
    last: Last | None = None
    last_outdated: bool = False  # the task is not what it was then
    audit: Mapping[str, Any] | None = None  # the last one made on this machine, a task of berbench.audit/1
    audit_outdated: bool = False  # the task is not what it was then


def overview(project: Project, history: History, data: DataDir, task_id: str) -> Overview:
    """Read a task and its newest record. UsageError when there is no such task, ConfigError when it can't be read."""
    files = project.read_task(task_id)
    audit = _audit(data, task_id)
    proof = files.task.validation
    stands = stand_read(project, history, files, data)
    same = proof is not None and audit is not None and audit["fingerprint"] == proof.fingerprint
    return Overview(
        folder=project.folder(task_id),
        files=files,
        standing=stands.standing,
        tests=read_patch(files.tests_patch),
        reference=read_patch(files.reference_patch),
        last=stands.last,
        last_outdated=stands.last_outdated,
        audit=audit,
        audit_outdated=audit is not None and not (same and stands.standing.state is TaskState.FRESH),
    )


def _audit(data: DataDir, task_id: str) -> Mapping[str, Any] | None:
    kept = data.last_audit(task_id)
    return kept if kept is not None and kept.get("schema") == AUDIT_SCHEMA else None


def document(view: Overview) -> dict[str, object]:
    """The overview as `--json` prints it."""
    task = view.files.task
    return {
        "schema": SCHEMA,
        "id": task.id,
        "state": view.standing.state.value,
        "changed": list(view.standing.changed),
        "reason": view.standing.reason,
        "task": task.model_dump(mode="json", by_alias=True),
        "prompt": view.files.prompt.decode("utf-8", "replace"),
        "tests": _files(view.tests),
        "reference": _files(view.reference),
        **last_row(view.last, outdated=view.last_outdated),
        "logs": str(view.last.logs) if view.last else "",
        "audit": {
            "score": view.audit["score"],
            "parts": view.audit["parts"],
            "audited_at": view.audit["audited_at"],
            "outdated": view.audit_outdated,
        }
        if view.audit
        else None,
    }


def _files(files: Iterable[PatchFile]) -> list[dict[str, object]]:
    return [{"path": file.path, "added": file.added, "deleted": file.deleted} for file in files]
