"""One task as a reviewer reads it: where it comes from, what is asked, what is hidden, what proves it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from berbench.diffs import PatchFile, read_patch
from berbench.errors import StoreError
from berbench.history.door import History
from berbench.model.task import Standing, TaskFiles, TaskState
from berbench.model.trial import Verdict
from berbench.stages.standing import stand_one
from berbench.store import DataDir, Project
from berbench.strength.audit import SCHEMA as AUDIT_SCHEMA

SCHEMA = "berbench.show/1"


@dataclass(frozen=True, slots=True)
class Overview:
    """All that `task show` tells. `last` is the newest recorded validation on this machine, with its folder."""

    folder: Path
    files: TaskFiles
    standing: Standing
    tests: tuple[PatchFile, ...]
    reference: tuple[PatchFile, ...]
    last: Verdict | None = None
    logs: Path | None = None
    audit: Mapping[str, Any] | None = None  # the last one made on this machine, a task of berbench.audit/1
    audit_outdated: bool = False  # the task is not what it was then


def overview(project: Project, history: History, data: DataDir, task_id: str) -> Overview:
    """Read a task and its newest record. UsageError when there is no such task, ConfigError when it can't be read."""
    files = project.read_task(task_id)
    last, logs = _newest(data, task_id)
    audit = _audit(data, task_id)
    proof = files.task.validation
    standing = stand_one(project, history, files)
    same = proof is not None and audit is not None and audit["fingerprint"] == proof.fingerprint
    return Overview(
        folder=project.folder(task_id),
        files=files,
        standing=standing,
        tests=read_patch(files.tests_patch),
        reference=read_patch(files.reference_patch),
        last=last,
        logs=logs,
        audit=audit,
        audit_outdated=audit is not None and not (same and standing.state is TaskState.FRESH),
    )


def _newest(data: DataDir, task_id: str) -> tuple[Verdict | None, Path | None]:
    """The newest record that can be read: a spoilt one is no reason to keep a task from its reviewer."""
    for record in reversed(data.validations(task_id)):
        with suppress(StoreError):
            return data.load_verdict(record), record
    return None, None


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
        "last_verdict": view.last.name.value if view.last else "",
        "logs": str(view.logs) if view.logs else "",
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
