"""Gates: rates as reports count them, and sentences that say what tripped."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

from berbench.model.cells import CellResult
from berbench.reports import gather
from berbench.stages.gates import Earlier, below, regressed, shares, stale
from berbench.stages.runrecord import exit_code
from reportcells import FAIL, PASS, facts_of, result, run_of

ALIKE = {str(number): 1.0 for number in range(10)}  # weights


def _rows(**outcomes: dict[str, str]) -> list[dict[str, Any]]:
    """`a={"1": "pass fail"}`: configuration a on task 1, an outcome an attempt."""
    return [
        {"label": label, "task": task, "outcome": outcome}
        for label, tasks in outcomes.items()
        for task, said in tasks.items()
        for outcome in said.split()
    ]


def _before(**outcomes: dict[str, str]) -> Earlier:
    return Earlier("r", shares(_rows(**outcomes)))


def _told(cells: Iterable[CellResult]) -> list[dict[str, Any]]:
    """Results as a run's document has them."""
    return [{"label": one.label, "task": one.task, "outcome": one.outcome.value} for one in cells]


def test_attempts_are_averaged_before_tasks_and_errors_count_for_nothing() -> None:
    found = shares(
        _rows(a={"1": "pass fail timeout tampered", "2": "pass error", "3": "error"}, b={"1": "error"})
    )
    assert found == {"a": {"1": 0.25, "2": 1.0}, "b": {}}


def test_a_configuration_below_the_rate_trips() -> None:
    found = shares(_rows(a={"1": "pass", "2": "fail"}, b={"1": "pass"}, nop={"1": "fail"}, c={"1": "error"}))
    assert below(found, ALIKE, 0.5) == ("--min-pass-rate: c was measured on no task, and 50% was asked for",)
    assert below(found, ALIKE, 0.51) == (
        "--min-pass-rate: a passes 50% of 2 tasks, and 51% was asked for",
        "--min-pass-rate: c was measured on no task, and 51% was asked for",
    )
    assert below({}, ALIKE, 0.0) == ("--min-pass-rate: nothing was measured",)


def test_thirds_that_add_up_to_the_rate_are_not_below_it() -> None:
    found = shares(_rows(a={str(n): "pass fail fail" for n in range(7)}))
    assert below(found, ALIKE, 1 / 3) == ()


def test_what_is_just_below_is_told_with_digits_that_show_it() -> None:
    found = shares(_rows(a={"1": "pass", "2": "pass", "3": "fail"}))
    assert below(found, ALIKE, 0.67) == (
        "--min-pass-rate: a passes 66.7% of 3 tasks, and 67.0% was asked for",
    )


def test_a_task_counts_as_much_as_its_weight() -> None:
    found = shares(_rows(a={"1": "pass", "2": "fail", "3": "fail"}))
    assert below(found, {"1": 8.0, "2": 1.0, "3": 1.0}, 0.8) == ()
    assert below(found, {"1": 1.0, "2": 8.0, "3": 1.0}, 0.2) == (
        "--min-pass-rate: a passes 10% of 3 tasks, and 20% was asked for",
    )
    assert below(found, {"1": 1.0, "2": 0.0, "3": 0.0}, 1.0) == (), "those of weight 0 are in no rate"
    assert "on no task" in below(found, {"1": 0.0, "2": 0.0, "3": 0.0}, 0.0)[0]


def test_a_loss_counts_as_much_as_the_weight_of_its_task() -> None:
    before = _before(a={"1": "pass", "2": "fail", "3": "pass"})
    now = shares(_rows(a={"1": "fail", "2": "pass", "3": "pass"}))
    assert regressed(now, before, {"1": 1.0, "2": 1.0, "3": 1.0}) == ()
    assert regressed(now, before, {"1": 1.0, "2": 3.0, "3": 1.0}) == ()
    assert regressed(now, before, {"1": 3.0, "2": 1.0, "3": 0.0}) == (
        "--no-regression-against: a passes 25% of 2 common tasks, and 75% in r: worse on 1",
    )
    assert "no task in common" in regressed(now, before, {"1": 0.0, "2": 0.0, "3": 0.0})[0]


