"""An experiment and the tools that there are → the configurations to be measured.

Blocks are added; lists inside a block form a cross product, tool × model × effort × options or, for a workflow, its
steps' axes in the workflow's order. The order is that of the document, so the same document gives the same list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from berbench.errors import ConfigError
from berbench.matrix.hints import hint, refused, shown
from berbench.matrix.invocation import planned_steps, takes
from berbench.matrix.soundness import choice_problems
from berbench.model.cells import Configuration, ExperimentDocument, StepAxes, ToolBlock
from berbench.model.tools import Step, ToolDocument

MOST_CONFIGURATIONS = 1000  # beyond that a list stands where nobody meant it
MOST_CELLS = 100_000  # of one run: beyond that nobody meant the product, and no disk would hold it

CONTROLS_EXPERIMENT = ExperimentDocument(
    name="controls",
    description="berbench's own sanity check: the reference must pass everywhere, doing nothing nowhere",
    tools=(ToolBlock(tool=("oracle", "nop")),),
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A configuration and how often it is measured on each task."""

    configuration: Configuration
    attempts: int


@dataclass(frozen=True, slots=True)
class Resolution:
    """What an experiment comes to, in the document's order, each configuration once. `notes` are for people."""

    chosen: tuple[Chosen, ...]
    notes: tuple[str, ...] = ()

    def check_size(self, tasks: int, where: str) -> None:
        """ConfigError when measuring all of it on so many tasks comes to more than anybody can mean."""
        cells = tasks * sum(one.attempts for one in self.chosen)
        if cells > MOST_CELLS:
            raise ConfigError(
                f"{where}: it comes to {cells:,} cells on {tasks:,} task{'s' * (tasks != 1)}, "
                f"and a run may have {MOST_CELLS:,}.",
                remedy="Ask for fewer attempts, configurations or tasks.",
            )

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        """The configurations alone."""
        return tuple(one.configuration for one in self.chosen)


def resolve(
    experiment: ExperimentDocument, tools: Mapping[str, ToolDocument], *, name: str = ""
) -> Resolution:
    """The experiment's configurations. `name` is how messages call the document.

    ConfigError with the key's path and the nearest known name: no such tool, model, effort, option or step, a choice
    that the tool would not heed, or no configuration at all.
    """
    where = name or experiment.name or "experiment"
    problems: list[str] = []
    found: dict[str, Chosen] = {}
    notes: list[str] = []
    for number, block in enumerate(experiment.tools):
        path = f"tools[{number}]"
        if _size(block) > MOST_CONFIGURATIONS - len(found):
            problems.append(f"`{path}` leads to more than {MOST_CONFIGURATIONS} configurations")
        elif wrong := tuple(_problems(path, block, tools)):
            problems += wrong
        else:
            for configuration in _configurations(block, tools):
                notes += _merge(found, Chosen(configuration, block.attempts or experiment.attempts), path)
    if not found and not problems:
        problems.append("`tools` names no tool")
    if problems:
        raise refused(
            where,
            list(dict.fromkeys(problems)),
            "Correct it; `berbench experiment validate` shows what an experiment comes to.",
        )
    notes += _unnamed_models(found.values())
    return Resolution(tuple(found.values()), tuple(notes))


def _size(block: ToolBlock) -> int:
    """How many configurations a block can come to at most, told before any of them is made."""
    each = [_axes_size(step) * max(len(step.tool), 1) for step in block.steps.values()]
    return prod([len(block.tool), _axes_size(block), *each])


def _axes_size(axes: ToolBlock | StepAxes) -> int:
    return prod(max(len(axis), 1) for axis in (axes.model, axes.effort, axes.options))


def _merge(found: dict[str, Chosen], new: Chosen, path: str) -> Iterator[str]:
    """Keep a configuration once, with the most attempts that it was asked for."""
    label = new.configuration.label
    old = found.setdefault(label, new)
    if old is not new:
        attempts = max(old.attempts, new.attempts)
        found[label] = Chosen(old.configuration, attempts)
        yield f"{path} names {label} again: it is measured once, with {attempts} attempt{'s' * (attempts != 1)}"


