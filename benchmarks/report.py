"""`report` on a thousand stored cells: every form, and memory beside a tenth of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import measure
from benchmarks.listing import one_task, proven_copies
from benchmarks.measure import BERBENCH, Result
from berbench.history import GitHistory
from berbench.model.cells import AgentFacts, CellOutcome, CellResult, Usage
from berbench.model.trial import Facts
from berbench.stages.runrecord import RECORD_SCHEMA
from berbench.store import DataDir, cellfiles
from berbench.store.cellfiles import CellRecord
from berbench.store.cells import RUN

TASKS, CONFIGURATIONS = 125, 8
TRANSCRIPT = b'{"type":"assistant","message":{"content":[{"type":"text","text":"Let me look."}]}}\n' * 700
LOG = b"\x1b[32mtests/test_all.py::test_case PASSED\x1b[0m\n" * 400
PATCH = b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n" * 60


def run(folder: Path) -> Iterator[Result]:
    """Wall time of the whole command, in each form."""
    root, data = one_task(folder, "report")
    tasks = proven_copies(root, data, TASKS)
    store = _store(root, data)
    cells = len(_keep(store, tasks, "large"))
    few = dict(list(tasks.items())[: TASKS // 10])
    _keep(store, few, "small")
    page = folder / "report.html"
    html = [*BERBENCH, "report", "large", "--html", str(page)]
    ours, terminal, document = measure.best(
        lambda: measure.run(html, root, data),
        lambda: measure.run([*BERBENCH, "report", "large"], root, data),
        lambda: measure.run([*BERBENCH, "report", "large", "--json"], root, data),
    )
    size = page.stat().st_size / 1e6
    yield Result("report --html", ours, 2, "s", f"{cells} cells, {size:.0f} MB with all evidence")
    yield Result("report in the terminal", terminal, 2, "s", f"{cells} cells")
    yield Result("report --json", document, 2, "s", f"{cells} cells")
    large = measure.peak_memory(html[3:], root, data)
    small = measure.peak_memory(["report", "small", "--html", str(page)], root, data)
    yield Result(
        "memory of report --html", large / small, 1.5, "x", f"{large:.0f} MB, {small:.0f} MB for a tenth"
    )


def _store(root: Path, data: Path) -> Path:
    history = GitHistory(root)
    try:
        return DataDir.of(root, history.remote_url("origin"), {"BERBENCH_DATA_DIR": str(data)}).folder
    finally:
        history.close()


def _keep(store: Path, tasks: Mapping[str, str], name: str) -> list[dict[str, object]]:
    """A run with a cell for each task and configuration; the cells that it planned."""
    planned = []
    for task, fingerprint in tasks.items():
        for number in range(CONFIGURATIONS):
            cell = _cell(task, fingerprint, number)
            _write(store / "cells" / cell.key, cell)
            planned.append({"key": cell.key, "task": task, "label": cell.label, "attempt": 1})
    run = store / "runs" / f"20260101T000000.000000Z-0000-{name}"
    run.mkdir(parents=True)
    record = {"schema": RECORD_SCHEMA, "experiment": name, "planned": planned}
    (run / RUN).write_text(json.dumps(record), encoding="ascii")
    return planned


def _cell(task: str, fingerprint: str, number: int) -> CellResult:
    label = f"tool-{number}/model"
    key = hashlib.sha256(f"{task} {label}".encode()).hexdigest()
    passed = int(key[:2], 16) > 20 * number
    return CellResult(
        key=key,
        task=task,
        fingerprint=fingerprint,
        label=label,
        tool=f"tool-{number}",
        model="model",
        effort="",
        options=(),
        attempt=1,
        outcome=CellOutcome.PASS if passed else CellOutcome.FAIL,
        reasons=("2 of the hidden tests fail.",),
        seconds=60.0,
        usage=Usage(90_000, 60_000, 9_000, 0.1 * (number + 1), 12),
        finished_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def _write(folder: Path, cell: CellResult) -> None:
    """Written plainly, since a thousand flushes to the disk are no part of what is measured."""
    contents = cellfiles.agent_files(AgentFacts(0, 60.0, log=TRANSCRIPT, candidate=PATCH))
    contents |= cellfiles.trial_files({"candidate": Facts("candidate", 0, log=LOG)})
    tests = [{"id": f"tests/test_all.py::test_{number}", "outcome": "passed"} for number in range(60)]
    contents[cellfiles.GRADE] = json.dumps({"tests": tests}).encode()
    contents[cellfiles.CELL] = cellfiles.cell_file(CellRecord(cell))
    for name, data in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
