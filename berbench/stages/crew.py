"""The workers of a run: every cell that is due is measured, so many at once, and kept as it ends.

Nothing of a run lives in its process alone. A run that was killed is simply run again: what is measured is found,
what an agent has done is graded, and the rest is paid for. Two runs at once take different cells.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import Protocol

from berbench.model.cells import Cell, CellOutcome, CellResult
from berbench.stages.budget import Answer, Budget
from berbench.stages.measure import Makers, measure
from berbench.stages.plan import Plan
from berbench.store.cells import Cells

POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is measured already, and what is still due."""

    reused: int
    due: tuple[Cell, ...]


def forecast(cells: Cells, plan: Plan, *, fresh: bool) -> Forecast:
    """Which cells of the plan are due. With `fresh` all of them are."""
    due = plan.cells if fresh else tuple(cell for cell in plan.cells if cells.find(cell.key) is None)
    return Forecast(len(plan.cells) - len(due), due)


class Shown(Protocol):
    """Is told what happens, from several threads."""

    def say(self, cell: Cell, line: str) -> None:
        """What is done for a cell now."""

    def ended(self, cell: Cell, result: CellResult, spent: float) -> None:
        """A cell was measured, or was not (its outcome is `error`); what the run has cost so far, in USD."""

    def left(self, cell: Cell, why: str) -> None:
        """A cell is not measured by this run, and why."""


@dataclass(slots=True)
class Tally:
    """What came of the cells that were due. `shared` were measured by another run meanwhile."""

    measured: int = 0
    shared: int = 0
    errors: set[str] = field(default_factory=set)  # keys
    unaffordable: set[str] = field(default_factory=set)  # keys


class _Did(Enum):
    """What a worker did with a cell that it took."""

    DONE = auto()
    LATER = auto()


class _Crew:
    """The workers of one run, and what they share."""

    def __init__(
        self,
        makers: Makers,
        plan: Plan,
        due: Sequence[Cell],
        budget: Budget,
        shown: Shown,
        since: datetime | None,
    ) -> None:
        self._makers, self._plan, self._budget, self._shown = makers, plan, budget, shown
        self._since = since
        self._waiting = deque(due)
        self._in_vain = 0  # cells put back since one was done
        self._lock = threading.Lock()
        self.stop = threading.Event()
        self.tally = Tally()

    def work(self) -> None:
        """Take cells until there are none. What is another run's, or too dear for now, is put back."""
        while not self.stop.is_set():
            with self._lock:
                if not self._waiting:
                    return
                cell = self._waiting.popleft()
            did = self._take(cell)
            with self._lock:
                self._in_vain = 0 if did is _Did.DONE else self._in_vain + 1
                if did is _Did.LATER:
                    self._waiting.append(cell)
                idle = self._in_vain >= len(self._waiting) > 0
            if did is _Did.LATER and idle:
                self.stop.wait(POLL_S)

    def _take(self, cell: Cell) -> _Did:
        cells = self._makers.cells
        with cells.claim(cell.key) as free:
            if not free:
                return _Did.LATER
            # A fresh measurement takes the place of one that can't be read as well.
            find = cells.find if self._since is None else cells.find_readable
            if (known := find(cell.key)) and self._serves(known.result):
                self._shared(cell, known.result)
                return _Did.DONE
            answer = self._budget.reserve(cell)
            if answer is Answer.YES:
                try:
                    self._measure(cell)
                finally:
                    self._budget.release(cell)
                return _Did.DONE
        if answer is Answer.LATER:
            return _Did.LATER
        with self._lock:
            self.tally.unaffordable.add(cell.key)
        self._shown.left(cell, "what it may cost does not fit into what is left of the ceiling")
        return _Did.DONE

    def _serves(self, result: CellResult) -> bool:
        """Whether what another run measured meanwhile is what this one would pay for."""
        return self._since is None or (result.finished_at is not None and result.finished_at >= self._since)

    def _shared(self, cell: Cell, result: CellResult) -> None:
        with self._lock:
            self.tally.shared += 1
        self._shown.ended(cell, result, self._budget.spent)

    def _measure(self, cell: Cell) -> None:
        cells, ground = self._makers.cells, self._plan.grounds[cell.task]
        found = measure(self._makers, cell, ground, lambda line: self._shown.say(cell, line))
        result = found.record.result
        if result.outcome is CellOutcome.ERROR:
            cells.save_error(found.record, found.files, self._makers.bench.now())
        else:
            cells.save(found.record, found.files)
        self._budget.settle(cell, result.usage.cost_usd)
        with self._lock:
            if result.outcome is CellOutcome.ERROR:
                self.tally.errors.add(cell.key)
            else:
                self.tally.measured += 1
        self._shown.ended(cell, result, self._budget.spent)


def execute(
    makers: Makers,
    plan: Plan,
    due: Sequence[Cell],
    *,
    budget: Budget,
    concurrency: int,
    shown: Shown,
    since: datetime | None = None,
) -> Tally:
    """Measure what is due. Whatever ends it early leaves what was measured, and nothing half-written.

    A measurement that ended before `since` does not serve: what `--fresh` asks for. With None, any does.
    """
    crew = _Crew(makers, plan, due, budget, shown, since)
    workers = max(1, min(concurrency, len(due)))
    with ThreadPoolExecutor(workers, thread_name_prefix="cell") as pool:
        futures = [pool.submit(crew.work) for _ in range(workers)]
        try:
            # In short waits: a signal that another thread receives does not wake this one.
            pending = set(futures)
            while pending:
                done, pending = wait(pending, POLL_S)
                for future in done:
                    future.result()
        except BaseException:
            crew.stop.set()
            makers.bench.verifier.engine.interrupt()  # leaving the pool waits for its threads
            raise
    return crew.tally
