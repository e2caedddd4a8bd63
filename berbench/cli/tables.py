"""How tables and verdicts look, once for all verbs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    """A plain table. Columns in `right` are numbers; those in `wide` share what space is left, and wrap."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", expand=bool(wide))
    for column in columns:
        made.add_column(
            column,
            justify="right" if column in right else "left",
            overflow="fold",
            no_wrap=column not in wide,
            ratio=wide.index(column) + 1 if column in wide else None,
        )
    return made


def cell(text: object) -> Text:
    """A cell with nothing in it that a terminal or rich would obey."""
    from rich.text import Text

    return Text(printable(str(text)))


def lines(texts: Iterable[str]) -> Text:
    """Several lines in one cell."""
    from rich.text import Text

    return Text("\n").join(cell(text) for text in texts)


def plural(count: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
