"""`berbench report`: what came of a run, in the terminal, as Markdown, JSON, or one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berbench.cli.options import JsonFlag, Settings, known_experiments

if TYPE_CHECKING:
    from berbench.cli.wiring import Workplace
    from berbench.stages.report import Told

LIST, CELL = "list", "cell"


def _offered(context: typer.Context, incomplete: str) -> list[str]:
    """What the shell offers: the words that mean something here, and the experiments."""
    words = [name for name in ("latest", LIST, CELL) if name.startswith(incomplete)]
    return [*words, *known_experiments(context, incomplete)]


What = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="latest, an experiment's name for its last run, a run's id, list, or cell [default: latest].",
        autocompletion=_offered,
    ),
]
Key = Annotated[
    str, typer.Argument(metavar="KEY", help="With cell: the cell's key, or the first letters of it.")
]
Markdown = Annotated[bool, typer.Option("--markdown", help="Markdown on standard output.")]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="One HTML file that needs nothing else.")
]


def report(
    context: typer.Context,
    what: What = "latest",
    key: Key = "",
    json: JsonFlag = False,
    markdown: Markdown = False,
    html: Html = None,
) -> int:
    """Tell what came of a run: pass rates, costs, every cell.

    Rates have their intervals, and configurations are set against each other over common tasks.

    `berbench report list` lists the runs, `berbench report cell KEY` shows one cell with its evidence.
    Needs no engine and no network.
    """
    from berbench.cli.wiring import workplace
    from berbench.errors import UsageError

    if json + markdown + (html is not None) > 1:
        raise UsageError("A report has one form.", remedy="give one of --json, --markdown and --html")
    if bool(key) != (what == CELL):
        remedy = "write `berbench report cell KEY`, or the name of one run alone"
        raise UsageError("A key goes with `cell`, and `cell` with a key.", remedy=remedy)
    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        if what == LIST:
            return _list(place, json=json, other=markdown or html is not None)
        told = _told(place, what, key)
        if html is not None:
            _page(told, html)
        elif json:
            _document(told, one=bool(key))
        elif markdown:
            _markdown(told, one=bool(key))
        else:
            _shown(told, one=bool(key))
    return 0


def _told(place: Workplace, what: str, key: str) -> Told:
    from berbench.stages.report import tell_cell, tell_run

    if key:
        return tell_cell(place.cells, place.project, place.history, key)
    return tell_run(place.cells, place.project, place.history, what)


def _list(place: Workplace, *, json: bool, other: bool) -> int:
    from berbench.cli.console import emit, note
    from berbench.cli.show_report import show_runs
    from berbench.errors import UsageError
    from berbench.reports import runs_document
    from berbench.stages.pastruns import list_runs

    if other:
        raise UsageError("The list of runs has two forms.", remedy="give --json, or nothing")
    runs, damaged = list_runs(place.cells)
    for told in damaged:
        note(told)
    if json:
        emit(runs_document(runs))
    else:
        show_runs(runs)
    return 0


def _page(told: Told, path: Path) -> None:
    from berbench.cli.console import say
    from berbench.cli.tables import plural
    from berbench.reports import report_page
    from berbench.store.stream import write_pieces

    report = told.report
    size = write_pieces(path, (piece.encode() for piece in report_page(report, told.files)))
    cells = plural(report.measured + report.errors, "cell")
    say(f"{path}: {size / 1e6:.1f} MB, {cells} with transcript, diffs, tests and log")
    for warning in report.warnings:
        say(f"warning: {warning}")


def _document(told: Told, *, one: bool) -> None:
    from berbench.cli.console import emit
    from berbench.reports import cell_document, report_document

    if one:
        (cell,) = told.cells
        emit(cell_document(cell, told.files(cell)))
    else:
        emit(report_document(told.report))


def _markdown(told: Told, *, one: bool) -> None:
    from berbench.cli.console import say
    from berbench.reports import cell_markdown, report_markdown

    pieces = report_markdown(told.report)
    if one:
        (cell,) = told.cells
        pieces = cell_markdown(cell, told.files(cell))
    say("".join(pieces).rstrip("\n"))


def _shown(told: Told, *, one: bool) -> None:
    from berbench.cli.show_report import show_cell, show_report

    if one:
        (cell,) = told.cells
        show_cell(cell, told.files(cell))
    else:
        show_report(told.report)
