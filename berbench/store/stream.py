"""A file that is written piece by piece, so that it may be larger than memory: whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from berbench.errors import UsageError
from berbench.store import files as disk


def write_pieces(path: Path, pieces: Iterable[bytes]) -> int:
    """Write a file that the user named; its size in bytes. What stood there before is replaced at the end.

    A link is followed. What is no plain file, such as /dev/stdout or a pipe, is written into, never replaced.
    UsageError when the folder is not there, StoreError when the file system refuses.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise UsageError(
            f"There is no folder {disk.shown(target.parent)}.", remedy="Make it first, or name another."
        )
    if target.is_dir():
        raise UsageError(f"{disk.shown(path)} is a folder.", remedy="Name a file in it.")
    if target.exists() and not target.is_file():
        with disk.translated("write", path), path.open("wb") as file:
            return sum(file.write(piece) for piece in pieces)
    temporary = target.with_name(f"{disk.TEMPORARY}{secrets.token_hex(8)}")
    size = 0
    try:
        with disk.translated("write", path):
            with temporary.open("xb") as file:
                for piece in pieces:
                    size += file.write(piece)
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return size
