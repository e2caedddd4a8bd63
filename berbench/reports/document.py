"""A report as JSON: `berbench.report/1`, `berbench.runs/1` and `berbench.cell-report/1`. Unknown is null, never 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from berbench.evidence.reading import plain_text
from berbench.model.cells import CellOutcome, CellResult
from berbench.reports.values import CellFiles, ConfigurationRow, Report, RunFacts, Square, TaskRow
from berbench.stats import Amount, Rate

REPORT_SCHEMA = "berbench.report/1"
RUNS_SCHEMA = "berbench.runs/1"
CELL_SCHEMA = "berbench.cell-report/1"


def report_document(report: Report) -> dict[str, Any]:
    """The whole report, every cell among it; evidence stays in the cells' folders."""
    return {
        "schema": REPORT_SCHEMA,
        **_run(report.run),
        "planned": report.planned,
        "measured": report.measured,
        "errors": report.errors,
        "missing": report.missing,
        "cost_usd": _amount(report.cost),
        "warnings": list(report.warnings),
        "set_aside": dict(report.aside),
        "skipped": [
            {"task": one.task, "reason": one.reason, "changed": list(one.changed)}
            for one in report.run.skipped
        ],
        "configurations": [_configuration(row) for row in report.configurations],
        "comparisons": [
            {"first": one.first, "second": one.second, **asdict(one.paired)} for one in report.comparisons
        ],
        "tasks": [_task(task) for task in report.tasks],
        "cells": [
            cell_line(cell)
            for task in report.tasks
            for square in task.squares.values()
            for cell in square.cells
        ],
    }


def runs_document(runs: Sequence[RunFacts]) -> dict[str, Any]:
    """What `report list` lists, newest first."""
    return {"schema": RUNS_SCHEMA, "runs": [{**_run(run), "planned": len(run.planned)} for run in runs]}


def cell_document(cell: CellResult, files: CellFiles) -> dict[str, Any]:
    """One cell with its evidence, as text. Stray bytes are replaced; the folder has them as they were."""
    return {
        "schema": CELL_SCHEMA,
        **cell_line(cell),
        "reasons": list(cell.reasons),
        "final_message": files.final_message,
        "refused": cell.usage.refused,
        "refused_requests": cell.refused_requests,
        "remarks": list(files.remarks),
        "tests": [asdict(test) for test in files.tests],
        "candidate": None if files.candidate is None else plain_text(files.candidate),
        "reference": None if files.reference is None else plain_text(files.reference),
        "log": plain_text(files.log),
        "transcript": plain_text(files.transcript),
        "folder": files.where,
    }


def cell_line(cell: CellResult) -> dict[str, Any]:
    """One cell in short."""
    usage = cell.usage
    return {
        "key": cell.key,
        "task": cell.task,
        "configuration": cell.label,
        "tool": cell.tool,
        "model": cell.model,
        "effort": cell.effort,
        "options": list(cell.options),
        "attempt": cell.attempt,
        "outcome": cell.outcome.value,
        "verdict": cell.verdict,
        "error": cell.error,
        "fingerprint": cell.fingerprint,
        "seconds": cell.seconds,
        "verify_seconds": cell.verify_seconds,
        "cost_usd": usage.cost_usd,
        "tokens": {
            "input": usage.input_tokens,
            "cached": usage.cached_tokens,
            "output": usage.output_tokens,
        },
        "turns": usage.turns,
        "patch": {
            "bytes": cell.patch_bytes,
            "files": cell.files_changed,
            "added": cell.lines_added,
            "deleted": cell.lines_deleted,
        },
        "started_at": _time(cell.started_at),
        "finished_at": _time(cell.finished_at),
    }


def _run(run: RunFacts) -> dict[str, Any]:
    return {
        "run": run.id,
        "experiment": run.experiment,
        "started_at": _time(run.started_at),
        "finished_at": _time(run.finished_at),
        "notes": list(run.notes),
    }


def _configuration(row: ConfigurationRow) -> dict[str, Any]:
    return {
        "configuration": row.label,
        "tool": row.tool,
        "model": row.model,
        "effort": row.effort,
        "options": list(row.options),
        "control": row.is_control,
        "pass_rate": _rate(row.rate),
        "outcomes": {outcome.value: row.outcomes.get(outcome, 0) for outcome in CellOutcome},
        "measured": row.measured,
        "errors": row.errors,
        "missing": row.missing,
        "cost_usd": _amount(row.cost),
        "seconds": _amount(row.seconds),
        "input_tokens": _amount(row.input_tokens),
        "output_tokens": _amount(row.output_tokens),
        "lines_changed": _amount(row.lines),
        "files_changed": _amount(row.files),
        "pareto": row.on_front,
    }


def _task(task: TaskRow) -> dict[str, Any]:
    return {
        "task": task.id,
        "description": task.description,
        "weight": task.weight,
        "fingerprint": task.fingerprint,
        "information": task.information,
        "outdated": task.outdated,
        "results": {label: _square(square) for label, square in task.squares.items()},
    }


def _square(square: Square) -> dict[str, Any]:
    return {
        "passed": square.passed,
        "measured": square.measured,
        "errors": square.errors,
        "missing": square.missing,
    }


def _rate(rate: Rate) -> dict[str, Any]:
    ends = None if rate.interval is None else [rate.interval.low, rate.interval.high]
    return {"value": rate.value, "interval_95": ends, "tasks": rate.tasks}


def _amount(of: Amount) -> dict[str, Any]:
    """`total` is a lower bound where `unknown` is not 0."""
    return {"total": of.total, "median": of.median, "known": of.known, "unknown": of.unknown}


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
