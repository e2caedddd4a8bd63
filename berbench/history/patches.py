"""The text of many changes from one git process, as a hint for ranking. Never a patch to be applied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from berbench.history.git import Command

LIMIT = 300_000  # bytes of one change; what is longer is no small concern anyway


def stream_patches(git: Command, pairs: Sequence[tuple[str, str]], limit: int = LIMIT) -> Iterator[bytes]:
    """Changed lines between each pair of tree ids, in order, without context; b"" when over `limit` bytes."""
    feed = (f"{old} {new}\n".encode() for old, new in pairs)
    shape = (
        "-r",
        "-p",
        "-U0",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--src-prefix=a/",
        "--dst-prefix=b/",
    )
    with git.stream("diff-tree", "--stdin", *shape, "-O/dev/null", feed=feed) as stream:
        ahead = stream.readline()
        for old, new in pairs:
            header = f"{old} {new}\n".encode()
            kept: list[bytes] = []
            size = 0
            if ahead == header:  # equal trees get no answer at all
                ahead = stream.readline()
                while ahead and not _is_header(ahead, len(header)):
                    size += len(ahead)
                    if size <= limit:
                        kept.append(ahead)
                    ahead = stream.readline()
            yield b"".join(kept) if size <= limit else b""


def _is_header(line: bytes, length: int) -> bool:
    """Whether this is the next answer's "old new" line; no line of a patch is made of two ids alone."""
    return (
        len(line) == length
        and line[length // 2 - 1 : length // 2] == b" "
        and not line.strip(b"0123456789abcdef \n")
    )
