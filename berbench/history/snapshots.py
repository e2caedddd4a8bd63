"""What an agent's workspace gets of a repository, and how what comes back becomes objects again.

It gets one commit and nothing else: no ref, tag, remote, reflog or object of any other time can be in it, since
it starts from nothing and is filled with what that commit reaches.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, BinaryIO, cast

from berbench.history.git import Command, failure
from berbench.history.trees import Trees
from berbench.model.changes import REGULAR, FileEntry

BRANCH = "main"
_MESSAGE = b"Initial commit\n"
_WHO = "Developer"
_MAIL = "developer@example.com"
_PIECE = 1 << 18
_WHEN = "946684800 +0000"  # the same for every task, so that it tells nothing of the landing

_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[user]
\tname = {who}
\temail = {mail}
"""
_SHA256 = "[extensions]\n\tobjectFormat = sha256\n"


class Blobs:
    """Bytes on their way to becoming objects: one temp file for all of them, whatever their number."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="berbench-")  # noqa: SIM115
        self.count = 0

    def __enter__(self) -> Blobs:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, body: IO[bytes], size: int) -> int:
        """Take exactly `size` bytes; the number of the object. EOFError when there are fewer."""
        self.count += 1
        self._file.write(b"blob\nmark :%d\ndata %d\n" % (self.count, size))
        left = size
        while left:
            piece = body.read(min(left, _PIECE))
            if not piece:
                raise EOFError("the bytes end early")
            self._file.write(piece)
            left -= len(piece)
        self._file.write(b"\n")
        return self.count - 1

    def rewound(self) -> BinaryIO:
        """The file, to be read from its beginning."""
        self._file.seek(0)
        return cast("BinaryIO", self._file)


class Snapshots:
    """The part of a repository's door that serves workspaces."""

    _git: Command
    _trees: Trees
    _scratch: Path

    def one_commit(self, tree: str) -> tuple[FileEntry, ...]:
        """The files of a `.git` folder (paths begin with `.git/`) whose only commit, on `main`, holds `tree`."""
        who = {"NAME": _WHO, "EMAIL": _MAIL, "DATE": _WHEN}
        env = {f"GIT_{role}_{name}": text for role in ("AUTHOR", "COMMITTER") for name, text in who.items()}
        commit = self._git.run("commit-tree", tree, data=_MESSAGE, env=env).strip()
        version, more = (1, _SHA256) if len(commit) == 64 else (0, "")
        texts = {
            "HEAD": f"ref: refs/heads/{BRANCH}\n",
            "config": _CONFIG.format(version=version, who=_WHO, mail=_MAIL) + more,
            "description": "\n",
            f"refs/heads/{BRANCH}": commit.decode() + "\n",
            "info/exclude": "",
        }
        found = [FileEntry(f".git/{path}", REGULAR, text.encode()) for path, text in texts.items()]
        with tempfile.TemporaryDirectory(prefix="pack-", dir=self._scratch) as name:
            folder = Path(name)
            # Packed as it lies: a search for better deltas takes minutes on a large tree.
            self._git.run(
                "pack-objects", "--quiet", "--revs", "--window=0", "--threads=1",
                "--index-version=2", str(folder / "pack"), data=commit + b"\n",
            )  # fmt: skip
            for place in sorted(folder.iterdir()):
                if place.suffix in (".pack", ".idx"):
                    path = f".git/objects/pack/{place.name}"
                    found.append(FileEntry(path, REGULAR, place.read_bytes()))
        with self._trees.index(tree) as index:
            found.append(FileEntry(".git/index", REGULAR, index.read_bytes()))
        return tuple(found)

    def write_blobs(self, blobs: Blobs) -> tuple[str, ...]:
        """Ids of new objects, in the order in which their bytes were added, from one process."""
        if not blobs.count:
            return ()
        with tempfile.TemporaryDirectory(prefix="blobs-", dir=self._scratch) as name:
            marks = Path(name, "marks")
            # Blobs alone: no ref and no commit is in the stream.
            args = ("fast-import", "--quiet", f"--export-marks={marks}")
            answer = self._git.ask(*args, file=blobs.rewound())
            if answer.code != 0:
                raise failure(args, answer)
            lines = (line.split() for line in marks.read_text(encoding="ascii").splitlines())
            ids = {int(mark.removeprefix(":")): id_ for mark, id_ in lines}
        return tuple(ids[number + 1] for number in range(blobs.count))

    def ignored(self, tree: str, paths: Iterable[str], patterns: Sequence[str] = ()) -> frozenset[str]:
        """Those of the paths that the tree's own `.gitignore` files leave out, or else one of `patterns` (in the
        same form, weaker than the tree's). Paths are of files; whether the tree holds them makes no difference."""
        asked = sorted(set(paths))
        if not asked:
            return frozenset()
        rules = [entry for entry in self._trees.list(tree) if entry.path.rpartition("/")[2] == ".gitignore"]
        texts = self._trees.read(tree, [entry.path for entry in rules if entry.mode & 0o170000 == 0o100000])
        with tempfile.TemporaryDirectory(prefix="ignore-", dir=self._scratch) as name:
            work, own = Path(name, "work"), Path(name, "git")
            for folder in (work, own / "objects", own / "refs"):
                folder.mkdir(parents=True)
            (own / "HEAD").write_text(f"ref: refs/heads/{BRANCH}\n", encoding="ascii")
            (own / "patterns").write_text("".join(f"{line}\n" for line in patterns), encoding="utf-8")
            for path, text in texts.items():
                place = work / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text)
            # A git folder of its own: what the user excludes in theirs is no rule of the tree.
            args = (
                "-C", str(work), "-c", f"core.excludesFile={own / 'patterns'}",
                "check-ignore", "-z", "--stdin", "--no-index",
            )  # fmt: skip
            answer = self._git.ask(
                *args,
                data=b"".join(os.fsencode(path) + b"\0" for path in asked),
                env={"GIT_DIR": str(own), "GIT_WORK_TREE": str(work), "GIT_LITERAL_PATHSPECS": "0"},
            )
        if answer.code not in (0, 1):  # 1 says that none is
            raise failure(("check-ignore",), answer)
        return frozenset(os.fsdecode(path) for path in answer.out.split(b"\0") if path)
