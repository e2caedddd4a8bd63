"""What the cells of a run are measured with, as the command line puts it together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from berbench.cli.wiring import Workplace, workplace
from berbench.matrix import resolve
from berbench.model.cells import ExperimentDocument, ToolBlock
from berbench.model.tools import Install, Step, ToolDocument
from berbench.stages.agent import AgentWork
from freshtasks import proven_repository


def _tool(name: str, **more: Any) -> ToolDocument:
    return ToolDocument(name=name, invoke=(name,), install=Install(run=(f"get {name}",)), **more)


def test_all_tools_of_an_experiment_are_in_one_layer_and_know_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that only a step of a workflow uses too; the bench takes as many trials at once as there are cells."""
    proven_repository(tmp_path / "repository", ["7"])
    asked: list[int] = []
    monkeypatch.setattr(Workplace, "engine", property(lambda self: None))
    monkeypatch.setattr(Workplace, "bench", lambda self, jobs: asked.append(jobs))
    steps = (Step(name="plan", tool="first"), Step(name="build", tool="second"))
    flow = ToolDocument(name="flow", type="workflow", steps=steps)
    tools = {
        tool.name: tool for tool in (_tool("first"), _tool("second"), _tool("third"), _tool("fourth"), flow)
    }
    experiment = ExperimentDocument(name="x", tools=(ToolBlock(tool=("flow", "third")),))
    configurations = resolve(experiment, tools).configurations
    with workplace(
        tmp_path / "repository", {"KEY": "sesame", "BERBENCH_DATA_DIR": str(tmp_path / "data")}
    ) as place:
        makers = place.makers("run-7", 5, configurations)
        assert isinstance(makers.work, AgentWork)
        assert makers.work.layer.run == ("get first", "get second", "get third")
        assert (makers.run, makers.work.run, makers.work.environ["KEY"]) == ("run-7", "run-7", "sesame")
        assert makers.cells is place.cells
    assert asked == [5]
