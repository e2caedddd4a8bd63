"""GitHistory: the history door over a real repository on this machine."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from pathlib import Path

from berbench.errors import RepositoryError, StoreError, UsageError
from berbench.history.apply import apply_patch
from berbench.history.comparison import Comparison, comparing
from berbench.history.git import Command, failure
from berbench.history.log import FORMAT, RAW, read_commits
from berbench.history.place import alternates, locate
from berbench.history.snapshots import Snapshots
from berbench.history.trees import Trees, tree_name
from berbench.history.wanted import with_changes
from berbench.model.changes import Change, Commit, Delta, FileEntry, TreeEntry
from berbench.process import scratch_prefix

MAIN_NAMES = ("main", "master", "trunk", "develop")

_FULL_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PASSWORD = re.compile(r"^(?P<scheme>[a-z+]+://)(?P<user>[^/@]*)@")


class GitHistory(Snapshots):
    """A repository as found at or above `path`: work tree, linked work tree or bare.

    `scratch` is where the folder for new objects is made (the system's temp folder by default); `close`
    removes it. RepositoryError when there is no repository, or git is missing.
    """

    def __init__(self, path: Path, *, scratch: Path | None = None) -> None:
        place = locate(Path(path))
        self._root, self._git_dir, self._shallow, self._bare = (
            place.root,
            place.git_dir,
            place.shallow,
            place.bare,
        )
        try:
            self._scratch = Path(tempfile.mkdtemp(prefix=scratch_prefix("git"), dir=scratch))
            (self._scratch / "objects").mkdir()
            nowhere = self._scratch / "nowhere"
            nowhere.mkdir()
        except OSError as error:
            raise StoreError(
                f"No temp folder could be made: {error}.", remedy="Free some space, or set TMPDIR."
            ) from error
        # Also run at exit, so an error on the way leaves nothing behind.
        self._remove = weakref.finalize(self, shutil.rmtree, self._scratch, ignore_errors=True)
        # An empty work tree: no attributes file is read from the real one, and no path lies outside of it.
        self._git = Command(
            nowhere,
            env={
                "GIT_DIR": str(place.git_dir),
                "GIT_WORK_TREE": str(nowhere),
                "GIT_OBJECT_DIRECTORY": str(self._scratch / "objects"),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": alternates(place.objects),
                "GIT_INDEX_FILE": str(self._scratch / "no-index"),
            },
        )
        self._trees = Trees(self._git, self._scratch)
        self._applied: dict[tuple[str, bytes], str] = {}
        self._commits: set[str] = set()  # full ids that git told: they stay what they are

    def __enter__(self) -> GitHistory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def root(self) -> Path:
        """The top of the work tree; of a bare repository, its folder."""
        return self._root

    @property
    def git_version(self) -> str:
        """As git prints it, e.g. `2.39.5`."""
        return self._git.run("version").decode().removeprefix("git version ").split()[0]

    def is_shallow(self) -> bool:
        """Whether commits are missing below some depth."""
        return self._shallow

    def remote_url(self, remote: str) -> str:
        """The remote's URL without password or token; "" when there is none."""
        if not remote or remote.startswith("-"):
            return ""
        url = self._git.ask("config", "--get", f"remote.{remote}.url").line
        found = _PASSWORD.match(url)
        if not found:
            return url
        user = found["user"].partition(":")[0] + "@" if found["scheme"] == "ssh://" else ""
        return found["scheme"] + user + url[found.end() :]

    def main_branch(self, configured: str, remote: str) -> str:
        """The ref of the main branch, local or remote-tracking, whichever is further ahead."""
        tried = []
        for name in self._main_names(configured, remote):
            tried.append(name)
            refs = (
                [name]
                if name.startswith("refs/")
                else [f"refs/heads/{name}", f"refs/remotes/{remote}/{name}"]
            )
            if "/" in name and not name.startswith("refs/"):
                refs.append(f"refs/remotes/{name}")
            found = [ref for ref in refs if self._try_resolve(ref)]
            if found:
                return self._furthest(found)
        raise RepositoryError(
            f"No main branch was found (tried {', '.join(tried)}).",
            remedy="Name it as `main_branch:` in .ber/bench/config.yaml, or fetch it.",
        )

    def resolve(self, revision: str) -> str:
        """Full id of a commit."""
        found = self._try_resolve(revision)
        if not found:
            raise self._unknown(revision)
        return found

    def _unknown(self, revision: str) -> RepositoryError:
        remedy = "Check the name, or fetch it."
        if self._shallow:
            remedy = "The clone is shallow; complete it with `git fetch --unshallow`."
        return RepositoryError(f"{revision!r} is no commit of this repository.", remedy=remedy)

    def commit(self, revision: str) -> Commit:
        """One commit, without changes."""
        [commit] = self._log("--no-walk", self.resolve(revision))
        return commit

    def walk(
        self, revision: str, *, since: str = "", wanted: Callable[[Commit], bool] | None = None
    ) -> Iterator[Commit]:
        """All ancestors, children before parents, newest first; changes against the first parent, of all commits
        or of those that are `wanted`."""
        shape = (*RAW, "--diff-merges=first-parent") if wanted is None else ("--no-patch",)
        args = ("--date-order", *shape, *self._since(since))
        with self._git.stream("log", "-z", FORMAT, *args, self.resolve(revision), "--") as stream:
            commits = read_commits(stream)
            yield from commits if wanted is None else with_changes(self._git, commits, wanted)

    def _since(self, date: str) -> tuple[str, ...]:
        """git takes any words for a date, and those it can't read for this very moment."""
        if not date:
            return ()
        asked = int(time.time())
        answer = self._git.ask("rev-parse", f"--since={date}").line.partition("=")[2]
        if not answer.isdigit() or (int(answer) >= asked and date.strip().lower() != "now"):
            raise UsageError(
                f"{date!r} is no date in the past.", remedy="Write it like 2024-01-31 or `2 years ago`."
            )
        return (f"--since={date}",)

    def search(self, revision: str, patterns: Sequence[str]) -> tuple[Commit, ...]:
        """Ancestors (of every branch for "") whose message matches one of the expressions, newest first."""
        if not patterns:
            return ()
        greps = [f"--grep={pattern}" for pattern in patterns]
        where = [self.resolve(revision)] if revision else ["--branches", "--remotes"]
        return self._log("--date-order", "--extended-regexp", *greps, *where)

    def messages(self, revision: str) -> Iterator[Commit]:
        """As `walk`, without changes."""
        with self._git.stream(
            "log", "-z", FORMAT, "--no-patch", "--date-order", self.resolve(revision), "--"
        ) as out:
            yield from read_commits(out)

    def between(self, base: str, tip: str) -> tuple[Commit, ...]:
        """Commits of `tip` that `base` does not have, newest first."""
        return self._log("--date-order", self.resolve(tip), f"^{self.resolve(base)}")

    def first_parents(self, revision: str, count: int) -> tuple[Commit, ...]:
        """The revision and its first-parent ancestors, newest first."""
        return self._log("--first-parent", f"--max-count={max(count, 0)}", self.resolve(revision))

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Whether `commit` is `of` or below it."""
        args = ("merge-base", "--is-ancestor", self.resolve(commit), self.resolve(of))
        answer = self._git.ask(*args)
        if answer.code not in (0, 1):
            raise failure(args, answer)
        return answer.code == 0

    def on_first_parent_line(self, commit: str, of: str) -> bool:
        """Whether `commit` is `of` or on its first-parent line."""
        wanted = self.resolve(commit).encode()
        with self._git.stream("rev-list", "--first-parent", self.resolve(of)) as stream:
            return any(line.rstrip(b"\n") == wanted for line in stream)

    def changes(self, old: str, new: str) -> tuple[Change, ...]:
        """Every path that differs between two trees or commits, no renames."""
        return self._trees.changes(old, new)

    def comparing(self) -> AbstractContextManager[Comparison]:
        """Line counts and changed lines of many pairs of commits; git compares while more are asked for."""
        return comparing(self._git)

    def tree_of(self, revision: str) -> str:
        """Tree id of a commit."""
        try:
            return self._trees.id_of(revision)
        except LookupError:
            raise self._unknown(revision) from None

    def trees_of(self, commits: Sequence[str]) -> Mapping[str, str]:
        """Tree ids of many commits from one process; unknown commits are left out."""
        names = [name for name in commits if "\n" not in name and not name.startswith("-")]
        if not names:
            return {}
        asked = "".join(f"{tree_name(name)}\n" for name in names).encode("utf-8", "surrogateescape")
        out = self._git.run("cat-file", "--batch-check=%(objecttype) %(objectname)", data=asked)
        found = zip(names, out.splitlines(), strict=True)
        return {name: line[5:].decode() for name, line in found if line.startswith(b"tree ")}

    def make_tree(self, base: str, changes: Iterable[Change]) -> str:
        """Tree id of `base` with the new sides of `changes` put in."""
        return self._trees.make(base, changes)

    def write_blob(self, data: bytes) -> str:
        """Id of a new object that holds these bytes as they are."""
        return self._git.run("hash-object", "-w", "--no-filters", "--stdin", data=data).decode().strip()

    def diff(self, old: str, new: str) -> bytes:
        """A patch with full ids and binary data, no renames, whatever config or attributes say."""
        return self._trees.diff(old, new)

    def apply(self, tree: str, patch: bytes) -> str:
        """Tree id after the patch; all or nothing. PatchConflict names path and hunk."""
        # Lint and what comes before or after it ask for the same trees; a tree's id and a patch decide the result.
        key = tree, hashlib.sha256(patch).digest()
        if key not in self._applied:
            self._applied[key] = apply_patch(self._trees, self._git, tree, patch)
        return self._applied[key]

    def list_tree(self, tree: str) -> tuple[TreeEntry, ...]:
        """All leaves of a tree."""
        return self._trees.list(tree)

    def read(self, tree: str, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Contents of those paths that are files of the tree."""
        return self._trees.read(tree, paths)

    def words_in(self, tree: str, words: Iterable[str]) -> frozenset[str]:
        """Those of the words that stand somewhere in the tree's text files, as whole words."""
        wanted = {word for word in words if word and "\n" not in word}
        found = self._grep(tree, wanted, "-o", "-h", "-w").splitlines()
        return frozenset(line.decode("utf-8", "surrogateescape") for line in set(found)) & wanted

    def files_with(self, tree: str, texts: Iterable[str]) -> tuple[str, ...]:
        """Paths of the tree's text files that hold one of the texts, in order."""
        wanted = {text for text in texts if text and "\n" not in text}
        names = self._grep(tree, wanted, "-l", "-z").split(b"\0")
        return tuple(os.fsdecode(name.split(b":", 1)[1]) for name in names if name)

    def _grep(self, tree: str, texts: Set[str], *how: str) -> bytes:
        """What `git grep` says of literal texts in a tree's text files."""
        if not texts:
            return b""
        lines = "".join(f"{text}\n" for text in sorted(texts)).encode("utf-8", "surrogateescape")
        args = ("grep", "-I", *how, "-F", "-f", "-", self.tree_of(tree))
        answer = self._git.ask(*args, data=lines)
        if answer.code not in (0, 1):  # 1 says that none was found
            raise failure(args, answer)
        return answer.out

    def files(self, tree: str, *, exclude: Sequence[str] = ()) -> Iterator[FileEntry]:
        """Every file and link as stored, one at a time; not gitlinks, nor paths under `exclude`."""
        return self._trees.files(tree, exclude)

    def delta(self, old: str, new: str) -> Delta:
        """What turns the files of one tree into another's, gitlinks left out."""
        return self._trees.delta(old, new)

    def describe(self, commit: str) -> str:
        """Nearest tag at or below the commit, "" when there is none."""
        return self._git.ask("describe", "--tags", "--abbrev=0", self.resolve(commit)).line

    def close(self) -> None:
        """Remove the object folder. Trees made here are gone then."""
        self._remove()

    def _log(self, *args: str) -> tuple[Commit, ...]:
        with self._git.stream("log", "-z", FORMAT, "--no-patch", *args, "--") as stream:
            return tuple(read_commits(stream))

    def _try_resolve(self, revision: str) -> str:
        """Full id of a commit, "" when it is none."""
        if not revision or revision.startswith("-") or "\0" in revision:
            return ""
        if revision in self._commits:
            return revision
        answer = self._git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
        if answer.code != 0 or not _FULL_ID.fullmatch(answer.line):
            return ""
        self._commits.add(answer.line)
        return answer.line

    def _main_names(self, configured: str, remote: str) -> Iterator[str]:
        if configured:
            yield configured
            return
        head = self._git.ask("symbolic-ref", "--quiet", f"refs/remotes/{remote}/HEAD")
        if head.code == 0:
            yield head.line.removeprefix(f"refs/remotes/{remote}/")
        if self._bare and (own := self._git.ask("symbolic-ref", "--quiet", "HEAD")).code == 0:
            yield own.line.removeprefix("refs/heads/")
        yield from MAIN_NAMES

    def _furthest(self, refs: Sequence[str]) -> str:
        """The ref that holds the others. Where they went apart, the last: what was published."""
        best = refs[0]
        for ref in refs[1:]:
            if not self.is_ancestor(ref, best):
                best = ref
        return best
