"""`run` and `regrade` as a user gives them: what is printed, what is kept, and the exit code. No engine is there."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree

import pytest
from said import Said, give

from berbench.cli.options import share_of
from berbench.cli.wiring import workplace
from berbench.errors import UsageError
from berbench.model.cells import CellOutcome, CellResult, Usage
from berbench.stages.experiments import resolved
from berbench.stages.plan import Narrowing, make_plan
from berbench.store.cellfiles import CellRecord
from berbench.store.cells import RESULT
from freshtasks import prove, proven_repository
from taskfiles import unprove

NOW = datetime(2026, 1, 2, tzinfo=UTC)
MINE = "schema: berbench.tool/1\ninvoke: [true]\nauth: {env: [MY_KEY]}\n"
EXPERIMENT = "schema: berbench.experiment/1\ntools: [{tool: [mine, nop]}]\n"


class Place:
    """A repository with fresh tasks 7, 8 and 9, of which 9 is slow, a tool `mine` and an experiment `smoke`."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.root, self._capsys, self._patch = root, capsys, patch
        self.project = proven_repository(root, ("7", "8", "9"), tags={"9": ("slow",)})
        for folder, name, text in (("tools", "mine", MINE), ("experiments", "smoke", EXPERIMENT)):
            path = root / ".ber" / "bench" / folder / f"{name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def __call__(self, *args: str) -> Said:
        return give(self.root, args, self._capsys, self._patch)

    def measure(self, name: str, outcome: str = "pass", *, cost: float | None = None, only: str = "") -> None:
        """Store a measurement of every cell of an experiment, or of one task's; `nop` fails."""
        with workplace(self.root, os.environ) as place:
            experiment, resolution = resolved(place.experiments, place.tools, name)
            plan = make_plan(
                place.project,
                place.history,
                where=name,
                experiment=experiment,
                resolution=resolution,
                narrowing=Narrowing(),
            )
            for cell in (cell for cell in plan.cells if only in ("", cell.task)):
                label = cell.configuration.label
                result = CellResult(
                    key=cell.key,
                    task=cell.task,
                    fingerprint=plan.grounds[cell.task].fingerprint,
                    label=label,
                    tool=cell.configuration.tool.name,
                    model="",
                    effort="",
                    options=(),
                    attempt=1,
                    outcome=CellOutcome("fail" if label == "nop" else outcome),
                    usage=Usage(cost_usd=cost),
                    finished_at=NOW,
                )
                place.cells.save(CellRecord(result), {})


