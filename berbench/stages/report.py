"""Reports of stored runs: from the records of a run and its cells to what is told of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from berbench.errors import BerbenchError, StoreError, UsageError
from berbench.history.door import History
from berbench.model.cells import CellResult
from berbench.model.task import TaskState
from berbench.reports import CellFiles, Planned, Report, RunFacts, Skipped, TaskFacts, TestLine, gather
from berbench.stages.standing import Listed, stand
from berbench.store import Project, cellfiles, records
from berbench.store.cells import RESULT, Cells, StoredCell, experiment_of

CHANGED = "changed since the proof"
CANDIDATE = "candidate"  # the trial whose log is shown, where there are several
FEW_LETTERS = 4  # of a key, at least


@dataclass(frozen=True, slots=True)
class Told:
    """A run's report, and how the evidence of its cells is read."""

    report: Report
    stored: Mapping[str, StoredCell]  # by the cell's key
    references: Mapping[str, tuple[str, bytes]]  # by task: today's fingerprint, reference patch

    @property
    def cells(self) -> tuple[CellResult, ...]:
        """The results of all cells, in full."""
        return tuple(one.record.result for one in self.stored.values())

    def files(self, cell: CellResult) -> CellFiles:
        """The evidence of a cell; of what is gone or can't be read, nothing."""
        fingerprint, reference = self.references.get(cell.task, ("", b""))
        same = bool(fingerprint) and fingerprint == cell.fingerprint
        return evidence(self.stored[cell.key], reference if same else None)


def list_runs(cells: Cells) -> tuple[RunFacts, ...]:
    """All runs whose records can be read, newest first."""
    found = []
    for run in reversed(cells.runs()):
        with suppress(StoreError):
            found.append(_run(cells, run))
    return tuple(found)


def tell_run(cells: Cells, project: Project, history: History, wanted: str) -> Told:
    """The report of a run: `latest`, an experiment's name for its last one, or an id. UsageError when there is none."""
    if not cells.runs():
        raise UsageError("Nothing was run yet.", remedy="`berbench run controls` costs nothing.")
    run = cells.find_run(wanted)
    facts = _run(cells, run)
    document = cells.read_run(run) or {}
    weights, references = _tasks(project, history, {cell.task for cell in facts.planned})
    # What a fresh run has of its own, or took up of one that was stopped; None where anything goes.
    own = {facts.id, *document.get("takes_up", ())} if document.get("fresh") else None
    stored = {}
    for planned in facts.planned:
        if (found := _stored(cells, planned, facts, own)) is not None:
            stored[planned.key] = found
    if newer := sum(_after(one, facts) for one in stored.values()):
        note = (
            f"{newer} of its cells were measured or graded again since it ended: the newer results are shown."
        )
        facts = replace(facts, notes=(*facts.notes, note))
    report = gather(facts, (one.record.result for one in stored.values()), weights)
    return Told(report, stored, references)


def tell_cell(cells: Cells, project: Project, history: History, key: str) -> Told:
    """The report of one cell, by its key or the first letters of it. UsageError unless there is exactly one."""
    if len(key) < FEW_LETTERS or key.strip("0123456789abcdef"):
        raise UsageError(
            f"{key[:64]!r} is no cell's key.",
            remedy=f"Give {FEW_LETTERS} letters of it or more; `berbench report latest --json` lists the keys.",
        )
    found = _opened(cells, key)
    result = found.record.result
    planned = Planned(result.key, result.task, result.label, result.attempt)
    run = found.record.run
    facts = RunFacts(run, experiment_of(run) if run else "", result.started_at, planned=(planned,))
    weights, references = _tasks(project, history, {result.task})
    return Told(gather(facts, [result], weights), {result.key: found}, references)


def _opened(cells: Cells, key: str) -> StoredCell:
    """A measured cell, or else the last try of one that gave no measurement."""
    try:
        return cells.open(key)
    except UsageError:
        planned = {cell.key for run in list_runs(cells) for cell in run.planned if cell.key.startswith(key)}
        tries = [found for name in sorted(planned) if (found := cells.last_error(name)) is not None]
        if len(tries) != 1:
            raise
        return tries[0]


def _run(cells: Cells, run: str) -> RunFacts:
    document, ended = cells.read_run(run) or {}, cells.read_run(run, RESULT) or {}
    try:
        return RunFacts(
            id=run,
            experiment=str(document.get("experiment") or experiment_of(run)),
            started_at=_time(ended.get("started_at")) or _begun(run),
            finished_at=_time(ended.get("finished_at")),
            planned=tuple(
                Planned(one["key"], one["task"], one["label"], int(one["attempt"]))
                for one in document["planned"]
            ),
            skipped=tuple(_skipped(one) for one in document.get("skipped", ())),
            notes=tuple(_notes(ended)),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"The record of run {run} can't be read.", remedy="Run it again.") from error


def _skipped(row: Mapping[str, Any]) -> Skipped:
    state, reason = str(row.get("state", "")), str(row.get("reason", ""))
    return Skipped(row["task"], ": ".join(filter(None, (state, reason))), tuple(row.get("changed", ())))


