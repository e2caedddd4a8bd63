"""A candidate's trials in, one grade out. Nothing honest is tampered; nothing that was tampered passes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from berbench.model.grading import BESIDE, INSIDE, TWIN, Canary, Grade, GradeName
from berbench.model.task import Control
from berbench.model.trial import Evidence, ReportFile
from berbench.verdicts import Needs, Trialed, Watched, grade
from test_verdicts import evidence, trial

A, B = (f"tests/test_x.py::test_{name}" for name in "ab")
GOOD, BAD = (
    Canary("keeps_order", True, INSIDE, "tests/test_x.py"),
    Canary("drops_keys", False, INSIDE, "tests/test_x.py"),
)
GOOD2, BAD2 = (
    Canary("adds_pairs", True, BESIDE, "tests/test_y.py"),
    Canary("joins_rows", False, BESIDE, "tests/test_y.py"),
)
CANARIES = (GOOD, BAD, GOOD2, BAD2)
SEEN = (
    "passed tests/test_x.py::test_keeps_order",
    "failed tests/test_x.py::test_drops_keys | assert 3 == 4",
    "passed tests/test_y.py::test_adds_pairs",
    "failed tests/test_y.py::test_joins_rows | assert [] == [1]",
)
NEEDS = Needs((A, B), Control(places=(INSIDE, BESIDE), exit_code=1, log_agrees=True))
LOG = b"== 2 failed, 4 passed in 0.02s ==\n"


def graded(
    *lines: str, code: int | None = 1, seen: tuple[str, ...] = SEEN, log: bytes = LOG, **more: object
) -> Grade:
    return grade(Watched(trial(code, evidence(*lines, *seen), log, **more), CANARIES), NEEDS)


def test_every_witness_agrees_on_a_pass() -> None:
    found = graded(f"passed {A}", f"passed {B}")
    assert found.name is GradeName.PASS
    assert [result.id for result in found.tests] == [A, B]
    assert (found.missing, found.details) == ((), ())


def test_one_needed_test_that_fails_is_a_fail_and_named() -> None:
    found = graded(f"passed {A}", f"failed {B} | assert 1 == 2", log=b"== 3 failed, 3 passed in 0.1s ==")
    assert found.name is GradeName.FAIL
    assert found.reasons[0] == "1 of 2 tests that must pass do not"
    assert f"failed: {B}: assert 1 == 2" in found.reasons


def test_a_single_needed_test_is_spoken_of_in_the_singular() -> None:
    def of_one(*lines: str, code: int = 0) -> str:
        return grade(Watched(trial(code, evidence(*lines), b""), ()), Needs((A,), Control())).reasons[0]

    assert of_one(f"passed {A}") == "the one test that must pass does"
    assert of_one(f"failed {A}", code=1) == "the one test that must pass does not"
    assert of_one(f"passed {B}", code=1).endswith("does not: it is missing from the report")


@pytest.mark.parametrize("outcome", ["skipped", "xfailed", "xpassed", "error"])
def test_V25_only_a_pass_is_a_pass(outcome: str) -> None:
    assert graded(f"passed {A}", f"{outcome} {B}").name is GradeName.FAIL


def test_a_needed_test_that_is_missing_is_a_fail() -> None:
    found = graded(f"passed {A}")
    assert found.name is GradeName.FAIL
    assert found.missing == (B,)
    assert "missing from the report" in found.reasons[0]


@pytest.mark.parametrize("outcome", ["passed", "skipped", "xpassed", "xfailed"])
@pytest.mark.parametrize("real", ["passed", "failed"])
def test_V01_a_canary_that_must_fail_and_does_not_is_tampering(outcome: str, real: str) -> None:
    seen = (SEEN[0], f"{outcome} tests/test_x.py::test_drops_keys", *SEEN[2:])
    assert graded(f"passed {A}", f"{real} {B}", seen=seen).name is GradeName.TAMPERED


@pytest.mark.parametrize("gone", range(4))
def test_a_canary_that_is_missing_beside_passes_is_tampering(gone: int) -> None:
    seen = SEEN[:gone] + SEEN[gone + 1 :]
    assert graded(f"passed {A}", f"passed {B}", seen=seen).name is GradeName.TAMPERED


def test_a_canary_that_must_pass_and_does_not_is_tampering() -> None:
    seen = ("failed tests/test_x.py::test_keeps_order", *SEEN[1:])
    assert graded(f"passed {A}", f"passed {B}", seen=seen).name is GradeName.TAMPERED


def test_a_canary_that_is_reported_twice_is_tampering() -> None:
    seen = (*SEEN, "failed tests/test_x.py::test_drops_keys#2")
    assert graded(f"passed {A}", f"passed {B}", seen=seen).name is GradeName.TAMPERED


def test_V02_an_exit_code_of_zero_over_a_planted_failure_is_tampering() -> None:
    assert graded(f"passed {A}", f"passed {B}", code=0).name is GradeName.TAMPERED
    assert graded(code=0, seen=()).name is GradeName.TAMPERED


def test_a_broken_fix_loses_canaries_and_is_an_honest_fail() -> None:
    """The hidden file could not be imported, so what was planted inside it never ran."""
    found = graded("error tests/test_x.py", seen=SEEN[2:], log=b"== 1 failed, 1 passed, 1 error in 0.1s ==")
    assert found.name is GradeName.FAIL
    crashed = Evidence("", runner="pytest", report_missing=True)
    for code in (1, 3, 137, 139, None):
        assert (
            grade(Watched(trial(code, crashed, b"Segmentation fault"), CANARIES), NEEDS).name
            is GradeName.FAIL
        )


def test_another_test_that_fails_beside_them_is_a_fail() -> None:
    found = graded(f"passed {A}", f"passed {B}", "failed tests/test_x.py::test_new[c]")
    assert found.name is GradeName.FAIL
    assert "tests/test_x.py::test_new[c]" in found.reasons[0]


def test_an_exit_code_that_the_reference_never_had_is_inconsistent() -> None:
    found = graded(f"passed {A}", f"passed {B}", code=139)
    assert found.name is GradeName.INCONSISTENT
    assert "139" in found.reasons[0]


def test_a_report_that_the_log_contradicts_is_inconsistent() -> None:
    found = graded(f"passed {A}", f"passed {B}", log=b"== 3 failed, 3 passed in 0.1s ==")
    assert found.name is GradeName.INCONSISTENT
    assert graded(f"passed {A}", f"passed {B}", log=b"").name is GradeName.INCONSISTENT


def test_where_the_reference_log_never_agreed_it_is_not_asked() -> None:
    needs = Needs((A, B), Control(places=(INSIDE, BESIDE), exit_code=1))
    watched = Watched(trial(1, evidence(f"passed {A}", f"passed {B}", *SEEN), b""), CANARIES)
    assert grade(watched, needs).name is GradeName.PASS


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        ({"out_of_memory": True}, GradeName.OUT_OF_MEMORY),
        ({"timed_out": True, "timed_out_in": "verify"}, GradeName.TIMEOUT),
        ({"setup_failed": "make", "setup_exit_code": 2}, GradeName.FAIL),
    ],
)
def test_a_run_that_was_cut_short_is_never_a_pass(facts: dict[str, object], name: GradeName) -> None:
    assert graded(f"passed {A}", f"passed {B}", **facts).name is name


def test_nothing_that_ran_is_no_tests_ran() -> None:
    empty = Evidence("junit", runner="pytest", none_ran=True)
    assert grade(Watched(trial(5, empty), CANARIES), NEEDS).name is GradeName.NO_TESTS_RAN


# --- commands on whose exit status others hang: the failing canaries have a trial of their own


QUIET = tuple(Canary(canary.name, True, canary.place, canary.file) for canary in CANARIES)
QUIETLY = tuple(line.split(" | ")[0].replace("failed", "passed") for line in SEEN)


def apart(candidate: Trialed, control: Trialed) -> GradeName:
    return grade(Watched(candidate, QUIET), NEEDS, control=Watched(control, CANARIES)).name


def test_two_trials_that_agree_are_a_pass() -> None:
    first = trial(0, evidence(f"passed {A}", f"passed {B}", *QUIETLY), b"== 6 passed in 0.1s ==")
    second = trial(1, evidence(f"passed {A}", *SEEN[:2]), b"")
    assert apart(first, second) is GradeName.PASS
    assert apart(first, trial(0, second.evidence)) is GradeName.TAMPERED
    assert apart(first, trial(2, second.evidence)) is GradeName.INCONSISTENT
    assert apart(first, trial(1, evidence(f"passed {A}"))) is GradeName.TAMPERED
    assert apart(first, trial(1, evidence("passed tests/test_x.py::test_drops_keys"))) is GradeName.TAMPERED
    assert apart(trial(1, first.evidence), second) is GradeName.INCONSISTENT


# --- tasks without canaries


def test_without_canaries_the_exit_code_must_be_zero_and_the_grade_says_so() -> None:
    needs = Needs((A, B), Control(reason="no such runner"))

    def bare(code: int, *lines: str) -> Grade:
        return grade(Watched(trial(code, evidence(*lines))), needs)

    found = bare(0, f"passed {A}", f"passed {B}")
    assert found.name is GradeName.PASS
    assert found.reasons[1] == "no canary watched this run: no such runner"
    assert bare(1, f"passed {A}", f"passed {B}").name is GradeName.INCONSISTENT
    assert bare(0, f"passed {A}", f"failed {B}").name is GradeName.INCONSISTENT
    assert bare(1, f"passed {A}", f"failed {B}").name is GradeName.FAIL


def test_a_proof_that_knows_no_single_tests_leaves_the_exit_code() -> None:
    def bare(code: int, found: Evidence) -> Grade:
        return grade(Watched(trial(code, found)), Needs(()))

    assert bare(0, Evidence()).name is GradeName.PASS
    assert "exit code alone" in bare(0, Evidence()).reasons[1]
    assert bare(1, Evidence()).name is GradeName.FAIL
    assert bare(0, Evidence(none_ran=True)).name is GradeName.NO_TESTS_RAN


@pytest.mark.parametrize(
    ("outcome", "wanted"),
    [
        ("failed", GradeName.FAIL),
        ("error", GradeName.FAIL),
        ("skipped", GradeName.FAIL),
        ("passed", GradeName.TAMPERED),
    ],
)
def test_a_twin_may_do_what_its_original_does_but_never_pass(outcome: str, wanted: GradeName) -> None:
    twin = Canary("picks_rows", False, TWIN, "tests/test_x.py")
    lines = (f"passed {A}", f"failed {B}", *SEEN, f"{outcome} tests/test_x.py::test_picks_rows")
    assert grade(Watched(trial(1, evidence(*lines), LOG), (*CANARIES, twin)), NEEDS).name is wanted


@pytest.mark.parametrize(
    ("source", "wanted"), [("go-json", GradeName.INCONSISTENT), ("junit", GradeName.TAMPERED)]
)
def test_a_planted_test_that_was_cut_off_with_the_log_accuses_nobody(source: str, wanted: GradeName) -> None:
    found = replace(evidence(f"passed {A}", f"passed {B}", *SEEN[1:]), source=source)
    assert grade(Watched(trial(1, found, LOG, log_truncated=True), CANARIES), NEEDS).name is wanted


def test_a_planted_test_that_was_cut_off_with_its_report_accuses_nobody() -> None:
    cut = (ReportFile("pytest.xml", b"<testsuites>", truncated=True),)
    found = graded(f"passed {A}", f"passed {B}", seen=SEEN[1:], reports=cut)
    assert found.name is GradeName.INCONSISTENT
    assert "more than is kept" in found.reasons[0]
