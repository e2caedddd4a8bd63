"""Which older work is as good as new: whatever the agent saw must be what it was, and nothing else must."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from berbench.cli.wiring import workplace
from berbench.matrix import cell_key
from berbench.model.cells import CellOutcome, CellResult
from berbench.stages.experiments import resolved
from berbench.stages.plan import Ground, Narrowing, make_plan
from berbench.stages.regrade import UNSEEN, goal
from berbench.store.cellfiles import CellRecord
from freshtasks import proven_repository

EXPERIMENT = "schema: berbench.experiment/1\ntools: [{tool: command}]\n"
Old = tuple[CellRecord, Ground, str]


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Old]:
    """Work that was done under another proof of the same inputs, the task as it is today, and today's key."""
    root = tmp_path_factory.mktemp("goal") / "repository"
    proven_repository(root, ["7"])
    path = root / ".ber" / "bench" / "experiments" / "smoke.yaml"
    path.parent.mkdir()
    path.write_text(EXPERIMENT, encoding="utf-8")
    with workplace(Path(root), os.environ) as place:
        experiment, resolution = resolved(place.experiments, place.tools, "smoke")
        plan = make_plan(
            place.project,
            place.history,
            where="smoke",
            experiment=experiment,
            resolution=resolution,
            narrowing=Narrowing(),
        )
        [cell] = plan.cells
        ground = plan.grounds["7"]
        result = CellResult(
            key="0" * 64,
            task="7",
            fingerprint="sha256:older",
            label="command",
            tool="command",
            model="",
            effort="",
            options=(),
            attempt=1,
            outcome=CellOutcome.PASS,
        )
        inputs = {**ground.inputs(cell.configuration, 1), "task": "older"}
        yield CellRecord(result, inputs=inputs, task_inputs=dict(ground.task_inputs)), ground, cell.key


def test_every_input_of_a_proof_is_either_seen_by_the_agent_or_not(old: Old) -> None:
    record, ground, key = old
    names = set(record.task_inputs)
    assert names - UNSEEN >= {"prompt", "base_tree", "hide", "setup", "limits", "dockerfile"}
    for name in sorted(names):
        changed = replace(record, task_inputs={**record.task_inputs, name: "another"})
        inputs, why = goal(changed, ground)
        if name in UNSEEN:
            assert (cell_key(inputs), why) == (key, ""), name
        else:
            assert inputs == {} and name in why, name


@pytest.mark.parametrize("name", ["prompt", "limits", "image"])
def test_what_the_cell_itself_was_measured_with_must_be_todays(old: Old, name: str) -> None:
    record, ground, _ = old
    changed = replace(record, inputs={**record.inputs, name: "another"})
    assert goal(changed, ground) == ({}, f"the agent saw another {name}")


@pytest.mark.parametrize("same_proof", [True, False])
def test_other_test_patterns_ask_for_another_grade_of_the_same_work(old: Old, same_proof: bool) -> None:
    """They decide what of a candidate is dropped, and no agent sees them."""
    record, ground, key = old
    today, _ = goal(record, ground)
    assert cell_key(today) == key
    changed = replace(record, inputs={**today, "test_patterns": "another"})
    if same_proof:
        changed = replace(changed, result=replace(record.result, fingerprint=ground.fingerprint))
    inputs, why = goal(changed, ground)
    assert (cell_key(inputs), why) == (key, "")


def test_D13_work_of_another_platform_is_not_graded_beside_todays(old: Old) -> None:
    """Not even where the fingerprint is the same: it binds no platform."""
    record, ground, _ = old
    proof = ground.files.task.validation
    assert proof is not None
    today = ground.files.task.model_copy(
        update={"validation": proof.model_copy(update={"platform": "linux/arm64"})}
    )
    elsewhere = replace(ground, files=replace(ground.files, task=today))
    same = replace(record, result=replace(record.result, fingerprint=ground.fingerprint))
    assert goal(same, ground) == (dict(same.inputs), "")
    for older in (record, same):
        assert goal(older, elsewhere) == ({}, "the task is proven on another platform now")


def test_a_task_that_is_not_fresh_grades_nothing(old: Old) -> None:
    assert goal(old[0], None) == ({}, "the task's proof does not hold today")
