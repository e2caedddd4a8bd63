"""Gates: rates as reports count them, and sentences that say what tripped."""

from __future__ import annotations

from typing import Any

from berbench.stages.gates import below, rates, regressed, stale


def _rows(**outcomes: dict[str, str]) -> list[dict[str, Any]]:
    """`a={"1": "pass fail"}`: configuration a on task 1, an outcome an attempt."""
    return [
        {"label": label, "task": task, "outcome": outcome}
        for label, tasks in outcomes.items()
        for task, said in tasks.items()
        for outcome in said.split()
    ]


def test_attempts_are_averaged_before_tasks_and_errors_count_for_nothing() -> None:
    found = rates(
        _rows(a={"1": "pass fail timeout tampered", "2": "pass error", "3": "error"}, b={"1": "error"})
    )
    assert found == {"a": {"1": 0.25, "2": 1.0}, "b": {}}


def test_a_configuration_below_the_rate_trips() -> None:
    found = rates(_rows(a={"1": "pass", "2": "fail"}, b={"1": "pass"}, nop={"1": "fail"}, c={"1": "error"}))
    assert below(found, 0.5) == ("--min-pass-rate: c was measured on no task, and 50% was asked for",)
    assert below(found, 0.51) == (
        "--min-pass-rate: a passes 50% of 2 tasks, and 51% was asked for",
        "--min-pass-rate: c was measured on no task, and 51% was asked for",
    )
    assert below({}, 0.0) == ("--min-pass-rate: nothing was measured",)


def test_thirds_that_add_up_to_the_rate_are_not_below_it() -> None:
    found = rates(_rows(a={str(n): "pass fail fail" for n in range(7)}))
    assert below(found, 1 / 3) == ()


def test_only_common_tasks_are_compared() -> None:
    before = rates(_rows(a={"1": "pass", "2": "fail"}, old={"1": "pass"}))
    assert regressed(rates(_rows(a={"1": "pass", "3": "fail"}, new={"1": "fail"})), before, "r") == ()
    assert regressed(rates(_rows(a={"1": "fail", "2": "pass"})), before, "r") == ()
    assert regressed(rates(_rows(a={"1": "fail", "2": "fail"})), before, "r") == (
        "--no-regression-against: a passes 0% of 2 common tasks, and 50% in r: worse on 1",
    )


def test_what_can_not_be_compared_trips() -> None:
    before = rates(_rows(a={"1": "pass"}))
    assert "has no task in common" in regressed(rates(_rows(a={"2": "pass"})), before, "r")[0]
    assert "no configuration was measured" in regressed(rates(_rows(b={"1": "pass"})), before, "r")[0]


def test_many_names_are_cut() -> None:
    assert stale([]) == ()
    [said] = stale([{"task": str(number)} for number in range(30)])
    assert said == "--fail-on-stale: 30 tasks were skipped: 0, 1, 2, 3, 4, 5, 6, 7 and 22 more"
