"""What lies in the data folder, as a disk hands it back, and the reports that are made of it."""

from __future__ import annotations

import atexit
import json
import math
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from berbench.errors import StoreError
from berbench.model.cells import AgentFacts, CellOutcome, CellResult, Refused, StepFacts, Usage
from berbench.reports import (
    CellFiles,
    Planned,
    Report,
    RunFacts,
    TaskFacts,
    TestLine,
    cell_document,
    cell_markdown,
    gather,
    report_document,
    report_markdown,
    report_page,
    runs_document,
)
from berbench.reports.values import Skipped
from berbench.stages.report import evidence, list_runs
from berbench.store import cellfiles
from berbench.store.cellfiles import CellRecord, agent_files, agent_from, cell_file, cell_from
from berbench.store.cells import RESULT, RUN, Cells

_CUT = b"\n%%%%\n"
_KEY = "0123456789abcdef" * 4
_RUN_ID = "20260301T020000.000000Z-ab12-smoke"
_AT = datetime(2026, 3, 1, tzinfo=UTC)
_CELL_FILES = (cellfiles.CELL, cellfiles.AGENT, cellfiles.EGRESS, cellfiles.GRADE, cellfiles.TRANSCRIPT)
_RUN_FILES = (RUN, RESULT)


def _result(task: str = "1", label: str = "a/m", attempt: int = 1) -> CellResult:
    return CellResult(
        _KEY, task, "f" * 64, label, "a", "m", "", (), attempt, CellOutcome.PASS, seconds=1.5, finished_at=_AT,
        usage=Usage(10, 5, 3, 0.25, 2, "Done.", "status 529: no", True),
    )  # fmt: skip


# --- stored cells and runs ----------------------------------------------------------------------------------


def stored() -> Iterator[bytes]:
    """A cell and a run as they are written."""
    steps = (StepFacts("a", 0, 1.0, log=b"x", telemetry=b"{}"),)
    facts = AgentFacts(0, 1.0, refused=(Refused("github.com", 443, _AT, "no"),), steps=steps, log=b"x")
    agent = agent_files(facts)
    grade = {
        "schema": "berbench.verify/1",
        "tests": [{"id": "a::b", "outcome": "passed"}],
        "dropped_paths": [{"path": "x", "reason": "y"}],
    }
    run = {
        "schema": "berbench.run-record/1",
        "experiment": "smoke",
        "fresh": False,
        "planned": [{"key": _KEY, "task": "1", "label": "a/m", "attempt": 1}],
        "skipped": [{"task": "2", "state": "stale", "reason": "changed", "changed": ["prompt"]}],
    }
    ended = {
        "schema": "berbench.run/1",
        "started_at": _AT.isoformat(),
        "finished_at": _AT.isoformat(),
        "not_started": 1,
        "gates": ["x"],
    }
    yield _CUT.join(
        (
            cell_file(CellRecord(_result(), {"task": "a"}, {"prompt": "b"}, _RUN_ID)),
            agent[cellfiles.AGENT],
            agent[cellfiles.EGRESS],
            *(json.dumps(document).encode() for document in (grade, run, ended)),
            b"it said this",
        )
    )


@cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="bb-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for part in (f"cells/{_KEY}/telemetry", f"runs/{_RUN_ID}"):
        (Path(folder) / part).mkdir(parents=True)
    (Path(folder) / f"cells/{_KEY}/telemetry/01").write_bytes(b"{}")
    return Path(folder)


def check_cells(data: bytes) -> None:
    """Stored documents are read, or named as such that can't be; what is read is well-formed and can be told."""
    parts = [*data.split(_CUT), *[b""] * 7]
    folder = _folder()
    for name, part in zip((*_CELL_FILES[:4], *_RUN_FILES, _CELL_FILES[4]), parts, strict=False):
        place = f"runs/{_RUN_ID}" if name in _RUN_FILES else f"cells/{_KEY}"
        (folder / place / name).write_bytes(part)
    cells = Cells(folder, locks=folder / "locks")
    runs, _ = list_runs(cells)
    json.dumps(runs_document(runs), allow_nan=False)
    try:
        found = cells.stored(_KEY)
    except StoreError:
        return
    assert found is not None
    record = found.record
    assert cell_from(cell_file(record)) == record
    assert math.isfinite(record.result.seconds)
    files = evidence(found, None)
    json.dumps(cell_document(record.result, files), allow_nan=False).encode()
    "".join(cell_markdown(record.result, files)).encode()
    for run in runs or (RunFacts("r", "x"),):
        _told(gather(run, [record.result], {}), files)
    facts = agent_from(found.read)
    if facts is not None:
        kept = agent_files(facts)

        def read(name: str) -> bytes:
            if name not in kept:
                raise FileNotFoundError(name)
            return kept[name]

        assert agent_from(read) == facts


def _told(report: Report, files: CellFiles) -> str:
    json.dumps(report_document(report), allow_nan=False)
    "".join(report_markdown(report)).encode()
    made = "".join(report_page(report, lambda cell: files))
    made.encode()
    return made


# --- reports ------------------------------------------------------------------------------------------------


class _Reader(HTMLParser):
    """What a browser would make of a page: its tags, and what stands in its scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.scripts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self._inside = tag == "script"
        if self._inside:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data


def _made_of(texts: list[str], raw: bytes) -> tuple[str, str]:
    """A report's page whose every text is one of these, and its tables in Markdown."""
    one, two, three, four = texts
    first, second = (
        _result("t" + one, "a" + two),
        replace(_result("t" + one, "b", 2), outcome=CellOutcome.FAIL),
    )
    first = replace(first, reasons=(three,), error=four, verdict=two)
    run = RunFacts(
        three, four, _AT, planned=(Planned(_KEY, "t" + one, "c", 1),), skipped=(Skipped(one, two, (three,)),),
        notes=(four,),
    )  # fmt: skip
    report = gather(run, [first, second], {"t" + one: TaskFacts("t" + one, 2.0, "x", three)})
    lines = (TestLine(one, "failed", two), TestLine("x" + three, "passed"))
    files = CellFiles(raw, raw, raw, lines, raw, raw, final_message=two, remarks=(three, four), where=one)
    json.dumps(cell_document(first, files), allow_nan=False).encode()
    return _told(report, files), "".join((*report_markdown(report), *cell_markdown(first, files)))


@cache
def _plain_tags() -> list[tuple[str, tuple[str, ...]]]:
    reader = _Reader()
    reader.feed(_made_of(["1", "2", "3", "4"], b"x")[0])
    return reader.tags


def check_report(data: bytes) -> None:
    """Whatever names, texts and evidence hold, the page has the tags of any other, and its data is what was said."""
    parts = [*data[: 1 << 13].split(_CUT), *[b"x"] * 5]
    texts = [part.decode("utf-8", "surrogateescape") or "x" for part in parts[:4]]
    page, markdown = _made_of(texts, parts[4])
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.tags == _plain_tags(), "a text has become a tag"
    for script in reader.scripts[:-1]:
        document = json.loads(script)
        assert "final" not in document or document["final"] == texts[1][:4000]
    rows = [line for line in markdown.split("\n") if line.startswith("| t")]
    assert all(line.endswith(" |") for line in rows)
