"""Results that stand in a log: go test -json, TAP, libtest, nextest."""

from __future__ import annotations

import json

from berbench.evidence.gotest import read_go
from berbench.evidence.reading import Reading
from berbench.evidence.rust import read_libtest, read_nextest
from berbench.evidence.tap import read_tap


def told(reading: Reading) -> list[str]:
    return [f"{result.outcome.value} {result.id}" for result in reading.results]


def event(**fields: str) -> str:
    return json.dumps({"Time": "t", **fields})


def test_go_events_after_text_without_a_newline() -> None:
    log = "\n".join(
        (
            "# some text",
            "printed" + event(Action="run", Package="p", Test="TestA"),
            event(Action="pass", Package="p", Test="TestA"),
            '{"Time":"t","Action":"torn',
            event(Action="pass", Package="p"),
        )
    )
    assert told(read_go(log)) == ["passed p.TestA"]


def test_go_1_24_build_failures_are_events() -> None:
    log = "\n".join(
        (
            json.dumps(
                {"ImportPath": "p [p.test]", "Action": "build-output", "Output": "p/a.go:1: undefined: X\n"}
            ),
            json.dumps({"ImportPath": "p [p.test]", "Action": "build-fail"}),
            event(Action="start", Package="p"),
            event(Action="fail", Package="p", FailedBuild="p [p.test]"),
        )
    )
    reading = read_go(log)
    assert told(reading) == ["error p"]
    assert reading.collection_failed
    assert "undefined: X" in reading.results[0].message


def test_go_exit_in_test_main_is_an_error_of_the_package() -> None:
    reading = read_go(
        event(Action="output", Package="p", Output="exit status 3\n")
        + "\n"
        + event(Action="fail", Package="p")
    )
    assert told(reading) == ["error p"]


def test_go_subtests_glued_to_output_need_their_own_end() -> None:
    log = "\n".join(
        (
            event(Action="run", Package="p", Test="TestA"),
            *(
                event(Action="output", Package="p", Test="TestA", Output=f"text=== RUN   {name}\n")
                for name in ("TestA/good", "TestA/bad", "TestA/endless", "TestOther/good")
            ),
            event(Action="output", Package="p", Test="TestA", Output="    --- PASS: TestA/good (0.00s)\n"),
            event(Action="output", Package="p", Test="TestA", Output="    --- FAIL: TestA/bad (0.00s)\n"),
            event(
                Action="output", Package="p", Test="TestA", Output="    --- PASS: TestOther/good (0.00s)\n"
            ),
            event(Action="fail", Package="p", Test="TestA"),
            event(Action="fail", Package="p"),
        )
    )
    assert told(read_go(log)) == ["failed p.TestA", "passed p.TestA/good", "failed p.TestA/bad"]


def test_go_stream_cut_by_a_kill_is_not_whole() -> None:
    reading = read_go(event(Action="run", Package="p", Test="TestA"))
    assert told(reading) == ["failed p.TestA"]
    assert not reading.complete


def test_go_text_that_looks_like_an_end_does_not_turn_a_failure_into_a_pass() -> None:
    log = "\n".join(
        (
            event(Action="run", Package="p", Test="TestA"),
            event(Action="output", Package="p", Test="TestA", Output="--- PASS: TestA (0.00s)\n"),
            event(Action="fail", Package="p", Test="TestA"),
            event(Action="fail", Package="p"),
        )
    )
    assert told(read_go(log)) == ["failed p.TestA"]


def test_tap_12_and_directives() -> None:
    reading = read_tap(
        "1..5\nok 1 - a\nnot ok 2 b\nok 3 - c # SKIP no\nnot ok 4 - d # TODO later\nok 5 - e # todo done\n"
    )
    assert told(reading) == ["passed a", "failed b", "skipped c", "xfailed d", "xpassed e"]
    assert reading.complete


def test_tap_13_yaml_may_hold_lines_that_look_like_points() -> None:
    text = "TAP version 13\nnot ok 1 - a\n  ---\n  message: |\n    ok 2 - no test\n  ...\nok 2 - b\n1..2\n"
    reading = read_tap(text)
    assert told(reading) == ["failed a", "passed b"]
    assert "ok 2 - no test" in reading.results[0].message


def test_tap_14_subtests_are_named_by_their_parents() -> None:
    text = "TAP version 14\n# Subtest: outer\n    ok 1 - in\n    not ok 2 - bad\n    1..2\nnot ok 1 - outer\n1..1\n"
    assert told(read_tap(text)) == ["passed outer > in", "failed outer > bad"]


