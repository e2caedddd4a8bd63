"""The changes of some commits of a stream, told by a second git process while the first one streams.

To compare two trees is most of what a walk with changes costs, and most commits are nobody's landing. Questions go
in batches, one batch ahead: git compares for the next while the commits of this one are read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from queue import SimpleQueue
from typing import IO

from berbench.errors import RepositoryError
from berbench.history.git import SEND, Command
from berbench.history.log import RAW, read_answers
from berbench.model.changes import Change, Commit

_FIRST, _MOST = 16, 512  # commits of a batch: no more is read ahead than was read so far
_BLOCK = 1 << 18
# diff-tree gives back a line that names no object, and all that it has said before it: the end of a batch.
_END = b"-\n"


def with_changes(
    git: Command, commits: Iterator[Commit], wanted: Callable[[Commit], bool]
) -> Iterator[Commit]:
    """The commits in their order; those that are wanted with their changes against the first parent."""
    questions: SimpleQueue[bytes | None] = SimpleQueue()
    feed = iter(questions.get, None)
    with git.stream("diff-tree", "--stdin", "--root", "-r", "-z", *RAW, feed=feed) as stream:
        ahead: Collection[Commit] = ()
        try:
            for batch in chain(_batches(commits), ((),)):
                asked = {commit.sha: commit for commit in batch if wanted(commit)}
                if asked:
                    questions.put(b"".join(map(_question, asked.values())) + _END)
                    questions.put(SEND)
                yield from ahead
                answers = _answers(stream) if asked else {}
                if answers is None:
                    break  # git ended; leaving the stream tells why
                ahead = [
                    replace(one, changes=answers.get(one.sha, ())) if one.sha in asked else one
                    for one in batch
                ]
            else:
                return
        finally:
            questions.put(None)
    raise RepositoryError("git diff-tree ended before it had answered.", remedy="Try again.")


def _batches(commits: Iterator[Commit]) -> Iterator[tuple[Commit, ...]]:
    size = _FIRST
    while batch := tuple(islice(commits, size)):
        yield batch
        size = min(2 * size, _MOST)


def _question(commit: Commit) -> bytes:
    """Compare a commit with its first parent alone, whatever others it has; one without any, with nothing."""
    return " ".join((commit.sha, *commit.parents[:1])).encode() + b"\n"


def _answers(stream: IO[bytes]) -> Mapping[str, tuple[Change, ...]] | None:
    """Changes by commit, of one batch; None where the stream ends before."""
    read = getattr(stream, "read1", stream.read)
    data = bytearray()
    while block := read(_BLOCK):
        data += block
        # A name may hold the very bytes of an end: then what stands before them is not whole.
        if data.endswith(_END) and (found := read_answers(bytes(data[: -len(_END)]))) is not None:
            return found
    return None
