"""The ceiling of a run's cost, kept by reservation: a cell starts only when what it may cost still fits.

A cell's reserve is the largest cost known of its configuration; until one is known, the experiment's guess. With
neither, the first cell of a configuration reserves all that is left, so it runs alone and shows what one costs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from berbench.model.cells import Cell, Configuration
from berbench.store.cells import Cells


@dataclass(frozen=True, slots=True)
class Known:
    """What one cell of a configuration costs, in USD, as far as measured ones tell."""

    most: float | None = None
    mean: float | None = None


FREE = Known(0.0, 0.0)


def known_costs(cells: Cells, configurations: Iterable[Configuration]) -> dict[str, Known]:
    """What is known of each configuration's cost, by label, from all measured cells. Controls cost nothing."""
    wanted = {one.label: one for one in configurations}
    costs: dict[str, list[float]] = {}
    if any(one.tool.type != "control" for one in wanted.values()):
        for key in cells.measured():
            record = cells.find_readable(key)
            if record is not None and record.result.label in wanted:
                cost = record.result.usage.cost_usd
                costs.setdefault(record.result.label, []).extend(() if cost is None else (cost,))
    return {label: _known(one, costs.get(label, ())) for label, one in wanted.items()}


def _known(configuration: Configuration, costs: Iterable[float]) -> Known:
    if configuration.tool.type == "control":
        return FREE
    told = list(costs)
    return Known(max(told), sum(told) / len(told)) if told else Known()


class Answer(Enum):
    """Whether a cell may start."""

    YES = auto()
    LATER = auto()  # what runs now may turn out cheaper than its reserve
    NO = auto()


class Budget:
    """Money of one run; may be used from several threads. `spent` is what is known to be spent."""

    def __init__(
        self, ceiling: float | None, guess: float | None, known: Mapping[str, Known] | None = None
    ) -> None:
        self.ceiling = ceiling
        self.spent = 0.0
        self.untold = 0  # cells that ran and did not tell their cost
        self._counted = 0.0  # spent, and for untold ones their reserve
        self._guess = guess
        self._most = {label: one.most for label, one in (known or {}).items()}
        self._reserved: dict[str, float] = {}  # by key
        self._lock = threading.Lock()

    def reserve(self, cell: Cell) -> Answer:
        """Set a cell's reserve aside; YES when it fits."""
        with self._lock:
            if self.ceiling is None:
                return Answer.YES
            held = sum(self._reserved.values())  # controls hold nothing
            left = self.ceiling - self._counted - held
            need = self._need(cell)
            if need is None:
                need = left if left > 0 and not held else self.ceiling + 1
            if need <= left:
                self._reserved[cell.key] = need
                return Answer.YES
            return Answer.LATER if held else Answer.NO

    def settle(self, cell: Cell, cost: float | None) -> None:
        """A cell has ended at this cost, or without telling it."""
        free = cell.configuration.tool.type == "control"
        with self._lock:
            reserved = self._reserved.pop(cell.key, 0.0)
            if cost is None and not free:
                self.untold += 1
            self.spent += cost or 0.0
            self._counted += reserved if cost is None else cost
            if cost is not None:
                label = cell.configuration.label
                self._most[label] = max(self._most.get(label) or 0.0, cost)

    def release(self, cell: Cell) -> None:
        """A cell has not run after all."""
        with self._lock:
            self._reserved.pop(cell.key, None)

    def _need(self, cell: Cell) -> float | None:
        if cell.configuration.tool.type == "control":
            return 0.0
        most = self._most.get(cell.configuration.label)
        return self._guess if most is None else most
