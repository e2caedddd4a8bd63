"""The documents of a run: what it was about to do, and what came of it. Results are read from the disk, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from berbench import __version__
from berbench.errors import EngineError
from berbench.matrix import CELL_RECIPE
from berbench.model.cells import Cell, CellResult
from berbench.stages.budget import Budget, Known
from berbench.stages.crew import Forecast, Tally
from berbench.stages.plan import Plan
from berbench.store.cells import Cells

SCHEMA = "berbench.run/1"
RECORD_SCHEMA = "berbench.run-record/1"
PLAN_SCHEMA = "berbench.run-plan/1"


def skipped_rows(plan: Plan) -> list[dict[str, Any]]:
    """The tasks that are left out, with the reason and the inputs that changed."""
    return [
        {
            "task": item.id,
            "state": item.standing.state.value,
            "reason": item.standing.reason,
            "changed": list(item.standing.changed),
        }
        for item in plan.skipped
    ]


def record(
    plan: Plan, coming: Forecast, *, fresh: bool, ceiling: float | None, concurrency: int
) -> dict[str, Any]:
    """`run.json`: all that is known before the first cell begins."""
    return {
        "schema": RECORD_SCHEMA,
        "experiment": plan.experiment.name,
        "file": plan.where,
        "berbench": __version__,
        "recipe": CELL_RECIPE,
        "fresh": fresh,
        "takes_up": list(coming.takes_up),
        "max_cost_usd": ceiling,
        "concurrency": concurrency,
        "document": plan.experiment.model_dump(mode="json", by_alias=True),
        "configurations": [
            {
                "label": one.configuration.label,
                "tool": one.configuration.tool.name,
                "version": one.configuration.tool.version,
                "attempts": one.attempts,
            }
            for one in plan.resolution.chosen
        ],
        "tasks": {task: ground.fingerprint for task, ground in plan.grounds.items()},
        "planned": [
            {"key": cell.key, "task": cell.task, "label": cell.configuration.label, "attempt": cell.attempt}
            for cell in plan.cells
        ],
        "skipped": skipped_rows(plan),
    }


def results(cells: Cells, plan: Plan, tally: Tally) -> Iterator[CellResult]:
    """How each planned cell ended, in the plan's order; those that were not started are left out."""
    for cell in plan.cells:
        record = None
        if cell.key in tally.errors:
            stored = cells.last_error(cell.key)
            record = stored.record if stored else None
        elif cell.key not in tally.unaffordable:
            record = cells.find_readable(cell.key)
        if record is not None:
            # What decides the cell is the same; what the experiment calls it today may be another name.
            yield replace(record.result, label=cell.configuration.label)


def row(result: CellResult) -> dict[str, Any]:
    """A cell as `--json` prints it. What is unknown is null, never 0."""
    usage = result.usage
    return {
        "key": result.key,
        "task": result.task,
        "label": result.label,
        "tool": result.tool,
        "model": result.model,
        "effort": result.effort,
        "options": list(result.options),
        "attempt": result.attempt,
        "outcome": result.outcome.value,
        "verdict": result.verdict,
        "reason": result.error or next(iter(result.reasons), ""),
        "seconds": result.seconds,
        "verify_seconds": result.verify_seconds,
        "cost_usd": usage.cost_usd,
        "tokens": {
            "input": usage.input_tokens,
            "cached": usage.cached_tokens,
            "output": usage.output_tokens,
        },
        "refused_requests": result.refused_requests,
    }


def document(cells: Cells, plan: Plan, run: str, reused: int, tally: Tally, budget: Budget) -> dict[str, Any]:
    """What `--json` prints, and what is kept as `result.json`."""
    return {
        "schema": SCHEMA,
        "run": run,
        "experiment": plan.experiment.name,
        "planned": len(plan.cells),
        "measured": tally.measured,
        "reused": reused + tally.shared,
        "errors": len(tally.errors),
        "not_started": len(tally.unaffordable),
        "cost_usd": round(budget.spent, 6),
        "cost_untold": budget.untold,
        "skipped": skipped_rows(plan),
        "gates": [],
        "cells": [row(result) for result in results(cells, plan, tally)],
    }


def plan_document(
    plan: Plan, coming: Forecast, known: Mapping[str, Known], problems: Sequence[str]
) -> dict[str, Any]:
    """What `--dry-run --json` prints."""
    due = {cell.key for cell in coming.due}
    cost, unknown = estimate(coming.due, known)
    return {
        "schema": PLAN_SCHEMA,
        "experiment": plan.experiment.name,
        "planned": len(plan.cells),
        "reused": coming.reused,
        "due": len(coming.due),
        "cost_usd": round(cost, 6),
        "cost_unknown": unknown,
        "skipped": skipped_rows(plan),
        "problems": list(problems),
        "cells": [
            {
                "key": cell.key,
                "task": cell.task,
                "label": cell.configuration.label,
                "attempt": cell.attempt,
                "due": cell.key in due,
            }
            for cell in plan.cells
        ],
    }


def estimate(due: Sequence[Cell], known: Mapping[str, Known]) -> tuple[float, int]:
    """What the due cells may cost, by the mean of like ones, and how many of them nothing is known of."""
    means = [known[cell.configuration.label].mean for cell in due]
    return sum(mean for mean in means if mean is not None), means.count(None)


def exit_code(document: Mapping[str, Any]) -> int:
    """3 when a cell gave no measurement, 1 when the ceiling kept one from starting or a gate trips, else 0."""
    if document["errors"]:
        return EngineError.exit_code
    return 1 if document["not_started"] or document["gates"] else 0
