"""From a candidate's patch to the tree that is graded: its kept changes, then the hidden tests, put in by entry.

tests.patch is never applied to a candidate's tree: what the hidden tests bring comes from the task's own tree, so
nothing that a candidate planted can be in its way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from berbench.candidates import (
    Protection,
    Sides,
    Sifted,
    partly_steering,
    read_commands,
    read_loads,
    settings_in,
    sift,
)
from berbench.errors import PatchConflict
from berbench.history.door import History
from berbench.model.changes import ABSENT, SYMLINK, Change, TreeEntry
from berbench.model.grading import Dropped
from berbench.model.task import Task, TaskFiles
from berbench.split import matcher
from berbench.stages.trees import Trees


@dataclass(frozen=True, slots=True)
class Prepared:
    """A candidate ready for a trial: `kept` of its changes, and the hidden tests, are in `tree`.

    `dropped` names what does not reach the verifier, or not as the candidate wrote it.
    """

    tree: str
    dropped: tuple[Dropped, ...]
    kept: tuple[Change, ...]


def prepare(
    history: History, files: TaskFiles, trees: Trees, patch: bytes, test_patterns: Sequence[str]
) -> Prepared:
    """The tree of a candidate. EmptyPatch when the patch holds no change, PatchConflict when it does not apply."""
    candidate = _candidate_tree(history, files.task, trees.base, patch)
    hidden = history.changes(trees.base, trees.with_tests)
    sifted = _sift(history, files.task, trees, candidate, hidden, test_patterns)
    kept = tuple(
        replace(change, new_id=history.write_blob(sifted.rewritten[change.path]))
        if change.path in sifted.rewritten
        else change
        for change in sifted.kept
    )
    # No kept change is at, above or below a hidden path, so the two don't meet.
    tree = history.make_tree(trees.base, (*kept, *hidden))
    return Prepared(tree, sifted.dropped, kept)


def _candidate_tree(history: History, task: Task, base: str, patch: bytes) -> str:
    """The base with the patch, or what the patch makes of the base as an agent sees it, without hidden files."""
    try:
        return history.apply(base, patch)
    except PatchConflict:
        is_hidden = matcher(task.hide)
        unseen = [entry for entry in history.list_tree(base) if is_hidden(entry.path)] if task.hide else []
        if not unseen:
            raise
        seen = history.make_tree(base, [_deletion(entry) for entry in unseen])
        made = history.changes(seen, history.apply(seen, patch))
        return history.make_tree(base, made)


def _deletion(entry: TreeEntry) -> Change:
    return Change(entry.path, entry.mode, ABSENT, entry.id, "0" * len(entry.id))


def _sift(
    history: History,
    task: Task,
    trees: Trees,
    candidate: str,
    hidden: Sequence[Change],
    test_patterns: Sequence[str],
) -> Sifted:
    changes = history.changes(trees.base, candidate)
    reference = history.changes(trees.with_tests, trees.solved)
    base = {entry.path for entry in history.list_tree(trees.base)}
    entries = history.list_tree(candidate)
    links = [entry.path for entry in entries if entry.mode == SYMLINK]
    wanted = [change.path for change in changes if partly_steering(change.path)]
    read_base = _reader(history, trees.base, [*wanted, *settings_in(base)])
    read_new = _reader(history, candidate, [*wanted, *links])
    protection = Protection(
        hidden=[change.path for change in hidden],
        reference=[change.path for change in reference],
        base=base,
        candidate={entry.path for entry in entries},
        protected_paths=task.verify.protected_paths,
        test_patterns=test_patterns,
        commands=read_commands((*task.environment.setup, task.verify.command), base, read_base),
        loaded=read_loads(base, read_base),
    )
    sides = Sides(
        read_base,
        read_new,
        {path: os.fsdecode(read_new(path) or b"") for path in links},
        sorted(entry.path for entry in entries),
    )
    return sift(changes, protection, sides, reference)


def _reader(history: History, tree: str, ahead: Iterable[str]) -> Callable[[str], bytes | None]:
    """Contents of a tree's files; those known to be wanted are read ahead, in one go."""
    asked = set(ahead)
    known: dict[str, bytes] = dict(history.read(tree, sorted(asked))) if asked else {}

    def read(path: str) -> bytes | None:
        if path not in asked:
            asked.add(path)
            known.update(history.read(tree, [path]))
        return known.get(path)

    return read
