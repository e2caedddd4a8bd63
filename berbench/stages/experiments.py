"""Experiments before they run: written down, and shown with every configuration, task and cell that they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from berbench.errors import BerbenchError, ConfigError, UsageError
from berbench.experiments import Experiments, Tools, found
from berbench.history.door import History
from berbench.matrix import Chosen, Resolution, block_of, check_effort, parse_label, resolve
from berbench.matrix.auth import Given
from berbench.matrix.hints import hint, shown
from berbench.matrix.invocation import Places, agents_of, invocation, planned_steps
from berbench.model.cells import Configuration, ExperimentDocument, ToolBlock
from berbench.model.task import TaskState
from berbench.model.tools import ToolDocument
from berbench.stages.standing import Listed, stand
from berbench.store import Project

CHECK_SCHEMA = "berbench.experiment-check/1"
LIST_SCHEMA = "berbench.experiments/1"

# As they stand in a shown command: where things are is only known once there is a container.
_ANYWHERE = Places("{prompt_file}", "{workdir}", "{home}")


@dataclass(frozen=True, slots=True)
class Selection:
    """The tasks that an experiment asks for: those that are fresh, and those that are skipped, with their standing."""

    fresh: tuple[Listed, ...]
    skipped: tuple[Listed, ...]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a tool asks of the host, and from which layers its document comes. Never a value."""

    tool: ToolDocument
    layers: tuple[str, ...]
    given: Given


@dataclass(frozen=True, slots=True)
class Checked:
    """An experiment with everything it comes to. `problems` are what keeps it from running, a sentence each."""

    where: str
    experiment: ExperimentDocument
    resolution: Resolution
    selection: Selection
    needs: tuple[Needs, ...]
    problems: tuple[str, ...]

    def cells(self) -> Iterator[tuple[str, str, int]]:
        """Task, configuration's label and attempt of each cell, in the order of the documents."""
        for item in self.selection.fresh:
            for one in self.resolution.chosen:
                for attempt in range(1, one.attempts + 1):
                    yield item.id, one.configuration.label, attempt

    @property
    def cell_count(self) -> int:
        """How many there are."""
        return len(self.selection.fresh) * sum(one.attempts for one in self.resolution.chosen)


@dataclass(frozen=True, slots=True)
class Overview:
    """An experiment in a list: what it comes to, or why it can't be read."""

    name: str
    where: str
    experiment: ExperimentDocument | None = None
    resolution: Resolution | None = None
    problem: str = ""


def create(
    experiments: Experiments,
    tools: Tools,
    project: Project,
    *,
    name: str,
    configurations: Sequence[str],
    force: bool = False,
    **settings: Any,
) -> tuple[Path, Resolution]:
    """Write an experiment from configurations as a command line has them; its path, and what it comes to.

    `settings` are keys of the document. Nothing is written unless all of it makes sense: UsageError or ConfigError.
    """
    experiments.check_free(name, force=force)
    blocks = tuple(_block(text, tools) for text in configurations)
    experiment = ExperimentDocument(name=name, tools=blocks, **settings)
    resolution = resolve(experiment, tools.documents, name=f"experiment {name}")
    for task_id in experiment.tasks:
        project.read_task(task_id)  # a name that is no task is a usage error, before anything is written
    if experiment.tags:
        _check_tags(project, experiment)
    return experiments.create(experiment, force=force), resolution


def _check_tags(project: Project, experiment: ExperimentDocument) -> None:
    """UsageError for a tag that no task has. A task that can't be read may have any."""
    tags: set[str] = set()
    for task_id in project.task_ids():
        try:
            tags.update(project.read_task(task_id).task.tags)
        except BerbenchError:
            return
    for tag in experiment.tags:
        if tag not in tags:
            raise UsageError(
                f"--tag: no task has the tag {shown(tag)}{hint(tag, sorted(tags))}.",
                remedy="`berbench task show ID` shows a task's tags; `tags:` of task.yaml sets them.",
            )


def _block(text: str, tools: Tools) -> ToolBlock:
    """The block of one configuration, resolved by itself first so that a complaint quotes what was typed."""
    label = parse_label(text)
    if tool := tools.documents.get(label.tool):
        check_effort(text, label, tool)
    block = block_of(label)
    resolve(ExperimentDocument(tools=(block,)), tools.documents, name=text)
    return block


def resolved(experiments: Experiments, tools: Tools, name: str) -> tuple[ExperimentDocument, Resolution]:
    """An experiment by its name, and what it comes to. ConfigError or UsageError."""
    experiment = experiments.read(name)
    return experiment, resolve(experiment, tools.documents, name=experiments.where(name))


def select(experiment: ExperimentDocument, listed: Sequence[Listed], *, where: str) -> Selection:
    """The tasks an experiment asks for, in the order of `listed`.

    ConfigError for an id that is no task's, or a tag that no task has. A task whose documents can't be read is among
    the skipped whatever the tags, since its own are not known.
    """
    ids = [item.id for item in listed]
    for task_id in experiment.tasks:
        if task_id not in ids:
            raise _unknown(where, "tasks", f"there is no task {shown(task_id)}{hint(task_id, ids)}")
    tags = {tag for item in listed if item.files for tag in item.files.task.tags}
    for tag in experiment.tags:
        if tag not in tags and all(item.files for item in listed):
            raise _unknown(where, "tags", f"no task has the tag {shown(tag)}{hint(tag, sorted(tags))}")
    wanted = [item for item in listed if _wanted(experiment, item)]
    return Selection(
        tuple(item for item in wanted if item.standing.state is TaskState.FRESH),
        tuple(item for item in wanted if item.standing.state is not TaskState.FRESH),
    )


