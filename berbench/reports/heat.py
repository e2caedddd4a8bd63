"""The heat map, tasks × configurations, and the table of all cells: HTML that reads without any script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from berbench.model.cells import CellOutcome, CellResult
from berbench.reports import words
from berbench.reports.marks import options, text
from berbench.reports.values import CONTROLS, Report, Square, TaskRow

# One character of text for each outcome, because colour alone tells not everybody.
SIGNS: Mapping[CellOutcome, str] = {
    CellOutcome.PASS: "✓",
    CellOutcome.FAIL: "✗",
    CellOutcome.TIMEOUT: "T",
    CellOutcome.TAMPERED: "!",
    CellOutcome.ERROR: "E",
}
KINDS = (
    ("", "all tasks"),
    ("telling", "that tell configurations apart"),
    ("silent", "without information"),
    ("error", "with errors or missing cells"),
    ("outdated", "changed since"),
)
_MOST_SIGNS = 12  # attempts of one square that get a sign each


def legend() -> str:
    """What the colours and signs mean."""
    shades = (("s0", "none passed"), ("s2", "some passed"), ("s4", "all passed"), ("none", "no measurement"))
    colours = "".join(f'<li><i class="{name}"></i>{meaning}</li>' for name, meaning in shades)
    signs = "".join(f"<li><b>{sign}</b>{outcome.value}</li>" for outcome, sign in SIGNS.items())
    signs += "<li><b>·</b>missing</li>"
    return f'<ul class="legend">{colours}{signs}</ul>'


def heat_map(report: Report, letter: Mapping[str, str]) -> Iterator[str]:
    """The heat map with its filters, in pieces. `letter` is by label."""
    labels = [row.label for row in report.configurations]
    boxes = "".join(
        f'<label><input type="checkbox" checked value="{number}"> {letter[label]} {text(label)}</label>'
        for number, label in enumerate(labels)
    )
    yield (
        '<div class="controls"><input type="search" id="task-words" placeholder="Find tasks" aria-label="Find tasks">'
        f'<select id="task-kind" aria-label="Which tasks">{options(KINDS)}</select>'
        f'<details id="task-columns"><summary>Configurations</summary><div>{boxes}</div></details>'
        '<span class="soft" id="task-count" role="status"></span></div>'
    )
    yield legend()
    yield '<div class="scroll"><table class="heat" id="tasks"><thead><tr><th><button type="button">task</button></th>'
    for number, label in enumerate(labels):
        yield (
            f'<th class="config" data-column="{number}" data-first="descending" title="{text(label)}">'
            f'<button type="button"><span class="label">{text(label)}</span>'
            f'<span class="letter">{letter[label]}</span></button></th>'
        )
    yield '<th><button type="button">remarks</button></th></tr></thead><tbody>'
    for task in report.tasks:
        yield _row(task, labels)
    yield "</tbody></table></div>"


def _row(task: TaskRow, labels: list[str]) -> str:
    kinds = ["silent" if task.information else "telling"]
    kinds += ["error"] if any(one.errors or one.missing for one in task.squares.values()) else []
    kinds += ["outdated"] if task.outdated else []
    squares = "".join(_square(task.squares.get(label), number) for number, label in enumerate(labels))
    searched = f"{task.id} {task.description}".lower()
    quiet = ' class="silent"' if task.information else ""
    return (
        f'<tr{quiet} data-kind="{" ".join(kinds)}" data-text="{text(searched)}">'
        f'<th scope="row" data-v="{text(task.id)}" title="{text(task.description)}">{text(task.id)}'
        f'<span class="about">{text(task.description)}</span></th>{squares}'
        f'<td class="remark">{text(words.remarks(task))}</td></tr>'
    )


def _square(square: Square | None, column: int) -> str:
    if square is None:
        return f'<td class="sq none" data-column="{column}" data-v="">–</td>'
    share = square.share
    value = "" if share is None else f"{share:.4f}"
    tries = "".join(_sign(cell) for cell in square.cells[:_MOST_SIGNS])
    if len(square.cells) > _MOST_SIGNS:
        tries += "…"
    tries += "·" * min(square.missing, _MOST_SIGNS)
    of = f"{square.passed}/{square.measured}" if square.measured else words.NOTHING
    return (
        f'<td class="sq {_shade(share)}" data-column="{column}" data-v="{value}" title="{text(words.square(square))}">'
        f'<span class="tries">{tries}</span><span class="of">{of}</span></td>'
    )


def _shade(share: float | None) -> str:
    if share is None:
        return "none"
    if share in (0.0, 1.0):
        return "s4" if share else "s0"
    return "s1" if share < 0.45 else "s3" if share > 0.55 else "s2"


def _sign(cell: CellResult) -> str:
    title = f"attempt {cell.attempt}: {cell.outcome.value}"
    return f'<a href="#cell-{text(cell.key)}" title="{title}">{SIGNS[cell.outcome]}</a>'


_COLUMNS = (
    "cell",
    "task",
    "configuration",
    "attempt",
    "outcome",
    "time",
    "cost",
    "tokens in",
    "tokens out",
    "lines",
)
_NUMBERS = frozenset(_COLUMNS[3:4] + _COLUMNS[5:])


def cells_of(report: Report) -> Iterator[CellResult]:
    """All cells in the order of the table, which numbers them."""
    for task in report.tasks:
        for row in report.configurations:
            if row.label in task.squares:
                yield from task.squares[row.label].cells


def cell_table(report: Report) -> Iterator[str]:
    """Every cell with its numbers, and filters."""
    outcomes = [("", "all outcomes"), *((one.value, one.value) for one in CellOutcome)]
    configurations = [("", "all configurations"), *((row.label, row.label) for row in report.configurations)]
    yield (
        '<div class="controls"><input type="search" id="cell-words" placeholder="Find cells" aria-label="Find cells">'
        f'<select id="cell-outcome" aria-label="Outcome">{options(outcomes)}</select>'
        f'<select id="cell-config" aria-label="Configuration">{options(configurations)}</select>'
        '<span class="soft" id="cell-count" role="status"></span></div>'
        '<div class="scroll"><table id="cells"><thead><tr>'
    )
    for name in _COLUMNS:
        numeric = ' class="num" data-first="descending"' if name in _NUMBERS else ""
        yield f'<th{numeric}><button type="button">{name}</button></th>'
    yield "</tr></thead><tbody>"
    about = {task.id: task.description for task in report.tasks}
    for cell in cells_of(report):
        yield _cell_row(cell, about[cell.task])
    yield "</tbody></table></div>"


def _cell_row(cell: CellResult, about: str) -> str:
    usage = cell.usage
    searched = f"{cell.key} {cell.task} {about} {cell.label} {cell.outcome.value}".lower()
    untold = words.NOTHING if cell.tool in CONTROLS else words.UNKNOWN  # that a control tells none is no lack
    changed = cell.lines_added + cell.lines_deleted
    outcome = cell.outcome.value
    return (
        f'<tr data-key="{text(cell.key)}" data-outcome="{outcome}" data-config="{text(cell.label)}"'
        f' data-text="{text(searched)}"><td class="mono">'
        f'<a href="#cell-{text(cell.key)}">{text(cell.key[:10])}</a></td>'
        f'<td title="{text(about)}">{text(cell.task)}</td><td>{text(cell.label)}</td>'
        f'<td class="num">{cell.attempt}</td><td><span class="pill {outcome}">{outcome}</span></td>'
        + _number(cell.seconds, words.seconds(cell.seconds))
        + _number(usage.cost_usd, untold if usage.cost_usd is None else words.dollars(usage.cost_usd))
        + _number(
            usage.input_tokens, untold if usage.input_tokens is None else words.number(usage.input_tokens)
        )
        + _number(
            usage.output_tokens, untold if usage.output_tokens is None else words.number(usage.output_tokens)
        )
        + _number(changed, str(changed))
        + "</tr>"
    )


def _number(value: float | None, written: str) -> str:
    if value is None:
        return f'<td class="num soft" data-v="">{written}</td>'
    return f'<td class="num" data-v="{value:g}">{text(written)}</td>'
