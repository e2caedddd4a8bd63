"""The trees that a task's trials run on: base, hidden tests put in, reference put in. No work folder is involved."""

from __future__ import annotations

from dataclasses import dataclass

from berbench.errors import PatchConflict
from berbench.history.door import History
from berbench.model.task import TaskFiles


@dataclass(frozen=True, slots=True)
class Trees:
    """Tree ids of the base, of the base with the hidden tests, and of that with the reference as well."""

    base: str
    with_tests: str
    solved: str


def trees_of(history: History, files: TaskFiles) -> Trees:
    """The trees that the trials run on. PatchConflict names the patch that does not apply."""
    base = history.tree_of(files.task.source.base_commit)
    with_tests = _apply(history, base, files.tests_patch, "tests.patch")
    solved = _apply(history, with_tests, files.reference_patch, "reference.patch")
    return Trees(base, with_tests, solved)


def _apply(history: History, tree: str, patch: bytes, name: str) -> str:
    try:
        return history.apply(tree, patch)
    except PatchConflict as conflict:
        raise PatchConflict(
            f"{name} does not apply: {conflict.message}", path=conflict.path, hunk=conflict.hunk
        ) from conflict


def hidden_paths(history: History, base: str, with_tests: str) -> tuple[str, ...]:
    """Paths that tests.patch adds or changes: the files whose tests must show up in the evidence."""
    return tuple(change.path for change in history.changes(base, with_tests) if change.status != "D")
