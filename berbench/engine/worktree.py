"""What a work tree holds, as git would name it, from the engine's tar stream."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Container, Iterator
from typing import IO

from berbench.engine.archive import SECOND_NAME, Source, read_members
from berbench.engine.script import OWN_FILES
from berbench.model.changes import REGULAR, TreeEntry

PIECE = 1 << 18


def tree_entries(source: Source, paths: Container[str] | None) -> Iterator[TreeEntry]:
    """Files and links with git's modes and blob ids; only those in `paths`, when given; never `.git`.

    A second name of a file has that file's id, and "" where the file itself is not among them.
    """
    known: dict[str, TreeEntry] = {}
    for name, mode, body, size, target in read_members(source):
        if not name or name in OWN_FILES or name.startswith(".git/"):
            continue
        if paths is not None and name not in paths:
            continue
        if mode == SECOND_NAME:
            first = known.get(target, TreeEntry(target, REGULAR, ""))
            known[name] = TreeEntry(name, first.mode, first.id)
        elif body is None:
            link = os.fsencode(target)
            known[name] = TreeEntry(name, mode, blob_id(io.BytesIO(link), len(link)))
        else:
            known[name] = TreeEntry(name, mode, blob_id(body, size))
        yield known[name]


def blob_id(body: IO[bytes], size: int) -> str:
    """What git calls these bytes, of which there are `size`."""
    digest = hashlib.sha1(b"blob %d\0" % size)
    while piece := body.read(PIECE):
        digest.update(piece)
    return digest.hexdigest()
