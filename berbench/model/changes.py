"""Commits, changes, landings, pull requests: what local history and the forge tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

GITLINK = 0o160000
SYMLINK = 0o120000
EXECUTABLE = 0o100755
REGULAR = 0o100644
ABSENT = 0


class LandedBy(StrEnum):
    """The form in which a pull request entered the main branch."""

    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"
    COMMIT = "commit"  # a plain commit taken with --commit, with no pull request behind it


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs between two trees. A rename is a deletion and an addition."""

    path: str
    old_mode: int  # git file mode, ABSENT (0) when added
    new_mode: int  # git file mode, ABSENT (0) when deleted
    old_id: str  # full blob id, or zeros
    new_id: str

    @property
    def status(self) -> str:
        """A (added), D (deleted), T (type changed) or M (modified: bytes, mode, or both)."""
        if self.old_mode == ABSENT:
            return "A"
        if self.new_mode == ABSENT:
            return "D"
        return "M" if self.old_mode & 0o170000 == self.new_mode & 0o170000 else "T"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as `git log` streams it. `changes` are against the first parent; empty where not asked for."""

    sha: str
    parents: tuple[str, ...]
    committed_at: datetime  # with its zone
    author: str  # "Name <mail>", for telling bots
    subject: str
    body: str
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Landing:
    """How a pull request entered the main branch.

    `base` is the state before: first parent of a merge or squash, parent of the first of a rebased series.
    `commits` are the landed commits newest first: one, or the whole rebased series; `brought` are all that came with
    them, a merged branch's own too, where they were asked for.
    """

    pr: int | None
    landed_by: LandedBy
    commit: str
    base: str
    title: str
    message: str  # subject and body of the landing, as written
    merged_at: datetime
    commits: tuple[str, ...]
    issues: tuple[int, ...] = ()  # linked by closing keywords in local messages
    source_branch: str = ""
    author: str = ""
    changes: tuple[Change, ...] = ()
    brought: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotLanding:
    """A commit that looked like a landing and is none, or can't be a task; `reason` is for people."""

    pr: int | None
    commit: str
    reason: str


@dataclass(frozen=True, slots=True)
class LineCount:
    """Lines of one changed path; None for binary content."""

    path: str
    added: int | None
    deleted: int | None


@dataclass(frozen=True, slots=True)
class Split:
    """Changed paths by side; every path is on exactly one."""

    tests: tuple[Change, ...]
    reference: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One leaf of a tree: a file, link or gitlink."""

    path: str
    mode: int
    id: str


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file or link as bytes, as it goes into a container. For a link, `data` is its target."""

    path: str
    mode: int  # REGULAR, EXECUTABLE or SYMLINK
    data: bytes


@dataclass(frozen=True, slots=True)
class Delta:
    """What turns one tree's files into another's: write these, delete those. Deletions come first."""

    writes: tuple[FileEntry, ...] = ()
    deletes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue as the forge tells it."""

    number: int
    title: str
    body: str
    url: str
    author_is_bot: bool = False
    is_pull_request: bool = False


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull or merge request as the forge tells it."""

    number: int
    title: str
    body: str
    url: str
    merged: bool
    landing_commit: str  # the forge's merge/squash/last rebased commit, "" if not merged
    head_commit: str
    source_branch: str
    target_branch: str
    commits: int | None  # how many commits the branch had
    closes: tuple[int, ...] = ()  # the forge's own list of issues it closed, else closing keywords
    merged_at: datetime | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Repository:
    """What berbench knows of the repository's place on a forge. `slug` is `owner/name` or a GitLab path."""

    host: str = ""
    slug: str = ""
    provider: str = ""  # github | gitlab | "" for offline


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Some files of one tree, for thinking modules: all names, and the contents of those asked for."""

    paths: tuple[str, ...]
    contents: Mapping[str, bytes] = field(default_factory=dict)

    def text(self, path: str) -> str:
        """Contents as text for reading only; "" when absent. Undecodable bytes are replaced."""
        return self.contents.get(path, b"").decode("utf-8", "replace")

    def __contains__(self, path: object) -> bool:
        return path in self.paths if not self.contents else path in self.contents or path in self.paths
