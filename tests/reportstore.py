"""Made-up results as a run leaves them in the data folder. Files are written plainly: nobody pulls the plug here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from berbench.model.cells import AgentFacts, CellOutcome, CellResult
from berbench.model.trial import Facts
from berbench.reports import CellFiles
from berbench.store import cellfiles
from berbench.store.cellfiles import CellRecord
from berbench.store.cells import RESULT, RUN, Cells
from reportcells import BEGAN, evidence


def keep(folder: Path, cell: CellResult, files: CellFiles, run: str) -> None:
    """A cell in a folder of its own."""
    contents = cellfiles.agent_files(
        AgentFacts(0, cell.seconds, log=files.transcript, candidate=files.candidate)
    )
    contents |= cellfiles.trial_files({"candidate": Facts("candidate", 1, log=files.log)})
    tests = [{"id": test.id, "outcome": test.outcome} for test in files.tests]
    contents[cellfiles.GRADE] = json.dumps({"schema": "berbench.verify/1", "tests": tests}).encode()
    contents[cellfiles.PROMPT] = files.prompt
    contents[cellfiles.CELL] = cellfiles.cell_file(CellRecord(cell, run=run))
    for name, data in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def keep_run(
    cells: Cells,
    results: Sequence[CellResult],
    *,
    name: str = "smoke",
    files: Callable[[CellResult], CellFiles] = evidence,
    planned: Sequence[dict[str, Any]] = (),
    ended: bool = True,
    after: timedelta = timedelta(0),
    **document: Any,
) -> str:
    """A run of these results, and of cells that were planned beside them; its id."""
    began = BEGAN + after
    rows = [{"key": one.key, "task": one.task, "label": one.label, "attempt": one.attempt} for one in results]
    run = f"{began:%Y%m%dT%H%M%S.%fZ}-ab12-{name}"
    folder = cells.folder / "runs" / run
    folder.mkdir(parents=True)
    told = {
        "schema": "berbench.run-record/1",
        "experiment": name,
        "fresh": False,
        "planned": [*rows, *planned],
        "skipped": [],
        **document,
    }
    (folder / RUN).write_text(json.dumps(told), encoding="ascii")
    if ended:
        times = {"started_at": began.isoformat(), "finished_at": (began + timedelta(hours=1)).isoformat()}
        (folder / RESULT).write_text(
            json.dumps({"schema": "berbench.run/1", **times, "not_started": 0, "gates": []}), encoding="ascii"
        )
    for one in results:
        failed = one.outcome is CellOutcome.ERROR
        where = ("errors", one.key, "20260301T020000.000000Z-abc123") if failed else ("cells", one.key)
        keep(cells.folder.joinpath(*where), one, files(one), run)
    return run
