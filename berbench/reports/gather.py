"""Cells' results → the report of a run."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations

from berbench.model.cells import CellOutcome, CellResult
from berbench.reports.values import (
    ALL_FAIL,
    ALL_PASS,
    CONTROLS,
    Comparison,
    ConfigurationRow,
    Report,
    RunFacts,
    Square,
    TaskFacts,
    TaskRow,
)
from berbench.stats import amount, front, paired, rate

_DIGITS = re.compile(r"(\d+)")
MOST_NAMES = 12  # tasks that a warning names
_EARLIEST = datetime.min.replace(tzinfo=UTC)


def gather(run: RunFacts, results: Iterable[CellResult], tasks: Mapping[str, TaskFacts]) -> Report:
    """The report of a run from its cells' results, in any order, each read once.

    `tasks` are the tasks as they are today. Of a task's results only those of one fingerprint count: today's where
    there are any, else the newest; the others are set aside and told. Of two results of one attempt the newer counts.
    """
    slim = [_slim(result) for result in results]
    kept, aside = _of_one_state(slim, tasks)
    squares = _squares(run, kept)
    rows = tuple(_task(task, squares[task], tasks.get(task)) for task in sorted(squares, key=natural))
    configurations = _configurations(rows)
    measured = sum(row.measured for row in configurations)
    report = Report(
        run=run,
        tasks=rows,
        configurations=configurations,
        comparisons=tuple(_comparisons(rows, configurations)),
        planned=len(run.planned),
        measured=measured,
        errors=sum(row.errors for row in configurations),
        missing=sum(row.missing for row in configurations),
        cost=amount(cell.usage.cost_usd for cell in kept if cell.tool not in CONTROLS),
        aside=aside,
    )
    return replace(report, warnings=tuple(_warnings(report)))


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """A key that sorts `9` before `10`."""
    parts = _DIGITS.split(name)
    return tuple((int(part), "") if part.isdecimal() and len(part) < 19 else (0, part) for part in parts)


def _slim(result: CellResult) -> CellResult:
    """Without the one field that may be long, so that a thousand results are small."""
    return replace(result, usage=replace(result.usage, final_message=""))


def _of_one_state(
    results: Sequence[CellResult], tasks: Mapping[str, TaskFacts]
) -> tuple[list[CellResult], dict[str, int]]:
    newest: dict[str, CellResult] = {}
    for result in results:
        if result.task not in newest or _age(newest[result.task]) < _age(result):
            newest[result.task] = result
    known = {(result.task, result.fingerprint) for result in results}
    chosen = {}
    for task, result in newest.items():
        today = tasks[task].fingerprint if task in tasks else ""
        chosen[task] = today if (task, today) in known else result.fingerprint
    kept: dict[tuple[str, str, int], CellResult] = {}
    aside: Counter[str] = Counter()
    for result in sorted(results, key=_age):
        place = (result.task, result.label, result.attempt)
        if result.fingerprint != chosen[result.task]:
            aside[result.task] += 1
            continue
        if place in kept:
            aside[result.task] += 1
        kept[place] = result
    return list(kept.values()), dict(aside)


def _age(result: CellResult) -> tuple[datetime, str]:
    at = result.finished_at or result.started_at or _EARLIEST
    return (at if at.tzinfo else at.replace(tzinfo=UTC)), result.key


def _squares(run: RunFacts, kept: Sequence[CellResult]) -> dict[str, dict[str, Square]]:
    """By task and label, also where nothing was measured."""
    cells: dict[tuple[str, str], list[CellResult]] = defaultdict(list)
    for result in kept:
        cells[result.task, result.label].append(result)
    there = {(result.task, result.label, result.attempt) for result in kept}
    missing = Counter(
        (cell.task, cell.label) for cell in run.planned if (cell.task, cell.label, cell.attempt) not in there
    )
    squares: dict[str, dict[str, Square]] = defaultdict(dict)
    for place in sorted({*cells, *missing}):
        ordered = sorted(cells[place], key=lambda cell: cell.attempt)
        squares[place[0]][place[1]] = Square(tuple(ordered), missing[place])
    return squares


def _task(task: str, squares: Mapping[str, Square], facts: TaskFacts | None) -> TaskRow:
    fingerprint = next((cell.fingerprint for square in squares.values() for cell in square.cells), "")
    facts = facts or TaskFacts(task)
    return TaskRow(
        id=task,
        weight=facts.weight,
        fingerprint=fingerprint,
        squares=squares,
        information=_information(squares),
        outdated=bool(fingerprint and facts.fingerprint and fingerprint != facts.fingerprint),
        description=facts.description,
    )


def _information(squares: Mapping[str, Square]) -> str:
    """Whether all configurations fared alike, entirely. One alone can't be told from itself: nothing is said then."""
    contested = [square for square in squares.values() if square.measured and not _is_control(square)]
    if len(contested) < 2:
        return ""
    shares = {square.share for square in contested}
    return ALL_PASS if shares == {1.0} else ALL_FAIL if shares == {0.0} else ""


