"""A report as one HTML file that needs no server and no network, written piece by piece.

Everything that came from a run is either escaped text or JSON in a data block that scripts read and show as text.
A content policy lets the file's own style and script in by their hashes, and nothing else: should escaping ever
fail, there is still nothing that would run, and nowhere to send anything to.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from berbench.model.cells import CellResult
from berbench.reports import words
from berbench.reports.embed import allowance, cell_data, task_data
from berbench.reports.heat import cell_table, cells_of, heat_map
from berbench.reports.markdown import telling_pairs
from berbench.reports.marks import letters, text
from berbench.reports.plot import is_plotted, plot
from berbench.reports.values import CellFiles, ConfigurationRow, Report
from berbench.stats import Rate

ReadFiles = Callable[[CellResult], CellFiles]


@cache
def _asset(name: str) -> str:
    return (files("berbench.reports") / "assets" / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def report_page(report: Report, read: ReadFiles) -> Iterator[str]:
    """The file in pieces. `read` gives a cell's evidence; it is called once for each cell and kept by nobody."""
    name = {row.label: letters(number) for number, row in enumerate(report.configurations)}
    yield from _head(report)
    yield '<main><div id="overview">'
    yield from _summary(report)
    yield from _configurations(report, name)
    yield from _value(report, name)
    yield from _pairs(report, name)
    yield "<h2>Tasks</h2>"
    yield from heat_map(report, name)
    yield from _skipped(report)
    yield "<h2>Cells</h2>"
    yield from cell_table(report)
    yield f'<h2>How to read this</h2><ul class="note">{"".join(f"<li>{text(m)}</li>" for m in words.METHOD)}</ul>'
    yield '</div><article id="cell" hidden></article>'
    yield "<noscript><p>The pages of single cells, sorting and filters need JavaScript.</p></noscript></main>\n"
    yield from _evidence(report, read)
    yield f"<script>{_asset('script.js')}</script></body></html>\n"


def _head(report: Report) -> Iterator[str]:
    style, script = _asset("style.css"), _asset("script.js")
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    yield '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">'
    yield f"<title>{text(report.run.experiment or 'Report')} – berbench</title>"
    yield f"<style>{style}</style></head><body>\n"


def _summary(report: Report) -> Iterator[str]:
    run = report.run
    yield f"<header><h1>{text(run.experiment or 'Report')}</h1>"
    when = f", {run.started_at:%Y-%m-%d %H:%M %Z}".rstrip() if run.started_at else ""
    yield f'<p class="soft">berbench report of run <code>{text(run.id)}</code>{text(when)}</p></header>'
    tiles = [
        (f"{report.measured:,} of {report.planned:,}", "cells measured"),
        (f"{len(report.tasks):,}", "tasks"),
        (f"{sum(bool(task.information) for task in report.tasks):,}", "of them without information"),
        (f"{len(report.contestants):,}", "configurations"),
    ]
    tiles += [(words.cost_of_all(report), "cost of all cells")] if report.contestants else []
    tiles += [(f"{report.errors:,}", "cells in error")] if report.errors else []
    tiles += [(f"{report.missing:,}", "cells missing")] if report.missing else []
    items = "".join(f"<li><b>{text(value)}</b><span>{what}</span></li>" for value, what in tiles)
    yield f'<ul class="tiles">{items}</ul>'
    if said := (*report.warnings, *run.notes):
        yield f'<div class="warnings" role="alert">{"".join(f"<p>{text(one)}</p>" for one in said)}</div>'


_HEADS = ("configuration", "pass rate", "95 % interval", "tasks", "cost", "total cost", "tokens in / out")
_MORE_HEADS = ("time", "lines", "errors")
_PLAIN = frozenset({"configuration", "95 % interval"})


def _configurations(report: Report, name: Mapping[str, str]) -> Iterator[str]:
    yield '<h2>Configurations</h2><div class="scroll"><table id="configurations"><thead><tr>'
    for head in (*_HEADS, *_MORE_HEADS):
        numeric = "" if head in _PLAIN else ' class="num" data-first="descending"'
        button = f'<button type="button">{head}</button>' if head != "95 % interval" else head
        yield f"<th{numeric}>{button}</th>"
    yield "</tr></thead><tbody>"
    for row in report.contestants:
        yield _configuration(row, name[row.label])
    yield "</tbody>"
    if report.controls:
        yield f"<tbody>{''.join(_configuration(row, name[row.label]) for row in report.controls)}</tbody>"
    yield "</table></div>"


