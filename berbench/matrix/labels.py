"""Configurations as people write them on a command line: `tool/model/effort+option`, and back.

What stands behind the last slash is the effort whenever there are two slashes or more, so a model whose name holds
slashes ends in one where no effort is chosen: `opencode/vendor/model/`. A workflow names the steps it varies:
`flow,build=tool/model/effort+option,review=tool`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from berbench.errors import UsageError
from berbench.matrix.hints import hint, shown
from berbench.model.cells import StepAxes, ToolBlock
from berbench.model.tools import ToolDocument

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # of tools, options, steps
_MODEL = re.compile(r"[!-~]+")  # printable, no white space

FORM = "write it as tool/model/effort+option; model, effort and options may be left out"


@dataclass(frozen=True, slots=True)
class Label:
    """A label in its parts; nothing is known yet of whether there is such a tool."""

    tool: str
    model: str = ""
    effort: str = ""
    options: tuple[str, ...] = ()
    steps: dict[str, Label] = field(default_factory=dict)  # of a workflow


def may_be_model(name: str) -> bool:
    """Whether a label can hold the name: no white space, no `+`, no `,`."""
    return _MODEL.fullmatch(name) is not None and "+" not in name and "," not in name


def parse_label(text: str) -> Label:
    """A label's parts. UsageError when it is none."""
    head, *steps = text.split(",")
    label = _plain(text, head)
    if not steps:
        return label
    if label.model or label.effort or label.options:
        raise _wrong(text, "a workflow's model, effort and options are its steps'")
    varied: dict[str, Label] = {}
    for step in steps:
        name, equals, rest = step.partition("=")
        if not equals or not NAME.fullmatch(name):
            raise _wrong(text, f"{shown(step)} is no step of a workflow, such as build=tool/model")
        if name in varied:
            raise _wrong(text, f"the step {name} stands twice")
        varied[name] = _plain(text, rest)
    return Label(label.tool, steps=varied)


def _plain(text: str, part: str) -> Label:
    choice, *options = part.split("+")
    tool, _, rest = choice.partition("/")
    model, slash, effort = rest.rpartition("/")
    if not slash:
        model, effort = rest, ""
    for name in (tool, *options, *([effort] if effort else [])):
        if not NAME.fullmatch(name):
            raise _wrong(text, f"{shown(name)} is no name" if name else "a name is missing")
    if model and not may_be_model(model):
        raise _wrong(text, f"{shown(model)} is no name of a model")
    return Label(tool, model, effort, tuple(options))


def _wrong(text: str, why: str) -> UsageError:
    return UsageError(f"{shown(text)} is no configuration: {why}.", remedy=FORM)


def check_effort(text: str, label: Label, tool: ToolDocument) -> None:
    """UsageError when what stands behind the last slash is no effort of the tool but could be a model's end."""
    if label.model and label.effort and tool.efforts and label.effort not in tool.efforts:
        options = "".join(f"+{name}" for name in label.options)
        raise UsageError(
            f"{shown(text)}: {tool.name} knows no effort {shown(label.effort)}{hint(label.effort, tool.efforts)}.",
            remedy=f"if it belongs to the model's name, end that with a slash: "
            f"{tool.name}/{label.model}/{label.effort}/{options}",
        )


def block_of(label: Label) -> ToolBlock:
    """The block of an experiment that comes to this configuration alone."""
    return ToolBlock(
        tool=(label.tool,),
        model=(label.model,) if label.model else (),
        effort=(label.effort,) if label.effort else (),
        options=(label.options,) if label.options else (),
        steps={
            name: StepAxes(
                tool=(step.tool,),
                # An empty name is a choice as well: not what the workflow says, but none.
                model=(step.model,),
                effort=(step.effort,),
                options=(step.options,),
            )
            for name, step in label.steps.items()
        },
    )