def _unnamed_models(chosen: Iterable[Chosen]) -> Iterator[str]:
    """What a provider's default is may change any day, and no key would tell; a model's name is the remedy."""
    steps = (step.configuration for one in chosen for step in planned_steps(one.configuration))
    names = {
        one.tool.name
        for one in steps
        if not one.model and one.tool.network.hosts and takes(one.tool, "model")
    }
    for name in sorted(names):
        yield f"{name} is used without a model: what it takes then may change without a trace in the results"


def _problems(path: str, block: ToolBlock, tools: Mapping[str, ToolDocument]) -> Iterator[str]:
    if not block.tool:
        yield f"`{path}.tool` names no tool"
    for name in block.tool:
        tool = tools.get(name)
        if tool is None:
            yield f"`{path}.tool`: there is no tool {shown(name)}{hint(name, tools)}"
        elif tool.type == "workflow":
            yield from _workflow_problems(path, block, tool, tools)
        else:
            if block.steps:
                yield f"`{path}.steps`: {name} is no workflow"
            yield from _axes_problems(path, block, tool)


def _axes_problems(path: str, axes: ToolBlock | StepAxes, tool: ToolDocument) -> Iterator[str]:
    """Each value of each axis by itself; what a model is asked with an effort is the provider's to say."""
    for model, effort, options in product(axes.model or ("",), axes.effort or ("",), axes.options or ((),)):
        yield from choice_problems(path, tool, model, effort, options)


def _workflow_problems(
    path: str, block: ToolBlock, flow: ToolDocument, tools: Mapping[str, ToolDocument]
) -> Iterator[str]:
    for key in ("model", "effort", "options"):
        if any(getattr(block, key)):
            yield f"`{path}.{key}`: {flow.name} is a workflow; choose it for a step, under `{path}.steps`"
    steps = {step.name: step for step in flow.steps}
    for name, axes in block.steps.items():
        here = f"{path}.steps.{name}"
        if name not in steps:
            yield f"`{path}.steps`: {flow.name} has no step {shown(name)}{hint(name, steps)}"
            continue
        for tool_name in axes.tool or (steps[name].tool,):
            tool = tools.get(tool_name)
            if tool is None or tool.type != "agent":
                agents = [other.name for other in tools.values() if other.type == "agent"]
                yield f"`{here}.tool`: there is no agent {shown(tool_name)}{hint(tool_name, agents)}"
            else:
                yield from _axes_problems(here, axes, tool)


def _configurations(block: ToolBlock, tools: Mapping[str, ToolDocument]) -> Iterator[Configuration]:
    for name in block.tool:
        tool = tools[name]
        if tool.type != "workflow":
            yield from _plain(tool, block.model, block.effort, block.options)
            continue
        each = [_step_choices(step, block.steps.get(step.name, StepAxes()), tools) for step in tool.steps]
        for steps in product(*each):
            yield Configuration(tool, steps=steps)


def _plain(
    tool: ToolDocument, models: Sequence[str], efforts: Sequence[str], options: Sequence[tuple[str, ...]]
) -> Iterator[Configuration]:
    for model, effort, chosen in product(models or ("",), efforts or ("",), options or ((),)):
        # A set has no order of its own: the tool's is taken, so that +a+b and +b+a are one configuration.
        yield Configuration(tool, model, effort, tuple(name for name in tool.options if name in chosen))


def _step_choices(step: Step, axes: StepAxes, tools: Mapping[str, ToolDocument]) -> list[Configuration]:
    """What a step may be. Where another tool takes its place, what was chosen for the first one falls away."""
    found: list[Configuration] = []
    for name in axes.tool or (step.tool,):
        own = name == step.tool
        found += _plain(
            tools[name],
            axes.model or ((step.model,) if own else ()),
            axes.effort or ((step.effort,) if own else ()),
            axes.options or ((step.options,) if own else ()),
        )
    return found
