"""This machine as `doctor` and `clean` see it: room on disks, limits, folders that berbench left behind."""

from __future__ import annotations

import os
import re
import resource
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from berbench.process import process_space
from berbench.store import files as disk

PREFIX = "berbench-"  # of every temporary folder that berbench makes
_WITH_PROCESS = re.compile(rf"{PREFIX}[a-z]+-(\d+)-")
_OF_THIS_SPACE = re.compile(rf"{PREFIX}[a-z]+-\d+-(\d+)-")


@dataclass(frozen=True, slots=True)
class OldFolder:
    """A folder of berbench's own that is in nobody's way. `kind` is temporary or record."""

    kind: str
    path: Path
    touched_s: float  # seconds since the epoch: the newest change in it
    size_bytes: int


def free_bytes(path: Path) -> int | None:
    """Free bytes on the disk of a path, which need not exist yet; None when it can't be told."""
    for existing in (path, *path.parents):
        with suppress(OSError):
            return shutil.disk_usage(existing).free
    return None


def open_file_limit() -> int:
    """How many files this process may hold open; -1 for no limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return -1 if soft == resource.RLIM_INFINITY else soft


def writable(folder: Path) -> bool:
    """Whether files can be made in a folder, or, when it is absent, whether it can be made."""
    for existing in (folder, *folder.parents):
        if existing.exists():
            return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
    return False


def temporary_folders(folder: Path | None = None) -> tuple[OldFolder, ...]:
    """Temporary folders of berbench's, of this user, whose process is gone or was never named."""
    parent = folder or Path(tempfile.gettempdir())
    with suppress(OSError):
        left = (path for path in sorted(parent.iterdir()) if path.name.startswith(PREFIX) and _ours(path))
        return tuple(_measured("temporary", path) for path in left if not _alive(path.name))
    return ()


def orphans(folder: Path | None = None) -> tuple[OldFolder, ...]:
    """Those temporary folders whose process was one of this machine's and is surely gone: a kill -9 left them."""
    here = str(process_space())
    found = ((left, _OF_THIS_SPACE.match(left.path.name)) for left in temporary_folders(folder))
    return tuple(left for left, named in found if named is not None and named[1] == here)


def record_folders(data: Path) -> tuple[OldFolder, ...]:
    """All records of validations under the data folder, half-written ones included."""
    return tuple(_measured("record", path) for path in sorted(data.glob("*/validations/*/*")) if _ours(path))


def remove(folder: OldFolder) -> None:
    """Remove one of them. StoreError when the file system refuses."""
    disk.remove_tree(folder.path)


def _ours(path: Path) -> bool:
    with suppress(OSError):
        return not path.is_symlink() and path.is_dir() and path.lstat().st_uid == os.geteuid()
    return False


def _alive(name: str) -> bool:
    named = _WITH_PROCESS.match(name)
    if named is None:
        return False
    try:
        os.kill(int(named[1]), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _measured(kind: str, path: Path) -> OldFolder:
    """Walks the folder without following links. Files that vanish meanwhile count as nothing."""
    touched, size = 0.0, 0
    with suppress(OSError):
        touched = path.lstat().st_mtime
    for parent, folders, names in os.walk(path):
        for name in (*folders, *names):
            with suppress(OSError):
                status = (Path(parent) / name).lstat()
                touched = max(touched, status.st_mtime)
                size += status.st_size if name in names else 0
    return OldFolder(kind, path, touched, size)
