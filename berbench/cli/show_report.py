"""How reports look in a terminal: what matters fits 80 columns, and wide ones have it all in one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from berbench.cli.console import clipped, console, one_line, say, show
from berbench.cli.tables import cell, lines, plural, table
from berbench.reports import words
from berbench.reports.markdown import cell_facts, chosen_pairs
from berbench.reports.marks import letters

if TYPE_CHECKING:
    from rich.text import Text

    from berbench.model.cells import CellResult
    from berbench.reports import CellFiles, Report, RunFacts
    from berbench.reports.values import ConfigurationRow, Square, TaskRow

WIDE = 132  # columns from which one table holds all numbers
MOST_TASKS = 60  # rows of the map; beyond that only those that tell something are shown
MOST_PARTS = 3  # of the map, one below the other, where the page is too narrow for all configurations
LONGEST_ID, LEAST_REMARK, BETWEEN = 24, 20, 2  # columns of the page
LAST_LINES = 30  # of a text in a cell's page
LONGEST_LINE = 110  # of a sentence, however wide the page is
SIGNS = "E: an error; ·: not measured yet; ◆: no configuration of known cost passes as much for less."
_OUTCOME_STYLES = {"pass": "blue", "passed": "blue", "error": "magenta", "skipped": "dim"}
_BAD = "yellow"  # blue and yellow: the pair that every eye tells apart


def show_runs(runs: Sequence[RunFacts]) -> None:
    """All runs, newest first."""
    if not runs:
        say("Nothing was run yet: `berbench run controls` costs nothing.")
        return
    made = table("run", "began", "cells", "tasks", right=("cells", "tasks"), wide=("run",))
    for run in runs:
        began = f"{run.started_at:%Y-%m-%d %H:%M}" if run.started_at else ""
        tasks = len({planned.task for planned in run.planned})
        made.add_row(cell(run.id), cell(began), cell(len(run.planned)), cell(tasks))
    show(made)


def show_report(report: Report) -> None:
    """A run: warnings first, then configurations, differences, and tasks."""
    run = report.run
    began = f", {run.started_at:%Y-%m-%d %H:%M} UTC" if run.started_at else ""
    say(f"{one_line(run.experiment)}: run {one_line(run.id)}{began}")
    cost = f"; cost of all cells: {words.cost_of_all(report)}" if report.contestants else ""
    say(f"{words.counts(report)}; {words.telling(report.tasks)}{cost}")
    for warning in report.warnings:
        _say(f"WARNING: {warning}")
    for note in run.notes:
        _say(f"note: {note}")
    say()
    name = {row.label: letters(number) for number, row in enumerate(report.configurations)}
    if not report.configurations:
        _show_skipped(report)
        return
    if console().width >= WIDE:
        _show_all(report, name)
    else:
        _show_rates(report, name)
        _show_costs(report, name)
    _show_pairs(report, name)
    _show_tasks(report, name)
    _show_skipped(report)
    for line in (SIGNS, *words.METHOD):
        _say(f"- {line}")


def _show_skipped(report: Report) -> None:
    for one in report.run.skipped:
        _say(f"skipped: {one.task}: {words.skipped(one)}")
    if report.run.skipped:
        say()


def _say(text: str) -> None:
    """A sentence of any length, on as many lines as it needs."""
    width = min(console().width, LONGEST_LINE)
    for line in wrap(one_line(text), width, subsequent_indent="  ", break_on_hyphens=False):
        say(line)


def _label(row: ConfigurationRow) -> Text:
    sanity = f"control: {words.sanity(row)}" if row.is_control else ""
    return lines(row.label + (" ◆" if row.on_front else ""), sanity)


def _rate(row: ConfigurationRow) -> Text:
    return cell(words.share(row.rate.value), "bold")


def _show_all(report: Report, name: dict[str, str]) -> None:
    numbers = ("pass", "95 %", "tasks", "cost", "total cost", "tokens in / out", "time", "lines", "errors")
    made = table("", "configuration", *numbers, right=numbers, wide=("configuration",))
    for row in report.configurations:
        made.add_row(
            cell(name[row.label]),
            _label(row),
            _rate(row),
            *(cell(text) for text in (words.interval(row.rate.interval), row.rate.tasks)),
            *(cell(words.cost(row, told)) for told in (words.middle, words.total)),
            *(
                cell(text)
                for text in (words.tokens(row, words.middle), words.middle(row.seconds, words.seconds))
            ),
            *(cell(text) for text in (words.middle(row.lines, words.number), row.errors)),
        )
    show(made)


def _show_rates(report: Report, name: dict[str, str]) -> None:
    numbers = ("pass", "95 %", "tasks", "errors")
    made = table("", "configuration", *numbers, right=numbers, wide=("configuration",))
    for row in report.configurations:
        interval = words.interval(row.rate.interval)
        rest = (cell(text) for text in (interval, row.rate.tasks, row.errors))
        made.add_row(cell(name[row.label]), _label(row), _rate(row), *rest)
    show(made)


def _show_costs(report: Report, name: dict[str, str]) -> None:
    numbers = ("cost", "total cost", "tokens in / out", "time", "lines")
    made = table("", *numbers, right=numbers, wide=("cost", "tokens in / out"))
    for row in report.configurations:
        told = (
            words.cost(row, words.middle),
            words.cost(row, words.total),
            words.tokens(row, words.middle),
            words.middle(row.seconds, words.seconds),
            words.middle(row.lines, words.number),
        )
        made.add_row(cell(name[row.label]), *(cell(text) for text in told))
    show(made)


def _show_pairs(report: Report, name: dict[str, str]) -> None:
    shown, left_out = chosen_pairs(report)
    if not shown:
        return
    numbers = ("tasks", "won", "lost", "tied", "points")
    made = table("differences", *numbers, right=numbers, wide=("differences",))
    for one in shown:
        pair = one.paired
        counts = (pair.tasks, pair.won, pair.lost, pair.tied, words.points(pair.difference))
        made.add_row(cell(f"{name[one.first]} against {name[one.second]}"), *(cell(text) for text in counts))
    show(made)
    if left_out:
        say(f"{plural(left_out, 'more pair')} in the JSON and HTML forms")


def _show_tasks(report: Report, name: dict[str, str]) -> None:
    labels = [row.label for row in report.configurations]
    tasks = report.tasks
    if len(tasks) > MOST_TASKS:
        tasks = tuple(task for task in tasks if not task.information)[:MOST_TASKS]
    parts = tuple(_side_by_side(labels, name, tasks))
    for number, part in enumerate(parts[:MOST_PARTS]):
        made = table("task", *(name[label] for label in part), "", wide=("task", ""))
        for task in tasks:
            remarks = "" if number else "; ".join(filter(None, (task.description, words.remarks(task))))
            squares = (_square(task.squares.get(label)) for label in part)
            made.add_row(cell(task.id), *squares, cell(remarks, "dim"))
        show(made)
    if len(tasks) < len(report.tasks):
        say(f"{len(report.tasks) - len(tasks)} more tasks in the other forms")
    if left_out := sum(map(len, parts[MOST_PARTS:])):
        say(f"{plural(left_out, 'more configuration')} in the other forms")


def _side_by_side(
    labels: Sequence[str], name: dict[str, str], tasks: Sequence[TaskRow]
) -> Iterator[Sequence[str]]:
    """The configurations in parts that fit the page: columns that do not fit would be left out without a word."""
    longest = max((len(task.id) for task in tasks), default=0)
    room = console().width - min(longest, LONGEST_ID) - LEAST_REMARK - 2 * BETWEEN
    part: list[str] = []
    used = 0
    for label in labels:
        squares = [len(_square(task.squares.get(label)).plain) for task in tasks]
        wide = max(len(name[label]), *squares, 0) + BETWEEN
        if part and used + wide > room:
            yield part
            part, used = [], 0
        part.append(label)
        used += wide
    yield part


def _square(square: Square | None) -> Text:
    """`2/2`, `1/2 E`: E for errors, · for what is missing."""
    if square is None:
        return cell(words.NOTHING, "dim")
    text = f"{square.passed}/{square.measured}" if square.measured else words.NOTHING
    text += (" E" if square.errors else "") + (" ·" if square.missing else "")
    style = {1.0: "blue", 0.0: _BAD, None: "magenta"}.get(square.share, "")
    return cell(text, style)


def show_cell(result: CellResult, files: CellFiles) -> None:
    """One cell: how it ended and why, and the ends of its texts."""
    say(f"{one_line(result.task)}: {one_line(result.label)}, attempt {result.attempt}")
    for name, value in cell_facts(result):
        say(f"  {name:<20} {one_line(value)}")
    for reason in filter(None, (*result.reasons, result.error, result.usage.refused)):
        say(f"  {one_line(reason)}")
    for remark in files.remarks:
        say(f"  remark: {one_line(remark)}")
    say()
    if files.tests:
        made = table("test", "outcome", wide=("test",))
        for test in sorted(files.tests, key=lambda test: test.passed):
            made.add_row(cell(test.id), cell(test.outcome, _OUTCOME_STYLES.get(test.outcome, _BAD)))
        show(made)
    for title, data in (
        ("candidate", files.candidate),
        ("reference", files.reference),
        ("log", files.log),
        ("transcript", files.transcript),
    ):
        if data:
            _show_end(title, data)
    if files.where:
        say(f"all of it: {one_line(files.where)}")


def _show_end(title: str, data: bytes) -> None:
    from berbench.evidence.reading import plain_text

    every = plain_text(data).splitlines()
    shown = every[-LAST_LINES:]
    of = f", the last {len(shown)} of {len(every)} lines" if len(shown) < len(every) else ""
    say(f"--- {title}{of}")
    if title == "log":
        _say(f"  {words.PLANTED}")
    for line in shown:
        say(f"  {clipped(line)}")
    say()
