"""Line counts and texts of many changes, from two git processes that compare while more changes are asked for.

Hints for ranking. Never a patch to be applied.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import IO

from berbench.errors import RepositoryError
from berbench.history.git import SEND, Command
from berbench.model.changes import LineCount

LIMIT = 300_000  # bytes of one change's text; what is longer is no small concern anyway

_BLOCK = 1 << 16
# With `--always`, equal trees have an answer too: its header alone.
_EACH = ("--always", "--root", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", "-O/dev/null")
_COUNTS = ("diff-tree", "--stdin", *_EACH, "-z", "--numstat", "--ignore-submodules=none")
_TEXTS = ("diff-tree", "--stdin", *_EACH, "-p", "-U0", "--src-prefix=a/", "--dst-prefix=b/")

Counts = tuple[LineCount, ...]
_Questions = SimpleQueue[bytes | None]
_Answer = tuple[tuple[bytes, Counts], tuple[bytes, bytes]]  # commit and counts, commit and text


class _UnansweredError(Exception):
    """Git said no word of a commit."""


class Comparison:
    """Questions first, then the answers to all of them, in order."""

    def __init__(self, questions: Sequence[_Questions], answers: Iterator[_Answer]) -> None:
        self._questions, self._answers = questions, answers
        self._asked: list[str] = []

    def ask(self, old: str, new: str) -> None:
        """What changes between two commits, given by full ids. The old one of a commit without parents is ""."""
        self._asked.append(new)
        for questions in self._questions:
            questions.put(f"{new} {old}".strip().encode() + b"\n")
            questions.put(SEND)

    def answers(self) -> Iterator[tuple[Counts, bytes]]:
        """(line counts, changed lines) of each. The lines come without context and binary data; b"" where they
        are very many."""
        self.end()
        for new in self._asked:
            (counted, counts), (shown, text) = next(self._answers, ((b"", ()), (b"", b"")))
            if not counted == shown == new.encode():
                raise _UnansweredError(new)
            yield counts, text

    def end(self) -> None:
        """Ask no more."""
        for questions in self._questions:
            questions.put(None)


@contextmanager
def comparing(git: Command, limit: int = LIMIT) -> Iterator[Comparison]:
    """A comparison, for the length of a block. Texts of more than `limit` bytes are left out.

    RepositoryError, at the end of the block, where git failed or one of the commits is none.
    """
    questions = _Questions(), _Questions()
    feeds = [iter(one.get, None) for one in questions]
    unanswered = ""
    with git.stream(*_COUNTS, feed=feeds[0]) as counts, git.stream(*_TEXTS, feed=feeds[1]) as texts:
        comparison = Comparison(questions, zip(_counts(counts), _texts(texts, limit), strict=False))
        try:
            yield comparison
        except _UnansweredError as error:
            unanswered = str(error)  # where git failed, leaving its stream tells why
        finally:
            comparison.end()
    if unanswered:
        raise RepositoryError(
            f"Commit {unanswered[:12]} is missing from the repository.",
            remedy="Check it with `git fsck`; complete a shallow clone with `git fetch --unshallow`.",
        )


def _counts(stream: IO[bytes]) -> Iterator[tuple[bytes, Counts]]:
    """(commit, line counts) of each answer. All ends in NUL; an entry has two tabs in it, a commit's id none."""
    commit, counts, rest = b"", list[LineCount](), b""
    read = getattr(stream, "read1", stream.read)
    while block := read(_BLOCK):
        *tokens, rest = (rest + block).split(b"\0")
        for token in tokens:
            if b"\t" in token:
                added, deleted, path = token.split(b"\t", 2)
                counts.append(LineCount(os.fsdecode(path), _number(added), _number(deleted)))
                continue
            if commit:
                yield commit, tuple(counts)
            commit, counts = token, []
    if commit:
        yield commit, tuple(counts)


def _number(text: bytes) -> int | None:
    return None if text == b"-" else int(text)


def _texts(stream: IO[bytes], limit: int) -> Iterator[tuple[bytes, bytes]]:
    """(commit, text) of each answer."""
    commit, kept, size = b"", list[bytes](), 0
    for line in stream:
        if _is_commit(line):
            if commit:
                yield commit, b"".join(kept) if size <= limit else b""
            commit, kept, size = line[:-1], [], 0
            continue
        size += len(line)
        if size <= limit:
            kept.append(line)
    if commit:
        yield commit, b"".join(kept) if size <= limit else b""


def _is_commit(line: bytes) -> bool:
    """Whether an answer begins here; no line of a patch is an id alone."""
    return len(line) in (41, 65) and not line.strip(b"0123456789abcdef\n")
