"""Cutting a landing into its two patches, and proving the split law on the spot."""

from __future__ import annotations

import os
from dataclasses import dataclass

from berbench.errors import LandingError, PatchConflict
from berbench.history.door import History
from berbench.model.changes import Change, Landing, Split
from berbench.split import LFS_POINTER, added_links, problems


@dataclass(frozen=True, slots=True)
class Cut:
    """Both patches of a landing, proven: base + tests + reference, in either order, is the landing tree."""

    tests_patch: bytes
    reference_patch: bytes
    base_tree: str
    landing_tree: str


def obstacles(history: History, landing: Landing, split: Split) -> tuple[str, ...]:
    """All of `problems`, with what only contents can tell: LFS pointers, and links that leave the tree."""
    changed = [change.path for change in (*split.tests, *split.reference)]
    old, new = history.read(landing.base, changed), history.read(landing.commit, changed)
    lfs = {
        path for side in (old, new) for path, data in side.items() if data.startswith(LFS_POINTER.encode())
    }
    links = {change.path: os.fsdecode(new[change.path]) for change in added_links(split)}
    return problems(split, lfs=lfs, links=links)


def cut(history: History, landing: Landing, split: Split) -> Cut:
    """The two patches of a landing. LandingError, with the reason, when the split law can't be kept."""
    base, target = history.tree_of(landing.base), history.tree_of(landing.commit)
    _covers(history.changes(base, target), split)
    tests_tree, tests_patch = _side(history, base, split.tests, "tests")
    reference_tree, reference_patch = _side(history, base, split.reference, "implementation")
    orders = (
        ("tests.patch", base, tests_patch, tests_tree),
        ("reference.patch after tests.patch", tests_tree, reference_patch, target),
        ("reference.patch", base, reference_patch, reference_tree),
        ("tests.patch after reference.patch", reference_tree, tests_patch, target),
    )
    for name, tree, patch, wanted in orders:
        try:
            result = history.apply(tree, patch)
        except PatchConflict as conflict:
            raise _refused(f"{name} does not apply: {conflict.message}") from conflict
        if result != wanted:
            raise _refused(f"{name} gives another tree than the landing's")
    return Cut(tests_patch, reference_patch, base, target)


def _covers(changes: tuple[Change, ...], split: Split) -> None:
    """Every changed path is on exactly one side, and nothing else is."""
    sides = [*split.tests, *split.reference]
    if len(sides) != len(changes) or set(sides) != set(changes):
        odd = {one.path for one in sides} ^ {one.path for one in changes}
        raise _refused(
            f"the split does not name the landing's changes ({min(odd, default='a path twice')!r})"
        )


def _side(history: History, base: str, side: tuple[Change, ...], name: str) -> tuple[str, bytes]:
    """The base tree with one side put in, and the patch that says so."""
    if not side:
        raise _refused(f"there are no changes on the side of the {name}")
    tree = history.make_tree(base, side)
    done = history.changes(base, tree)
    if set(done) != set(side):
        odd = sorted({one.path for one in done} ^ {one.path for one in side}) or [side[0].path]
        raise _refused(f"a file and a folder trade places across the split at {odd[0]!r}")
    return tree, history.diff(base, tree)


def _refused(reason: str) -> LandingError:
    return LandingError(
        f"The landing can't be split into tests and implementation: {reason}.",
        remedy="Change `harvest.test_patterns` so that both are on one side, or choose another pull request.",
    )