def _unknown(where: str, key: str, problem: str) -> ConfigError:
    return ConfigError(f"{where}: `{key}`: {problem}.", remedy="`berbench task list` shows those there are.")


def _wanted(experiment: ExperimentDocument, item: Listed) -> bool:
    if experiment.tasks and item.id not in experiment.tasks:
        return False
    tags = set(item.files.task.tags) if item.files else set(experiment.tags)
    return not experiment.tags or bool(tags & set(experiment.tags))


def check(
    experiments: Experiments,
    tools: Tools,
    project: Project,
    history: History,
    *,
    name: str,
    environ: Mapping[str, str],
) -> Checked:
    """Everything an experiment comes to, without an engine. ConfigError or UsageError when it can't be understood."""
    experiment, resolution = resolved(experiments, tools, name)
    where = experiments.where(name)
    selection = select(experiment, stand(project, history, project.task_ids()), where=where)
    used = {tool.name: tool for one in resolution.configurations for tool in agents_of(one)}
    resolution.check_size(len(selection.fresh), where)
    needs = tuple(Needs(tool, tools.layers[tool.name], found(tool.auth, environ)) for tool in used.values())
    return Checked(where, experiment, resolution, selection, needs, tuple(_problems(selection, needs)))


def _problems(selection: Selection, needs: Sequence[Needs]) -> Iterator[str]:
    for need in needs:
        for name in need.given.missing:
            yield f"{need.tool.name} needs {name}, which is not there"
    if not selection.fresh:
        skipped = f": all {len(selection.skipped)} are skipped" if selection.skipped else ""
        yield f"there is no fresh task to run on{skipped}"


def overviews(experiments: Experiments, tools: Callable[[], Tools]) -> tuple[Overview, ...]:
    """Every experiment of the project; one that can't be read says why and keeps no other from being listed.

    So does a file that somebody may take for an experiment.
    """
    found = [_overview(experiments, tools, name) for name in experiments.names()]
    strays = [
        Overview(path.rpartition("/")[2], path, problem=f"{path}: {why}.")
        for path, why in experiments.strays()
    ]
    return (*found, *strays)


def _overview(experiments: Experiments, tools: Callable[[], Tools], name: str) -> Overview:
    where = experiments.where(name)
    try:
        experiment, resolution = resolved(experiments, tools(), name)
    except BerbenchError as error:
        return Overview(name, where, problem=error.message)
    return Overview(name, where, experiment, resolution)


def check_document(checked: Checked) -> dict[str, object]:
    """What `--json` prints of a checked experiment."""
    return {
        "schema": CHECK_SCHEMA,
        "name": checked.experiment.name,
        "file": checked.where,
        "configurations": [_configuration(one) for one in checked.resolution.chosen],
        "tools": [_needs(need) for need in checked.needs],
        "tasks": [item.id for item in checked.selection.fresh],
        "skipped": [
            {
                "task": item.id,
                "state": item.standing.state.value,
                "reason": item.standing.reason,
                "changed": list(item.standing.changed),
            }
            for item in checked.selection.skipped
        ],
        "cells": [
            {"task": task, "configuration": label, "attempt": attempt}
            for task, label, attempt in checked.cells()
        ],
        "notes": list(checked.resolution.notes),
        "problems": list(checked.problems),
    }


def _configuration(one: Chosen) -> dict[str, object]:
    configuration = one.configuration
    return {
        "label": configuration.label,
        "tool": configuration.tool.name,
        "version": configuration.tool.version,
        "model": configuration.model,
        "effort": configuration.effort,
        "options": list(configuration.options),
        "attempts": one.attempts,
        "runs": [
            {"step": name, "label": label, "argv": list(argv)} for name, label, argv in runs(configuration)
        ],
    }


def runs(configuration: Configuration) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Step, label and arguments of each run of a cell, places still as placeholders."""
    return tuple(
        (step.name, step.configuration.label, invocation(step.configuration, _ANYWHERE, "{prompt}").argv)
        for step in planned_steps(configuration)
    )


def _needs(need: Needs) -> dict[str, object]:
    return {
        "tool": need.tool.name,
        "version": need.tool.version,
        "layers": list(need.layers),
        "hosts": list(need.tool.network.hosts),
        "auth": {"given": list(need.given.names), "missing": list(need.given.missing)},
    }


def list_document(overviews: Sequence[Overview]) -> dict[str, object]:
    """What `--json` prints of all experiments."""
    return {
        "schema": LIST_SCHEMA,
        "experiments": [
            {
                "name": one.name,
                "file": one.where,
                "description": one.experiment.description if one.experiment else "",
                "configurations": [
                    {"label": chosen.configuration.label, "attempts": chosen.attempts}
                    for chosen in (one.resolution.chosen if one.resolution else ())
                ],
                "problem": one.problem,
            }
            for one in overviews
        ],
    }
