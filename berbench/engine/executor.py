"""Where trials run. Stages see this and nothing behind it.

`LocalExecutor` is a bounded pool beside one local engine. Another executor may send trials to other machines:
a trial names no process, folder or host.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Protocol

from berbench.engine.door import Engine
from berbench.model.trial import Facts, Trial


class Executor(Protocol):
    """Runs trials and gives their facts back in the same order.

    Errors: EngineError when an engine failed in any of them (then the others' facts are dropped, since half a
    comparison proves nothing); whatever interrupts the caller ends the trials first and then passes through.
    """

    def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
        """All of them, side by side as far as the executor's bound allows; each begins as soon as it is given."""

    def close(self) -> None:
        """End what still runs and free the workers."""


class LocalExecutor:
    """At most `jobs` trials at a time on one engine, however many callers there are."""

    def __init__(self, engine: Engine, jobs: int = 2) -> None:
        self._engine = engine
        self._pool = ThreadPoolExecutor(max(1, jobs), thread_name_prefix="berbench-trial")

    def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
        """See `Executor`. May be called from several threads."""
        futures: list[Future[Facts]] = []
        try:
            for trial in trials:
                futures.append(self._pool.submit(self._engine.run, trial))  # noqa: PERF401 what began is ended below
            # In short waits: a signal that another thread receives does not wake this one.
            while wait(futures, 0.2, FIRST_EXCEPTION).not_done and not any(map(_failed, futures)):
                pass
            for future in futures:
                if error := _failed(future):
                    raise error
            return [future.result() for future in futures]
        except BaseException as error:
            if not isinstance(error, Exception):  # Ctrl-C and the like: don't wait for a test's own end
                self._engine.interrupt()
            _finish(futures)
            raise

    def close(self) -> None:
        """See `Executor`."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _failed(future: Future[Facts]) -> BaseException | None:
    return future.exception() if future.done() else None


def _finish(futures: Sequence[Future[Facts]]) -> None:
    """Drop what has not begun; wait until the rest has put its containers away."""
    for future in futures:
        future.cancel()
    wait([future for future in futures if not future.cancelled()])
