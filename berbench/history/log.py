"""`git log` as a stream of commits: the format asked for, and how it is read back.

One commit is five NUL-ended fields, then (where it changes anything) raw entries `:modes ids status` and
paths, all NUL-ended; git puts a newline before the first entry. Bytes are cut at NUL alone, so nothing that
stands in a message or a name can be taken for structure.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import IO

from berbench.model.changes import Change, Commit

FORMAT = "--format=%H%x00%P%x00%ct %cI%x00%an <%ae>%x00%B"
RAW = (
    "--raw",
    "-O/dev/null",
    "--no-renames",
    "--no-abbrev",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=none",
)

_BLOCK = 1 << 18


def read_commits(stream: IO[bytes]) -> Iterator[Commit]:
    """Commits from the output of `git log -z` with FORMAT and, if wanted, RAW."""
    fields: list[str] = []
    changes: list[Change] = []
    meta = ""  # a raw entry that waits for its path
    for tokens in _blocks(stream):
        for token in tokens:
            if meta:
                changes.append(_change(meta, token))
                meta = ""
            elif len(fields) < 5:
                fields.append(token)
            elif token[:1] == ":":
                meta = token
            elif token[:2] == "\n:":
                meta = token[1:]
            else:
                yield _commit(fields, tuple(changes))
                fields, changes = [token], []
    if len(fields) == 5:
        yield _commit(fields, tuple(changes))


def read_changes(raw: bytes) -> tuple[Change, ...]:
    """Changes from the output of `git diff-tree -z --raw`."""
    tokens = _decode(raw).split("\0")
    return tuple(_change(tokens[at], tokens[at + 1]) for at in range(0, len(tokens) - 1, 2))


def read_answers(raw: bytes) -> dict[str, tuple[Change, ...]] | None:
    """Changes by commit, from the output of `git diff-tree -z --raw --stdin` for commits; None where it is cut."""
    found: dict[str, list[Change]] = {}
    changes: list[Change] = []
    *tokens, rest = _decode(raw).split("\0")
    meta = ""
    for token in tokens:
        if meta:
            changes.append(_change(meta, token))
            meta = ""
        elif token[:1] == ":":
            meta = token
        else:
            changes = found.setdefault(token, [])
    if meta or rest:
        return None
    return {sha: tuple(changes) for sha, changes in found.items()}


def _blocks(stream: IO[bytes]) -> Iterator[list[str]]:
    """Whole tokens, many at a time: decoding and cutting big blocks is what makes this as fast as git."""
    rest = b""
    read = getattr(stream, "read1", stream.read)
    while block := read(_BLOCK):
        whole, nul, tail = block.rpartition(b"\0")
        if nul:
            yield _decode(rest + whole).split("\0")
            rest = tail
        else:
            rest += block
    if rest:
        yield [_decode(rest)]


def _change(meta: str, path: str) -> Change:
    """`:100644 100644 <id> <id> M`; ids are 40 or 64 digits."""
    width = (len(meta) - 18) // 2
    old_id, new_id = meta[15 : 15 + width], meta[16 + width : 16 + 2 * width]
    return Change(path, int(meta[1:7], 8), int(meta[8:14], 8), old_id, new_id)


def _commit(fields: list[str], changes: tuple[Change, ...]) -> Commit:
    sha, parents, date, author, message = fields
    # The subject is git's own: the first paragraph on one line.
    text = _readable(message).replace("\r\n", "\n").strip("\n")
    first, _, body = text.partition("\n\n")
    return Commit(
        sha=sha,
        parents=tuple(parents.split()),
        committed_at=_date(date),
        author=_readable(author),
        subject=" ".join(first.split("\n")).strip(),
        body=body.strip("\n"),
        changes=changes,
    )


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _readable(text: str) -> str:
    """Messages are for reading: bytes that are no UTF-8 are replaced. (Names keep theirs.)"""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _date(text: str) -> datetime:
    """The date with its zone; in UTC where the commit's zone is none that exists."""
    seconds, _, iso = text.partition(" ")
    try:
        return datetime.fromisoformat(iso)
    except ValueError:
        return datetime.fromtimestamp(min(int(seconds or 0), 253402300799), UTC)
