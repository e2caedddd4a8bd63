"""Folders that appear whole or not at all, whenever the process is killed.

A new folder is filled aside (`.new.<random>.<name>`) and renamed into place. One that stands there already
steps aside first (`.old.<random>.<name>`) and goes when the new one stands. `repair` finishes or takes back
what a kill left: the old folder comes back unless the new one took its place. The caller holds its lock.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from berbench.errors import StoreError
from berbench.store import files as disk

_ASIDE = re.compile(r"\.(new|old)\.[0-9a-f]{16}\.(.+)", re.DOTALL)


@contextmanager
def new_folder(folder: Path, contents: Mapping[str, bytes]) -> Iterator[Path]:
    """Fill a folder aside and give its path; when the block ends well, it takes the place of `folder`.

    `contents` are bytes by name, which may hold folders of its own (`base/log`).
    """
    disk.make_folder(folder.parent)
    new = _aside("new", folder)
    try:
        with disk.translated("make the folder", new):
            new.mkdir()
        for name, data in contents.items():
            disk.make_folder((new / name).parent)
            disk.write_new_file(new / name, data)
        with disk.translated("write", new):
            for inner in sorted({(new / name).parent for name in contents}):
                disk.sync_folder(inner)
            disk.sync_folder(new)
        yield new
        _swap(new, folder)
    except BaseException:
        with suppress(StoreError):
            disk.remove_tree(new)
        raise


def _swap(new: Path, folder: Path) -> None:
    old = _aside("old", folder)
    with disk.translated("write", folder):
        replaced = folder.exists()
        if replaced:
            folder.rename(old)
        try:
            new.rename(folder)
        except BaseException:
            if replaced:
                old.rename(folder)
            raise
        disk.sync_folder(folder.parent)
    if replaced:
        disk.remove_tree(old)


def _aside(kind: str, folder: Path) -> Path:
    return folder.with_name(f".{kind}.{secrets.token_hex(8)}.{folder.name}")


def unfinished(parent: Path) -> frozenset[str]:
    """Names of the folders whose placing was cut off, or is under way in another process."""
    return frozenset(match[2] for match in _asides(parent))


def stepped_aside(folder: Path) -> bool:
    """Whether the old folder has gone aside and the new one does not stand yet."""
    return not folder.exists() and any(
        (match[1], match[2]) == ("old", folder.name) for match in _asides(folder.parent)
    )


def repair(folder: Path) -> None:
    """Finish or take back what a kill left of placing `folder` or of writing in it."""
    for match in sorted(_asides(folder.parent), key=lambda match: match[1], reverse=True):
        if match[2] != folder.name:
            continue
        aside = folder.with_name(match[0])
        if match[1] == "old" and not folder.exists():
            with disk.translated("write", folder):
                aside.rename(folder)
        else:
            disk.remove_tree(aside)
    with disk.translated("write", folder):
        for left in _leavings(folder):
            left.unlink(missing_ok=True)


def has_leavings(folder: Path) -> bool:
    """Whether a write in it was cut off, or is under way."""
    return bool(_leavings(folder))


def _leavings(folder: Path) -> list[Path]:
    if folder.is_symlink():
        return []
    try:
        return [path for path in folder.iterdir() if path.name.startswith(disk.TEMPORARY)]
    except OSError:
        return []


def _asides(parent: Path) -> list[re.Match[str]]:
    try:
        names = [path.name for path in parent.iterdir()]
    except OSError:
        return []
    return [match for match in map(_ASIDE.fullmatch, names) if match]
