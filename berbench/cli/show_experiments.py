"""How experiments and tools look."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from berbench.cli.console import one_line, say, show
from berbench.cli.tables import cell, lines, plural, table

if TYPE_CHECKING:
    from pathlib import Path

    from berbench.matrix import Resolution
    from berbench.matrix.auth import Given
    from berbench.model.cells import ExperimentDocument
    from berbench.stages.experiments import Checked, Overview
    from berbench.stages.tools import ToolOverview


MOST_LABELS = 12  # of one experiment in a list; `experiment show` has them all


def show_written(name: str, path: Path, resolution: Resolution) -> None:
    """A new experiment, and what comes next."""
    say(f"Experiment {name} in {path}")
    _show_configurations(resolution)
    say(f"next: berbench experiment validate {name} --verbose")


def show_experiment(where: str, experiment: ExperimentDocument, resolution: Resolution) -> None:
    """An experiment's settings and configurations."""
    say(f"Experiment {experiment.name}: {where}")
    if experiment.description:
        say(f"  {one_line(experiment.description)}")
    timeout = f"{experiment.cell_timeout_s} s" if experiment.cell_timeout_s else "each task's own"
    ceiling = "none" if experiment.max_cost_usd is None else f"{experiment.max_cost_usd:g} USD"
    for key, value in (
        ("tasks", ", ".join(experiment.tasks) or "every fresh one"),
        ("tags", ", ".join(experiment.tags) or "any"),
        ("cells at once", str(experiment.concurrency)),
        ("agent's budget", timeout),
        ("ceiling of cost", ceiling),
        ("seed", str(experiment.seed)),
    ):
        say(f"  {key:<16} {one_line(value)}")
    _show_configurations(resolution)


def _show_configurations(resolution: Resolution) -> None:
    made = table("configuration", "version", "attempts", right=("attempts",), wide=("configuration",))
    for one in resolution.chosen:
        tool = one.configuration.tool
        made.add_row(cell(one.configuration.label), cell(tool.version), cell(one.attempts))
    show(made)
    for note in resolution.notes:
        say(f"note: {one_line(note)}")


def show_checked(checked: Checked, *, verbose: bool) -> None:
    """What an experiment comes to, and what keeps it from running."""
    say(f"Experiment {checked.experiment.name}: {checked.where}")
    _show_configurations(checked.resolution)
    for need in checked.needs:
        say(f"{need.tool.name}: {_given(need.given)}")
        if verbose:
            say(f"  from     {' < '.join(need.layers)}")
            say(f"  reaches  {', '.join(need.tool.network.hosts) or 'nothing'}")
    if verbose:
        _show_runs(checked)
    fresh, skipped = checked.selection.fresh, checked.selection.skipped
    say(f"{plural(len(fresh), 'fresh task')}{': ' if fresh else ''}{', '.join(item.id for item in fresh)}")
    for item in skipped:
        say(f"skipped: {item.id} is {item.standing.state}: {one_line(item.standing.reason)}")
    say(f"{plural(checked.cell_count, 'cell')}")
    if verbose:
        for task, label, attempt in checked.cells():
            say(f"  {task}  {label}  attempt {attempt}")
    for problem in checked.problems:
        say(f"problem: {one_line(problem)}")


def _show_runs(checked: Checked) -> None:
    from berbench.stages.experiments import runs

    for configuration in checked.resolution.configurations:
        say(f"{configuration.label} runs")
        for step, label, argv in runs(configuration):
            name = f"{step} ({label}): " if step else ""
            say(f"  {name}{one_line(shlex.join(argv))}")
        if configuration.tool.type == "control":
            say(f"  nothing: it {configuration.tool.description.split(';')[0]}")


def _given(given: Given) -> str:
    parts = [f"{name} is there" for name in given.names] + [f"{name} is missing" for name in given.missing]
    if not parts and given.unset:
        return f"none of {', '.join(given.unset)} is there"
    return ", ".join(parts) or "needs nothing of the host"


def show_experiments(found: Sequence[Overview]) -> None:
    """Every experiment with its configurations."""
    made = table(
        "experiment", "configurations", "attempts", "tasks", right=("attempts",), wide=("configurations",)
    )
    for one in found:
        if one.experiment is None or one.resolution is None:
            made.add_row(cell(one.name), cell(one.problem, "red"), cell(""), cell(""))
            continue
        labels = [chosen.configuration.label for chosen in one.resolution.chosen]
        tasks = ", ".join((*one.experiment.tasks, *(f"tag {tag}" for tag in one.experiment.tags)))
        made.add_row(
            cell(one.name),
            lines(labels[0], *labels[1:MOST_LABELS], *_more(labels)),
            cell(", ".join(sorted({str(chosen.attempts) for chosen in one.resolution.chosen}))),
            cell(tasks or "every fresh one"),
        )
    show(made)


def _more(labels: Sequence[str]) -> tuple[str, ...]:
    return (f"and {len(labels) - MOST_LABELS} more",) if len(labels) > MOST_LABELS else ()


def show_tools(found: Sequence[ToolOverview], user_folder: Path) -> None:
    """Every tool, where its document comes from, and whether what it needs is there."""
    made = table("tool", "version", "from", "efforts", "of the host", wide=("from", "efforts", "of the host"))
    for one in found:
        made.add_row(
            cell(one.tool.name),
            cell(one.tool.version),
            lines(one.layers[0], *one.layers[1:]),
            cell(" ".join(one.tool.efforts)),
            cell(_given(one.given) if one.tool.type == "agent" else ""),
        )
    show(made)
    say(f"your own tools and overlays: {user_folder}")
