"""One input against one target: what may come of it, how long it may take, and how much memory."""

from __future__ import annotations

import signal
import time
import traceback
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from berbench.errors import BerbenchError

MAX_BYTES = 1 << 16
SECONDS = 1.0  # of processor time, for an input of MAX_BYTES
MEMORY_FIXED, MEMORY_PER_BYTE = (
    24 << 20,
    500,
)  # a line of three bytes may become a result with its id and message


@dataclass(frozen=True, slots=True)
class Failure:
    """An input that broke a rule. `key` is the same for all inputs that break it at the same place."""

    kind: str  # raises | takes too long | takes too much memory
    key: str
    detail: str


class TooLong(BaseException):
    """The limit was met. Nothing that catches errors catches this."""


def try_input(
    check: Callable[[bytes], None], data: bytes, *, seconds: float = SECONDS, memory: bool = False
) -> Failure | None:
    """What is wrong with a reader's doings on these bytes; None when all is well. `memory` traces allocations."""
    if memory:
        tracemalloc.start()
    began = time.process_time()
    try:
        with _alarm(seconds * 2):
            check(data)
    except BerbenchError:
        pass
    except (TooLong, MemoryError) as stop:
        kind = "takes too long" if isinstance(stop, TooLong) else "takes too much memory"
        return Failure(kind, f"{kind} at {_place(stop)}", "".join(traceback.format_exception(stop)))
    except Exception as error:
        key = f"{type(error).__name__} at {_place(error)}"
        return Failure("raises", key, "".join(traceback.format_exception(error)))
    finally:
        took = time.process_time() - began
        peak = tracemalloc.get_traced_memory()[1] if memory else 0
        if memory:
            tracemalloc.stop()
    if peak > MEMORY_FIXED + MEMORY_PER_BYTE * len(data):
        return Failure(
            "takes too much memory", "takes too much memory", f"{peak >> 20} MiB for {len(data)} bytes"
        )
    if took > seconds and not memory:
        return Failure("takes too long", "takes too long", f"{took:.2f} s for {len(data)} bytes")
    return None


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Ends the block after so much processor time; what else the machine does doesn't count."""

    def ring(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _place(error: BaseException) -> str:
    """The innermost function of berbench, or of the target, that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in frames if not frame.filename.endswith("limits.py")]
    own = [frame for frame in frames if "/berbench/" in frame.filename or "/fuzz/" in frame.filename]
    last = (own or frames)[-1]
    return f"{Path(last.filename).name}:{last.name}"


def smaller(data: bytes, fails: Callable[[bytes], bool], *, rounds: int = 400) -> bytes:
    """A shorter input that fails alike: pieces are taken out, from halves down to single bytes."""
    size = max(1, len(data) // 2)
    while size and rounds > 0:
        at = 0
        while at < len(data) and rounds > 0:
            rounds -= 1
            shorter = data[:at] + data[at + size :]
            if fails(shorter):
                data = shorter
            else:
                at += size
        size //= 2
    return data