@pytest.mark.parametrize("seed", range(20))
def test_gates_and_reports_have_one_truth(seed: int) -> None:
    """What a gate lets through is just what the report of the same cells shows."""
    draw = random.Random(seed)
    tasks = [str(number) for number in range(1, 6)]
    cells = [
        result(task, label, draw.choice((PASS, FAIL)), attempt)
        for task in tasks
        for label in ("a", "b")
        for attempt in range(1, draw.randint(1, 3) + 1)
        if draw.random() < 0.9
    ]
    weights = {task: draw.choice((0.0, 0.3, 1.0, 2.5)) for task in tasks}
    facts = facts_of(cells, **{f"t{task}": weight for task, weight in weights.items()})
    report = gather(run_of(cells), cells, facts)
    for row in report.configurations:
        found = {row.label: shares(_told(cells))[row.label]}
        value = row.rate.value
        if value is None:
            assert below(found, weights, 0.0)
            continue
        assert below(found, weights, value) == ()
        assert below(found, weights, value - 1e-6) == ()
        assert below(found, weights, value + 1e-6)
    for one in report.comparisons:
        told = shares(_told(cells))
        before = Earlier("r", {"x": told[one.second]})
        tripped = regressed({"x": told[one.first]}, before, weights)
        difference = one.paired.difference
        assert bool(tripped) == (difference is None or round(difference, 9) < 0)


def test_only_common_tasks_are_compared() -> None:
    before = _before(a={"1": "pass", "2": "fail"}, old={"1": "pass"})
    now = shares(_rows(a={"1": "pass", "3": "fail"}, new={"1": "fail"}))
    assert regressed(now, before, ALIKE) == ()
    assert regressed(shares(_rows(a={"1": "fail", "2": "pass"})), before, ALIKE) == ()
    assert regressed(shares(_rows(a={"1": "fail", "2": "fail"})), before, ALIKE) == (
        "--no-regression-against: a passes 0% of 2 common tasks, and 50% in r: worse on 1",
    )


def test_a_task_that_has_changed_is_no_common_one() -> None:
    before = _before(a={"1": "pass", "2": "pass"})
    now = shares(_rows(a={"1": "fail", "2": "pass"}))
    assert regressed(now, before, ALIKE, without=("1",)) == ()
    assert "no task in common" in regressed(now, before, ALIKE, without=("1", "2"))[0]


def test_that_nop_solves_less_is_no_regression() -> None:
    assert regressed(shares(_rows(nop={"1": "fail"})), _before(nop={"1": "pass"}), ALIKE) == ()


def test_what_can_not_be_compared_trips() -> None:
    before = _before(a={"1": "pass"})
    assert "has no task in common" in regressed(shares(_rows(a={"2": "pass"})), before, ALIKE)[0]
    assert "no configuration was measured" in regressed(shares(_rows(b={"1": "pass"})), before, ALIKE)[0]


@pytest.mark.parametrize(
    ("errors", "not_started", "tripped", "code"),
    [(0, 0, [], 0), (0, 0, ["x"], 1), (0, 1, [], 1), (1, 0, [], 3), (1, 1, ["x"], 3)],
)
def test_of_two_exit_codes_the_higher_one_is_given(
    errors: int, not_started: int, tripped: list[str], code: int
) -> None:
    assert exit_code({"errors": errors, "not_started": not_started, "gates": tripped}) == code


def test_many_names_are_cut() -> None:
    assert stale([]) == ()
    [said] = stale([{"task": str(number)} for number in range(30)])
    assert said == "--fail-on-stale: 30 tasks were skipped: 0, 1, 2, 3, 4, 5, 6, 7 and 22 more"
