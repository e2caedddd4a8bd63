"""How a run looks: what it is about to do, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from berbench.cli.console import clipped, note, one_line, say, show
from berbench.cli.tables import cell, plural, table

if TYPE_CHECKING:
    from berbench.stages.budget import Known
    from berbench.stages.crew import Forecast
    from berbench.stages.plan import Plan

_OUTCOMES = ("pass", "fail", "timeout", "tampered", "error")
_MOST = 20  # cells named one by one


def show_plan(plan: Plan, coming: Forecast, known: Mapping[str, Known], problems: Sequence[str]) -> None:
    """What a run would do, and what it may cost as far as that is known."""
    from berbench.stages.runrecord import estimate

    say(f"Experiment {plan.experiment.name}: {plan.where}")
    due = Counter(cell.configuration.label for cell in coming.due)
    all_cells = Counter(cell.configuration.label for cell in plan.cells)
    made = table(
        "configuration", "cells", "measured", "due", "USD a cell", right=_RIGHT, wide=("configuration",)
    )
    for one in plan.resolution.chosen:
        label = one.configuration.label
        made.add_row(
            cell(label),
            cell(all_cells[label]),
            cell(all_cells[label] - due[label]),
            cell(due[label]),
            cell(_usd(known[label].mean)),
        )
    show(made)
    say(f"{plural(len(plan.grounds), 'fresh task')}: {', '.join(plan.grounds) or 'none'}")
    _show_skipped([(one.id, one.standing.state.value, one.standing.reason) for one in plan.skipped], say)
    cost, unknown = estimate(coming.due, known)
    doubt = f", and {plural(unknown, 'cell')} of unknown cost" if unknown else ""
    say(f"{plural(len(plan.cells), 'cell')}, {coming.reused} measured already, {len(coming.due)} due")
    say(f"cost: {_usd(cost)} USD by the mean of like cells{doubt}" if coming.due else "cost: nothing")
    for problem in problems:
        say(f"problem: {one_line(problem)}")


_RIGHT = ("cells", "measured", "due", "USD a cell", *_OUTCOMES, "pass rate", "USD")


def show_run(document: Mapping[str, Any], *, quiet: bool) -> None:
    """What came of a run. With `quiet` only what went wrong is told, as a note beside the document."""
    tell = note if quiet else say
    if not quiet:
        _show_table(document["cells"])
    skipped = [(one["task"], one["state"], one["reason"]) for one in document["skipped"]]
    _show_skipped(skipped, tell)
    if not document["planned"]:
        what_then = (
            "`berbench task validate --stale-only` proves tasks anew."
            if skipped
            else "`berbench task scan` finds some."
        )
        tell(f"Nothing was measured: there is no fresh task. {what_then}")
    _show_errors(document, tell)
    for gate in document["gates"]:
        tell(one_line(gate))
    if quiet:
        return
    untold = (
        f", and {plural(document['cost_untold'], 'cell')} did not tell" if document["cost_untold"] else ""
    )
    say(
        f"{document['planned']} planned, {document['measured']} measured, {document['reused']} reused, "
        f"{document['errors']} without a measurement, {document['not_started']} not started"
    )
    say(f"cost of this run: {_usd(document['cost_usd'])} USD{untold}")
    say(f"run {document['run']}")
    if document["cells"]:
        say("next: berbench report latest")


def _show_table(rows: Sequence[Mapping[str, Any]]) -> None:
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        counts.setdefault(row["label"], Counter())[row["outcome"]] += 1
    made = table("configuration", *_OUTCOMES, right=_RIGHT, wide=("configuration",))
    for label, outcomes in sorted(counts.items()):
        made.add_row(cell(label), *(cell(outcomes[name] or "") for name in _OUTCOMES))
    if counts:
        show(made)


def _show_skipped(skipped: Sequence[tuple[str, str, str]], tell: Any) -> None:
    for task, state, reason in skipped:
        tell(f"skipped: {task} is {state}: {one_line(reason)}")


def _show_errors(document: Mapping[str, Any], tell: Any) -> None:
    failed = [row for row in document["cells"] if row["outcome"] == "error"]
    for row in failed[:_MOST]:
        tell(f"no measurement: {row['task']} × {row['label']} #{row['attempt']}: {clipped(row['reason'])}")
    if len(failed) > _MOST:
        tell(f"… and {len(failed) - _MOST} more")
    if failed:
        tell("→ run it again: only what is missing is paid for")
    if count := document["not_started"]:
        tell(f"{plural(count, 'cell')} not started: what they may cost does not fit into the ceiling")


def show_regraded(document: Mapping[str, Any]) -> None:
    """What came of grading stored work again: each cell that ends otherwise, or could not be graded."""
    for row in document["cells"]:
        told = row["kept"] or row["error"]
        if told or row["outcome"] != row["before"]:
            otherwise = f"{row['before']} → {row['outcome']}"
            name = f"{row['task']} × {row['label']} #{row['attempt']}"
            say(f"{one_line(name)}: {clipped(told or otherwise)}")
    say(
        f"{document['graded']} graded again, {document['changed']} with another outcome, "
        f"{document['kept']} left as they are, {document['errors']} failed"
    )
    if document["run"]:
        say("next: berbench report latest")
    elif document["graded"]:
        say("next: berbench run NAME, whose report shows the new grades")


def _usd(cost: float | None) -> str:
    return "unknown" if cost is None else f"{cost:.2f}" if cost == 0 or cost >= 0.1 else f"{cost:.4f}"
