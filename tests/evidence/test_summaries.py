"""The closing lines of runners in a log."""

from __future__ import annotations

import pytest

from berbench.evidence.summary import find_summary

COUNTS = [
    ("pytest", "=== 3 passed, 1 skipped, 2 xfailed in 0.12s ===", "passed=3 skipped=1 xfailed=2"),
    ("pytest", "1 failed, 2 passed, 1 error, 3 warnings in 1.5s", "passed=2 failed=1 error=1"),
    ("pytest", "= 1 failed, 4 deselected in 61.20s (0:01:01) =", "failed=1"),
    (
        "unittest",
        "Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=1)\n",
        "passed=2 failed=1 error=1 skipped=1",
    ),
    ("unittest", "Ran 2 tests in 0.001s\n\nOK (expected failures=1)\n", "passed=1 xfailed=1"),
    ("django", "Ran 2 tests in 0.001s\n\nOK\nDestroying test database", "passed=2"),
    ("go", "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\nFAIL\n", "failed=1"),
    ("go", "ok  \texample.com/a\t0.01s\n", "passed=1"),
    (
        "cargo",
        "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out",
        "passed=2 skipped=1",
    ),
    ("jest", "Tests:       1 failed, 2 skipped, 3 passed, 6 total", "passed=3 failed=1 skipped=2"),
    ("vitest", "      Tests  1 failed | 2 passed (3)", "passed=2 failed=1"),
    ("mocha", "  3 passing (10ms)\n  1 pending\n  2 failing\n", "passed=3 failed=2 skipped=1"),
    (
        "node",
        "ℹ tests 4\nℹ suites 0\nℹ pass 2\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0",
        "passed=2 failed=1 skipped=1",
    ),
    ("node", "# tests 1\n# pass 1\n# fail 0", "passed=1"),
    ("tape", "# tests 3\n# pass  2\n# fail  1", "passed=2 failed=1"),
    (
        "maven",
        "[ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 1\n",
        "passed=1 failed=1 error=1 skipped=1",
    ),
    ("gradle", "4 tests completed, 1 failed, 1 skipped", "passed=2 failed=1 skipped=1"),
    ("phpunit", "Tests: 4, Assertions: 5, Errors: 1, Failures: 1.", "passed=2 failed=1 error=1"),
    ("phpunit", "OK (3 tests, 4 assertions)", "passed=3"),
    ("rspec", "4 examples, 1 failure, 1 pending", "passed=2 failed=1 skipped=1"),
]


@pytest.mark.parametrize(("runner", "log", "counts"), COUNTS)
def test_counts(runner: str, log: str, counts: str) -> None:
    summary = find_summary(log, runner)
    assert summary is not None
    assert " ".join(f"{outcome.value}={number}" for outcome, number in summary.counts) == counts
    assert not summary.none_ran


@pytest.mark.parametrize(("runner", "log", "counts"), COUNTS)
def test_counts_are_found_without_knowing_the_runner(runner: str, log: str, counts: str) -> None:
    summary = find_summary(f"noise\n{log}\nmore", "")
    assert summary is not None and summary.counts


NONE = [
    ("pytest", "=== no tests ran in 0.01s ==="),
    ("pytest", "collected 0 items\n"),
    ("pytest", "=== 5 deselected in 0.01s ==="),
    ("pytest", "ERROR: file or directory not found: tests/nope.py\n"),
    ("unittest", "Ran 0 tests in 0.000s\n\nOK\n"),
    ("unittest", "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n"),
    ("go", "?   \texample.com/a\t[no test files]\n"),
    ("go", "ok  \texample.com/a\t0.01s [no tests to run]\n"),
    (
        "cargo",
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out",
    ),
    ("jest", "No tests found, exiting with code 1"),
    ("vitest", "No test files found, exiting with code 1"),
    ("mocha", "  0 passing (1ms)\n"),
    ("mocha", 'Error: No test files found: "nothing"\n'),
    ("node", "# tests 0\n# pass 0\n# fail 0\n"),
    ("maven", "[INFO] No tests to run.\n"),
    ("maven", "Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n"),
    ("gradle", "> No tests found for given includes: [x]\n"),
    ("gradle", "> Task :test NO-SOURCE\n"),
    ("phpunit", "No tests executed!\n"),
    ("rspec", "0 examples, 0 failures\n"),
]


@pytest.mark.parametrize(("runner", "log"), NONE)
def test_V14_a_runner_that_says_nothing_ran_is_heard(runner: str, log: str) -> None:
    summary = find_summary(log, runner)
    assert summary is not None and summary.none_ran


LOST = [
    ("pytest", "ImportError while loading conftest '/app/tests/conftest.py'.\n"),
    ("pytest", "!!!! Interrupted: 1 error during collection !!!!\n=== 1 error in 0.1s ==="),
    ("go", "FAIL\texample.com/a [build failed]\nFAIL\n"),
    ("cargo", 'error: could not compile `x` (test "api") due to 1 previous error\n'),
    ("jest", "  ● Test suite failed to run\nTest Suites: 1 failed, 1 total\nTests:       0 total\n"),
    ("maven", "[ERROR] COMPILATION ERROR : \n"),
    ("gradle", "Execution failed for task ':compileTestJava'.\n"),
]


@pytest.mark.parametrize(("runner", "log"), LOST)
def test_V13_code_that_can_not_be_collected_is_not_an_empty_run(runner: str, log: str) -> None:
    summary = find_summary(log, runner)
    assert summary is not None
    assert summary.collection_failed and not summary.none_ran


@pytest.mark.parametrize(
    "log", ["", "all good\n", "I passed the exam in 3s\n", "ok then\n", "12 tests of courage\n"]
)
def test_plain_words_are_no_summary(log: str) -> None:
    assert find_summary(log, "") is None


def test_where_several_runners_speak_the_failing_one_is_believed() -> None:
    summary = find_summary("=== 3 passed in 0.1s ===\n  1 passing (1ms)\n  2 failing\n", "")
    assert summary is not None and summary.failures == 2
