"""Runner by situation: what validation says, on what the real runners left. The table is the contract."""

from __future__ import annotations

import pytest
from situations import RUNNERS, SITUATIONS, capture, hidden_of, verdict_on

from berbench.emit import dump
from berbench.evidence.reading import legible
from berbench.model.trial import Outcome, VerdictName
from berbench.verdicts import judge
from berbench.yamlio import load

VALIDATED, NOTHING, WRONG, FAILS = (
    VerdictName.VALIDATED,
    VerdictName.NO_TESTS_RAN,
    VerdictName.WRONG_TESTS,
    VerdictName.REFERENCE_FAILS,
)
# situation → verdict, and words that its reason must hold
SAID = {
    "fair": (VALIDATED, "1 test from failing to passing, 1 passing in both"),
    "not loaded at base": (VALIDATED, "from failing to passing, 0 passing in both"),
    "filter matches nothing": (NOTHING, "in the reference trial"),
    "file missing": (NOTHING, "no test ran in the reference trial"),
    "all skipped": (NOTHING, "in the reference trial"),
    "other tests": (WRONG, "none of those that tests.patch adds or changes"),
    "no such command": (FAILS, "the verify command could not be started"),
    "runner can't start": (FAILS, "the reference trial fails with exit code"),
    "package missing": (FAILS, "the log says that"),
    "ends itself with 0": (FAILS, "left no whole report"),
}
# Where a runner lets no other answer be given, and why.
OTHERWISE = {
    # Node's parent takes a file that ends with 0 for one without tests; vitest and Gradle see that a worker is gone,
    # and report tests that were never run, or none.
    ("node", "ends itself with 0"): (NOTHING, "no test ran"),
    ("vitest", "ends itself with 0"): (NOTHING, "every test was skipped"),
    ("gradle", "ends itself with 0"): (NOTHING, "no test ran"),
    # These tell of the sudden end by their own exit code.
    ("ava", "ends itself with 0"): (FAILS, "fails with exit code 1"),
    ("go", "ends itself with 0"): (FAILS, "1 test fail"),
    ("maven", "ends itself with 0"): (FAILS, "fails with exit code 1"),
    ("tap", "ends itself with 0"): (FAILS, "2 tests fail"),
}


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("runner", RUNNERS)
def test_every_runner_has_an_answer_for_every_situation(runner: str, situation: str) -> None:
    verdict = verdict_on(runner, situation)
    name, words = OTHERWISE.get((runner, situation), SAID[situation])
    assert verdict.name is name, verdict
    assert words in verdict.reason


def test_the_table_is_of_all_runners() -> None:
    python, others = "pytest unittest django nose nose2", "go cargo phpunit maven gradle rspec"
    node = "jest vitest mocha node ava tap tape qunit"
    assert set(RUNNERS) == {*python.split(), *node.split(), *others.split()}


@pytest.mark.parametrize("runner", RUNNERS)
def test_V13_a_base_whose_tests_can_not_be_loaded_is_told_from_one_whose_tests_fail(runner: str) -> None:
    assert verdict_on(runner, "fair").base_failure == "tests"
    verdict = verdict_on(runner, "not loaded at base")
    assert verdict.base_failure == "collection"
    assert "test names are known only after the fix" in verdict.warnings[0]


@pytest.mark.parametrize("runner", RUNNERS)
def test_V14_no_test_ran_although_nothing_failed(runner: str) -> None:
    """Exit codes differ from runner to runner; what was read does not."""
    for trial in ("none", "absent", "skipped"):
        evidence = capture(runner, trial).evidence
        executed = sum(number for outcome, number in evidence.counts if outcome is not Outcome.SKIPPED)
        assert evidence.none_ran or not executed


@pytest.mark.parametrize("runner", RUNNERS)
def test_V13_what_is_missing_is_named(runner: str) -> None:
    """The cause in words: the package, or that packages are not in the image."""
    reason = verdict_on(runner, "package missing").reason
    assert "nowhere" in reason.lower() or "are not all in the image" in reason, reason


def test_a_missing_runner_is_named_although_npx_only_tells_of_the_network() -> None:
    for runner in ("jest", "vitest", "mocha", "ava", "tap", "tape", "qunit"):
        assert f"the Node package {runner} is not installed" in verdict_on(runner, "no such command").reason


@pytest.mark.parametrize("runner", RUNNERS)
def test_V16_an_exit_code_that_contradicts_the_report_is_inconsistent(runner: str) -> None:
    """A pipe that hides failures; a linter that fails beside passing tests; in either trial."""
    base, good = capture(runner, "base"), capture(runner, "good")
    for before, after in (
        (base.ended(0), good),
        (base, base.ended(0)),
        (base, good.ended(3)),
        (good.ended(3), good),
    ):
        verdict = judge(before.trialed, after.trialed, hidden_of(runner))
        assert verdict.name is VerdictName.INCONSISTENT, verdict
        assert "exit code" in verdict.reason or "exits with 0" in verdict.reason


@pytest.mark.parametrize("runner", RUNNERS)
def test_V02_a_report_that_is_absent_proves_nothing(runner: str) -> None:
    base, good = capture(runner, "base"), capture(runner, "good")
    silent = judge(base.trialed, good.silent(0).trialed, hidden_of(runner))
    assert silent.name is FAILS and "left no whole report" in silent.reason
    for code in (1, 137, None):
        nothing = judge(base.silent(code).trialed, good.trialed, hidden_of(runner))
        assert nothing.name is VerdictName.BASE_PASSES


