"""Grade stored candidates again, with no agent: after a task's command, hidden tests or grading changed.

An agent's work is as good as new where all that the agent saw is what it was: then its new grade is a measurement of
today's task, kept under today's key, and the next run finds it. The older measurement stays where it is, and reports of
older runs show it: so what an experiment comes to now is recorded as a run of its own. A grade under the same key
takes the older one's place, and that one is kept in the cell's `earlier/`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic
from typing import Any

from berbench.errors import BerbenchError, ConfigError, EngineError, Interrupted, StoreError
from berbench.matrix import cell_key, changed_inputs, task_inputs
from berbench.matrix.soundness import CONTROLS
from berbench.model.cells import Cell, CellOutcome, CellResult
from berbench.stages.budget import Budget
from berbench.stages.crew import Tally, forecast
from berbench.stages.plan import Ground, Plan
from berbench.stages.runrecord import document as run_document
from berbench.stages.runrecord import record
from berbench.stages.validate import Bench
from berbench.stages.verify import Verified, grade_patch
from berbench.stages.verify import document as grade_document
from berbench.store import cellfiles
from berbench.store.cellfiles import CellRecord
from berbench.store.cells import Cells, StoredCell
from berbench.store.records import Unreadable
from berbench.verdicts.outcome import ended

SCHEMA = "berbench.regrade/1"

# Inputs of a task's proof that no agent sees: another one of these asks for another grade, not for another agent.
UNSEEN = frozenset(
    {"assertions", "evidence", "grading", "network", "protected_paths", "reference_patch"}
    | {"tests_patch", "timeouts", "verify_command"}
)

DAMAGED = "the stored work is damaged: run it again with --fresh"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Regraded:
    """What came of one stored cell. `kept` says why it can't be graded as of today; then nothing was done."""

    before: CellResult
    after: CellResult | None = None
    kept: str = ""
    error: str = ""


def goal(old: CellRecord, ground: Ground | None) -> tuple[dict[str, str], str]:
    """The inputs under which an old cell's work can be graded as of today, or why it can't."""
    if ground is None:
        return {}, "the task's proof does not hold today"
    task = ground.files.task
    today = task_inputs(
        task=ground.known_as,
        prompt=ground.files.prompt,
        limits=task.limits.limits(),
        image=ground.image_key,
        setup=task.environment.setup,
        test_patterns=ground.test_patterns,
        platform=ground.platform,
    )
    if old.inputs.get("platform") != today.get("platform"):
        return {}, "the task is proven on another platform now"
    if old.result.fingerprint == ground.fingerprint:
        return {**old.inputs, "test_patterns": today["test_patterns"]}, ""
    if old.result.tool in CONTROLS:
        return {}, "a control costs nothing: run it again"
    seen = [name for name in changed_inputs(old.task_inputs, ground.task_inputs) if name not in UNSEEN]
    # No agent sees which tests are dropped.
    judged = {name: today[name] for name in ("task", "test_patterns")}
    seen += [name for name in sorted(today.keys() - judged.keys()) if old.inputs.get(name) != today[name]]
    if seen:
        return {}, f"the agent saw another {', '.join(dict.fromkeys(seen))}"
    return {**old.inputs, **judged}, ""


# Today's key by task, configuration and attempt; empty for a task whose proof does not hold today.
Wanted = Mapping[tuple[str, str, int], str]


def wanted_of(plan: Plan) -> Wanted:
    """The cells of an experiment, with those of its tasks that are skipped today."""
    cells = {(one.task, one.configuration.label, one.attempt): one.key for one in plan.cells}
    for task in plan.skipped:
        for one in plan.resolution.chosen:
            cells |= {(task.id, one.configuration.label, number): "" for number in range(1, one.attempts + 1)}
    return cells


@dataclass(frozen=True, slots=True)
class Regrading:
    """What stored cells are graded again with. `grounds` are the tasks that are fresh today, by id."""

    bench: Bench
    cells: Cells
    grounds: Mapping[str, Ground]

    def one(self, key: str, wanted: Wanted | None, say: Say) -> Regraded | None:
        """Grade one stored cell; None when its work belongs to none of the `wanted` cells (None: all are)."""
        stored = self.cells.stored(key)
        if stored is None:  # somebody removed it meanwhile
            return None
        old = stored.record
        inputs, why = goal(old, self.grounds.get(old.result.task))
        target = cell_key(inputs) if inputs else key
        if wanted is not None:
            asked = wanted.get((old.result.task, old.result.label, old.result.attempt))
            if (
                (asked is None or (asked and self.cells.find(asked)))
                if why
                else target not in wanted.values()
            ):
                return None
        if why:
            return Regraded(old.result, kept=why)
        with self.cells.claim(target) as free:
            if not free:
                return Regraded(old.result, kept="a run is at it now")
            if target != key and self.cells.find(target) is not None:
                return Regraded(old.result, kept="it is measured as of today already")
            return self._graded(stored, target, inputs, _named(old.result, say))

    def _graded(self, stored: StoredCell, key: str, inputs: Mapping[str, str], say: Say) -> Regraded:
        old, ground = stored.record, self.grounds[stored.record.result.task]
        began = monotonic()
        try:
            facts = cellfiles.agent_from(stored.read)
            candidate = stored.read(cellfiles.CANDIDATE)
        except (ConfigError, FileNotFoundError, Unreadable):
            return Regraded(old.result, kept=DAMAGED)
        # Of a control nothing but the size is known.
        lost = facts is None and old.result.tool not in CONTROLS
        if lost or len(candidate) != old.result.patch_bytes:
            return Regraded(old.result, kept=DAMAGED)
        try:
            graded = grade_patch(
                self.bench, ground.files, ground.dockerfile, candidate, say, even_nothing=facts is None
            )
        except (StoreError, Interrupted):
            raise
        except BerbenchError as error:
            return Regraded(old.result, error=error.message)
        seconds = monotonic() - began
        how = ended(facts, old.result.usage, graded.grade)
        if how.outcome is CellOutcome.ERROR:
            return Regraded(old.result, error=how.error)
        verified = Verified(ground.files.task.id, graded.grade, graded.trials, seconds=seconds)
        files = dict(_kept(stored, in_place=key == old.result.key))
        files[cellfiles.GRADE] = json.dumps(grade_document(verified), indent=1).encode("ascii") + b"\n"
        files |= cellfiles.trial_files({name: one.facts for name, one in graded.trials.items()})
        result = replace(
            old.result,
            key=key,
            fingerprint=ground.fingerprint,
            outcome=how.outcome,
            reasons=how.reasons,
            verdict=graded.grade.name.value,
            verify_seconds=round(seconds, 3),
            finished_at=self.bench.now(),
        )
        origin = old.regraded_from or old.result.key
        record = CellRecord(result, inputs, dict(ground.task_inputs), old.run, regraded_from=origin)
        self.cells.save(record, files)
        before, after = old.result.outcome.value, how.outcome.value
        say(f"{after}, as before" if after == before else f"{after}, before it was {before}")
        return Regraded(old.result, result)


