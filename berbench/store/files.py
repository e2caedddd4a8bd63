"""Files as berbench reads and writes them: whole or not at all, never through a link.

A write goes to a temporary file beside its target, is flushed to the disk, takes the target's place in one
rename, and the folder is flushed too. A kill at any moment leaves the old file or the new one. Errors:
StoreError when the file system refuses, ConfigError when what lies there is a link or no plain file.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from berbench.errors import ConfigError, StoreError, UsageError

MAX_TEXT = 16 << 20  # bytes of a text that the user names
TEMPORARY = ".new."  # prefix of what is being written; never a task, never read

_CAUSES = {
    errno.ENOSPC: ("the disk is full", "Free some space and try again; nothing was half-written."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and try again; nothing was half-written."),
    errno.EFBIG: ("the file would grow beyond the limit set for this process", "Raise `ulimit -f`."),
    errno.EROFS: ("the file system is read-only", "Work on a copy that can be written."),
    errno.EACCES: ("permission is denied", "Check who owns the folder and its mode."),
    errno.EPERM: ("permission is denied", "Check who owns the folder and its mode."),
    errno.ENAMETOOLONG: ("the name is too long", "Use a shorter name or folder."),
    errno.ENOTDIR: ("a file stands where a folder should be", "Move that file away."),
    errno.EMFILE: ("too many files are open", "Raise `ulimit -n`, or use fewer jobs."),
    errno.ENFILE: ("too many files are open on this machine", "Close other programs, or use fewer jobs."),
}


@contextmanager
def translated(verb: str, path: Path) -> Iterator[None]:
    """OSError → StoreError with what happened to which path and what to do."""
    try:
        yield
    except OSError as error:
        cause, remedy = _CAUSES.get(
            error.errno or 0, (error.strerror or str(error), "Check the disk and the path.")
        )
        raise StoreError(f"Can't {verb} {shown(path)}: {cause}.", remedy=remedy) from error


def shown(path: Path | str) -> str:
    """A path fit for any text stream."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def read_file(path: Path, *, folder: int | None = None) -> bytes:
    """A plain file's bytes. FileNotFoundError passes through: what it means is the caller's to say.

    With `folder` (a descriptor from `opened`), the file of that name in it, wherever the folder went.
    """
    try:
        name = path if folder is None else path.name
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise _no_plain_file(path, "a link") from error
        with translated("read", path):
            raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _no_plain_file(path, "no plain file")
        with translated("read", path), os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A folder held open, so that its files are read from the same one. FileNotFoundError passes through."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise _no_plain_file(path, "a link" if path.is_symlink() else "no folder") from error
        with translated("read", path):
            raise
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _no_plain_file(path: Path, what: str) -> ConfigError:
    return ConfigError(
        f"{shown(path)} is {what}; berbench reads and writes plain files and folders only.",
        remedy="Put the file or folder itself there.",
    )


def write_file(path: Path, data: bytes) -> None:
    """`data` at `path`, whole or not at all. An old file's mode and, where allowed, its owner are kept."""
    with translated("write", path):
        old = _plain_or_none(path)
        temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}")
        try:
            _write_new(temporary, data, old)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def write_new_file(path: Path, data: bytes) -> None:
    """`data` at `path`, flushed. For files of a folder that nobody sees yet."""
    with translated("write", path):
        _write_new(path, data, None)


def _plain_or_none(path: Path) -> os.stat_result | None:
    try:
        old = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(old.st_mode):
        raise _no_plain_file(path, "a link" if stat.S_ISLNK(old.st_mode) else "no plain file")
    if not os.access(path, os.W_OK):
        # A rename needs only the folder's consent; a file that was made read-only is meant to stay as it is.
        cause = errno.EROFS if os.statvfs(path).f_flag & os.ST_RDONLY else errno.EACCES
        raise OSError(cause, os.strerror(cause), str(path))
    return old


def _write_new(path: Path, data: bytes, old: os.stat_result | None) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    with os.fdopen(descriptor, "wb") as file:
        if old is not None:
            if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                with suppress(PermissionError):
                    os.fchown(descriptor, old.st_uid, old.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def sync_folder(path: Path) -> None:
    """Flush a folder's own entries, where the file system can."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems can't
            raise
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """The folder and those above it."""
    with translated("make the folder", path):
        path.mkdir(parents=True, exist_ok=True)


def remove_tree(path: Path) -> None:
    """A folder of berbench's own, links in it not followed. No error when it is gone already."""
    with translated("remove", path):
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            return


def real_folder(root: Path, *names: str) -> Path:
    """`root/names…`, none of which below `root` may be a link. ConfigError names the one that is."""
    path = root
    for name in names:
        path = path / name
        with translated("read", path):
            if path.is_symlink():
                raise ConfigError(
                    f"{shown(path)} is a link, and berbench follows none inside its own folders.",
                    remedy="Put the folder itself there.",
                )
    return path


def read_text_file(path: Path) -> str:
    """A text the user named on the command line. UsageError when it is absent, no file, no UTF-8, or endless."""
    try:
        return read_named_file(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown(path)} is not UTF-8 text.", remedy="Save it as UTF-8.") from error


def read_named_file(path: Path) -> bytes:
    """A file the user named on the command line. UsageError when it is absent, no file, or endless."""
    try:
        with translated("read", path), path.open("rb") as file:
            data = file.read(MAX_TEXT + 1)
    except StoreError as error:
        raise UsageError(error.message, remedy="Name a file that can be read.") from error
    if len(data) > MAX_TEXT:
        raise UsageError(
            f"{shown(path)} is larger than {MAX_TEXT >> 20} MiB.", remedy="Check that it is the right file."
        )
    return data
