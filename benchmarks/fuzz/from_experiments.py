"""Documents of tools and experiments, and configurations as they are named on a command line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path

from berbench.agents import tool_layer
from berbench.agents.layer import layer_recipe
from berbench.documents import checked_keys, typed
from berbench.errors import BerbenchError, UsageError
from berbench.experiments import read_tools
from berbench.experiments.files import experiment_text
from berbench.matrix import block_of, check_effort, parse_label, resolve
from berbench.matrix.invocation import Places, agents_of, invocation, planned_steps, step_prompt
from berbench.matrix.overlay import merged
from berbench.matrix.resolve import MOST_CONFIGURATIONS
from berbench.matrix.soundness import problems_of
from berbench.model.cells import Configuration, ExperimentDocument
from berbench.model.tools import ToolDocument
from berbench.model.trial import Image
from berbench.yamlio import load

_CUT = b"\n%%%%\n"
_NOWHERE = Path("/nowhere")
_IMAGE = Image("sha256:0", "k", "t", "/src", "root")
_PLACES = Places("/agent/prompt.md", "/src", "/root")
_MOST = 200  # configurations that are looked at one by one

_FLOW = b"""\
type: workflow
steps:
- {name: build, tool: claude-code, model: opus}
- {name: review, tool: codex, prompt: "{handover}"}
"""


def built_in() -> Iterator[bytes]:
    """The tools that come with berbench."""
    for file in sorted((resources.files("berbench") / "tools").iterdir(), key=lambda file: file.name):
        yield file.read_bytes()


@cache
def _tools() -> Mapping[str, ToolDocument]:
    flow = typed(ToolDocument, {"name": "flow", **_tree(_FLOW)}, "flow.yaml")
    return {**read_tools(_NOWHERE, _NOWHERE).documents, "flow": flow}


def _tree(text: bytes) -> dict[str, object]:
    tree = load(text, "x.yaml")
    return dict(tree) if isinstance(tree, dict) else {}


def check_tools(data: bytes) -> None:
    """A tool and an experiment are read, or refused in a sentence; what is accepted can be run as it says.

    A tool's document, alone and over a built-in one; behind the cut an experiment that may use it as `mine`.
    """
    first, _, second = data.partition(_CUT)
    tools = dict(_tools())
    with contextlib.suppress(BerbenchError):
        tree = checked_keys(ToolDocument, load(first, "mine.yaml"), "mine.yaml")
        for name, below in (("claude-code", built_in_tree("claude-code")), ("mine", {})):
            known = {**tools}
            tool = typed(ToolDocument, {"name": name, **merged(below, tree)}, f"{name}.yaml")
            known[tool.name] = tool
            if not problems_of(tool, known):
                tools[tool.name] = tool
    document = typed(ExperimentDocument, load(second, "x.yaml"), "x.yaml")
    again = typed(ExperimentDocument, load(experiment_text(document), "again.yaml"), "again.yaml")
    assert again == document, "written and read again, it says something else"
    _resolved(document, tools)


@cache
def built_in_tree(name: str) -> Mapping[str, object]:
    """A built-in tool as it is written."""
    return _tree((resources.files("berbench") / "tools" / f"{name}.yaml").read_bytes())


def check_labels(data: bytes) -> None:
    """A label is refused, or it is the label of the one configuration that it names."""
    for line in data.decode("utf-8", "surrogateescape").split("\n")[:40]:
        try:
            label = parse_label(line)
        except UsageError:
            continue
        block = block_of(label)
        with contextlib.suppress(BerbenchError):
            check_effort(line, label, _tools().get(label.tool, _tools()["command"]))
            _resolved(ExperimentDocument(tools=(block,)), _tools())


def _resolved(document: ExperimentDocument, tools: Mapping[str, ToolDocument]) -> None:
    found = resolve(document, tools).configurations
    labels = [one.label for one in found]
    assert len(set(labels)) == len(labels) <= MOST_CONFIGURATIONS
    for one in found[:_MOST]:
        _named(one, tools)
        _run(one)


def _named(one: Configuration, tools: Mapping[str, ToolDocument]) -> None:
    """Its label leads back to it."""
    block = block_of(parse_label(one.label))
    again = resolve(ExperimentDocument(tools=(block,)), tools).configurations
    assert again == (one,), f"{one.label!r} leads to {[other.label for other in again]}"


def _run(one: Configuration) -> None:
    """It can be put into an image and run, with nothing left in braces that was chosen."""
    with contextlib.suppress(BerbenchError):  # a variable of two lines, say
        recipe = layer_recipe(_IMAGE, tool_layer(agents_of(one)))
        assert all(
            line[:4] in (b"FROM", b"USER", b"RUN ", b"ENV ") for line in recipe.dockerfile.splitlines()
        )
    for step in planned_steps(one):
        made = invocation(step.configuration, _PLACES, "the task {model}")
        assert made.argv and all(part != "{args}" for part in made.argv)
        step_prompt(step.prompt, prompt="{handover}", workdir="/src", handover="{prompt}")
