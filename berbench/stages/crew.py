"""The workers of a run: every cell that is due is measured, so many at once, and kept as it ends.

Nothing of a run lives in its process alone. A run that was killed is simply run again: what is measured is found,
what an agent has done is graded, and the rest is paid for. Two runs at once take different cells.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from enum import Enum, auto
from time import monotonic
from typing import Protocol

from berbench.errors import EngineError, Interrupted
from berbench.model.cells import AgentFacts, Cell, CellOutcome, CellResult
from berbench.stages.budget import Answer, Budget
from berbench.stages.measure import Makers, kept_work, measure
from berbench.stages.plan import Plan
from berbench.store.cellfiles import CellRecord
from berbench.store.cells import RESULT, Cells, experiment_of
from berbench.store.records import OtherVersion, Unreadable

POLL_S = 0.2
ENGINE_BACK_S = 60.0  # an engine that is started anew has so long
ENGINE_ASKED_S = 1.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is measured already, and what is still due. `damaged` says of stored cells that can't be read that they
    can't: they are due.

    `older` are the measurements, by key, that a fresh run does not take; None of a run that takes any. `takes_up` are
    the fresh runs of the experiment that were stopped: what they measured is taken.
    """

    reused: int
    due: tuple[Cell, ...]
    older: Mapping[str, str] | None = None
    takes_up: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()


def forecast(cells: Cells, plan: Plan, *, fresh: bool) -> Forecast:
    """Which cells of the plan are due. With `fresh` all are, but what a fresh run that was stopped has measured."""
    if not fresh:
        there, damaged = _there(cells, plan)
        due = tuple(cell for cell in plan.cells if cell.key not in there)
        return Forecast(len(plan.cells) - len(due), due, damaged=damaged)
    takes_up = stopped_fresh_runs(cells, plan.experiment.name)
    found = {cell.key: cells.find_readable(cell.key) for cell in plan.cells}
    taken = {key for key, record in found.items() if record is not None and record.run in takes_up}
    older = {key: _work_of(record) for key, record in found.items() if record is not None}
    due = tuple(cell for cell in plan.cells if cell.key not in taken)
    return Forecast(len(plan.cells) - len(due), due, older, takes_up)


def _there(cells: Cells, plan: Plan) -> tuple[frozenset[str], tuple[str, ...]]:
    """The keys of what is measured, and what is wrong with cells that can't be read."""
    there, damaged = set(), []
    for cell in plan.cells:
        try:
            if cells.find(cell.key) is not None:
                there.add(cell.key)
        except OtherVersion:
            raise
        except Unreadable as error:
            damaged.append(error.message)
    return frozenset(there), tuple(damaged)


def stopped_fresh_runs(cells: Cells, experiment: str) -> tuple[str, ...]:
    """Fresh runs of an experiment that did not come to their end, since the last run that did."""
    found: list[str] = []
    for run in reversed(cells.runs()):
        if experiment_of(run) != experiment:
            continue
        try:
            if cells.read_run(run, RESULT) is not None:
                break
            if (cells.read_run(run) or {}).get("fresh"):
                found.append(run)
        except Unreadable:  # nothing hangs on a run whose record is lost
            break
    return tuple(found)


def _work_of(record: CellRecord) -> str:
    """Tells the agent's work behind one measurement from that behind another; a clock may go back."""
    return f"{record.run} {record.result.started_at}"


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
        coming: Forecast,
        budget: Budget,
        shown: Shown,
    ) -> None:
        self._makers, self._plan, self._budget, self._shown = makers, plan, budget, shown
        self._older = coming.older
        self._waiting = deque(coming.due)
        self._in_vain = 0  # cells put back since one was done
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._lost = False  # the engine did not come back
        self.begin, self.stop = threading.Event(), threading.Event()
        self.tally = Tally()

    def work(self) -> None:
        """Take cells until there are none. What is another run's, or too dear for now, is put back."""
        self.begin.wait()
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
            # A new measurement takes the place of one that can't be read.
            if (known := cells.find_readable(cell.key)) and self._serves(known):
                self._shared(cell, known.result)
                return _Did.DONE
            if (work := kept_work(cells, cell)) is not None:  # paid for by an earlier run
                self._measure(cell, work)
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

    def _serves(self, record: CellRecord) -> bool:
        """Whether what another run measured meanwhile is what this one would pay for."""
        return self._older is None or self._older.get(record.result.key) != _work_of(record)

    def _shared(self, cell: Cell, result: CellResult) -> None:
        with self._lock:
            self.tally.shared += 1
        self._shown.ended(cell, result, self._budget.spent)

    def _measure(self, cell: Cell, work: AgentFacts | None = None) -> None:
        cells, ground = self._makers.cells, self._plan.grounds[cell.task]
        found = measure(self._makers, cell, ground, lambda line: self._shown.say(cell, line), work=work)
        result = found.record.result
        if result.outcome is CellOutcome.ERROR and self.stop.is_set():
            raise Interrupted("Interrupted.")  # what failed is what was being closed: no try of the cell
        if result.outcome is CellOutcome.ERROR:
            cells.save_error(found.record, found.files, self._makers.bench.now())
        else:
            cells.save(found.record, found.files)
        if work is None:
            self._budget.settle(cell, result.usage.cost_usd)
        with self._lock:
            if result.outcome is CellOutcome.ERROR:
                self.tally.errors.add(cell.key)
            else:
                self.tally.measured += 1
        self._shown.ended(cell, result, self._budget.spent)
        if result.outcome is CellOutcome.ERROR:
            self._await_engine()

    def _await_engine(self) -> None:
        """Where the engine is gone for a moment, all that is due would fail in that moment. Waited for once."""
        until = monotonic() + ENGINE_BACK_S
        with self._asking:
            while not (self._lost or self.stop.is_set()):
                try:
                    self._makers.bench.verifier.engine.leftovers()
                    return
                except EngineError:
                    self._lost = monotonic() >= until
                    self.stop.wait(ENGINE_ASKED_S)


def execute(
    makers: Makers,
    plan: Plan,
    coming: Forecast,
    *,
    budget: Budget,
    concurrency: int,
    shown: Shown,
) -> Tally:
    """Measure what is due. Whatever ends it early leaves what was measured, and nothing half-written."""
    crew = _Crew(makers, plan, coming, budget, shown)
    workers = max(1, min(concurrency, len(coming.due)))
    with ThreadPoolExecutor(workers, thread_name_prefix="cell") as pool:
        try:
            pending: set[Future[None]] = {pool.submit(crew.work) for _ in range(workers)}
            # Not before: a thread whose start is interrupted is one that the pool does not wait for.
            crew.begin.set()
            # In short waits: a signal that another thread receives does not wake this one.
            while pending:
                done, pending = wait(pending, POLL_S)
                for future in done:
                    future.result()
        except BaseException:
            crew.stop.set()
            crew.begin.set()
            makers.bench.verifier.engine.interrupt()  # leaving the pool waits for its threads
            raise
    return crew.tally
