"""Trees: listing, reading, comparing, building, and patches between them.

New trees are written through an index file and an object folder of berbench's own; the repository's objects
are only borrowed (as alternates), its index, work tree and refs are not even looked at.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from berbench.errors import RepositoryError
from berbench.history.git import Command
from berbench.history.log import read_changes
from berbench.history.recent import Recent
from berbench.model.changes import ABSENT, GITLINK, SYMLINK, Change, Delta, FileEntry, TreeEntry

# Everything a patch's shape could depend on is said here, so config and attributes can't.
_PATCH = (
    "--patch",
    "--binary",
    "--full-index",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-O/dev/null",
    "--submodule=short",
    "--ignore-submodules=none",
)


class Trees:
    """Trees of one repository, over a git command that reads its objects and writes to `scratch`."""

    def __init__(self, command: Command, scratch: Path) -> None:
        self._git = command
        self._scratch = scratch
        self._listed = Recent(12, longest=10_000)
        self._changed = Recent(200, longest=2_000)
        self._ids = Recent(1000, longest=64)
        self._made = Recent(200, longest=100)  # ids
        self._read = Recent(32, longest=256 << 10, length=lambda found: sum(map(len, found.values())))
        self._deltas = Recent(
            32, longest=256 << 10, length=lambda delta: sum(len(one.data) for one in delta.writes)
        )

    def id_of(self, revision: str) -> str:
        """Tree id of a commit. LookupError for what is none (today: that may change, so it is not remembered)."""
        return self._ids.about((revision,), lambda: self._id(revision))

    def _id(self, revision: str) -> str:
        answer = self._git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", tree_name(revision))
        if answer.code != 0:
            raise LookupError(revision)
        return answer.line

    def changes(self, old: str, new: str) -> tuple[Change, ...]:
        """Paths that differ, no renames."""
        return self._changed.about((old, new), lambda: self._compared(old, new))

    def _compared(self, old: str, new: str) -> tuple[Change, ...]:
        return read_changes(
            self._git.run(
                "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "-O/dev/null",
                "--ignore-submodules=none", tree_name(old), tree_name(new), "--",
            )
        )  # fmt: skip

    def diff(self, old: str, new: str) -> bytes:
        """The patch from one tree to the other."""
        return self._git.run("diff-tree", "-r", *_PATCH, tree_name(old), tree_name(new), "--")

    def list(self, tree: str) -> tuple[TreeEntry, ...]:
        """All leaves."""
        return self._listed.about((tree,), lambda: self._leaves(tree))

    def _leaves(self, tree: str) -> tuple[TreeEntry, ...]:
        out = self._git.run("ls-tree", "-r", "-z", "--full-tree", tree_name(tree))
        entries = []
        for line in out.split(b"\0")[:-1]:
            meta, _, path = line.partition(b"\t")
            mode, _, name = meta.split(b" ")
            entries.append(TreeEntry(os.fsdecode(path), int(mode, 8), name.decode()))
        return tuple(entries)

    def read(self, tree: str, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Contents of those paths that are files or links."""
        wanted = frozenset(paths)
        return dict(self._read.about((tree,), lambda: self._contents(tree, wanted), wanted))

    def _contents(self, tree: str, wanted: frozenset[str]) -> dict[str, bytes]:
        entries = [entry for entry in self.list(tree) if entry.path in wanted and entry.mode != GITLINK]
        return {entry.path: data for entry, data in zip(entries, self._blobs(entries), strict=True)}

    def files(self, tree: str, exclude: Sequence[str]) -> Iterator[FileEntry]:
        """Files and links as stored."""
        prefixes = tuple(prefix.rstrip("/") for prefix in exclude)
        entries = [
            entry
            for entry in self.list(tree)
            if entry.mode != GITLINK
            and not any(entry.path == prefix or entry.path.startswith(prefix + "/") for prefix in prefixes)
        ]
        for entry, data in zip(entries, self._blobs(entries), strict=True):
            yield FileEntry(entry.path, plain_mode(entry.mode), data)

    def delta(self, old: str, new: str) -> Delta:
        """Writes and deletions that turn the files of one tree into another's."""
        return self._deltas.about((old, new), lambda: self._turned(old, new))

    def _turned(self, old: str, new: str) -> Delta:
        changes = self.changes(old, new)
        written = [
            TreeEntry(change.path, change.new_mode, change.new_id)
            for change in changes
            if change.new_mode not in (ABSENT, GITLINK)
        ]
        writes = tuple(
            FileEntry(entry.path, plain_mode(entry.mode), data)
            for entry, data in zip(written, self._blobs(written), strict=True)
        )
        # A changed type is deleted first, so that nothing is ever written through an old link.
        deletes = tuple(
            change.path for change in changes if change.status in "DT" and change.old_mode != GITLINK
        )
        return Delta(writes, deletes)

    def make(self, base: str, changes: Iterable[Change]) -> str:
        """Tree id of `base` with the new sides put in. Deletions first: a file may take a folder's place."""
        lines: tuple[list[bytes], list[bytes]] = ([], [])
        for change in changes:
            gone = change.new_mode == ABSENT
            name = "0" * len(change.old_id) if gone else change.new_id
            lines[not gone].append(
                b"%o %s\t%s\0" % (change.new_mode, name.encode(), os.fsencode(change.path))
            )
        data = b"".join(lines[0] + lines[1])
        return self._made.about((base,), lambda: self._put_in(base, data), sha256(data).digest())

    def _put_in(self, base: str, data: bytes) -> str:
        with self.index(base) as index:
            self._git.run("update-index", "-z", "--index-info", data=data, env={"GIT_INDEX_FILE": str(index)})
            return self.write_tree(index)

    def index(self, tree: str) -> _Index:
        """An index file that holds `tree`, gone at the end of the block."""
        return _Index(self._git, self._scratch, tree)

    def write_tree(self, index: Path) -> str:
        """Tree id of an index file. Objects may be missing: gitlinks and partial trees are as they were."""
        return self._git.run("write-tree", env={"GIT_INDEX_FILE": str(index)}).decode().strip()

    def _blobs(self, entries: Sequence[TreeEntry]) -> Iterator[bytes]:
        """Contents in order, one at a time, from one process."""
        if not entries:
            return
        feed = (entry.id.encode() + b"\n" for entry in entries)
        with self._git.stream("cat-file", "--batch", feed=feed) as stream:
            for entry in entries:
                header = stream.readline().split()
                if len(header) != 3:
                    raise RepositoryError(
                        f"The object of {entry.path!r} ({entry.id[:12]}) is missing from the repository.",
                        remedy="Check it with `git fsck`; a partial clone needs "
                        "`git fetch --refetch --no-filter`.",
                    )
                yield stream.read(int(header[2]))
                stream.read(1)


class _Index:
    """An index file of our own, for the length of a block."""

    def __init__(self, command: Command, scratch: Path, tree: str) -> None:
        self._git, self._scratch, self._tree = command, scratch, tree

    def __enter__(self) -> Path:
        self._folder = tempfile.TemporaryDirectory(prefix="index-", dir=self._scratch)
        path = Path(self._folder.name) / "index"
        try:
            self._git.run("read-tree", tree_name(self._tree), env={"GIT_INDEX_FILE": str(path)})
        except BaseException:
            self._folder.cleanup()
            raise
        return path

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


def tree_name(revision: str) -> str:
    """A tree or commit as the name of its tree; nothing that could be taken for an option."""
    if revision.startswith("-"):
        raise RepositoryError(f"{revision!r} is no revision.", remedy="Give a commit's id.")
    return revision + "^{tree}"


def plain_mode(mode: int) -> int:
    """Modes of old repositories (group-writable files) as git checks them out."""
    if mode == SYMLINK:
        return mode
    return 0o100755 if mode & 0o100 else 0o100644
