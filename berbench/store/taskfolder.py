"""A task's four files: their names, their text, and how they are read as one."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from berbench.emit import dump
from berbench.errors import ConfigError
from berbench.model.task import Config, Task, TaskFiles, Validation
from berbench.store import files as disk
from berbench.yamlio import load, typed

TASK = "task.yaml"
TESTS_PATCH = "tests.patch"
REFERENCE_PATCH = "reference.patch"

_PROMPT_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")

_TASK_COMMENTS = {
    "timeout_s": "an agent's budget on this task",
    "hide": "globs removed from the tree the agent sees",
    "config_path": "where a configuration variant is written",
    "verify.network": "none | bridge",
    "verify.protected_paths": "a candidate's changes here are dropped before the hidden tests go in",
    "verify.evidence": "auto | junit:<glob> | go-json | tap | none",
    "environment.as_of": "landing | month | off",
    "environment.inputs": "manifests that decide the image; empty: the whole base tree",
    "assert": "kept for later: nothing runs these checks yet, so lint refuses any",
}

_CONFIG_COMMENTS = {
    "provider": "auto | github | gitlab | none",
    "api_url": "only for an enterprise host whose API address can't be derived",
    "main_branch": "empty: found from the remote",
    "harvest.test_patterns": "what is a test; decides the split when a task is created",
    "harvest.prompt_source": "issue | pr_description | commit_message",
    "validate.repeat": "how often each trial is run; a disagreement is a flaky task",
    "candidates.keep": "paths that are an agent's work although .gitignore names them",
}

_VALIDATION_COMMENTS = {
    "validation": "written by `berbench task validate`; an edited or copied block is refused"
}


def task_text(task: Task) -> bytes:
    """`task.yaml` of a new task."""
    document = _plain(task)
    if task.validation is None:
        document.pop("validation")
    return dump(document, comments=_TASK_COMMENTS)


def config_text(config: Config) -> bytes:
    """`config.yaml` of a new project."""
    return dump(_plain(config), comments=_CONFIG_COMMENTS)


def validation_text(validation: Validation) -> bytes:
    """The `validation:` block as it stands in task.yaml."""
    block = {key: value for key, value in _plain(validation).items() if value is not None}
    return dump({"validation": block}, comments=_VALIDATION_COMMENTS)


def _plain(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True)


def checked_prompt_name(name: str, task_id: str) -> str:
    """The prompt's file name, when it is a file of its own in the task's folder. ConfigError otherwise."""
    if _PROMPT_NAME.fullmatch(name) and name not in (TASK, TESTS_PATCH, REFERENCE_PATCH):
        return name
    raise ConfigError(
        f"{task_id}/{TASK}: `prompt.file` must name a file of its own in the task's folder, "
        f"not {disk.shown(name)[:120]!r}.",
        remedy="Use prompt.md.",
    )


def read_folder(folder: Path, task_id: str) -> TaskFiles:
    """The task that lies in a folder. FileNotFoundError when the folder is gone or was replaced meanwhile."""
    with disk.opened(folder) as descriptor:

        def read(name: str) -> bytes:
            try:
                return disk.read_file(folder / name, folder=descriptor)
            except FileNotFoundError:
                if not _is(folder, descriptor):
                    raise
                raise ConfigError(
                    f"Task {task_id} has no {name}.",
                    remedy="Put it back, or create the task again with `--force`.",
                ) from None

        name = f"{task_id}/{TASK}"
        task, problem = read_task_document(read(TASK), name)
        if task.id != task_id:
            raise ConfigError(
                f"{name}: `id` is {disk.shown(task.id)[:120]!r}, but the folder is {task_id!r}.",
                remedy="Make the two equal; a copied task needs its own id and a new validation.",
            )
        return TaskFiles(
            task,
            prompt=read(checked_prompt_name(task.prompt.file, task_id)),
            tests_patch=read(TESTS_PATCH),
            reference_patch=read(REFERENCE_PATCH),
            validation_problem=problem,
        )


def _is(folder: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(folder.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def read_task_document(text: bytes, name: str) -> tuple[Task, str]:
    """The task, and why its `validation:` block can't be read ("" when it can, or when there is none).

    A block that only a person can have written makes a task forged, not unreadable: it can be proven anew.
    """
    tree = load(text, name)
    block = tree.pop("validation", "") if isinstance(tree, dict) else ""
    task = typed(Task, tree, name)
    if block in ("", "null", "~", {}):
        return task, ""
    try:
        validation = typed(Validation, block, "validation")
    except ConfigError as error:
        return task, error.message.rstrip(".")
    return task.model_copy(update={"validation": validation}), ""
