"""What the house asks of git: the repository's history, trees and patches, read-only.

Errors: RepositoryError (not a repository, shallow where depth is needed, unknown revision, git missing or
failing) and PatchConflict from `apply`. The user's index, work tree, refs, config and object store are
never touched: new objects go to a folder of berbench's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from berbench.history.comparison import Comparison
from berbench.history.snapshots import Blobs
from berbench.model.changes import Change, Commit, Delta, FileEntry, TreeEntry


class History(Protocol):
    """A git repository as berbench sees it. Revisions are anything git resolves; ids are full."""

    @property
    def root(self) -> Path:
        """The top of the work tree."""

    @property
    def git_version(self) -> str:
        """As git prints it, e.g. `2.39.5`."""

    def is_shallow(self) -> bool:
        """Whether commits are missing below some depth."""

    def remote_url(self, remote: str) -> str:
        """The remote's URL with credentials removed; "" when there is no such remote."""

    def main_branch(self, configured: str, remote: str) -> str:
        """The ref of the main branch (local or remote-tracking, whichever is further ahead), e.g.
        `refs/remotes/origin/main`. RepositoryError, with the names tried, when there is none."""

    def resolve(self, revision: str) -> str:
        """Full id of a commit."""

    def commit(self, revision: str) -> Commit:
        """One commit, `changes` left empty."""

    def walk(
        self, revision: str, *, since: str = "", wanted: Callable[[Commit], bool] | None = None
    ) -> Iterator[Commit]:
        """All ancestors, children before parents, newest first, with changes against the first parent, from one
        streaming git process. Closing the iterator ends the process. `since` is a date git understands. With
        `wanted`, only such commits have their changes, which a second process tells: a few are had for less."""

    def search(self, revision: str, patterns: Sequence[str]) -> tuple[Commit, ...]:
        """Ancestors whose message matches one of the extended regular expressions; no changes. Every branch's
        commits when `revision` is ""."""

    def messages(self, revision: str) -> Iterator[Commit]:
        """As `walk`, without changes: several times as fast."""

    def between(self, base: str, tip: str) -> tuple[Commit, ...]:
        """Commits of `tip` that `base` does not have, newest first; no changes."""

    def first_parents(self, revision: str, count: int) -> tuple[Commit, ...]:
        """The revision and its first-parent ancestors, newest first, at most `count`; no changes."""

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Whether `commit` is `of` or below it."""

    def on_first_parent_line(self, commit: str, of: str) -> bool:
        """Whether `commit` is `of` or on its first-parent line."""

    def changes(self, old: str, new: str) -> tuple[Change, ...]:
        """Every path that differs between two trees or commits, no renames."""

    def comparing(self) -> AbstractContextManager[Comparison]:
        """For the length of a block, what answers for many pairs of commits: line counts, and changed lines to read
        and not to apply. Git compares while more are asked for."""

    def tree_of(self, revision: str) -> str:
        """Tree id of a commit."""

    def trees_of(self, commits: Sequence[str]) -> Mapping[str, str]:
        """Tree ids of many commits from one process; unknown commits are left out."""

    def make_tree(self, base: str, changes: Iterable[Change]) -> str:
        """Tree id of `base` with the new sides of `changes` put in. A file takes the place of a folder, and the
        other way round, whether or not the changes say that the old one goes."""

    def write_blob(self, data: bytes) -> str:
        """Id of a new object that holds these bytes as they are: for the new side of a change."""

    def diff(self, old: str, new: str) -> bytes:
        """A patch with full ids and binary data, no renames, whatever the user's config or attributes say."""

    def apply(self, tree: str, patch: bytes) -> str:
        """Tree id after the patch; all or nothing. PatchConflict names path and hunk; an empty or
        text-only patch is an EmptyPatch, which is one too, as is a patch with a binary stub."""

    def list_tree(self, tree: str) -> tuple[TreeEntry, ...]:
        """All leaves of a tree."""

    def read(self, tree: str, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Contents of those paths that are files of the tree."""

    def words_in(self, tree: str, words: Iterable[str]) -> frozenset[str]:
        """Those of the words that stand somewhere in the tree's text files, as whole words."""

    def files_with(self, tree: str, texts: Iterable[str]) -> tuple[str, ...]:
        """Paths of the tree's text files that hold one of the texts, in order."""

    def files(self, tree: str, *, exclude: Sequence[str] = ()) -> Iterator[FileEntry]:
        """Every file and link of a tree as stored (no eol or filter conversions), from one process.
        Gitlinks are left out, so are paths under the given prefixes."""

    def delta(self, old: str, new: str) -> Delta:
        """What turns the files of one tree into another's, gitlinks left out."""

    def describe(self, commit: str) -> str:
        """Nearest tag at or below the commit, "" when there is none."""

    def one_commit(self, tree: str) -> tuple[FileEntry, ...]:
        """The files of a `.git` folder whose only commit, on `main`, holds `tree`: for an agent's workspace. Paths
        begin with `.git/`; nothing of any other commit is in them."""

    def write_blobs(self, blobs: Blobs) -> tuple[str, ...]:
        """Ids of new objects, in the order in which their bytes were added, from one process."""

    def ignored(self, tree: str, paths: Iterable[str], patterns: Sequence[str] = ()) -> frozenset[str]:
        """Those of the paths that the tree's `.gitignore` files leave out, or else one of `patterns` (in the same
        form, weaker than the tree's own)."""

    def close(self) -> None:
        """Remove the object folder made for new trees."""
