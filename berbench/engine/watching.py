"""What is watched while a container works: its output, its time, and what is done beside it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from berbench.engine.api import Reply
from berbench.engine.capture import Frames
from berbench.engine.workspace import GRACE_S, Sink


class Reader:
    """Reads a command's output in a thread of its own, so that a command that has ended can be left."""

    def __init__(self, output: Reply, sink: Sink) -> None:
        self._output = output
        self._sink = sink
        self._error: BaseException | None = None
        self._last = time.monotonic()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Whether the output ended within this time."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def silent_for(self, seconds: float) -> bool:
        """Whether nothing came for so long."""
        return time.monotonic() - self._last >= seconds

    def finish(self) -> None:
        """Wait for the end, and raise what went wrong on the way."""
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _read(self) -> None:
        frames = Frames()
        try:
            for piece in self._output.pieces():
                self._last = time.monotonic()
                for number, payload in frames.numbered(piece):
                    self._sink(number, payload)
        except BaseException as error:
            self._error = error


class Beside:
    """Something that is done in a thread of its own."""

    def __init__(self, what: Callable[[], None]) -> None:
        self._what = what
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._do, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait for it; its error is raised here."""
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _do(self) -> None:
        try:
            self._what()
        except BaseException as error:
            self._error = error


class Limit:
    """TERM for everything at its time, and the end of the container after a grace; no more once it is left."""

    def __init__(self, seconds: float, term: Callable[[], None], kill: Callable[[], None]) -> None:
        self._ask = term
        self._timers = [threading.Timer(seconds, self._term), threading.Timer(seconds + GRACE_S, kill)]
        self.passed = False

    def __enter__(self) -> None:
        for timer in self._timers:
            timer.daemon = True
            timer.start()

    def __exit__(self, *_: object) -> None:
        for timer in self._timers:
            timer.cancel()

    def _term(self) -> None:
        self.passed = True
        self._ask()
