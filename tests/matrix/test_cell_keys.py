"""What a cell is known by: every part that decides it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from berbench.matrix import CELL_RECIPE, cell_inputs, cell_key, changed_inputs
from berbench.matrix import keys as keys_module
from berbench.model.cells import Configuration
from berbench.model.tools import Auth, Install, Option, Reach, Telemetry
from berbench.model.trial import Limits
from toolbox import AGENT, FLOW, PLAIN, TOOLS

PLAIN_CELL = Configuration(AGENT, "m", "high", ("careful",))
FLOW_CELL = Configuration(FLOW, steps=(Configuration(AGENT, "m"), Configuration(PLAIN, "small")))
SURROUNDINGS: dict[str, Any] = {
    "task": "sha256:" + "7" * 64,
    "prompt": b"Mend it.\n\xff",
    "limits": Limits(),
    "timeout_s": 600,
    "image": "i" * 64,
    "attempt": 1,
}

# Fixed for good: a change here pays for every cell of every user again. Raise CELL_RECIPE if it is meant.
VECTORS = {
    "plain": (PLAIN_CELL, "c7658a603f07d7af0b3766505234b50586e0ba4d98d961915bfa9d0f9cc45069"),
    "flow": (FLOW_CELL, "ff15b1444571db9f3569906d846cd3849c1bb58f78146bde5609bad64dcdfe05"),
    "oracle": (
        Configuration(TOOLS["oracle"]),
        "16c7593c6b3082b48dd7928d8873490d680f03691945f0547ed955d974bc7807",
    ),
}


def inputs(configuration: Configuration = PLAIN_CELL, **changes: Any) -> dict[str, str]:
    return cell_inputs(configuration, **(SURROUNDINGS | changes))


@pytest.mark.parametrize("name", VECTORS)
def test_keys_are_the_same_in_every_version(name: str) -> None:
    configuration, key = VECTORS[name]
    assert cell_key(inputs(configuration)) == key
    assert CELL_RECIPE == 1


@pytest.mark.parametrize(
    ("named", "changes"),
    [
        ("task", {"task": "sha256:" + "8" * 64}),
        ("prompt", {"prompt": b"Mend it.\n"}),
        ("limits", {"limits": Limits(pids=1)}),
        ("limits", {"limits": Limits(cpus=1.0)}),
        ("limits", {"limits": Limits(memory_bytes=1 << 30)}),
        ("timeout", {"timeout_s": 601}),
        ("image", {"image": "j" * 64}),
        ("attempt", {"attempt": 2}),
        ("options", {"config_path": "AGENTS.md"}),
        ("setup", {"setup": ("make",)}),
        ("keep", {"keep": ("build/gen",)}),
        ("test_patterns", {"test_patterns": ("tests/**",)}),
    ],
)
def test_what_is_around_an_agent_decides_its_cell(named: str, changes: dict[str, Any]) -> None:
    assert changed_inputs(inputs(), inputs(**changes)) == (named,)
    assert cell_key(inputs()) != cell_key(inputs(**changes))


def test_D13_a_cell_of_another_platform_is_another_cell() -> None:
    """And those of the usual one keep the keys that they had before platforms were told apart."""
    assert changed_inputs(inputs(), inputs(platform="linux/arm64")) == ("platform",)
    assert inputs(platform="linux/amd64") == inputs()


def test_where_settings_go_decides_only_what_is_put_there() -> None:
    bare = replace(PLAIN_CELL, options=())
    assert inputs(bare) == inputs(bare, config_path="AGENTS.md")


def tool(**changes: Any) -> Callable[[Configuration], Configuration]:
    return lambda cell: replace(cell, tool=cell.tool.model_copy(update=changes))


OPTIONS = AGENT.options
DECIDING = [
    ("version", tool(version="1.3")),
    ("install", tool(install=Install(run=("get it",)))),
    ("install", tool(install=Install(env={"A": "b"}))),
    ("invoke", tool(invoke=("agent", "{args}"))),
    ("invoke", tool(model_args=("-m", "{model}"))),
    ("invoke", tool(effort_args=("-e", "{effort}"))),
    ("env", tool(env={"HOME": "{home}"})),
    ("network", tool(network=Reach(hosts=("api.example.com", "b.example.com")))),
    ("tool", tool(name="other")),
    ("model", lambda cell: replace(cell, model="n")),
    ("effort", lambda cell: replace(cell, effort="low")),
    ("options", lambda cell: replace(cell, options=("fast",))),
    ("options", lambda cell: replace(cell, options=("fast", "careful"))),
    ("options", tool(options={**OPTIONS, "careful": OPTIONS["careful"].model_copy(update={"post": ()})})),
    ("options", tool(options={**OPTIONS, "careful": OPTIONS["careful"].model_copy(update={"args": ("x",)})})),
    (
        "options",
        tool(options={**OPTIONS, "careful": OPTIONS["careful"].model_copy(update={"env": {"A": ""}})}),
    ),
    (
        "options",
        tool(options={**OPTIONS, "careful": OPTIONS["careful"].model_copy(update={"files": {"a": "b"}})}),
    ),
]


@pytest.mark.parametrize(("named", "change"), DECIDING)
def test_every_part_that_decides_changes_the_key_by_its_name(
    named: str, change: Callable[[Configuration], Configuration]
) -> None:
    assert changed_inputs(inputs(), inputs(change(PLAIN_CELL))) == (named,)
    assert cell_key(inputs()) != cell_key(inputs(change(PLAIN_CELL)))


@pytest.mark.parametrize(
    "change",
    [
        tool(description="other words"),
        tool(models=("m",)),
        tool(efforts=("high",)),
        tool(auth=Auth(env=("KEY",))),
        tool(telemetry=Telemetry()),
        tool(prices={"m": (1.0, 2.0)}),
        tool(install=Install(check="agent --version")),
        tool(options={**OPTIONS, "fast": Option()}),
        tool(network=Reach(hosts=("api.example.com", "api.example.com"))),
        tool(env=dict(reversed(AGENT.env.items()))),
    ],
)
def test_what_decides_nothing_leaves_the_key_alone(change: Callable[[Configuration], Configuration]) -> None:
    assert inputs() == inputs(change(PLAIN_CELL))


STEP = FLOW_CELL.steps[0]
STEPS = [
    *(
        replace(FLOW_CELL, steps=(change(STEP), FLOW_CELL.steps[1]))
        for named, change in DECIDING
        if "option" not in named
    ),
    replace(FLOW_CELL, steps=(replace(STEP, options=("fast",)), FLOW_CELL.steps[1])),
    replace(FLOW_CELL, steps=(STEP, replace(FLOW_CELL.steps[1], model="large"))),
    tool(steps=(FLOW.steps[0].model_copy(update={"prompt": "{prompt}"}), FLOW.steps[1]))(FLOW_CELL),
    tool(steps=(FLOW.steps[0].model_copy(update={"name": "think"}), FLOW.steps[1]))(FLOW_CELL),
]


@pytest.mark.parametrize("changed", STEPS)
def test_every_part_of_a_step_decides_a_workflow(changed: Configuration) -> None:
    assert changed_inputs(inputs(FLOW_CELL), inputs(changed)) == ("steps",)


def test_parts_do_not_flow_into_one_another() -> None:
    one = replace(PLAIN_CELL, model="mhigh", effort="")
    assert cell_key(inputs(one)) != cell_key(inputs(replace(PLAIN_CELL, model="m", effort="high")))
    swapped = tool(env={"A": "B"})(PLAIN_CELL), tool(env={"A": "", "B": ""})(PLAIN_CELL)
    assert inputs(swapped[0])["env"] != inputs(swapped[1])["env"]


def test_a_newer_recipe_makes_other_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    before = inputs()
    monkeypatch.setattr(keys_module, "CELL_RECIPE", CELL_RECIPE + 1)
    assert changed_inputs(before, inputs()) == ("recipe",)


def test_an_input_that_is_new_or_gone_counts_as_changed() -> None:
    assert changed_inputs({"a": "1", "b": "2"}, {"b": "2", "c": "3"}) == ("a", "c")
    assert cell_key({"a": "1", "b": "2"}) == cell_key({"b": "2", "a": "1"})
