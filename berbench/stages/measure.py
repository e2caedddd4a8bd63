"""One cell, measured: the agent's work or a control's patch, graded as `task verify` grades, and its record.

An agent's work is kept as soon as it is done and before it is graded, so that whatever stops berbench in between
costs no second run of the agent.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Any, Protocol

from berbench.diffs import PatchFile, read_patch
from berbench.errors import BerbenchError, Interrupted, PatchConflict, StoreError
from berbench.model.cells import AgentFacts, Cell, CellOutcome, CellResult, Configuration, Usage
from berbench.stages.grading import Graded
from berbench.stages.plan import Ground
from berbench.stages.validate import Bench
from berbench.stages.verify import Verified, grade_patch
from berbench.stages.verify import document as grade_document
from berbench.store import cellfiles
from berbench.store.cellfiles import CellRecord
from berbench.store.cells import Cells
from berbench.store.records import Unreadable
from berbench.verdicts.outcome import Ended, ended, no_measurement

ORACLE = "oracle"
LAST_LINES = 5  # of what an engine said, in a cell's error

Say = Callable[[str], None]
ReadUsage = Callable[[Configuration, AgentFacts], Usage]


class Work(Protocol):
    """Sets an agent to work on a task."""

    def __call__(self, cell: Cell, ground: Ground, say: Say) -> AgentFacts:
        """What its container recorded. Any BerbenchError is the cell's trouble alone."""


@dataclass(frozen=True, slots=True)
class Makers:
    """What cells are measured with."""

    bench: Bench
    cells: Cells
    work: Work
    read_usage: ReadUsage
    run: str = ""  # id of the run that pays


@dataclass(frozen=True, slots=True)
class Measured:
    """A cell's record and the files that lie beside it."""

    record: CellRecord
    files: dict[str, bytes] = field(repr=False)


@dataclass(slots=True)
class _Try:
    """What is known of a cell so far."""

    started_at: datetime
    candidate: bytes = b""
    facts: AgentFacts | None = None  # None of a control
    usage: Usage = field(default_factory=Usage)
    graded: Graded | None = None
    verify_seconds: float = 0.0
    ended: Ended = field(default_factory=lambda: Ended(CellOutcome.ERROR))


def kept_work(cells: Cells, cell: Cell) -> AgentFacts | None:
    """An agent's work that an earlier run paid for and did not grade; what can't be read is none."""
    kept = cells.find_work(cell.key)
    with suppress(Unreadable):
        return cellfiles.agent_from(kept) if kept else None
    return None


def measure(
    makers: Makers, cell: Cell, ground: Ground, say: Say, *, work: AgentFacts | None = None
) -> Measured:
    """Measure a cell, by the agent's `work` where it is done already. What goes wrong with it is its outcome; only an
    interrupt and a full disk are exceptions."""
    known = _Try(makers.bench.now())
    try:
        if cell.configuration.tool.type == "control":
            known.candidate = ground.files.reference_patch if cell.configuration.tool.name == ORACLE else b""
        else:
            if work is not None:
                say("grading the work of a run that was stopped")
            known.facts = work or _worked(makers, cell, ground, say)
            known.candidate = known.facts.candidate or b""
            known.usage = makers.read_usage(cell.configuration, known.facts)
        _judge(makers.bench, cell, ground, known, say)
    except (StoreError, Interrupted):
        raise
    except BerbenchError as error:  # one cell's trouble is never another's
        known.ended = Ended(CellOutcome.ERROR, error=_told(error))
    return _measured(makers, cell, ground, known)


def _told(error: BerbenchError) -> str:
    """An error on one line: what went wrong, what to do, and what was said last."""
    remedy = f"{error.remedy[:1].upper()}{error.remedy[1:]}{'.' if error.remedy[-1:].isalnum() else ''}"
    last = [line.strip() for line in error.details if line.strip()][-LAST_LINES:]
    return " ".join(filter(None, (error.message, remedy, " | ".join(last))))


