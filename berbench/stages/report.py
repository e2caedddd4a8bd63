"""Reports of stored runs: from the records of a run and its cells to what is told of it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from berbench.candidates import REST_KEPT
from berbench.checks.patches import listed as in_words
from berbench.diffs import read_headers
from berbench.errors import BerbenchError, UsageError
from berbench.history.door import History
from berbench.model.cells import CellResult
from berbench.model.task import TaskState
from berbench.prompts import title_of
from berbench.reports import CellFiles, Planned, Report, RunFacts, TaskFacts, TestLine, gather
from berbench.stages.pastruns import list_runs, run_facts
from berbench.stages.standing import Listed, stand
from berbench.store import Project, cellfiles, records
from berbench.store.cells import Cells, StoredCell, experiment_of
from berbench.store.records import Unreadable

CHANGED = "changed since the proof"
CANDIDATE = "candidate"  # the trial whose log is shown, where there are several
FEW_LETTERS = 4  # of a key, at least
MOST_DAMAGED = 3  # cells that can't be read and are named one by one
MOST_PATHS = 20  # of what was not taken into a candidate, named one by one

_NEW_FILE = re.compile(rb"^diff --git .*\nnew file mode .*\n", re.MULTILINE)  # no line of a hunk begins so


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


def tell_run(cells: Cells, project: Project, history: History, wanted: str) -> Told:
    """The report of a run: `latest`, an experiment's name for its last one, or an id. UsageError when there is none."""
    if not cells.runs():
        raise UsageError("Nothing was run yet.", remedy="`berbench run controls` costs nothing.")
    run = cells.find_run(wanted)
    facts = run_facts(cells, run)
    document = cells.read_run(run) or {}
    weights, references = _tasks(project, history, {cell.task for cell in facts.planned})
    # What a fresh run has of its own, or took up of one that was stopped; None where anything goes.
    own = {facts.id, *document.get("takes_up", ())} if document.get("fresh") else None
    stored, damaged = {}, []
    for planned in facts.planned:
        try:
            if (found := _stored(cells, planned, facts, own)) is not None:
                stored[planned.key] = found
        except Unreadable as error:
            damaged.append(error.message)
    facts = replace(facts, notes=(*facts.notes, *_lost(damaged)))
    if newer := sum(_after(one, facts) for one in stored.values()):
        note = (
            f"{newer} of its cells were measured or graded again since it ended: the newer results are shown."
        )
        facts = replace(facts, notes=(*facts.notes, note))
    report = gather(facts, (one.record.result for one in stored.values()), weights)
    return Told(report, stored, references)


def _lost(damaged: Sequence[str]) -> Iterator[str]:
    """What can't be read of the stored cells: they count as missing."""
    yield from damaged[:MOST_DAMAGED]
    if (more := len(damaged) - MOST_DAMAGED) > 0:
        yield f"{more} more of its cells can't be read either."


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
        planned = {
            cell.key for run in list_runs(cells)[0] for cell in run.planned if cell.key.startswith(key)
        }
        tries = [found for name in sorted(planned) if (found := cells.last_error(name)) is not None]
        if len(tries) != 1:
            raise
        return tries[0]


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
        about = task.description or title_of(listed.files.prompt)
        facts[listed.id] = TaskFacts(listed.id, task.weight, fingerprint, about)
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
        remarks=(
            *_refused(_maybe(cell, cellfiles.EGRESS)),
            *_not_taken(_maybe(cell, cellfiles.AGENT)),
            *_dropped(_maybe(cell, cellfiles.GRADE)),
            *_at_the_top(_maybe(cell, cellfiles.CANDIDATE)),
        ),
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


def _not_taken(agent: bytes | None) -> tuple[str, ...]:
    """What the agent left that is no part of the candidate, and what its container warned of."""
    paths, warnings = (_texts(agent, key) for key in ("left_out", "warnings"))
    told = [
        f"{path} was not taken into the candidate: the tree ignores it, it is a cache, or it is no source"
        for path in paths[:MOST_PATHS]
    ]
    if len(paths) > MOST_PATHS:
        told.append(f"{len(paths) - MOST_PATHS} more paths were not taken; agent.json has them all")
    return (*told, *(f"The agent's container: {warning}" for warning in warnings))


def _dropped(grade: bytes | None) -> tuple[str, ...]:
    """What the grade does not stand on, though the agent changed it."""
    rows = _rows(grade, "dropped_paths")
    told = ((one.get("path", ""), str(one.get("reason", ""))) for one in rows)
    return tuple(
        f"A part of {path} was dropped from the candidate: {reason}"
        if reason.endswith(REST_KEPT)
        else f"Dropped from the candidate: {path}, which {reason}"
        for path, reason in told
    )


def _at_the_top(candidate: bytes | None) -> tuple[str, ...]:
    """New files beside those that a project begins with: often scratch that an agent forgot."""
    begun = b"".join(_NEW_FILE.findall(candidate or b""))
    new: list[str] = []
    with suppress(BerbenchError):
        new = [one.path for one in read_headers(begun) if "/" not in one.path]
    return (f"New at the top of the tree: {in_words(new)}",) if new else ()


def _texts(data: bytes | None, key: str) -> list[str]:
    """A list of texts in a stored document, as far as it can be read."""
    with suppress(RecursionError, ValueError):
        found = json.loads(data or b"{}")
        listed = found.get(key) if isinstance(found, dict) else None
        return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    return []


def _rows(data: bytes | None, key: str = "") -> list[Mapping[str, Any]]:
    """The mappings in a list of a stored document, as far as it can be read."""
    try:
        found = json.loads(data or b"[]")
    except (RecursionError, ValueError):
        return []
    rows = found.get(key) if key and isinstance(found, dict) else found
    return [one for one in rows if isinstance(one, dict)] if isinstance(rows, list) else []


def _log(cell: StoredCell) -> bytes:
    """The candidate's log; of whichever trial there is where it goes by another name."""
    log = _maybe(cell, f"{cellfiles.TRIALS}/{CANDIDATE}/{records.LOG}")
    if log is None and (names := cell.trials()):
        log = _maybe(cell, f"{cellfiles.TRIALS}/{names[0]}/{records.LOG}")
    return log or b""
