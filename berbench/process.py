"""Child processes: the only module that starts any.

A command that fails is a value (`Ended`). Errors: FileNotFoundError and PermissionError when the program
can't be started at all. Every child gets a session of its own, so that it and its children can be ended
together, and no standard input unless one is given. Nothing here goes through a shell.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended. `code` is None when it was ended from here: by its time limit or by `stop`."""

    code: int | None
    stdout: bytes = b""
    stderr: bytes = b""
    timed_out: bool = False


def run(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    data: bytes | None = None,
    timeout_s: float = 60.0,
) -> Ended:
    """Run a command to its end and keep both outputs. `env` replaces the environment, None inherits it."""
    with _started(argv, cwd, env, subprocess.PIPE if data is not None else subprocess.DEVNULL) as child:
        try:
            stdout, stderr = child.communicate(data, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            _end(child)
            stdout, stderr = child.communicate()
            return Ended(None, stdout, stderr, timed_out=True)
        return Ended(child.returncode, stdout, stderr)


def stream(
    argv: Sequence[str],
    sink: Callable[[bytes], object],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: IO[bytes] | None = None,
    timeout_s: float,
    stop: threading.Event | None = None,
) -> Ended:
    """Run a command and hand its output (both streams, as written) to `sink` piece by piece.

    `stdin` is a real file. The child and its group are ended at `timeout_s` or once `stop` is set; the wait
    is over when the child itself is gone, even if a child of its own still holds the output open.
    """
    source = stdin if stdin is not None else subprocess.DEVNULL
    deadline = time.monotonic() + timeout_s
    with _started(argv, cwd, env, source, merged=True) as child:
        seen = 0

        def count(piece: bytes) -> None:
            nonlocal seen
            seen += len(piece)
            sink(piece)

        reader = threading.Thread(target=_pump, args=(child, count), daemon=True)
        reader.start()
        while _alive(child) and time.monotonic() < deadline and not (stop and stop.is_set()):
            time.sleep(0.01)
        ended_here = _alive(child)
        timed_out = ended_here and time.monotonic() >= deadline
        _end(child)
        _drain(reader, lambda: seen)
        return Ended(None if ended_here else child.returncode, timed_out=timed_out)


def scratch_prefix(word: str) -> str:
    """Name of a temporary folder that tells whose it is: `berbench-git-<process>-<space of process numbers>-`."""
    return f"berbench-{word}-{os.getpid()}-{process_space()}-"


def process_space() -> int:
    """Which numbering of processes this one lives in; 0 where the system tells none."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def ask(argv: Sequence[str], *, timeout_s: float = 10.0) -> str | None:
    """The trimmed answer of a small command; None when it is missing, fails, or takes too long."""
    try:
        ended = run(argv, timeout_s=timeout_s)
    except OSError:
        return None
    return ended.stdout.decode("utf-8", "replace").strip() if ended.code == 0 else None


def on_path(name: str, path: str | None = None) -> tuple[str, ...]:
    """Every executable of that name on PATH, first come first; links to the same file once."""
    found: dict[Path, str] = {}
    for folder in (os.environ.get("PATH", "") if path is None else path).split(os.pathsep):
        place = Path(folder or ".") / name
        if place.is_file() and os.access(place, os.X_OK):
            found.setdefault(place.resolve(), str(place))
    return tuple(found.values())


def _started(
    argv: Sequence[str],
    cwd: Path | None,
    env: Mapping[str, str] | None,
    stdin: int | IO[bytes],
    *,
    merged: bool = False,
) -> _Child:
    return _Child(
        list(argv),
        cwd=cwd,
        env=None if env is None else dict(env),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merged else subprocess.PIPE,
        start_new_session=True,
    )


class _Child(subprocess.Popen[bytes]):
    """A child whose whole group is gone when its block is left, whatever the reason."""

    def __exit__(self, *exc: object) -> None:
        _end(self)
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self.wait()


def _alive(child: subprocess.Popen[bytes]) -> bool:
    # WNOWAIT leaves an ended child unreaped: until `_end`, its number can't become another process's.
    return child.returncode is None and os.waitid(os.P_PID, child.pid, _LOOK) is None


_LOOK = os.WEXITED | os.WNOHANG | os.WNOWAIT


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _drain(reader: threading.Thread, seen: Callable[[], int]) -> None:
    """Wait for what the child had written. One that left its group may hold the pipe open for ever."""
    before = -1
    while reader.is_alive() and seen() != before:
        before = seen()
        reader.join(0.3)


def _pump(child: subprocess.Popen[bytes], sink: Callable[[bytes], object]) -> None:
    assert child.stdout is not None
    with contextlib.suppress(OSError, ValueError):  # closed under our hands once the child was ended
        while piece := os.read(child.stdout.fileno(), CHUNK):
            sink(piece)