@pytest.fixture
def berbench(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no-engine.sock")
    monkeypatch.delenv("MY_KEY", raising=False)
    return Place(tmp_path / "repo", capsys, monkeypatch)


def test_a_dry_run_tells_all_and_needs_no_engine(berbench: Place) -> None:
    unprove(berbench.project, "8")
    said = berbench("run", "smoke", "--dry-run")
    assert said.code == 0
    assert "skipped: 8 is unvalidated: it was never proven" in said.out
    assert "4 cells, 0 measured already, 4 due" in said.out
    assert "cost: 0.00 USD by the mean of like cells, and 2 cells of unknown cost" in said.out
    assert "problem: mine needs MY_KEY, which is not there" in said.out
    document = berbench("run", "smoke", "--dry-run", "--json", "--tag", "slow").document
    assert (document["schema"], document["planned"], document["due"]) == ("berbench.run-plan/1", 2, 2)
    assert {cell["task"] for cell in document["cells"]} == {"9"}
    assert document["problems"] == ["mine needs MY_KEY, which is not there"]


def test_a_dry_run_goes_by_what_like_cells_cost(berbench: Place) -> None:
    berbench.measure("smoke", cost=0.25)
    said = berbench("run", "smoke", "--dry-run", "--fresh")
    assert "cost: 0.75 USD by the mean of like cells\n" in said.out
    assert "cost: nothing\n" in berbench("run", "smoke", "--dry-run").out


def test_the_document_of_a_run_has_the_promised_shape(berbench: Place) -> None:
    berbench.measure("smoke", cost=0.5)
    said = berbench("run", "smoke", "--json")
    assert said.code == 0
    document = said.document
    assert list(document) == [
        "schema",
        "run",
        "experiment",
        "planned",
        "measured",
        "reused",
        "errors",
        "not_started",
        "cost_usd",
        "cost_untold",
        "skipped",
        "gates",
        "cells",
    ]
    assert (document["schema"], document["planned"], document["measured"], document["reused"]) == (
        "berbench.run/1",
        6,
        0,
        6,
    )
    assert document["cost_usd"] == 0.0
    promised = {
        "key",
        "task",
        "tool",
        "model",
        "effort",
        "options",
        "attempt",
        "outcome",
        "seconds",
        "cost_usd",
        "tokens",
    }
    assert promised <= set(document["cells"][0])


def test_a_table_is_shown_and_what_it_cost(berbench: Place) -> None:
    berbench.measure("smoke")
    said = berbench("run", "smoke")
    assert said.code == 0
    assert ["mine", "3"] in [line.split() for line in said.out.splitlines()]
    assert "6 planned, 0 measured, 6 reused, 0 without a measurement, 0 not started" in said.out
    assert "cost of this run: 0.00 USD\n" in said.out
    assert said.out.endswith("next: berbench report latest\n")


def test_gates_trip_with_exit_code_1_and_say_which(berbench: Place) -> None:
    berbench.measure("smoke", "fail")
    said = berbench("run", "smoke", "--min-pass-rate", "50%", "--json")
    assert said.code == 1
    assert said.document["gates"] == ["--min-pass-rate: mine passes 0% of 3 tasks, and 50% was asked for"]
    assert "--min-pass-rate: mine passes 0%" in said.err
    assert berbench("run", "smoke", "--min-pass-rate", "0").code == 0
    assert berbench("run", "smoke", "--fail-on-stale").code == 0
    unprove(berbench.project, "8")
    said = berbench("run", "smoke", "--fail-on-stale")
    assert said.code == 1
    assert "--fail-on-stale: 1 task was skipped: 8" in said.out


def test_a_run_is_held_against_an_earlier_one(berbench: Place) -> None:
    berbench.measure("smoke")
    assert berbench("run", "smoke").code == 0
    assert berbench("run", "smoke", "--no-regression-against", "latest").code == 0
    berbench.measure("smoke", "timeout")
    said = berbench("run", "smoke", "--no-regression-against", "smoke")
    assert said.code == 1
    assert "mine passes 0% of 3 common tasks, and 100% in " in said.out
    said = berbench("run", "smoke", "--no-regression-against", "yesterday")
    assert said.code == 2
    assert "no run that came to its end yesterday" in said.err


def test_a_task_that_is_another_problem_now_is_not_held_against_an_earlier_run(berbench: Place) -> None:
    berbench.measure("smoke")
    assert berbench("run", "smoke").code == 0
    prompt = berbench.root / ".ber" / "bench" / "tasks" / "7" / "prompt.md"
    prompt.write_text("Mend it otherwise.\n", encoding="utf-8")
    with workplace(berbench.root, os.environ) as place:
        prove(berbench.project, place.history, "7")
    berbench.measure("smoke", "fail", only="7")
    said = berbench("run", "smoke", "--no-regression-against", "latest")
    assert said.code == 0 and "so not held against it: 7" in said.err
    berbench.measure("smoke", "fail", only="8")
    said = berbench("run", "smoke", "--no-regression-against", "latest", "--json")
    assert said.code == 1 and "worse on 8" in said.document["gates"][0]


def test_a_gate_counts_tasks_by_their_weights(berbench: Place) -> None:
    path = berbench.root / ".ber" / "bench" / "tasks" / "7" / "task.yaml"
    path.write_text(path.read_text("utf-8").replace("weight: 1.0", "weight: 8"), encoding="utf-8")
    berbench.measure("smoke", "fail")
    berbench.measure("smoke", "pass", only="7")
    assert berbench("run", "smoke", "--min-pass-rate", "80%").code == 0
    said = berbench("run", "smoke", "--min-pass-rate", "81%")
    assert said.code == 1 and "mine passes 80% of 3 tasks, and 81% was asked for" in said.out
    [row] = [
        one
        for one in berbench("report", "smoke", "--json").document["configurations"]
        if one["configuration"] == "mine"
    ]
    assert row["pass_rate"]["value"] == pytest.approx(0.8)


@pytest.mark.parametrize(
    "record", ["", "{", "[]", "{}", '{"schema": "berbench.run/2", "cells": []}', "1" * 5000]
)
def test_a_run_that_can_not_be_held_against_is_told_before_anything_starts(
    berbench: Place, record: str
) -> None:
    berbench.measure("smoke")
    run = berbench("run", "smoke", "--json").document["run"]
    with workplace(berbench.root, os.environ) as place:
        (place.cells.folder / "runs" / run / RESULT).write_text(record, encoding="ascii")
        said = berbench("run", "smoke", "--no-regression-against", "latest")
        assert said.code == 3 and said.out == "" and run in said.err
        assert place.cells.runs() == (run,)


def test_nothing_starts_when_a_tool_lacks_what_it_needs(
    berbench: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = berbench("run", "smoke")
    assert said.code == 2
    assert "mine needs MY_KEY, which is not there" in said.err
    monkeypatch.setenv("MY_KEY", "sesame")
    said = berbench("run", "smoke")
    assert said.code == 3, "now the engine is all that is missing"
    assert "sesame" not in said.out + said.err


def test_no_fresh_task_is_told_and_is_no_failure_by_itself(berbench: Place) -> None:
    for task in ("7", "8", "9"):
        unprove(berbench.project, task)
    said = berbench("run", "controls")
    assert said.code == 0
    assert "Nothing was measured: there is no fresh task. `berbench task validate" in said.out
    assert "next:" not in said.out
    said = berbench("report", "latest")
    assert "0 of 0 cells measured" in said.out and "skipped: 7" in said.out and "interval" not in said.out
    assert berbench("run", "controls", "--fail-on-stale").code == 1
    assert berbench("run", "controls", "--min-pass-rate", "0").code == 1
    for task in ("7", "8", "9"):
        rmtree(berbench.project.folder(task))
    assert "`berbench task scan` finds some." in berbench("run", "controls").out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "smok"), "Did you mean smoke?"),
        (("run", "smoke", "--task", "77"), "no task '77'"),
        (("run", "smoke", "--tag", "slo"), "Did you mean slow?"),
        (("run", "smoke", "--min-pass-rate", "1", "--min-pass-rate", "0"), "--min-pass-rate is given twice"),
        (("run", "smoke", "--max-cost", "1", "--max-cost=2"), "--max-cost is given twice"),
        (("run", "smoke", "-j", "1", "--concurrency", "2"), "--concurrency is given twice"),
        (("run", "smoke", "--task", ""), "--task is empty"),
        (("run", "smoke", "--task", "7", "--task", ""), "--task is empty"),
        (("run", "smoke", "--task", " , "), "--task names nothing"),
        (("run", "smoke", "--tag", ""), "--tag is empty"),
        (("run", "smoke", "--max-cost"), "'--max-cost' requires an argument"),
        (("run", "smoke", "--max-cost", "inf"), "--max-cost"),
        (("run", "smoke", "--max-cost", "nan"), "--max-cost"),
        (("run", "smoke", "--max-cost", "-1"), "--max-cost"),
        (("run", "smoke", "--min-pass-rate", "nan"), "no rate"),
        (("run", "smoke", "--min-pass-rate", ""), "--min-pass-rate is empty"),
        (("run", "smoke", "--no-regression-against", " "), "--no-regression-against is empty"),
        (("run", ""), "NAME is empty"),
        (("regrade", ""), "NAME is empty"),
        (("regrade", "--cell", ""), "--cell is empty"),
        (("run", "smoke", "--concurrency", "0"), "--concurrency"),
        (("regrade", "smoke", "--cell", "ab"), "two ways to choose"),
        (("regrade", "--cell", "ab"), "There is no cell ab"),
    ],
)
def test_what_can_not_be_meant_is_told_in_a_sentence(
    berbench: Place, words: tuple[str, ...], told: str
) -> None:
    said = berbench(*words)
    assert said.code == 2
    assert told in said.err and "→" in said.err


def test_nothing_to_grade_again_needs_no_engine(berbench: Place) -> None:
    said = berbench("regrade", "--json")
    assert (said.code, said.document) == (
        0,
        {"schema": "berbench.regrade/1", "run": "", "cells": []}
        | {"graded": 0, "changed": 0, "kept": 0, "errors": 0},
    )


@pytest.mark.parametrize(
    ("text", "share"), [("0.8", 0.8), ("80%", 0.8), ("1", 1.0), ("100 %", 1.0), (".5", 0.5), ("0", 0.0)]
)
def test_rates_are_read_as_people_write_them(text: str, share: float) -> None:
    assert share_of(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "80", "1.01", "-1", "nan", "1e-1", "8_0%", "٣", "101%", "x%"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no rate"):
        share_of(text)
