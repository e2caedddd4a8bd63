"""How long work shows itself: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from berbench.cli.console import clipped, console, note, printable

if TYPE_CHECKING:
    from rich.table import Table

    from berbench.stages.validate import Validated

REFRESH_PER_SECOND = 4
LONGEST_LINE = 100  # a build tells whole RUN commands; the log has them


class Progress(Protocol):
    """Takes lines from several threads at once."""

    def say(self, task_id: str, line: str) -> None:
        """What a task is doing now."""

    def done(self, outcome: Validated) -> Validated:
        """A task's validation has ended; gives it back."""

    def ended(self, task_id: str, name: str, told: str) -> None:
        """Work of another kind on a task has ended; how, in a word and in a sentence."""


class _Lines:
    """One line an event: for logs, pipes and `--json`."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def say(self, task_id: str, line: str) -> None:
        if self._last.get(task_id) != line:
            self._last[task_id] = line
            note(f"[{task_id}] {clipped(line, LONGEST_LINE)}")

    def done(self, outcome: Validated) -> Validated:
        verdict = outcome.verdict
        self.ended(outcome.id, verdict.name, f"in {outcome.seconds:.1f} s: {verdict.reason}")
        return outcome

    def ended(self, task_id: str, name: str, told: str) -> None:
        note(f"[{task_id}] {name} {clipped(told)}")


class _Live:
    """A table that is drawn again in place: what runs, for how long, and what has ended."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._state = dict.fromkeys(ids, "waiting")
        self._started: dict[str, float] = {}
        self._ended: dict[str, str] = {}  # task id → how
        self._lock = threading.Lock()

    def say(self, task_id: str, line: str) -> None:
        with self._lock:
            self._started.setdefault(task_id, monotonic())
            self._state[task_id] = line

    def done(self, outcome: Validated) -> Validated:
        self.ended(outcome.id, outcome.verdict.name, "")
        return outcome

    def ended(self, task_id: str, name: str, told: str) -> None:
        with self._lock:
            self._ended[task_id] = name

    def __rich__(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        from berbench.cli.tables import verdict_text

        table = Table.grid(padding=(0, 2))
        with self._lock:
            running = [i for i in self._started if i not in self._ended]
            for task_id in running:
                since = monotonic() - self._started[task_id]
                line = printable(self._state[task_id])
                table.add_row(
                    Text(task_id, "bold"), f"{since:4.0f} s", Text(line, overflow="ellipsis", no_wrap=True)
                )
            counts = Counter(self._ended.values())
            summary = Text(f"{len(self._ended)} of {len(self._state)} done")
            for name, count in sorted(counts.items()):
                summary.append("  ")
                summary.append_text(verdict_text(name))
                summary.append(f" {count}")
        outer = Table.grid()
        outer.add_row(summary)
        outer.add_row(table)
        return outer


@contextmanager
def progress(ids: Sequence[str], *, quiet: bool) -> Iterator[Progress]:
    """The fitting kind. `quiet` asks for plain lines even on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.live import Live

    shown = _Live(ids)
    with Live(shown, console=console(error=True), refresh_per_second=REFRESH_PER_SECOND, transient=True):
        yield shown
