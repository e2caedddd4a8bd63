"""Which images are needed: those of today's tasks, those with the tools of an experiment on them, and the proxy's."""

from __future__ import annotations

from collections.abc import Iterator

from berbench.agents import layer_recipe, tool_layer
from berbench.engine import egress
from berbench.engine.door import Engine
from berbench.experiments import Experiments, Tools
from berbench.history.door import History
from berbench.matrix.invocation import agents_of
from berbench.model.agent import ToolLayer
from berbench.stages.experiments import resolved
from berbench.stages.verifier import image_keys
from berbench.store import Project


def needed_keys(
    engine: Engine, history: History, project: Project, experiments: Experiments, tools: Tools
) -> frozenset[str]:
    """Keys of all of them. A BerbenchError of the document that can't be read: then it can't be told."""
    tasks = image_keys(history, project, project.task_ids())
    layers = tuple(_layers(experiments, tools))
    images = [image for image in map(engine.find_image, sorted(tasks)) if image is not None]
    with_tools = {layer_recipe(image, layer).key for image in images for layer in layers}
    return tasks | with_tools | {egress.recipe(base).key for base in egress.BASES}


def _layers(experiments: Experiments, tools: Tools) -> Iterator[ToolLayer]:
    for name in experiments.names():
        _, resolution = resolved(experiments, tools, name)
        yield tool_layer(tool for one in resolution.configurations for tool in agents_of(one))
