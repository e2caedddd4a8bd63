"""What a run's results come to: what counts, what is set aside, and what must be said."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from berbench.matrix import soundness
from berbench.model.cells import CellOutcome, CellResult
from berbench.reports import Planned, Report, TaskFacts, gather
from berbench.reports.gather import natural
from berbench.reports.values import ALL_FAIL, ALL_PASS, CONTROLS, ConfigurationRow
from berbench.stats import Amount, Paired, wilson
from reportcells import BEGAN, ERROR, FAIL, PASS, TAMPERED, TIMEOUT, facts_of, many, result, run_of

A, B = "claude-code/sonnet", "codex/gpt"


def report_of(results: list[CellResult], *more: Planned, **weights: float) -> Report:
    return gather(run_of(results, *more), results, facts_of(results, **weights))


def row(report: Report, label: str) -> ConfigurationRow:
    return next(row for row in report.configurations if row.label == label)


def test_attempts_are_averaged_within_a_task_before_tasks_are() -> None:
    # Task 1 passed once, task 2 failed nine times: half of the tasks, not a tenth of the cells.
    results = [result("1", A, PASS), *(result("2", A, FAIL, attempt) for attempt in range(1, 10))]
    found = row(report_of(results), A)
    assert found.rate.value == 0.5
    assert found.rate.tasks == 2
    assert found.rate.interval == wilson(0.5, 2)


def test_weights_of_tasks_bear_on_the_rate() -> None:
    results = [result("1", A, PASS), result("2", A, FAIL)]
    assert row(report_of(results, t1=3.0), A).rate.value == 0.75


@pytest.mark.parametrize("outcome", [FAIL, TIMEOUT, TAMPERED])
def test_what_is_no_pass_is_a_fail(outcome: CellOutcome) -> None:
    found = row(report_of([result("1", A, PASS), result("2", A, outcome)]), A)
    assert found.rate.value == 0.5
    assert found.errors == 0


def test_an_error_is_no_measurement_and_is_said() -> None:
    report = report_of([result("1", A, PASS), result("2", A, ERROR), result("1", A, ERROR, 2)])
    found = row(report, A)
    assert (found.rate.value, found.rate.tasks, found.measured, found.errors) == (1.0, 1, 1, 2)
    assert (report.planned, report.measured, report.errors, report.missing) == (3, 1, 2, 0)
    assert "2 cells ended in an error" in report.warnings[0]


def test_what_was_planned_and_is_not_there_is_said() -> None:
    report = report_of([result("1", A)], Planned("f" * 64, "1", A, 2), Planned("e" * 64, "9", B, 1))
    assert (report.planned, report.measured, report.missing) == (3, 1, 2)
    assert report.tasks[0].squares[A].missing == 1
    assert row(report, B).rate.value is None
    assert row(report, B).tool == "codex"
    assert "2 planned cells are not measured yet." in report.warnings


def test_configurations_are_compared_over_tasks_that_both_were_measured_on() -> None:
    results = [
        *(result("1", A, PASS), result("1", B, FAIL)),
        *(result("2", A, FAIL), result("2", B, FAIL)),
        *(result("3", A, PASS), result("3", B, ERROR)),
        result("4", B, PASS),
    ]
    report = report_of(results)
    (one,) = report.comparisons
    assert (one.first, one.second) == (A, B)
    assert one.paired == Paired(2, 1, 0, 1, 0.5)
    assert any("measured on different tasks" in warning for warning in report.warnings)


def test_rates_over_the_same_tasks_need_no_warning() -> None:
    assert report_of([result("1", A, PASS), result("1", B, FAIL)]).warnings == ()


def test_tasks_that_tell_nothing_are_marked() -> None:
    results = [
        *(result("1", A, PASS), result("1", B, PASS), result("1", "nop", FAIL)),
        *(result("2", A, FAIL), result("2", B, TIMEOUT), result("2", "oracle", PASS)),
        *(result("3", A, PASS), result("3", A, FAIL, 2), result("3", B, PASS), result("3", B, FAIL, 2)),
        *(result("4", A, PASS), result("4", B, ERROR)),
    ]
    report = report_of(results)
    assert [task.information for task in report.tasks] == [ALL_PASS, ALL_FAIL, "", ""]


def test_a_configuration_alone_says_nothing_about_a_tasks_information() -> None:
    assert report_of([result("1", A, PASS), result("1", "oracle", PASS)]).tasks[0].information == ""


def test_unknown_costs_stay_unknown() -> None:
    results = [
        *(result("1", A, PASS, cost=0.5, tokens=(10, 1)), result("2", A, FAIL)),
        *(result("1", B, PASS), result("2", B, PASS)),
    ]
    report = report_of(results)
    assert row(report, A).cost == Amount(1, 1, 0.5, 0.5)
    assert row(report, A).input_tokens == Amount(1, 1, 10, 10)
    assert row(report, B).cost == Amount(0, 2, None, None)
    assert report.cost == Amount(1, 3, 0.5, 0.5)
    assert not any(one.on_front for one in report.configurations)  # neither is known to be the better value


def test_errors_are_paid_for_but_no_part_of_a_configurations_cost() -> None:
    report = report_of([result("1", A, PASS, cost=1.0), result("2", A, ERROR, cost=2.0)])
    assert row(report, A).cost.total == 1.0
    assert report.cost.total == 3.0


def test_the_best_value_is_marked() -> None:
    results = [
        *(result("1", A, PASS, cost=2.0), result("2", A, PASS, cost=2.0)),
        *(result("1", B, PASS, cost=1.0), result("2", B, FAIL, cost=1.0)),
        *(result("1", "aider/x", PASS, cost=1.5), result("2", "aider/x", FAIL, cost=1.5)),
    ]
    report = report_of(results)
    assert {one.label for one in report.configurations if one.on_front} == {A, B}


def test_controls_are_the_ones_that_can_be_run() -> None:
    assert set(CONTROLS) == set(soundness.CONTROLS)


def test_controls_are_sanity_lines_and_nothing_else() -> None:
    results = [result("1", "nop", FAIL), result("1", "oracle", PASS, cost=0.0), result("1", A, PASS)]
    report = report_of(results)
    assert [one.label for one in report.configurations] == [A, "oracle", "nop"]
    assert report.comparisons == ()
    assert report.warnings == ()
    assert report.cost.known == 0 and report.cost.unknown == 1


@pytest.mark.parametrize(
    ("label", "outcome", "said"),
    [
        ("oracle", FAIL, "The control oracle is not at 100%: the known implementation does not pass there"),
        ("oracle", TIMEOUT, "The control oracle is not at 100%"),
        ("nop", PASS, "The control nop is not at 0%: the hidden tests pass there with nothing done"),
        ("oracle", ERROR, "The control oracle was never measured"),
    ],
)
def test_a_control_that_is_wrong_is_said_first(label: str, outcome: CellOutcome, said: str) -> None:
    results = [result("7", label, outcome), result("8", A, ERROR)]
    first = report_of(results).warnings[0]
    assert first.startswith(said)
    assert outcome is ERROR or first.endswith("7.")


def test_results_of_another_state_of_a_task_are_not_mixed_in() -> None:
    old = result("1", A, FAIL, key="a" * 64, fingerprint="old", finished_at=BEGAN + timedelta(days=9))
    new = result("1", B, PASS, fingerprint="new")
    tasks = {"1": TaskFacts("1", fingerprint="new")}
    report = gather(run_of([old, new]), [old, new], tasks)
    assert report.aside == {"1": 1}
    assert report.comparisons[0].paired == Paired(0, 0, 0, 0, None)
    assert row(report, A).rate.value is None
    assert "1 result set aside" in " ".join(report.warnings)
    assert not report.tasks[0].outdated


def test_without_results_of_today_the_newest_state_counts_and_is_said_to_be_old() -> None:
    older = result("1", A, FAIL, fingerprint="older")
    newer = replace(
        result("1", A, PASS, fingerprint="newer"), key="b" * 64, finished_at=BEGAN + timedelta(days=1)
    )
    report = gather(run_of([older, newer]), [newer, older], {"1": TaskFacts("1", fingerprint="today")})
    assert row(report, A).rate.value == 1.0
    assert report.aside == {"1": 1}
    assert report.tasks[0].outdated
    assert "1 task changed since it was measured: 1." in report.warnings


def test_a_task_that_is_gone_is_still_reported() -> None:
    found = gather(run_of([result()]), [result()], {})
    assert found.tasks[0].weight == 1.0
    assert not found.tasks[0].outdated


def test_of_two_results_of_one_attempt_the_newer_counts() -> None:
    first = result("1", A, FAIL)
    again = replace(first, key="c" * 64, outcome=PASS, finished_at=BEGAN + timedelta(days=1))
    report = gather(run_of([first]), [again, first], facts_of([first]))
    assert row(report, A).rate.value == 1.0
    assert report.aside == {"1": 1}


def test_the_order_of_the_results_means_nothing() -> None:
    results = many(12, 2)
    shuffled = results[:]
    random.Random(5).shuffle(shuffled)
    run, tasks = run_of(results), facts_of(results)
    assert gather(run, results, tasks) == gather(run, shuffled, tasks)


def test_tasks_come_in_natural_order_and_configurations_best_first() -> None:
    results = [result(task, label, PASS if label == B else FAIL) for task in ("10", "9") for label in (A, B)]
    report = report_of(results)
    assert [task.id for task in report.tasks] == ["9", "10"]
    assert [one.label for one in report.configurations] == [B, A]
    assert sorted(["a10", "a9", "a", "10", "9" * 30, ""], key=natural)  # any names can be told apart


def test_nothing_at_all_is_a_report_too() -> None:
    report = gather(run_of([]), [], {})
    assert (report.tasks, report.configurations, report.warnings) == ((), (), ())


def test_long_lists_of_tasks_are_cut_in_warnings() -> None:
    results = [result(str(number), "oracle", FAIL) for number in range(40)]
    assert report_of(results).warnings[0].endswith("11 and 28 more.")
