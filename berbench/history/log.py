"""`git log` as a stream of commits: the format asked for, and how it is read back.

One commit is five NUL-ended fields, then (where it changes anything) raw entries `:modes ids status` and
paths, all NUL-ended; git puts a newline before the first entry. Bytes are cut at NUL alone, so nothing that
stands in a message or a name can be taken for structure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import IO

from berbench.model.changes import Change, Commit

FORMAT = "--format=%H%x00%P%x00%ct %cI%x00%an <%ae>%x00%B"
RAW = ("--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")

_BLOCK = 1 << 18


def read_commits(stream: IO[bytes]) -> Iterator[Commit]:
    """Commits from the output of `git log -z` with FORMAT and, if wanted, RAW."""
    fields: list[bytes] = []
    changes: list[Change] = []
    meta = b""  # a raw entry that waits for its path
    for token in _tokens(stream):
        if meta:
            changes.append(_change(meta, token))
            meta = b""
        elif len(fields) < 5:
            fields.append(token)
        elif token[:2] == b"\n:" or token[:1] == b":":
            meta = token
        else:
            yield _commit(fields, tuple(changes))
            fields, changes = [token], []
    if len(fields) == 5:
        yield _commit(fields, tuple(changes))


def read_changes(raw: bytes) -> tuple[Change, ...]:
    """Changes from the output of `git diff-tree -z --raw`."""
    tokens = raw.split(b"\0")
    return tuple(_change(tokens[at], tokens[at + 1]) for at in range(0, len(tokens) - 1, 2))


def _tokens(stream: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    read = getattr(stream, "read1", stream.read)
    while block := read(_BLOCK):
        parts = (rest + block).split(b"\0")
        rest = parts.pop()
        yield from parts
    if rest:
        yield rest


def _change(meta: bytes, path: bytes) -> Change:
    old_mode, new_mode, old_id, new_id, _ = meta.lstrip(b"\n:").split(b" ")
    return Change(os.fsdecode(path), int(old_mode, 8), int(new_mode, 8), old_id.decode(), new_id.decode())


def _commit(fields: list[bytes], changes: tuple[Change, ...]) -> Commit:
    sha, parents, date, author, message = fields
    # The subject is git's own: the first paragraph on one line.
    text = message.decode("utf-8", "replace").replace("\r\n", "\n").strip("\n")
    first, _, body = text.partition("\n\n")
    return Commit(
        sha=sha.decode(),
        parents=tuple(parents.decode().split()),
        committed_at=_date(date.decode()),
        author=author.decode("utf-8", "replace"),
        subject=" ".join(first.split("\n")).strip(),
        body=body.strip("\n"),
        changes=changes,
    )


def _date(text: str) -> datetime:
    """The date with its zone; in UTC where the commit's zone is none that exists."""
    seconds, _, iso = text.partition(" ")
    try:
        return datetime.fromisoformat(iso)
    except ValueError:
        return datetime.fromtimestamp(min(int(seconds or 0), 253402300799), UTC)
