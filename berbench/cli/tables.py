"""How tables and verdicts look, once for all verbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from berbench.cli.console import printable

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_GOOD = "green"
_WARN = "yellow"
_BAD = "red"

_STYLES = {
    "validated": _GOOD,
    "fresh": _GOOD,
    "audited": _GOOD,
    "tests-fail": _GOOD,
    "whole-change": _GOOD,
    "does-not-run": _WARN,
    "no-code": _WARN,
    "not-separable": _WARN,
    "pass": _GOOD,
    "passed": _GOOD,
    "skipped": _WARN,
    "missing": _WARN,
    "stale": _WARN,
    "unvalidated": _WARN,
    "base-passes": _WARN,
    "prompt-leaks": _WARN,
    "no-tests-ran": _WARN,
    "warning": _WARN,
}


def verdict_text(name: str) -> Text:
    """A verdict, state or severity in its colour; what isn't known to be good or middling is bad."""
    from rich.text import Text

    return Text(name, _STYLES.get(name, _BAD))


def table(*columns: str, right: Sequence[str] = (), wide: Sequence[str] = ()) -> Table:
    """A plain table. Columns in `right` are numbers; those in `wide` wrap where the page is narrow, others never."""
    from rich import box
    from rich.table import Table

    # The box itself adds one space between columns.
    made = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    for column in columns:
        made.add_column(
            column,
            justify="right" if column in right else "left",
            overflow="fold",
            no_wrap=column not in wide,
        )
    return made


def cell(text: object, style: str = "") -> Text:
    """A cell with nothing in it that a terminal or rich would obey."""
    from rich.text import Text

    return Text(printable(str(text)), style)


def lines(first: str, *others: str) -> Text:
    """Several lines in one cell: the first is what it is about, the others explain. Empty ones are left out."""
    from rich.text import Text

    return Text("\n").join([cell(first), *(cell(text, "dim") for text in others if text)])


def plural(count: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
