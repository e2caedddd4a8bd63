"""What an agent left in its container, as an engine's archives tell of it."""

from __future__ import annotations

import contextlib
import io
import os
import tarfile
from collections.abc import Iterable, Iterator, Set
from typing import Any

from benchmarks.fuzz.bytes_in import sample_history
from berbench.agents.candidate import Sides, collect, leaves
from berbench.diffs import patch_paths
from berbench.engine import members
from berbench.engine.archive import unsafe
from berbench.engine.workspace import Changed, Found
from berbench.engine.worktree import tree_entries
from berbench.errors import EngineError, RepositoryError
from berbench.model.changes import SYMLINK, TreeEntry

_CUT = b"\n%%%%\n"
_KINDS = {
    b"f": tarfile.REGTYPE,
    b"x": tarfile.REGTYPE,
    b"l": tarfile.SYMTYPE,
    b"h": tarfile.LNKTYPE,
    b"d": tarfile.DIRTYPE,
    b"p": tarfile.FIFOTYPE,
    b"s": tarfile.GNUTYPE_SPARSE,
}


class _Place:
    """A workspace whose every line says what lies at a path: `f path<TAB>text`, `l path<TAB>target`, `- path`."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._there: list[tuple[str, tarfile.TarInfo, bytes]] = []
        self._listed: list[Changed] = []
        for line in lines:
            kind, _, rest = line.partition(b" ")
            name, _, held = rest.partition(b"\t")
            path = os.fsdecode(name)
            if not unsafe(path):
                self._listed.append(
                    Changed(members.as_told(path), gone=kind == b"-", added=len(held) % 2 > 0)
                )
            if kind in _KINDS and path and "\0" not in path:
                self._there.append((path, _member(kind, held), held))

    def end(self) -> tuple[Changed, ...]:
        """What an engine would list."""
        return tuple(self._listed)

    def fetch(self, paths: Iterable[str]) -> Iterator[Found]:
        """Out of archives."""
        opened: Any = self._archive
        return members.fetch(opened, paths)

    def entries(self, paths: Set[str]) -> Iterator[TreeEntry]:
        """Out of archives."""
        opened: Any = self._archive
        return members.entries(opened, paths)

    def _archive(self, path: str) -> io.BytesIO | None:
        above = path.rpartition("/")[0]
        whole = io.BytesIO()
        with tarfile.open(
            fileobj=whole, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape"
        ) as tar:
            for name, member, held in self._there:
                if path and name != path and not name.startswith(path + "/"):
                    continue
                member.name = f"src/{name}" if not path else name[len(above) + 1 :] if above else name
                tar.addfile(member, io.BytesIO(held) if member.isreg() else None)
        whole.seek(0)
        return whole if whole.getbuffer().nbytes > tarfile.RECORDSIZE or not path or self._there else None


def _member(kind: bytes, held: bytes) -> tarfile.TarInfo:
    member = tarfile.TarInfo()
    member.type = tarfile.REGTYPE if kind == b"s" else _KINDS[kind]
    member.mode = 0o755 if kind == b"x" else 0o644
    if member.isreg():
        member.size = len(held)
    else:
        member.linkname = os.fsdecode(held).replace("\0", "")
    return member


def check_worktree(data: bytes) -> None:
    """A candidate holds what lies in the tree and nothing else, and no archive is read but as one.

    Lines of a place; behind the cut the bytes of an archive.
    """
    first, _, second = data[: 1 << 13].partition(_CUT)
    for paths in (None, {"a/b.py", "x"}):
        with contextlib.suppress(EngineError):
            list(tree_entries(io.BytesIO(second), paths))
    opened: Any = lambda path: io.BytesIO(second)  # noqa: E731
    with contextlib.suppress(EngineError):
        assert all(not unsafe(found.path) for found in members.fetch(opened, {"a", "a/b.py", "\ufffd/c"}))
    history, place = sample_history(), _Place(first.split(b"\n")[:12])
    base = history.tree_of("main")
    workspace: Any = place
    try:
        found = collect(history, workspace, Sides(base))
    except (EngineError, RepositoryError):
        return
    entries = {entry.path: entry for entry in history.list_tree(found.tree)}
    changes = history.changes(base, found.tree)
    assert bool(found.patch) == bool(changes)
    assert {change.path for change in changes} == set(patch_paths(found.patch)), "the patch names other paths"
    if found.patch:
        assert history.apply(base, found.patch) == found.tree
    for change in changes:
        assert not unsafe(change.path) and ".git" not in change.path.lower().split("/"), change.path
        entry = entries.get(change.path)
        if entry is not None and entry.mode == SYMLINK:
            target = os.fsdecode(dict(history.read(found.tree, [change.path]))[change.path])
            assert not leaves(change.path, target), f"{change.path!r} leads to {target!r}"
    assert all(why for _, why in found.left_out)
