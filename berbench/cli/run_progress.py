"""How a run shows itself while it runs: a live line and what is at work on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from berbench.cli.console import clipped, console, note, one_line, printable
from berbench.cli.progress import LONGEST_LINE, REFRESH_PER_SECOND

if TYPE_CHECKING:
    from rich.table import Table

    from berbench.model.cells import Cell, CellResult
    from berbench.stages.crew import Shown


def _name(cell: Cell) -> str:
    return one_line(f"{cell.task} × {cell.configuration.label} #{cell.attempt}")


class _Lines:
    """One line for each cell that ended: for logs, pipes and `--json`."""

    def __init__(self, due: int) -> None:
        self._due, self._ended = due, 0
        self._lock = threading.Lock()

    def say(self, cell: Cell, line: str) -> None:
        """Nothing: what a cell is at would drown what came of the others."""

    def ended(self, cell: Cell, result: CellResult, spent: float) -> None:
        told = result.error or next(iter(result.reasons), "")
        self._tell(
            cell,
            f"{result.outcome} (agent {result.seconds:.0f} s, tests {result.verify_seconds:.0f} s)",
            told,
            spent,
        )

    def left(self, cell: Cell, why: str) -> None:
        self._tell(cell, "not started", why, None)

    def _tell(self, cell: Cell, what: str, told: str, spent: float | None) -> None:
        with self._lock:
            self._ended += 1
            cost = f", {spent:.2f} USD so far" if spent else ""
            line = f"[{self._ended}/{self._due}] {_name(cell)}: {what}{cost}"
            note(f"{line}: {clipped(told, LONGEST_LINE)}" if told else line)


class _Live:
    """Drawn again in place: counts by outcome, cost so far, and what is at work for how long."""

    def __init__(self, due: int) -> None:
        self._due = due
        self._counts: Counter[str] = Counter()
        self._spent = 0.0
        self._running: dict[str, tuple[str, float, str]] = {}  # key → name, since, line
        self._lock = threading.Lock()

    def say(self, cell: Cell, line: str) -> None:
        with self._lock:
            since = self._running.get(cell.key, ("", monotonic(), ""))[1]
            self._running[cell.key] = (_name(cell), since, line)

    def ended(self, cell: Cell, result: CellResult, spent: float) -> None:
        with self._lock:
            self._running.pop(cell.key, None)
            self._counts[result.outcome.value] += 1
            self._spent = spent

    def left(self, cell: Cell, why: str) -> None:
        with self._lock:
            self._counts["not started"] += 1

    def __rich__(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        from berbench.cli.tables import verdict_text

        with self._lock:
            running = list(self._running.values())
            summary = Text(f"{self._counts.total()} of {self._due} cells")
            for name, count in sorted(self._counts.items()):
                summary.append("  ")
                summary.append_text(verdict_text(name))
                summary.append(f" {count}")
            if self._spent:
                summary.append(f"  {self._spent:.2f} USD")
        rows = Table.grid(padding=(0, 2))
        for name, since, line in running:
            at = Text(printable(line), overflow="ellipsis", no_wrap=True)
            rows.add_row(Text(name, "bold"), f"{monotonic() - since:4.0f} s", at)
        outer = Table.grid()
        outer.add_row(summary)
        outer.add_row(rows)
        return outer


@contextmanager
def run_progress(due: int, *, quiet: bool) -> Iterator[Shown]:
    """The fitting kind. `quiet` asks for plain lines even on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield _Lines(due)
        return
    from rich.live import Live

    shown = _Live(due)
    with Live(shown, console=console(error=True), refresh_per_second=REFRESH_PER_SECOND, transient=True):
        yield shown
