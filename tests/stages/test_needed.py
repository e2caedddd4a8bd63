"""What `clean` keeps of images: all that today's tasks and experiments stand on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sampleplace import SamplePlace, sample_place

from berbench.agents import Agents, tool_layer
from berbench.engine import egress
from berbench.engine.fake import FakeEngine
from berbench.experiments import Experiments, read_tools
from berbench.stages.clean import clean
from berbench.stages.needed import needed_keys
from berbench.stages.verifier import recipe_of
from berbench.store import machine

TOOL = "schema: berbench.tool/1\ninvoke: [mine]\ninstall: {run: ['echo VERSION']}\n"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[SamplePlace]:
    with sample_place(tmp_path / "sample") as place:
        place.create(place.pull("Leave words out of top()"), force=True)
        yield place


def _write_tool(place: SamplePlace, version: str) -> None:
    bench = place.sample.root / ".ber" / "bench"
    for kind, name, text in (
        ("tools", "mine", TOOL.replace("VERSION", version)),
        ("experiments", "one", "schema: berbench.experiment/1\ntools: [{tool: mine}]\n"),
    ):
        (bench / kind).mkdir(exist_ok=True)
        (bench / kind / f"{name}.yaml").write_text(text, encoding="utf-8")


def _needed(place: SamplePlace, engine: FakeEngine) -> frozenset[str]:
    root = place.sample.root
    tools = read_tools(root, root / "none")
    return needed_keys(engine, place.history, place.project, Experiments(root), tools)


def _built(place: SamplePlace, engine: FakeEngine) -> None:
    """All that a run builds: the task's image, the tools on it, the proxy."""
    [task_id] = place.project.task_ids()
    task = place.project.read_task(task_id).task
    dockerfile = place.project.read_dockerfile(task.environment.dockerfile)
    base = place.history.tree_of(task.source.base_commit)
    recipe = recipe_of(place.history, task, dockerfile, base, exact=False)
    image = engine.build(recipe, lambda: place.history.files(base), timeout_s=60, say=print).image
    assert image is not None
    tool = read_tools(place.sample.root, place.sample.root / "none").documents["mine"]
    Agents(place.history, engine).with_tools(image, tool_layer([tool]), print)
    assert engine.build(egress.recipe(egress.BASES[0]), lambda: (), timeout_s=60, say=print).image


def _cleaned(place: SamplePlace, engine: FakeEngine) -> int:
    done = clean(
        engine,
        (),
        older_than_s=0,
        keep_keys=_needed(place, engine),
        now_s=time.time() + 60,
        remove_folder=machine.remove,
        say=print,
    )
    return len(done.removed)


def test_images_with_the_tools_of_an_experiment_and_the_proxys_stay(place: SamplePlace) -> None:
    engine = FakeEngine()
    try:
        _write_tool(place, "1")
        _built(place, engine)
        assert (len(engine.leftovers()), _cleaned(place, engine)) == (3, 0)
        # Another version makes another layer; the old one is needed no more.
        _write_tool(place, "2")
        _built(place, engine)
        assert (len(engine.leftovers()), _cleaned(place, engine)) == (4, 1)
    finally:
        engine.close()
