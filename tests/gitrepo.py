"""Real git repositories for tests, written object by object, so a hundred commits cost milliseconds.

`RepoBuilder` writes loose objects and refs itself (no git process), therefore any name, mode or byte that a
git tree can hold can be made. Everything is on disk as soon as a method returns.

    repo = RepoBuilder(tmp_path / "r")
    base = repo.commit("Start", {"a.py": b"x = 1\n", "tests/run.sh": (b"#!/bin/sh\n", 0o100755)})
    repo.branch("feature")
    repo.commit("Fix", {"a.py": b"x = 2\n", "old": None, "cur": symlink("v1"), "sub": gitlink("1" * 40)})
    repo.switch("main")
    repo.merge("feature", "Merge pull request #7 from o/feature\n\nFix")
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

File = bytes | tuple[bytes, int] | None
Tree = dict[bytes, tuple[int, str]]  # path -> mode, object id

START = datetime(2024, 1, 1, tzinfo=UTC)
AUTHOR = "Ann Author <ann@example.org>"


def symlink(target: str | bytes) -> tuple[bytes, int]:
    """A link, as a value for `files`."""
    return os.fsencode(target), 0o120000


def gitlink(commit: str) -> tuple[bytes, int]:
    """A submodule pointer, as a value for `files`."""
    return commit.encode(), 0o160000


def executable(data: bytes) -> tuple[bytes, int]:
    """A program, as a value for `files`."""
    return data, 0o100755


class RepoBuilder:
    """A repository under construction. Revisions are branch names or full ids."""

    def __init__(
        self, path: Path, *, branch: str = "main", bare: bool = False, object_format: str = "sha1"
    ) -> None:
        self.path = path
        self.git_dir = path if bare else path / ".git"
        self.current = branch
        self._hash = hashlib.sha1 if object_format == "sha1" else hashlib.sha256
        self._trees: dict[str, Tree] = {}
        self._parents: dict[str, tuple[str, ...]] = {}
        self._heads: dict[str, str] = {}
        self._clock = START
        for folder in ("objects/pack", "objects/info", "refs/heads", "refs/tags"):
            (self.git_dir / folder).mkdir(parents=True, exist_ok=True)
        version, extension = (
            (0, "") if object_format == "sha1" else (1, "[extensions]\n\tobjectFormat = sha256\n")
        )
        (self.git_dir / "config").write_text(
            f"[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n"
            f"\tbare = {str(bare).lower()}\n{extension}"
        )
        self._point_head()

    @property
    def head(self) -> str:
        """Tip of the current branch."""
        return self._heads[self.current]

    def resolve(self, revision: str) -> str:
        """A branch name or full id as a full id."""
        return self._heads.get(revision, revision)

    def commit(
        self,
        message: str | bytes,
        files: Mapping[str | bytes, File] | None = None,
        *,
        parents: Sequence[str] | None = None,
        branch: str | None = None,
        author: str = AUTHOR,
        date: datetime | None = None,
    ) -> str:
        """A commit on a branch (the current one), its tree being the first parent's with `files` put in.

        None deletes a path; a deleted path without slash that is a folder goes whole.
        """
        branch = self.current if branch is None else branch
        if parents is None:
            parents = [self._heads[branch]] if branch in self._heads else []
        above = [self.resolve(parent) for parent in parents]
        tree = dict(self._trees[above[0]]) if above else {}
        self._put(tree, files or {})
        return self._write_commit(message, tree, above, branch, author, date)

    def merge(
        self,
        others: str | Sequence[str],
        message: str | bytes,
        files: Mapping[str | bytes, File] | None = None,
        *,
        branch: str | None = None,
        author: str = AUTHOR,
        date: datetime | None = None,
    ) -> str:
        """A merge commit: ours with what each other changed since its merge base, then `files`."""
        branch = self.current if branch is None else branch
        ours = self._heads[branch]
        theirs = [self.resolve(other) for other in ([others] if isinstance(others, str) else others)]
        tree = self._merged(ours, theirs)
        self._put(tree, files or {})
        return self._write_commit(message, tree, [ours, *theirs], branch, author, date)

    def squash(
        self, other: str, message: str | bytes, *, author: str = AUTHOR, date: datetime | None = None
    ) -> str:
        """One single-parent commit with all that another branch changed."""
        tree = self._merged(self.head, [self.resolve(other)])
        return self._write_commit(message, tree, [self.head], self.current, author, date)

    def branch(self, name: str, at: str | None = None) -> None:
        """Make a branch (at the current tip) and switch to it."""
        self._set_ref(f"refs/heads/{name}", self.resolve(at) if at else self.head)
        self._heads[name] = self.resolve(at) if at else self.head
        self.switch(name)

    def switch(self, name: str) -> None:
        """Make a branch the current one, and HEAD's."""
        self.current = name
        self._point_head()

    def reset(self, revision: str) -> None:
        """Move the current branch."""
        self._heads[self.current] = self.resolve(revision)
        self._set_ref(f"refs/heads/{self.current}", self.head)

    def tag(self, name: str, at: str | None = None) -> None:
        """A light tag."""
        self._set_ref(f"refs/tags/{name}", self.resolve(at) if at else self.head)

    def remote_ref(self, name: str, at: str | None = None) -> None:
        """A remote-tracking branch, e.g. `origin/main`."""
        self._set_ref(f"refs/remotes/{name}", self.resolve(at) if at else self.head)

    def files(self, revision: str | None = None) -> dict[str, tuple[int, str]]:
        """Mode and id of every path of a commit, names decoded as berbench does."""
        tree = self._trees[self.resolve(revision) if revision else self.head]
        return {os.fsdecode(path): entry for path, entry in tree.items()}

    def git(self, *args: str, data: bytes | None = None) -> bytes:
        """Output of real git, run in the repository; an AssertionError shows what it printed."""
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", str(self.path), *args],
            input=data,
            stdin=None if data is not None else subprocess.DEVNULL,
            capture_output=True,
            env=env,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout

    def checkout(self) -> None:
        """Fill the work tree and index from the current branch."""
        self.git("reset", "--hard", "-q")

    def write_object(self, kind: str, data: bytes) -> str:
        """A loose object of any content; its id."""
        raw = f"{kind} {len(data)}\0".encode() + data
        name = self._hash(raw).hexdigest()
        target = self.git_dir / "objects" / name[:2] / name[2:]
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(zlib.compress(raw, 1))
        return name

    def _put(self, tree: Tree, files: Mapping[str | bytes, File]) -> None:
        removed = [os.fsencode(path) for path, value in files.items() if value is None]
        for path in removed:
            _clear(tree, path)
        for name, value in files.items():
            if value is None:
                continue
            data, mode = value if isinstance(value, tuple) else (value, 0o100644)
            path = os.fsencode(name)
            _clear(tree, path)
            for depth in range(1, path.count(b"/") + 1):  # a file where a folder is needed goes
                tree.pop(b"/".join(path.split(b"/")[:depth]), None)
            tree[path] = (mode, data.decode() if mode == 0o160000 else self.write_object("blob", data))

    def _merged(self, ours: str, theirs: Sequence[str]) -> Tree:
        tree = dict(self._trees[ours])
        for other in theirs:
            base = self._trees.get(self._merge_base(ours, other), {})
            new = self._trees[other]
            for path in base.keys() | new.keys():
                if base.get(path) != new.get(path):
                    tree.pop(path, None)
                    if path in new:
                        tree[path] = new[path]
        return tree

    def _merge_base(self, one: str, two: str) -> str:
        seen, queue = set(), [one]
        while queue:
            commit = queue.pop()
            if commit not in seen:
                seen.add(commit)
                queue.extend(self._parents[commit])
        queue = [two]
        while queue:
            commit = queue.pop(0)
            if commit in seen:
                return commit
            queue.extend(self._parents[commit])
        return ""

    def _write_commit(
        self,
        message: str | bytes,
        tree: Tree,
        parents: list[str],
        branch: str,
        author: str,
        date: datetime | None,
    ) -> str:
        self._clock = date or self._clock + timedelta(hours=1)
        stamp = f"{int(self._clock.timestamp())} {self._clock.strftime('%z') or '+0000'}"
        text = message.encode("utf-8", "surrogateescape") if isinstance(message, str) else message
        lines = [f"tree {self._write_tree(tree)}", *(f"parent {parent}" for parent in parents)]
        lines += [f"author {author} {stamp}", f"committer {author} {stamp}"]
        body = "\n".join(lines).encode() + b"\n\n" + (text if text.endswith(b"\n") else text + b"\n")
        sha = self.write_object("commit", body)
        self._trees[sha], self._parents[sha] = tree, tuple(parents)
        self._heads[branch] = sha
        self._set_ref(f"refs/heads/{branch}", sha)
        return sha

    def _write_tree(self, tree: Tree) -> str:
        folders: dict[bytes, Tree] = {}
        entries: list[tuple[bytes, int, str]] = []
        for path, (mode, name) in tree.items():
            head, slash, rest = path.partition(b"/")
            if slash:
                folders.setdefault(head, {})[rest] = (mode, name)
            else:
                entries.append((head, mode, name))
        entries += [(name, 0o40000, self._write_tree(inner)) for name, inner in folders.items()]
        entries.sort(key=lambda entry: entry[0] + (b"/" if entry[1] == 0o40000 else b""))
        return self.write_object(
            "tree", b"".join(b"%o %s\0" % (mode, name) + bytes.fromhex(oid) for name, mode, oid in entries)
        )

    def _set_ref(self, name: str, sha: str) -> None:
        target = self.git_dir / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(sha + "\n")

    def _point_head(self) -> None:
        (self.git_dir / "HEAD").write_text(f"ref: refs/heads/{self.current}\n")


def _clear(tree: Tree, path: bytes) -> None:
    """Take a path, or everything under it, out of a tree."""
    tree.pop(path, None)
    for inside in [name for name in tree if name.startswith(path + b"/")]:
        del tree[inside]