@pytest.mark.parametrize("runner", RUNNERS)
def test_V02_every_prefix_of_a_report_is_known_to_be_one(runner: str) -> None:
    """Killed while it was written, with an exit code that says all is well: never a proof, and never a crash."""
    base, good = capture(runner, "base"), capture(runner, "good")
    whole = good.cut(good.size, code=0)
    assert judge(base.trialed, whole.trialed, hidden_of(runner)).name is VALIDATED
    ends = {good.size} if good.report else set(range(_said_all(runner), good.size + 1))
    for at in [*range(0, good.size, max(1, good.size // 160)), *range(max(0, good.size - 40), good.size)]:
        verdict = judge(base.trialed, good.cut(at, code=0).trialed, hidden_of(runner))
        unended = verdict.name is not VALIDATED
        assert unended or at in ends or _only_white(good, at), (at, verdict)


def _said_all(runner: str) -> int:
    """How much of a log holds all that is needed of it: the rest is words for people."""
    log = capture(runner, "good").facts.log
    last = {
        "go": b'"Action":"pass","Package"',
        "cargo": b"test result: ok. 2 passed; 0 failed; 0 ignored;",
        "ava": b"1..2",
        "tap": b"ok 1 - test/calc.test.js",
        "tape": b"1..2",
        "qunit": b"1..2",
    }[runner]
    return log.rindex(last)


def _only_white(capture_: object, at: int) -> bool:
    report = getattr(capture_, "report", None)
    return report is not None and not report.data[at:].strip()


@pytest.mark.parametrize("runner", RUNNERS)
def test_V13_tests_that_a_cut_base_report_lacks_did_not_fail(runner: str) -> None:
    """Every prefix of the base's report, killed from outside: only tests seen to fail can prove a task."""
    base, good = capture(runner, "base"), capture(runner, "good")
    for at in range(0, base.size, max(1, base.size // 120)):
        cut = base.cut(at, code=137)
        verdict = judge(cut.trialed, good.trialed, hidden_of(runner))
        seen = {r.id for r in cut.evidence.results if r.outcome in (Outcome.FAILED, Outcome.ERROR)}
        assert verdict.name is not VALIDATED or seen & set(verdict.fail_to_pass), at


ODD = {
    "pytest": "passed=15 failed=1 error=2 skipped=1 xfailed=1 xpassed=1",
    "unittest": "passed=4 failed=2 error=2 skipped=1 xfailed=1 xpassed=1",
    "django": "passed=4 failed=2 error=2 skipped=1 xfailed=1 xpassed=1",
    "nose": "passed=4 failed=2 error=2 skipped=1",
    "nose2": "passed=4 failed=2 error=2 skipped=1 xfailed=1 xpassed=1",
    "go": "passed=9 failed=4 skipped=1",
    "cargo": "passed=3 failed=3 skipped=1",
    "jest": "passed=16 failed=3 skipped=2",
    "vitest": "passed=15 failed=3 skipped=2",
    "mocha": "passed=15 failed=1 error=1 skipped=3",
    "node": "passed=13 failed=3 skipped=2 xfailed=1",
    "ava": "passed=7 failed=9 skipped=1 xfailed=2 xpassed=1",
    "tap": "passed=7 failed=1 skipped=1 xfailed=1 xpassed=1",
    "tape": "passed=7 failed=1 xfailed=1",
    "qunit": "passed=6 failed=3 skipped=1 xfailed=1 xpassed=1",
    "phpunit": "passed=10 error=4 skipped=2",
    "maven": "passed=16 error=14 skipped=17",
    "gradle": "passed=16 failed=12 skipped=17",
    "rspec": "passed=9 failed=3 skipped=3",
}


@pytest.mark.parametrize("runner", RUNNERS)
def test_V25_V17_odd_names_and_outcomes_are_all_kept_apart(runner: str) -> None:
    evidence = capture(runner, "odd").evidence
    assert evidence.readable and not evidence.report_missing
    assert " ".join(f"{outcome.value}={number}" for outcome, number in evidence.counts) == ODD[runner]
    ids = [result.id for result in evidence.results]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("runner", RUNNERS)
def test_odd_names_can_be_kept_in_a_document_and_shown(runner: str) -> None:
    results = capture(runner, "odd").evidence.results
    ids = [result.id for result in results]
    assert [legible(name) for name in ids] == ids
    document = dump({"tests": ids, "messages": [result.message for result in results]})
    assert load(document, name="kept")["tests"] == ids  # type: ignore[index, call-overload]


def test_names_of_10_kb_are_whole() -> None:
    for runner in set(RUNNERS) - {"go", "cargo", "maven", "gradle", "nose"}:
        assert any("x" * 10240 in result.id for result in capture(runner, "odd").evidence.results), runner


def test_tests_that_passed_on_another_try_are_told() -> None:
    told = {runner: capture(runner, "odd").evidence.retried for runner in RUNNERS}
    assert told["pytest"] == ("tests/test_calc.py::test_retried",)
    assert told["jest"] == told["vitest"] == ("test/calc.test.js > calc > retried",)
    assert told["mocha"] == told["jest"]
    assert not any(told[runner] for runner in set(RUNNERS) - {"pytest", "jest", "vitest", "mocha"})


def test_V20_go_subtests_whose_beginning_is_glued_to_output_are_not_lost() -> None:
    ids = {result.id for result in capture("go", "odd").evidence.results}
    assert "example.org/calc/calc.TestNames/line_break" in ids
    assert "example.org/calc/calc.TestNever" not in ids  # only printed, by a test


def test_what_a_failed_rust_test_printed_is_no_result() -> None:
    ids = {result.id for result in capture("cargo", "odd").evidence.results}
    assert "tests/calc.rs never" not in ids
