"""From what changed in a workspace to the candidate: a patch from the tree the agent saw to the one it left.

What counts is decided by names and bytes alone, from outside. Left out, and told: `.git` folders, what the tree's
ignore rules name, caches, links that leave the tree, what is no file, what is too large. Left out without a word:
configuration that was planted, and what was touched but is as it was.
"""

from __future__ import annotations

import io
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from berbench.engine.archive import parents
from berbench.engine.members import LARGEST, LOST, as_told
from berbench.engine.script import OWN_FILES
from berbench.engine.workspace import Changed, Found, Workspace
from berbench.history.door import History
from berbench.history.snapshots import Blobs
from berbench.model.changes import ABSENT, EXECUTABLE, GITLINK, REGULAR, SYMLINK, Change, TreeEntry

Original = Callable[[frozenset[str]], Mapping[str, TreeEntry]]  # paths → what the image itself holds there

MOST_BYTES = (
    256 << 20
)  # of all changed files together; more would be junk, and take minutes to make a patch of
SMALL = 1 << 20  # bytes of a file for which there is as much room again: source is not lost behind junk
_FILES = {REGULAR, EXECUTABLE}

# Weaker than the tree's own rules: what tools leave behind in any project, and no project keeps.
CACHES = (
    "__pycache__/",
    "*.py[co]",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    "node_modules/",
    ".aider*",
    ".DS_Store",
    "*.swp",
    "core.[0-9]*",
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """The patch, the tree behind it, and the paths that were left out, each with its reason."""

    patch: bytes
    tree: str
    left_out: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class _Left:
    """What was found of an agent's work."""

    blobs: Blobs
    files: dict[str, tuple[int, int]] = field(default_factory=dict)  # path → mode, number of its bytes
    links: dict[str, str] = field(default_factory=dict)  # path → target
    seen: set[str] = field(default_factory=set)  # paths where something is that is no folder
    out: dict[str, str] = field(default_factory=dict)  # path → why it is left out
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Sides:
    """What a work tree is held against: the tree that the agent saw, paths that were planted in it, paths that ignore
    rules don't keep out, and the image."""

    tree: str
    planted: frozenset[str] = frozenset()
    keep: tuple[str, ...] = ()
    original: Original = lambda paths: {}


def collect(
    history: History, workspace: Workspace, sides: Sides, start: Candidate | None = None
) -> Candidate:
    """Take the candidate of a workspace, whose processes are ended first. Where set-up lines ran before the agent,
    `start` is what they left: the agent's work is what differs from that."""
    if start is None:
        return _found(history, workspace, workspace.end(), sides, sides.tree)
    found = _found(history, workspace, workspace.end(), sides, start.tree)
    known = set(start.left_out)
    return replace(found, left_out=tuple(one for one in found.left_out if one not in known))


def as_set_up(history: History, workspace: Workspace, sides: Sides) -> Candidate:
    """What set-up lines left in a workspace where no agent has worked yet."""
    return _found(history, workspace, workspace.changed(), sides, sides.tree)


def _found(
    history: History, workspace: Workspace, changed: tuple[Changed, ...], sides: Sides, start: str
) -> Candidate:
    """The candidate of what differs from the tree `start`."""
    base = _entries(history, sides.tree)
    begun = base if start == sides.tree else _entries(history, start)
    listed, out = _sifted((*changed, *_unlisted(workspace, begun, changed)), begun, sides.planted)
    out |= _ignored(history, sides.tree, begun, listed, sides.keep)
    folders = _folders(listed)
    asked = {
        path for path, one in listed.items()
        if path not in out and path not in folders and (not one.gone or LOST in path)
    }  # fmt: skip
    with Blobs() as blobs:
        left = _Left(blobs, out=out)
        missing = set(asked)
        for found in workspace.fetch(asked):
            missing.discard(as_told(found.path))
            _take(found, left)
        # An engine's archive holds no socket.
        out |= dict.fromkeys(missing.difference(map(as_told, begun)), "no file")
        ids = history.write_blobs(blobs)
    written = {
        path: TreeEntry(path, mode, ids[number])
        for path, (mode, number) in left.files.items()
        if begun.get(path) != TreeEntry(path, mode, ids[number])
    }
    untouched = frozenset(path for path in written if begun.get(path) == base.get(path))
    _drop_what_was_so(written, begun, listed, lambda paths: sides.original(paths & untouched))
    _drop_links_that_leave(written, left)
    after: dict[str, TreeEntry | None] = dict(written)
    for entry in _deleted(begun, listed, folders, asked, left):
        after.setdefault(entry.path, None)
    changes = [
        _change(path, base.get(path), entry) for path, entry in after.items() if entry != base.get(path)
    ]
    tree = history.make_tree(sides.tree, changes) if changes else history.tree_of(sides.tree)
    patch = history.diff(sides.tree, tree) if changes else b""
    return Candidate(patch, tree, tuple(sorted(out.items())))


def _entries(history: History, tree: str) -> dict[str, TreeEntry]:
    return {entry.path: entry for entry in history.list_tree(tree)}


def _unlisted(
    workspace: Workspace, base: Mapping[str, TreeEntry], changed: Iterable[Changed]
) -> Iterator[Changed]:
    """What the engine's list may lack: files and links of the tree that are not as it has them."""
    listed = {one.path for one in changed}
    if "" in listed:
        return
    for found in workspace.entries({path for path in base if as_told(path) not in listed}):
        if (found.mode, found.id) != (base[found.path].mode, base[found.path].id):
            yield Changed(as_told(found.path))


def _sifted(
    changed: Iterable[Changed], base: Mapping[str, TreeEntry], planted: frozenset[str]
) -> tuple[dict[str, Changed], dict[str, str]]:
    """Changed paths by name, without those that are nobody's work, and why some are left out."""
    kept: dict[str, Changed] = {}
    out: dict[str, str] = {}
    modules = {entry.path for entry in base.values() if entry.mode == GITLINK}
    for one in changed:
        parts = one.path.split("/")
        names = [part.lower() for part in parts]
        if ".git" in names:
            if (at := names.index(".git")) or parts[0] != ".git":
                out["/".join(parts[: at + 1])] = "a repository of its own"
            continue
        if one.path in planted or one.path in OWN_FILES or one.path in modules:
            continue
        if any(above in modules for above in parents(one.path)):
            out[one.path] = "in a submodule"
            continue
        before = kept.get(one.path)
        # Told twice: as a folder that was removed, and as what came in its place.
        kept[one.path] = one if before is None else Changed(one.path, gone=True)
    return kept, out


def _folders(listed: Mapping[str, Changed]) -> set[str]:
    """What must be a folder, since something is in it."""
    return {above for path, one in listed.items() if not one.gone for above in parents(path)}


def _ignored(
    history: History,
    tree: str,
    base: Mapping[str, TreeEntry],
    listed: Mapping[str, Changed],
    keep: tuple[str, ...],
) -> dict[str, str]:
    """New paths that rules leave out."""
    folders = _folders(listed)
    tops = tuple(top.rstrip("/") for top in keep)
    new = [
        path
        for path, one in listed.items()
        if not one.gone
        and path not in base
        and path not in folders
        and not any(path == top or path.startswith(top + "/") for top in tops)
    ]
    ignored = history.ignored(tree, new, CACHES)
    by_tree = history.ignored(tree, ignored)
    return {path: "ignored by the tree" if path in by_tree else "a cache" for path in ignored}


def _take(found: Found, left: _Left) -> None:
    """Keep a file's or link's bytes, or say why not."""
    if found.is_folder:
        return
    left.seen.add(found.path)
    if found.mode == 0:
        left.out[found.path] = "no file"
    elif found.mode == SYMLINK:
        target = os.fsencode(found.target)
        left.files[found.path] = (SYMLINK, left.blobs.add(io.BytesIO(target), len(target)))
        left.links[found.path] = found.target
    elif found.body is None or found.size > LARGEST:
        left.out[found.path] = f"larger than {LARGEST >> 20} MiB"
    elif left.bytes + found.size > MOST_BYTES * (2 if found.size <= SMALL else 1):
        left.out[found.path] = f"more than {MOST_BYTES >> 20} MiB in all"
    else:
        left.bytes += found.size
        left.files[found.path] = (found.mode, left.blobs.add(found.body, found.size))


def _drop_what_was_so(
    written: dict[str, TreeEntry],
    base: Mapping[str, TreeEntry],
    listed: Mapping[str, Changed],
    original: Original,
) -> None:
    """A file that is as the image has it was touched and not changed, whatever the image's tree says; so is a mode."""
    asked = frozenset(
        path for path in written if (one := listed.get(as_told(path))) is not None and not one.added
    )
    for path, before in original(asked).items():
        now, told = written[path], base.get(path)
        if told is not None and now.mode == before.mode and {now.mode, told.mode} <= _FILES:
            now = written[path] = replace(now, mode=told.mode)
        as_before = now.id == before.id and (told is None or now.mode in (before.mode, told.mode))
        if as_before or now == told:
            del written[path]


def _drop_links_that_leave(written: dict[str, TreeEntry], left: _Left) -> None:
    for path, target in left.links.items():
        if path in written and leaves(path, target):
            left.out[path] = "a link that leaves the tree"
            del written[path]


def leaves(path: str, target: str) -> bool:
    """Whether a link at this path of a tree leads out of it, as far as names tell."""
    to = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return target.startswith("/") or to == ".." or to.startswith("../")


def _deleted(
    base: Mapping[str, TreeEntry],
    listed: Mapping[str, Changed],
    folders: set[str],
    asked: set[str],
    left: _Left,
) -> list[TreeEntry]:
    """Entries of the tree of which nothing is left."""
    gone = {path for path, one in listed.items() if one.gone}
    if "" in gone:
        return [entry for entry in base.values() if entry.mode != GITLINK]
    no_folders = {as_told(path) for path in left.seen}
    found = []
    for path, entry in base.items():
        told = as_told(path)
        if path in left.seen or told in left.seen or entry.mode == GITLINK:
            continue
        itself = told in gone or told in asked or (told in folders and told in listed)
        if itself or any(above in gone or above in no_folders for above in parents(told)):
            found.append(entry)
    return found


def _change(path: str, old: TreeEntry | None, new: TreeEntry | None) -> Change:
    known = new or old
    assert known is not None
    zeros = "0" * len(known.id)
    return Change(
        path,
        old.mode if old else ABSENT,
        new.mode if new else ABSENT,
        old.id if old else zeros,
        new.id if new else zeros,
    )
