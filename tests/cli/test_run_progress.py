"""How a run shows itself: one line a cell in a log, counts and what is at work on a terminal."""

from __future__ import annotations

import sys
from io import StringIO

import pytest
from rich.console import Console

from berbench.cli import run_progress
from berbench.cli.run_progress import _Live
from berbench.model.cells import Cell, CellOutcome, CellResult, Configuration
from berbench.model.tools import ToolDocument

CELL = Cell("k" * 64, "7", Configuration(ToolDocument(name="agent", invoke=("a",)), "m"), 2)


def _result(outcome: CellOutcome, **more: str) -> CellResult:
    plain = CellResult(
        CELL.key, "7", "f", "agent/m", "agent", "m", "", (), 2, outcome, seconds=61.4, verify_seconds=2.5
    )
    return CellResult(**{name: getattr(plain, name) for name in plain.__slots__} | more)  # type: ignore[arg-type]


def test_in_a_log_each_cell_has_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with run_progress.run_progress(3, quiet=True) as shown:
        shown.say(CELL, "building")
        shown.ended(CELL, _result(CellOutcome.PASS), 0.5)
        shown.ended(CELL, _result(CellOutcome.ERROR, error="HTTP 429\x1b[31m"), 0.5)
        shown.left(CELL, "too dear")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "[1/3] 7 × agent/m #2: pass (agent 61 s, tests 2 s), 0.50 USD so far",
        "[2/3] 7 × agent/m #2: error (agent 61 s, tests 2 s), 0.50 USD so far: HTTP 429",
        "[3/3] 7 × agent/m #2: not started: too dear",
    ]


def test_on_a_terminal_counts_and_what_runs_are_drawn() -> None:
    shown = _Live(4)
    other = Cell("j" * 64, "8", CELL.configuration, 1)
    shown.say(CELL, "trial: the candidate")
    shown.say(other, "agent/m at work")
    shown.ended(other, _result(CellOutcome.TIMEOUT), 1.25)
    shown.left(other, "too dear")
    page = StringIO()
    Console(file=page, width=100).print(shown)
    first, second = page.getvalue().splitlines()[:2]
    assert first.split() == ["2", "of", "4", "cells", "not", "started", "1", "timeout", "1", "1.25", "USD"]
    assert second.split() == ["7", "×", "agent/m", "#2", "0", "s", "trial:", "the", "candidate"]


def test_a_terminal_gets_the_live_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    with run_progress.run_progress(1, quiet=False) as shown:
        assert isinstance(shown, _Live)
    with run_progress.run_progress(1, quiet=True) as shown:
        assert not isinstance(shown, _Live)