def test_tap_parent_that_fails_by_itself_stays_a_test() -> None:
    text = "# Subtest: outer\n    ok 1 - in\n    1..1\nnot ok 1 - outer # time=3ms\n1..1\n"
    assert told(read_tap(text)) == ["passed outer > in", "failed outer"]


def test_tap_that_stops_early_is_not_whole() -> None:
    assert "plans 3 tests and holds 1" in read_tap("1..3\nok 1 - a\n").problems[0]
    assert "no plan" in read_tap("ok 1 - a\n").problems[0]
    bail = read_tap("1..2\nok 1 - a\nBail out! no database\n")
    assert bail.collection_failed and "no database" in bail.problems[0]


def test_tap_points_without_a_name_are_numbered() -> None:
    assert told(read_tap("1..2\nok 1\nok 2\n")) == ["passed test 1", "passed test 2"]


LIBTEST = """     Running unittests src/lib.rs (target/debug/deps/x-1)

running 2 tests
test a::b ... ok
test c ... FAILED

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


def test_libtest_counts_must_agree_with_its_lines() -> None:
    assert read_libtest(LIBTEST).complete
    lost = read_libtest(LIBTEST.replace("test a::b ... ok\n", "test a::b ... prin"))
    assert not lost.complete
    assert "counts 2 tests" in lost.problems[0]


def test_libtest_output_shown_of_failed_tests_is_no_result() -> None:
    shown = "failures:\n\n---- c stdout ----\nrunning 1 test\ntest forged ... ok\n\nfailures:\n    c\n\ntest result"
    reading = read_libtest(LIBTEST.replace("test result", shown))
    assert told(reading) == ["passed src/lib.rs a::b", "failed src/lib.rs c"]
    assert reading.complete


def test_libtest_target_that_was_killed_is_not_whole() -> None:
    reading = read_libtest(LIBTEST.split("test result")[0])
    assert not reading.complete


NEXTEST = """    Finished `test` profile [unoptimized] target(s) in 0.1s
    Starting 3 tests across 2 binaries
        PASS [   0.004s] mylib tests::good
  TRY 1 FAIL [   0.003s] mylib::api flaky
        FAIL [   0.005s] mylib::api api
   FLAKY 2/3 [   0.003s] mylib::api flaky
     Summary [   0.010s] 3 tests run: 2 passed (1 flaky), 1 failed, 1 skipped
        FAIL [   0.005s] mylib::api api
"""


def test_nextest_lines_count_once_and_retries_by_their_last() -> None:
    reading = read_nextest(NEXTEST)
    assert sorted(told(reading)) == [
        "failed mylib::api api",
        "passed mylib tests::good",
        "passed mylib::api flaky",
    ]
    assert reading.complete
    assert reading.retried == ("mylib::api flaky",)
    assert [r.file for r in reading.results] == ["", "tests/api.rs", "tests/api.rs"]


def test_nextest_without_its_summary_is_not_whole() -> None:
    assert not read_nextest(NEXTEST.split("     Summary")[0]).complete


def test_go_packages_that_can_not_be_built_say_why_in_plain_words_too() -> None:
    """Before Go 1.24 the build's own output stands between the events."""
    log = "\n".join(
        (
            "# example.com/a [example.com/a.test]",
            "./a_test.go:5:2: undefined: New",
            event(Action="pass", Package="example.com/b", Test="TestB"),
            event(Action="pass", Package="example.com/b"),
            "FAIL\texample.com/a [build failed]",
        )
    )
    reading = read_go(log)
    assert told(reading) == ["passed example.com/b.TestB", "error example.com/a"]
    assert "undefined: New" in reading.results[-1].message and reading.collection_failed
    as_output = event(Action="output", Package="example.com/c", Output="FAIL\texample.com/c [setup failed]\n")
    assert told(read_go(as_output)) == ["error example.com/c"]


def test_a_tap_stream_that_ends_inside_a_subtest_is_torn() -> None:
    whole = read_tap("TAP version 13\n    ok 1 - in\n    1..1\nok 1 - out\n1..1\n")
    assert whole.complete
    torn = read_tap("TAP version 13\n1..1\nok 1 - out\n    ok 1 - in\n")
    assert not torn.complete
    assert "the TAP stream ends inside a subtest" in torn.problems