def _worked(makers: Makers, cell: Cell, ground: Ground, say: Say) -> AgentFacts:
    """The agent at work; what it did is kept before it is graded."""
    facts = makers.work(cell, ground, say)
    if not _why_none(cell, facts, makers.read_usage(cell.configuration, facts)):
        makers.cells.save_work(cell.key, cellfiles.agent_files(facts))
    return facts


def _why_none(cell: Cell, facts: AgentFacts, usage: Usage) -> str:
    return no_measurement(facts, usage, told=cell.configuration.tool.telemetry.format != "none")


def _judge(bench: Bench, cell: Cell, ground: Ground, known: _Try, say: Say) -> None:
    if known.facts is not None and (why := _why_none(cell, known.facts, known.usage)):
        known.ended = Ended(CellOutcome.ERROR, error=why)
        return
    began = monotonic()
    known.graded = grade_patch(
        bench, ground.files, ground.dockerfile, known.candidate, say, even_nothing=known.facts is None
    )
    known.verify_seconds = monotonic() - began
    known.ended = ended(known.facts, known.usage, known.graded.grade)


def _measured(makers: Makers, cell: Cell, ground: Ground, known: _Try) -> Measured:
    files = {
        cellfiles.CONFIGURATION: _configuration(cell.configuration),
        cellfiles.PROMPT: ground.files.prompt,
    }
    files |= cellfiles.agent_files(known.facts) if known.facts else {}
    files[cellfiles.CANDIDATE] = known.candidate
    if known.graded is not None:
        verified = Verified(cell.task, known.graded.grade, known.graded.trials, seconds=known.verify_seconds)
        files[cellfiles.GRADE] = _json(grade_document(verified))
        files |= cellfiles.trial_files({name: one.facts for name, one in known.graded.trials.items()})
    record = CellRecord(
        _result(cell, ground, known, makers.bench.now()),
        inputs=ground.inputs(cell.configuration, cell.attempt),
        task_inputs=dict(ground.task_inputs),
        run=makers.run,
    )
    return Measured(record, files)


def _result(cell: Cell, ground: Ground, known: _Try, now: datetime) -> CellResult:
    configuration, facts = cell.configuration, known.facts
    changed = _files_of(known.candidate)
    return CellResult(
        key=cell.key,
        task=cell.task,
        fingerprint=ground.fingerprint,
        label=configuration.label,
        tool=configuration.tool.name,
        model=configuration.model,
        effort=configuration.effort,
        options=configuration.options,
        attempt=cell.attempt,
        outcome=known.ended.outcome,
        reasons=known.ended.reasons,
        verdict=known.graded.grade.name.value if known.graded else "",
        seconds=round(facts.seconds, 3) if facts else 0.0,
        verify_seconds=round(known.verify_seconds, 3),
        usage=known.usage if facts else Usage(cost_usd=0.0),
        patch_bytes=len(known.candidate),
        files_changed=len(changed),
        lines_added=sum(file.added for file in changed),
        lines_deleted=sum(file.deleted for file in changed),
        refused_requests=len(facts.refused) if facts else 0,
        started_at=known.started_at,
        finished_at=now,
        error=known.ended.error,
    )


def _files_of(patch: bytes) -> tuple[PatchFile, ...]:
    try:
        return read_patch(patch)
    except PatchConflict:
        return ()


def _configuration(configuration: Configuration) -> bytes:
    """What was chosen of which tool. Secrets are no part of a tool's document: it names them."""
    return _json(_chosen(configuration))


def _chosen(configuration: Configuration) -> dict[str, Any]:
    return {
        "label": configuration.label,
        "model": configuration.model,
        "effort": configuration.effort,
        "options": list(configuration.options),
        "tool": configuration.tool.model_dump(mode="json", by_alias=True, exclude_defaults=True),
        "steps": [_chosen(step) for step in configuration.steps],
    }


def _json(document: object) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=True).encode("ascii") + b"\n"