def _is_control(square: Square) -> bool:
    return any(cell.tool in CONTROLS for cell in square.cells)


def _configurations(tasks: Sequence[TaskRow]) -> tuple[ConfigurationRow, ...]:
    labels = sorted({label for task in tasks for label in task.squares}, key=natural)
    rows = [_configuration(label, tasks) for label in labels]
    rows.sort(key=_rank)
    drawn = [row for row in rows if is_drawn(row)]
    best = front([(row.cost.mean or 0.0, row.rate.value or 0.0) for row in drawn])
    on_front = {row.label for row, is_best in zip(drawn, best, strict=True) if is_best}
    return tuple(replace(row, on_front=row.label in on_front) for row in rows)


def is_drawn(row: ConfigurationRow) -> bool:
    """Whether its cost and rate are both fully known, so that it can be said to be better value than another."""
    return not row.is_control and row.rate.value is not None and row.cost.known > 0 and not row.cost.is_bound


def _rank(row: ConfigurationRow) -> tuple[bool, float, tuple[tuple[int, str], ...]]:
    return row.is_control, -(-1.0 if row.rate.value is None else row.rate.value), natural(row.label)


def _configuration(label: str, tasks: Sequence[TaskRow]) -> ConfigurationRow:
    squares = [(task, task.squares[label]) for task in tasks if label in task.squares]
    cells = [cell for _, square in squares for cell in square.cells]
    measured = [cell for cell in cells if cell.outcome is not CellOutcome.ERROR]
    one = cells[0] if cells else None
    return ConfigurationRow(
        label=label,
        tool=one.tool if one else re.split(r"[/+,]", label)[0],
        model=one.model if one else "",
        effort=one.effort if one else "",
        options=one.options if one else (),
        rate=rate([(square.share, task.weight) for task, square in squares if square.share is not None]),
        outcomes={outcome: n for outcome in CellOutcome if (n := sum(c.outcome is outcome for c in cells))},
        missing=sum(square.missing for _, square in squares),
        cost=amount(cell.usage.cost_usd for cell in measured),
        seconds=amount(cell.seconds for cell in measured),
        input_tokens=amount(cell.usage.input_tokens for cell in measured),
        output_tokens=amount(cell.usage.output_tokens for cell in measured),
        lines=amount(cell.lines_added + cell.lines_deleted for cell in measured),
        files=amount(cell.files_changed for cell in measured),
    )


def _comparisons(
    tasks: Sequence[TaskRow], configurations: Sequence[ConfigurationRow]
) -> Iterable[Comparison]:
    weights = {task.id: task.weight for task in tasks}
    shares = {
        row.label: {
            task.id: share
            for task in tasks
            if row.label in task.squares and (share := task.squares[row.label].share) is not None
        }
        for row in configurations
        if not row.is_control
    }
    for first, second in combinations(shares, 2):
        yield Comparison(first, second, paired(shares[first], shares[second], weights))


def _warnings(report: Report) -> Iterable[str]:
    for row in report.controls:
        yield from _sanity(row, report.tasks)
    if report.errors:
        yield (
            f"{_count(report.errors, 'cell')} ended in an error and {_are(report.errors)} no measurement: "
            "run again, and only those are paid for."
        )
    if report.missing:
        yield f"{_count(report.missing, 'planned cell')} {_are(report.missing)} not measured yet."
    if report.aside:
        yield (
            f"{_count(sum(report.aside.values()), 'result')} set aside: measured on another state of the task, "
            f"or measured again since ({_names(sorted(report.aside, key=natural))})."
        )
    if outdated := [task.id for task in report.tasks if task.outdated]:
        yield (
            f"{_count(len(outdated), 'task')} changed since {'it was' if len(outdated) == 1 else 'they were'} "
            f"measured: {_names(outdated)}."
        )
    if len({_tasks_of(row.label, report.tasks) for row in report.contestants if row.measured}) > 1:
        yield (
            "Configurations were measured on different tasks: their pass rates can't be compared, "
            "the paired differences can."
        )


def _tasks_of(label: str, tasks: Sequence[TaskRow]) -> frozenset[str]:
    return frozenset(task.id for task in tasks if label in task.squares and task.squares[label].measured)


def _sanity(row: ConfigurationRow, tasks: Sequence[TaskRow]) -> Iterable[str]:
    expected = CONTROLS[row.tool]
    wrong = [
        task.id
        for task in tasks
        if row.label in task.squares and task.squares[row.label].share not in (None, expected)
    ]
    if wrong:
        why = (
            "the known implementation does not pass there"
            if expected
            else "the hidden tests pass there with nothing done"
        )
        yield (
            f"The control {row.label} is not at {expected:.0%}: {why}, so no result on these tasks "
            f"can be trusted: {_names(wrong)}."
        )
    elif not row.measured:
        yield f"The control {row.label} was never measured, so it shows nothing."


def _names(tasks: Sequence[str]) -> str:
    """Some of them, and how many more there are."""
    more = len(tasks) - MOST_NAMES
    return ", ".join(tasks[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
