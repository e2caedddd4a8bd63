"""One lock per task, so that two commands never write one task at once.

Locks are `flock`s on files in the user's data folder: the system frees them when their process ends, however
it ends, so a dead process never holds one. A thread may take a lock again that it holds.
"""

from __future__ import annotations

import errno
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from berbench.errors import StoreError
from berbench.store.files import make_folder, read_file, shown, translated

Say = Callable[[str], None]

QUIET_WAIT_S = 1.0
NO_FLOCK = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK)  # of some network file systems


class Locks:
    """The locks of one repository's tasks. `folder` is theirs alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._locks: dict[tuple[int, str], FileLock] = {}
        self._guard = threading.Lock()

    @contextmanager
    def hold(self, name: str, say: Say | None = None) -> Iterator[bool]:
        """Hold the lock `name`: True when it was not this thread's already.

        After a second's wait it says what it waits for, then waits on.
        """
        lock, path = self._lock(name)
        with translated("lock", path):
            try:
                self._acquire(lock, QUIET_WAIT_S)
            except Timeout:
                if say:
                    say(f"task {name} is in use by {self._holder(path)}; waiting until it is done")
                self._acquire(lock, -1)
        try:
            first = lock.lock_counter == 1
            if first:
                self._sign(path)
            yield first
        finally:
            lock.release()

    @contextmanager
    def hold_if_free(self, name: str) -> Iterator[bool]:
        """Hold the lock `name` if nobody does: True. Else False, at once, and nothing is held."""
        lock, path = self._lock(name)
        with translated("lock", path):
            try:
                self._acquire(lock, 0)
            except Timeout:
                yield False
                return
        try:
            yield True
        finally:
            lock.release()

    def _acquire(self, lock: FileLock, timeout_s: float) -> None:
        try:
            lock.acquire(timeout=timeout_s)
        except OSError as error:
            if error.errno not in NO_FLOCK:
                raise
            raise StoreError(
                f"The file system of {shown(self._folder)} can't lock files.",
                remedy="Set BERBENCH_DATA_DIR to a folder on a local disk.",
            ) from error

    def _lock(self, name: str) -> tuple[FileLock, Path]:
        # A hash, so that names that differ in case only have different locks on every file system.
        path = self._folder / f"{hashlib.sha256(os.fsencode(name)).hexdigest()[:32]}.lock"
        with self._guard:
            key = (os.getpid(), name)  # a forked child holds nothing of its parent's
            if key not in self._locks:
                make_folder(self._folder)
                # A lock that is a file by itself would outlive a killed process.
                self._locks[key] = FileLock(path, thread_local=True, fallback_to_soft=False)
            return self._locks[key], path

    def _holder(self, path: Path) -> str:
        with suppress(Exception):
            pid = read_file(path.with_suffix(".pid")).decode("ascii").strip()
            if pid.isdigit():
                return f"process {pid}"
        return "another command"

    def _sign(self, path: Path) -> None:
        """Who holds it, for the message of one that waits. Only a courtesy, so it may fail."""
        with suppress(OSError):
            path.with_suffix(".pid").write_text(f"{os.getpid()}\n", "ascii")
