"""How numbers are written, once for every form of a report. What is unknown says so; a lower bound says `≥`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from berbench.reports.values import CONTROLS, ConfigurationRow, Report, Skipped, Square, TaskRow
from berbench.stats import Amount, Interval, Paired

UNKNOWN = "unknown"
NOTHING = "–"

# What stands beside every table: how its numbers were made.
METHOD = (
    "A pass rate is the weighted mean over tasks; attempts at one task are averaged first.",
    "The interval is Wilson's at 95 %, on the number of tasks.",
    "A time-out and tampering count as a fail; an error is no measurement and counts as nothing.",
    "Costs, tokens, times and patch sizes are medians of measured cells, and totals where they say so.",
    "≥ means that a part is not known, so the true number may be higher.",
)


def share(value: float | None) -> str:
    """`67 %`. Only none at all is 0 %, and only all is 100 %."""
    if value is None:
        return NOTHING
    if 0 < value < 0.01:
        return "<1 %"
    if 0.99 < value < 1:
        return ">99 %"
    return f"{value * 100:.0f} %"


def interval(ends: Interval | None) -> str:
    """`45–83 %`."""
    return NOTHING if ends is None else f"{ends.low * 100:.0f}–{ends.high * 100:.0f} %"


def points(difference: float | None) -> str:
    """A difference of two rates, in percentage points with its sign."""
    if difference is None:
        return NOTHING
    text = f"{difference * 100:+.0f}"
    return "±0" if text in ("+0", "-0") else text.replace("-", "−")


def dollars(value: float) -> str:
    """`$12.30`, `$0.045`: two digits of what is less than ten cents."""
    if value >= 0.0995 or value == 0:
        return f"${value:,.2f}"
    return f"${value:.2g}" if value >= 1e-4 else "<$0.0001"


def seconds(value: float) -> str:
    """`45 s`, `3.2 min`, `1.4 h`."""
    if value < 9.95:
        return f"{value:.1f} s"
    if value < 119.5:
        return f"{value:.0f} s"
    return f"{value / 60:.1f} min" if value < 7170 else f"{value / 3600:,.1f} h"


def number(value: float) -> str:
    """`950`, `12.3k`, `4.56M`."""
    if value < 9_995:
        return f"{value:.0f}" if value == int(value) or value >= 100 else f"{value:.1f}"
    return f"{value / 1e3:.1f}k" if value < 999_950 else f"{value / 1e6:,.2f}M"


def total(of: Amount, written: Callable[[float], str]) -> str:
    """A sum, with `≥` where a part of it is not known."""
    if of.total is None:
        return UNKNOWN if of.unknown else NOTHING
    return f"{'≥ ' if of.is_bound else ''}{written(of.total)}"


def middle(of: Amount, written: Callable[[float], str]) -> str:
    """A median, with of how many it is where some are not known."""
    if of.median is None:
        return UNKNOWN if of.unknown else NOTHING
    return written(of.median) + (f" ({of.known} of {of.known + of.unknown})" if of.unknown else "")


def cost(row: ConfigurationRow, told: Callable[[Amount, Callable[[float], str]], str]) -> str:
    """A configuration's cost. That a control tells none is no lack: it has none."""
    return NOTHING if row.is_control and row.cost.total is None else told(row.cost, dollars)


def tokens(row: ConfigurationRow, told: Callable[[Amount, Callable[[float], str]], str]) -> str:
    """Tokens in and out."""
    if row.is_control and row.input_tokens.total is None:
        return NOTHING
    into, out = told(row.input_tokens, number), told(row.output_tokens, number)
    return into if into == out and into in (UNKNOWN, NOTHING) else f"{into} / {out}"


def tokens_of(counts: tuple[int | None, int | None], untold: str = UNKNOWN) -> str:
    """Tokens of one cell, in and out."""
    if counts == (None, None):
        return untold
    return " / ".join(UNKNOWN if count is None else number(count) for count in counts)


PLANTED = "Tests that berbench planted to watch the run may be in it, and some of them must fail."


def square(what: Square | None) -> str:
    """`2/2`, with `+1 error` or `+1 missing` behind it; `–` where nothing was planned."""
    if what is None:
        return NOTHING
    parts = [f"{what.passed}/{what.measured}"] if what.measured else []
    parts += [f"{what.errors} error{'s' if what.errors > 1 else ''}"] if what.errors else []
    parts += [f"{what.missing} missing"] if what.missing else []
    return " + ".join(parts) or NOTHING


def information(task: TaskRow) -> str:
    """What a task tells of the configurations, where that is nothing."""
    return {"all-pass": "all pass: no information", "all-fail": "all fail: no information"}.get(
        task.information, ""
    )


def sanity(row: ConfigurationRow) -> str:
    """`ok`, or that a control is not where it must be."""
    if row.rate.value is None:
        return "not measured"
    return "ok" if row.rate.value == CONTROLS[row.tool] else f"WRONG: must be {share(CONTROLS[row.tool])}"


def pair(of: Paired) -> str:
    """`3 won, 1 lost, 4 tied`."""
    return f"{of.won} won, {of.lost} lost, {of.tied} tied"


def remarks(task: TaskRow) -> str:
    """What is to be said of a task beside its results."""
    parts = [information(task), "changed since it was measured" if task.outdated else ""]
    parts += [f"weight {task.weight:g}"] if task.weight != 1 else []
    return "; ".join(part for part in parts if part)


def cost_of_all(report: Report) -> str:
    """What all cells cost, errors too, whichever run paid for them."""
    return total(report.cost, dollars)


def counts(report: Report) -> str:
    """How many cells were planned, measured, in error and missing."""
    parts = [f"{report.measured} of {report.planned} cells measured"]
    parts += [f"{report.errors} in error"] if report.errors else []
    parts += [f"{report.missing} missing"] if report.missing else []
    return ", ".join(parts)


def telling(tasks: Sequence[TaskRow]) -> str:
    """How many tasks tell the configurations apart."""
    silent = sum(bool(task.information) for task in tasks)
    if len(tasks) == 1:
        return "1 task" + (", without information" if silent else "")
    return f"{len(tasks)} tasks" + (f", {silent} of them without information" if silent else "")


def skipped(one: Skipped) -> str:
    """Why a task was skipped, with the inputs that changed where the reason does not name them."""
    untold = [name for name in one.changed if name not in one.reason]
    return one.reason + (f" ({', '.join(untold)})" if untold else "")