def _notes(ended: Mapping[str, Any]) -> Iterator[str]:
    if not ended:
        yield "The run has not come to its end: what is measured so far is shown."
    elif number := ended.get("not_started"):
        yield f"{number} of its cells were not started: the ceiling of cost was met."
    yield from (f"A gate tripped: {one}" for one in ended.get("gates", ()))


def _begun(run: str) -> datetime | None:
    """When a run began, from its id."""
    with suppress(ValueError):
        return datetime.strptime(run.partition("-")[0], "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC)
    return None


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _stored(cells: Cells, planned: Planned, run: RunFacts, own: Collection[str] | None) -> StoredCell | None:
    """What a run has of a cell: its measurement, else the last try. A run that measures anew has no older ones.

    It goes by the name that the run gave its configuration: a cell that was reused may have been measured under
    another.
    """
    for look in (cells.stored, cells.last_error):
        found = look(planned.key)
        if found is None or (own is not None and found.record.run not in own and _before(found, run)):
            continue
        result = replace(found.record.result, label=planned.label)
        return replace(found, record=replace(found.record, result=result))
    return None


def _before(cell: StoredCell, run: RunFacts) -> bool:
    at = cell.record.result.finished_at
    return at is not None and run.started_at is not None and at < run.started_at


def _after(cell: StoredCell, run: RunFacts) -> bool:
    at = cell.record.result.finished_at
    return at is not None and run.finished_at is not None and at > run.finished_at


def _tasks(
    project: Project, history: History, ids: Iterable[str]
) -> tuple[dict[str, TaskFacts], dict[str, tuple[str, bytes]]]:
    """The tasks that are still there as they are today, and their references."""
    there = set(project.task_ids())
    facts, references = {}, {}
    for listed in stand(project, history, sorted(there & set(ids))):
        if listed.files is None:  # its documents can't be read: nothing is known of it
            continue
        task = listed.files.task
        fingerprint = _fingerprint(listed)
        facts[listed.id] = TaskFacts(listed.id, task.weight, fingerprint, task.description)
        references[listed.id] = (fingerprint, listed.files.reference_patch)
    return facts, references


def _fingerprint(listed: Listed) -> str:
    """What the task's inputs come to today; a mark that no cell has where they are not what was proven."""
    proof = listed.files.task.validation if listed.files else None
    if proof is None:
        return ""
    changed = listed.standing.changed or listed.standing.state is TaskState.FORGED
    return CHANGED if changed else proof.fingerprint


def evidence(cell: StoredCell, reference: bytes | None) -> CellFiles:
    """What lies in a cell's folder."""
    return CellFiles(
        transcript=_maybe(cell, cellfiles.TRANSCRIPT) or b"",
        candidate=_maybe(cell, cellfiles.CANDIDATE),
        reference=reference,
        tests=_tests(_maybe(cell, cellfiles.GRADE)),
        log=_log(cell),
        prompt=_maybe(cell, cellfiles.PROMPT) or b"",
        final_message=cell.record.result.usage.final_message,
        remarks=(*_refused(_maybe(cell, cellfiles.EGRESS)), *_dropped(_maybe(cell, cellfiles.GRADE))),
        where=str(cell.folder),
    )


def _maybe(cell: StoredCell, name: str) -> bytes | None:
    try:
        return cell.read(name)
    except (FileNotFoundError, BerbenchError):
        return None


def _tests(grade: bytes | None) -> tuple[TestLine, ...]:
    return tuple(
        TestLine(str(one.get("id", "")), str(one.get("outcome", ""))) for one in _rows(grade, "tests")
    )


def _refused(egress: bytes | None) -> tuple[str, ...]:
    """The requests that the proxy did not let through, alike ones once."""
    told = Counter(
        f"The request to {one.get('host', '')}:{one.get('port', '')} was refused: {one.get('reason', '')}"
        for one in _rows(egress)
    )
    return tuple(f"{text} ({times} times)" if times > 1 else text for text, times in told.items())


def _dropped(grade: bytes | None) -> tuple[str, ...]:
    """What the grade does not stand on, though the agent changed it."""
    rows = _rows(grade, "dropped_paths")
    return tuple(
        f"{one.get('path', '')} was dropped from the candidate: {one.get('reason', '')}" for one in rows
    )


def _rows(data: bytes | None, key: str = "") -> list[Mapping[str, Any]]:
    """The mappings in a list of a stored document, as far as it can be read."""
    try:
        found = json.loads(data or b"[]")
    except ValueError:
        return []
    rows = found.get(key) if key and isinstance(found, dict) else found
    return [one for one in rows if isinstance(one, dict)] if isinstance(rows, list) else []


def _log(cell: StoredCell) -> bytes:
    """The candidate's log; of whichever trial there is where it goes by another name."""
    log = _maybe(cell, f"{cellfiles.TRIALS}/{CANDIDATE}/{records.LOG}")
    if log is None and (names := cell.trials()):
        log = _maybe(cell, f"{cellfiles.TRIALS}/{names[0]}/{records.LOG}")
    return log or b""