def _configuration(row: ConfigurationRow, letter: str) -> str:
    told = text(row.label)
    if row.is_control:
        sanity = words.sanity(row)
        told += f' <span class="{"soft" if sanity == "ok" else "bad"}">control: {sanity}</span>'
    numbers: tuple[tuple[float | None, str], ...] = (
        (row.rate.tasks, str(row.rate.tasks)),
        (row.cost.median, words.cost(row, words.middle)),
        (row.cost.total, words.cost(row, words.total)),
        (row.input_tokens.median, words.tokens(row, words.middle)),
        (row.seconds.median, words.middle(row.seconds, words.seconds)),
        (row.lines.median, words.middle(row.lines, words.number)),
        (row.errors, str(row.errors)),
    )
    cells = "".join(
        f'<td class="num" data-v="{"" if value is None else f"{value:g}"}">{text(written)}</td>'
        for value, written in numbers
    )
    value = "" if row.rate.value is None else f"{row.rate.value:.6f}"
    best = ' <span class="front" title="no configuration of known cost passes as much for less">◆</span>'
    return (
        f'<tr><th scope="row" data-v="{text(row.label)}"><span class="letter">{letter}</span>{told}'
        f"{best if row.on_front else ''}</th>"
        f'<td class="num" data-v="{value}"><b>{text(words.share(row.rate.value))}</b></td>'
        f'<td class="interval">{_bar(row.rate)}{text(words.interval(row.rate.interval))}</td>{cells}</tr>'
    )


def _bar(rate: Rate) -> str:
    """An interval as a bar from 0 to 100 %, the rate as a line in it."""
    if rate.interval is None or rate.value is None:
        return ""
    low, high = rate.interval.low * 100, rate.interval.high * 100
    return (
        '<svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="100" height="12"/>'
        f'<rect class="range" x="{low:.1f}" width="{high - low:.1f}" y="1" height="10"/>'
        f'<rect class="at" x="{min(98.5, rate.value * 100):.1f}" width="1.5" height="12"/></svg>'
    )


def _value(report: Report, name: Mapping[str, str]) -> Iterator[str]:
    if not report.contestants:
        return
    yield "<h2>Cost against pass rate</h2>"
    unknown = [row.label for row in report.contestants if not is_plotted(row)]
    if len(unknown) < len(report.contestants):
        yield '<div class="figure">'
        yield from plot(report.contestants, name)
        yield "</div>"
        yield (
            '<p class="note">◆ and the line: no configuration of known cost passes as much for less. Upright lines '
            "are 95 % intervals; an arrow means that a part of the cost is not known.</p>"
        )
    if unknown:
        told = ", ".join(f"{name[label]} {label}" for label in unknown)
        yield f'<p class="note">Not drawn, because no cost or no pass rate is known: {text(told)}.</p>'


def _pairs(report: Report, name: Mapping[str, str]) -> Iterator[str]:
    pairs = telling_pairs(report)
    if not pairs:
        return
    yield '<h2>Differences</h2><p class="note">In percentage points, over the tasks that both were measured on.</p>'
    yield '<div class="scroll"><table id="pairs"><thead><tr>'
    for head in ("first", "second", "tasks", "won", "lost", "tied", "difference"):
        numeric = "" if head in ("first", "second") else ' class="num" data-first="descending"'
        yield f'<th{numeric}><button type="button">{head}</button></th>'
    yield "</tr></thead><tbody>"
    for one in pairs:
        pair = one.paired
        names = "".join(
            f'<td><span class="letter">{name[label]}</span>{text(label)}</td>'
            for label in (one.first, one.second)
        )
        numbers = "".join(f'<td class="num">{n}</td>' for n in (pair.tasks, pair.won, pair.lost, pair.tied))
        value = "" if pair.difference is None else f"{pair.difference:.6f}"
        written = words.points(pair.difference)
        yield f'<tr>{names}{numbers}<td class="num" data-v="{value}">{written}</td></tr>'
    yield "</tbody></table></div>"


def _skipped(report: Report) -> Iterator[str]:
    if not report.run.skipped:
        return
    heads = "".join(f"<th>{head}</th>" for head in ("task", "why", "changed inputs"))
    yield f'<h2>Skipped</h2><div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>'
    for one in report.run.skipped:
        yield (
            f'<tr><th scope="row">{text(one.task)}</th><td class="wide">{text(one.reason)}</td>'
            f'<td class="wide">{text(", ".join(one.changed))}</td></tr>'
        )
    yield "</tbody></table></div>"


def _evidence(report: Report, read: ReadFiles) -> Iterator[str]:
    """The data of all cells, and of each task behind its first cell that has it."""
    number = {task.id: place for place, task in enumerate(report.tasks)}
    allowed = allowance(report.measured + report.errors)
    told: set[str] = set()
    for place, cell in enumerate(cells_of(report)):
        evidence = read(cell)
        task = number[cell.task]
        if cell.task not in told and (evidence.reference is not None or evidence.prompt):
            told.add(cell.task)
            yield _data(f"t{task}", task_data(evidence, allowed=allowed))
        about = report.tasks[task].description
        yield _data(f"d{place}", cell_data(cell, evidence, task=task, about=about, allowed=allowed))


def _data(name: str, content: str) -> str:
    return f'<script type="application/json" id="{name}">{content}</script>\n'