def _named(cell: CellResult, say: Say) -> Say:
    """Say of which cell it is: several are at work at once."""
    return lambda line: say(f"{cell.task} × {cell.label} #{cell.attempt}: {line}")


def _kept(stored: StoredCell, *, in_place: bool) -> Iterator[tuple[str, bytes]]:
    """What stays of a cell under a new grade: the agent's part, and the outcomes of older gradings."""
    names = stored.names()
    old = [cellfiles.CELL, cellfiles.GRADE]
    for name in names:
        if name not in old and not name.startswith(f"{cellfiles.TRIALS}/"):
            yield name, stored.read(name)
    if in_place:
        number = sum(name.startswith(f"{cellfiles.EARLIER}/") for name in names)
        yield f"{cellfiles.EARLIER}/{number:03d}.json", stored.read(cellfiles.CELL)


def regrade(
    regrading: Regrading, keys: Iterable[str], *, wanted: Wanted | None, concurrency: int, say: Say
) -> Iterator[Regraded]:
    """Grade the stored cells again, so many at once. One cell's trouble is never another's."""
    with ThreadPoolExecutor(max(1, concurrency), thread_name_prefix="regrade") as pool:
        try:
            futures = [pool.submit(regrading.one, key, wanted, say) for key in keys]
            for future in futures:
                while True:  # in short waits: a signal that another thread receives does not wake this one
                    try:
                        found = future.result(0.2)
                        break
                    except TimeoutError:
                        continue
                if found is not None:
                    yield found
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            regrading.bench.verifier.engine.interrupt()
            raise


def newest_first(cells: Cells, keys: Iterable[str], say: Say) -> tuple[str, ...]:
    """Keys by the time of their measurement, the newest first: of several works for one cell, that one counts.

    Cells that can't be read are told and left out.
    """
    dated = []
    for key in keys:
        try:
            record = cells.find(key)
        except Unreadable as error:
            say(error.message)
            continue
        if record and record.result.finished_at:
            dated.append((record.result.finished_at, key))
    return tuple(key for _, key in sorted(dated, reverse=True))


def worth_it(cells: Cells, plan: Plan, due: Iterable[Cell]) -> int:
    """How many of the due cells have stored work that can be graded as of today, so that no agent need be paid."""
    keys = {cell.key for cell in due if cell.configuration.tool.type != "control"}
    found = set()
    for old in map(cells.find_readable, cells.measured() if keys else ()):
        if old is not None and old.result.key not in keys:
            inputs, _ = goal(old, plan.grounds.get(old.result.task))
            found |= {cell_key(inputs)} & keys if inputs else set()
    return len(found)


def as_run(cells: Cells, plan: Plan, at: datetime) -> str:
    """Record what the experiment comes to under its new grades: a run that asked no agent, for reports; its id."""
    coming = forecast(cells, plan, fresh=False)
    started = record(plan, coming, fresh=False, ceiling=None, concurrency=1)
    run = cells.begin_run(plan.experiment.name, at, started)
    found = run_document(cells, plan, run, coming.reused, Tally(), Budget(None, None))
    cells.end_run(run, {**found, "started_at": at.isoformat(), "finished_at": at.isoformat()})
    return run


def document(outcomes: Iterable[Regraded], run: str = "") -> dict[str, Any]:
    """What `--json` prints. `run` is the one that the new grades were recorded as, "" when none was."""
    rows = [_row(one) for one in outcomes]
    return {
        "schema": SCHEMA,
        "run": run,
        "graded": sum(row["outcome"] is not None for row in rows),
        "changed": sum(row["outcome"] not in (None, row["before"]) for row in rows),
        "kept": sum(bool(row["kept"]) for row in rows),
        "errors": sum(bool(row["error"]) for row in rows),
        "cells": rows,
    }


def _row(one: Regraded) -> dict[str, Any]:
    return {
        "key": one.after.key if one.after else one.before.key,
        "from": one.before.key,
        "task": one.before.task,
        "label": one.before.label,
        "attempt": one.before.attempt,
        "before": one.before.outcome.value,
        "outcome": one.after.outcome.value if one.after else None,
        "verdict": one.after.verdict if one.after else "",
        "kept": one.kept,
        "error": one.error,
    }


def exit_code(document: Mapping[str, Any]) -> int:
    """3 when a cell could not be graded for the engine's or the file system's sake, else 0."""
    return EngineError.exit_code if document["errors"] else 0
