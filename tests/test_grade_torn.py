"""A report that was cut behind the last needed test: all that is read of it is well, and it proves nothing."""

from __future__ import annotations

import pytest

from berbench.model.grading import GradeName
from berbench.model.task import Control
from berbench.verdicts import Needs, Watched, grade
from test_grade import CANARIES, LOG, NEEDS, QUIET, QUIETLY, SEEN, A, B
from test_verdicts import evidence, trial

WELL = (f"passed {A}", f"passed {B}")


@pytest.mark.parametrize(("torn", "name"), [(False, GradeName.PASS), (True, GradeName.INCONSISTENT)])
def test_V02_a_torn_report_is_no_pass_under_the_code_of_the_reference(torn: bool, name: GradeName) -> None:
    found = evidence(*WELL, *SEEN, report_missing=torn)
    assert grade(Watched(trial(1, found, LOG), CANARIES), NEEDS).name is name


@pytest.mark.parametrize(("torn", "name"), [(False, GradeName.PASS), (True, GradeName.INCONSISTENT)])
def test_V02_a_torn_report_is_no_pass_where_no_canary_watches(torn: bool, name: GradeName) -> None:
    found = trial(0, evidence(*WELL, report_missing=torn), b"== 2 passed in 0.1s ==")
    assert grade(Watched(found), Needs((A, B), Control(reason="no such runner"))).name is name


@pytest.mark.parametrize(("torn", "name"), [(False, GradeName.PASS), (True, GradeName.TAMPERED)])
def test_V02_a_run_ended_with_0_amid_planted_passes_was_ended_by_the_candidate(
    torn: bool, name: GradeName
) -> None:
    """The failing canaries have a trial of their own here, so nothing else makes the exit code suspicious."""
    first = trial(0, evidence(*WELL, *QUIETLY, report_missing=torn), b"== 6 passed in 0.1s ==")
    second = Watched(trial(1, evidence(f"passed {A}", *SEEN[:2]), b""), CANARIES)
    assert grade(Watched(first, QUIET), NEEDS, control=second).name is name
