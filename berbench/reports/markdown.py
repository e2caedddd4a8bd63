"""A report as Markdown, in GitHub's tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from berbench.evidence.reading import plain_text
from berbench.model.cells import CellOutcome, CellResult
from berbench.reports import words
from berbench.reports.marks import plain
from berbench.reports.values import CONTROLS, CellFiles, Comparison, Report, Square

MOST_PAIRS = 15  # more than that, and only those with the first configuration are shown
MOST_LINES = 200  # of a text that is quoted

_MARKS = {1.0: "🟦", 0.0: "🟧"}
_TICKS = re.compile(r"`+")


def report_markdown(report: Report) -> Iterator[str]:
    """The report in pieces, to be joined."""
    yield f"# {_words(report.run.experiment or 'Report')}\n\n"
    parts = [f"Run {_code(report.run.id)}", words.counts(report), words.telling(report.tasks)]
    parts += [f"Cost of all cells: {words.cost_of_all(report)}"] if report.contestants else []
    yield ". ".join(parts) + ".\n\n"
    for warning in report.warnings:
        yield f"> **Warning:** {_words(warning)}\n>\n"
    for note in report.run.notes:
        yield f"> {_words(note)}\n>\n"
    yield "\n" if report.warnings or report.run.notes else ""
    yield from _configurations(report)
    yield from _pairs(report)
    yield from _tasks(report)
    if report.run.skipped:
        yield "## Skipped\n\n"
        for one in report.run.skipped:
            yield f"- {_code(one.task)}: {_words(words.skipped(one))}\n"
        yield "\n"
    yield "## How to read this\n\n"
    yield "".join(f"- {line}\n" for line in words.METHOD)


_HEADS = (
    *("configuration", "pass rate", "95 %", "tasks", "cost", "total cost"),
    *("tokens in / out", "time", "lines changed", "errors"),
)


def _configurations(report: Report) -> Iterator[str]:
    yield "## Configurations\n\n"
    yield from _table(
        _HEADS,
        (
            (
                _code(row.label) + (f" (control: {words.sanity(row)})" if row.is_control else ""),
                f"**{words.share(row.rate.value)}**",
                words.interval(row.rate.interval),
                str(row.rate.tasks),
                words.cost(row, words.middle),
                words.cost(row, words.total),
                words.tokens(row, words.middle),
                words.middle(row.seconds, words.seconds),
                words.middle(row.lines, words.number),
                str(row.errors),
            )
            for row in report.configurations
        ),
        right=range(1, 10),
    )


def _pairs(report: Report) -> Iterator[str]:
    shown, left_out = chosen_pairs(report)
    if not shown:
        return
    yield "## Differences, over tasks that both were measured on\n\n"
    yield from _table(
        ("first", "second", "tasks", "won", "lost", "tied", "difference, points"),
        (
            (
                _code(one.first),
                _code(one.second),
                str(one.paired.tasks),
                str(one.paired.won),
                str(one.paired.lost),
                str(one.paired.tied),
                words.points(one.paired.difference),
            )
            for one in shown
        ),
        right=range(2, 7),
    )
    if left_out:
        yield f"{left_out} more pairs are in the JSON and HTML forms.\n\n"


def telling_pairs(report: Report) -> tuple[Comparison, ...]:
    """The pairs that say anything: those with a task that both were measured on."""
    return tuple(one for one in report.comparisons if one.paired.tasks)


def chosen_pairs(report: Report) -> tuple[tuple[Comparison, ...], int]:
    """The pairs that a page has room for, and how many are left out: beyond a few, those with the best alone."""
    every = telling_pairs(report)
    if len(every) <= MOST_PAIRS:
        return every, 0
    best = report.contestants[0].label
    shown = tuple(one for one in every if best in (one.first, one.second))
    return shown, len(every) - len(shown)


def _tasks(report: Report) -> Iterator[str]:
    labels = [row.label for row in report.configurations]
    yield "## Tasks\n\n"
    yield from _table(
        ("task", *(_code(label) for label in labels), "about", "remarks"),
        (
            (
                _code(task.id),
                *(_square(task.squares.get(label)) for label in labels),
                _words(task.description),
                words.remarks(task),
            )
            for task in report.tasks
        ),
        right=(),
    )


def _square(square: Square | None) -> str:
    mark = "⬜" if square is None or square.share is None else _MARKS.get(square.share, "🟨")
    return f"{mark} {words.square(square)}"


def cell_markdown(cell: CellResult, files: CellFiles) -> Iterator[str]:
    """One cell with its evidence; long texts keep their last lines."""
    yield f"# {_words(cell.task)}: {_words(cell.label)}, attempt {cell.attempt}\n\n"
    yield from _table(("", ""), ((name, _words(value)) for name, value in cell_facts(cell)), right=())
    for reason in (*cell.reasons, *([cell.error] if cell.error else [])):
        yield f"- {_words(reason)}\n"
    yield "\n"
    if files.remarks:
        yield "## Remarks\n\n"
        yield from (f"- {_words(remark)}\n" for remark in files.remarks)
        yield "\n"
    if files.tests:
        yield "## Tests\n\n"
        ordered = sorted(files.tests, key=lambda test: test.passed)
        yield from _table(("test", "outcome"), ((_code(test.id), test.outcome) for test in ordered), right=())
    for title, language, data in (
        ("Candidate", "diff", files.candidate),
        ("Reference", "diff", files.reference),
        ("Log", "text", files.log),
        ("Transcript", "text", files.transcript),
    ):
        if data:
            yield f"## {title}\n\n"
            yield f"{words.PLANTED}\n\n" if data is files.log else ""
            yield _fenced(plain_text(data), language)
    yield f"Uncut: {_code(files.where)}\n" if files.where else ""


def cell_facts(cell: CellResult) -> tuple[tuple[str, str], ...]:
    """What every form tells of a cell, by name."""
    usage = cell.usage
    untold = words.NOTHING if cell.tool in CONTROLS else words.UNKNOWN  # that a control tells none is no lack
    facts = [
        ("outcome", cell.outcome.value),
        ("verdict", cell.verdict or words.NOTHING),
        ("agent's time", words.seconds(cell.seconds)),
        ("verifier's time", words.seconds(cell.verify_seconds)),
        ("cost", untold if usage.cost_usd is None else words.dollars(usage.cost_usd)),
        ("tokens in / out", words.tokens_of((usage.input_tokens, usage.output_tokens), untold)),
        ("turns", untold if usage.turns is None else str(usage.turns)),
        ("patch", f"files: {cell.files_changed}, lines: +{cell.lines_added} −{cell.lines_deleted}"),
        ("refused requests", str(cell.refused_requests)),
        ("key", cell.key),
        ("task's fingerprint", cell.fingerprint),
    ]
    if cell.finished_at:
        facts.append(("finished", f"{cell.finished_at:%Y-%m-%d %H:%M %Z}".strip()))
    if cell.outcome is CellOutcome.ERROR:
        facts[1] = ("verdict", "no measurement")
    return tuple(facts)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int]) -> Iterator[str]:
    numbers = set(right)
    yield f"| {' | '.join(head)} |\n"
    yield f"|{'|'.join('--:' if column in numbers else '---' for column in range(len(head)))}|\n"
    for row in rows:
        yield f"| {' | '.join(row)} |\n"
    yield "\n"


def _code(text: str) -> str:
    """A name as code: nothing in it is obeyed, and nobody is mentioned by it."""
    shown = plain(text).replace("|", "\\|")
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    pad = " " if "`" in shown else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}" if shown else ""


def _words(text: str) -> str:
    """Text in which nothing is markup."""
    shown = " ".join(plain(line) for line in text.splitlines())
    # An underscore inside a word is none of Markdown's, and names are full of them.
    return re.sub(
        r"([\\`*{}\[\]<>#|~@&]|(?<![^\W_])_|_(?![^\W_]))", lambda found: f"&#{ord(found[1])};", shown
    )


def _fenced(text: str, language: str) -> str:
    """A quoted text, its end where it is long, between fences longer than any inside."""
    lines = text.splitlines()
    note = f"(the last {MOST_LINES} of {len(lines)} lines)\n\n" if len(lines) > MOST_LINES else ""
    body = "\n".join(plain(line.expandtabs(4)) for line in lines[-MOST_LINES:])
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(body)), default=0))
    return f"{note}{fence}{language}\n{body}\n{fence}\n\n"
