"""Facts and evidence in, one verdict out. Every refusal is a row here, and so is each way to be believed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from berbench.evidence.names import tells_now
from berbench.evidence.reading import count
from berbench.model.trial import Evidence, Facts, Outcome, TestResult, Verdict, VerdictName
from berbench.verdicts import Hidden, Trialed, disagreements, judge

HIDDEN = Hidden(("tests/test_x.py",))


def evidence(*lines: str, source: str = "junit", runner: str = "pytest", **more: object) -> Evidence:
    """Evidence of lines like `passed tests/test_x.py::test_a`; the file is what stands before `::`."""
    results = []
    for line in lines:
        word, name = line.split(" ", 1)
        name, _, message = name.partition(" | ")
        file = name.split("::")[0] if "::" in name or name.endswith(".py") else ""
        results.append(TestResult(name, Outcome(word), file, message))
    return Evidence(source, tuple(results), count(results), runner=runner, **more)  # type: ignore[arg-type]


def summary(**counts: int) -> Evidence:
    return Evidence("summary", counts=tuple((Outcome(word), number) for word, number in counts.items()))


def trial(code: int | None, found: Evidence, log: bytes = b"", **more: object) -> Trialed:
    return Trialed(Facts("t", code, log=log, **more), found)  # type: ignore[arg-type]


A, B, C = (f"tests/test_x.py::test_{name}" for name in "abc")
BASE = trial(1, evidence(f"failed {A}", f"passed {B}"))
GOOD = trial(0, evidence(f"passed {A}", f"passed {B}"))


def verdict(base: Trialed = BASE, reference: Trialed = GOOD, hidden: Hidden = HIDDEN) -> Verdict:
    found = judge(base, reference, hidden)
    assert found.reason
    assert found.name is VerdictName.VALIDATED or found.remedy
    return found


def test_a_fair_task_is_validated_and_says_on_what_it_stands() -> None:
    found = verdict()
    assert found.name is VerdictName.VALIDATED
    assert (found.fail_to_pass, found.pass_to_pass) == ((A,), (B,))
    assert (found.stands_on, found.base_failure, found.warnings) == ("pytest's JUnit report", "tests", ())


@pytest.mark.parametrize("which", ["base", "reference"])
@pytest.mark.parametrize(
    ("facts", "name", "words"),
    [
        ({"out_of_memory": True}, VerdictName.OUT_OF_MEMORY, "memory limit"),
        ({"timed_out": True, "timed_out_in": "verify"}, VerdictName.TIMEOUT, "verify command"),
        ({"timed_out": True, "timed_out_in": "setup"}, VerdictName.TIMEOUT, "set-up"),
        ({"setup_failed": "make deps", "setup_exit_code": 2}, VerdictName.SETUP_FAILED, "`make deps`"),
    ],
)
def test_a_trial_that_was_cut_short_says_which_and_why(
    which: str, facts: dict[str, object], name: VerdictName, words: str
) -> None:
    trials = {"base": BASE, "reference": GOOD}
    trials[which] = trial(1, Evidence(), **facts)
    found = verdict(trials["base"], trials["reference"])
    assert found.name is name
    assert words in found.reason and which in found.reason


def test_V28_a_set_up_that_fails_before_any_test_is_its_own_class() -> None:
    log = b"cp: cannot stat 'x'\nsh: sendmail: not found\n"
    found = verdict(trial(None, Evidence(), log, setup_failed="./bootstrap", setup_exit_code=1))
    assert found.name is VerdictName.SETUP_FAILED
    assert "the command sendmail is not in the image" in found.reason
    assert "Dockerfile" in found.remedy
    assert found.details[-1] == "sh: sendmail: not found"


def test_out_of_memory_explains_a_failed_set_up() -> None:
    both = trial(None, Evidence(), setup_failed="make", out_of_memory=True)
    assert verdict(both).name is VerdictName.OUT_OF_MEMORY


def test_a_command_that_does_not_exist_is_the_references_failure() -> None:
    missing = trial(127, Evidence(command_missing=True), b"sh: 1: pytest: not found\n")
    found = verdict(missing, missing)
    assert found.name is VerdictName.REFERENCE_FAILS
    assert "could not be started" in found.reason and "pytest is not in the image" in found.reason


@pytest.mark.parametrize("code", [0, 4, 5])
def test_V14_no_tests_ran_whatever_the_exit_code(code: int) -> None:
    found = verdict(BASE, trial(code, evidence(none_ran=True)))
    assert found.name is VerdictName.NO_TESTS_RAN
    assert "reference" in found.reason


def test_V14_an_empty_base_is_no_failing_base() -> None:
    found = verdict(trial(5, evidence(none_ran=True)))
    assert found.name is VerdictName.NO_TESTS_RAN and "base" in found.reason


def test_V14_a_summary_without_a_pass_is_no_proof() -> None:
    found = verdict(trial(1, summary(failed=1)), trial(0, summary(xfailed=1)))
    assert found.name is VerdictName.NO_TESTS_RAN


def test_V05_a_configuration_that_only_lists_tests_proves_nothing() -> None:
    found = verdict(trial(0, evidence(none_ran=True)), trial(0, evidence(none_ran=True)))
    assert found.name is VerdictName.NO_TESTS_RAN


def test_V25_skips_are_not_passes() -> None:
    skipped = trial(0, evidence(f"skipped {A}"))
    assert verdict(BASE, skipped).name is VerdictName.NO_TESTS_RAN
    partly = verdict(trial(1, evidence(f"failed {A}")), trial(0, evidence(f"skipped {A}", f"passed {B}")))
    assert partly.fail_to_pass == (B,)  # B was missing at base; A shows nothing
    hidden_skip = verdict(
        trial(1, evidence(f"failed {A}", f"passed {B}")), trial(0, evidence(f"skipped {A}", f"passed {B}"))
    )
    assert hidden_skip.name is VerdictName.BASE_PASSES
    assert "failed at base, skipped with the reference" in hidden_skip.details[0]


@pytest.mark.parametrize("word", ["xfailed", "xpassed", "skipped"])
def test_V25_only_a_pass_is_a_pass(word: str) -> None:
    found = verdict(BASE, trial(0, evidence(f"{word} {A}", f"passed {B}")))
    assert found.name is VerdictName.BASE_PASSES


def test_V25_a_strict_unexpected_pass_fails_the_reference() -> None:
    found = verdict(BASE, trial(1, evidence(f"xpassed {A}", f"passed {B}")))
    assert found.name is VerdictName.REFERENCE_FAILS
    assert found.details[0] == f"fails: {A}"


def test_wrong_tests_names_what_was_expected_and_what_ran() -> None:
    other = evidence("passed tests/test_y.py::test_a")
    found = verdict(trial(1, evidence("failed tests/test_y.py::test_a")), trial(0, other))
    assert found.name is VerdictName.WRONG_TESTS
    assert found.details == ("expected: tests/test_x.py", "ran: tests/test_y.py")


def test_wrong_tests_only_where_all_files_are_known() -> None:
    partly = trial(0, evidence("passed tests/test_y.py::test_a", "passed nowhere"))
    assert verdict(trial(1, evidence("failed nowhere")), partly).name is VerdictName.VALIDATED


def test_hidden_data_alone_is_served_by_the_tests_beside_it() -> None:
    hidden = Hidden(("tests/data/case.json",))
    near = "tests/data/test_all.py::test_a"
    assert verdict(
        trial(1, evidence(f"failed {near}")), trial(0, evidence(f"passed {near}")), hidden
    ).name is (VerdictName.VALIDATED)
    far = "other/test_all.py::test_a"
    assert verdict(trial(1, evidence(f"failed {far}")), trial(0, evidence(f"passed {far}")), hidden).name is (
        VerdictName.WRONG_TESTS
    )


def test_fixed_tests_that_are_not_hidden_do_not_prove_it() -> None:
    other = "tests/test_y.py::test_z"
    found = verdict(
        trial(1, evidence(f"passed {A}", f"failed {other}")),
        trial(0, evidence(f"passed {A}", f"passed {other}")),
    )
    assert found.name is VerdictName.BASE_PASSES
    assert f"fixed: {other}" in found.details


def test_base_passes() -> None:
    found = verdict(trial(0, evidence(f"passed {A}")))
    assert found.name is VerdictName.BASE_PASSES
    assert "do not reproduce" in found.reason


def test_V16_a_hidden_exit_status_is_found_by_the_report() -> None:
    found = verdict(trial(0, evidence(f"failed {A}")))
    assert found.name is VerdictName.INCONSISTENT
    assert "hides its exit status" in found.reason and "pipe" in found.remedy


def test_a_base_that_fails_by_its_exit_code_alone_is_no_reproduction() -> None:
    found = verdict(
        trial(1, evidence(f"passed {A}", f"passed {B}"), b"Required test coverage of 90% not reached\n")
    )
    assert found.name is VerdictName.INCONSISTENT
    assert "exit code 1 comes from something else" in found.reason
    by_summary = verdict(trial(1, summary(passed=3)), trial(0, summary(passed=3)))
    assert by_summary.name is VerdictName.INCONSISTENT


def test_a_base_that_was_ended_from_outside_proves_nothing() -> None:
    assert verdict(trial(None, evidence(f"failed {A}"))).name is VerdictName.BASE_PASSES


def test_reference_fails_with_the_tests_that_fail() -> None:
    found = verdict(
        BASE, trial(1, evidence(f"failed {A} | AssertionError: 1 != 2", f"passed {B}"), b"log\nend\n")
    )
    assert found.name is VerdictName.REFERENCE_FAILS
    assert found.details == (f"fails: {A}: AssertionError: 1 != 2", "log", "end")
    assert not found.narrowable


def test_noise_beside_a_signal_is_narrowable() -> None:
    base = trial(1, evidence(f"failed {A}", f"passed {B}", f"error {C}"))
    found = verdict(base, trial(1, evidence(f"passed {A}", f"passed {B}", f"failed {C}")))
    assert found.name is VerdictName.REFERENCE_FAILS and found.narrowable
    assert (found.fail_to_pass, found.pass_to_pass, found.noise) == ((A,), (B,), (C,))
    assert "--narrow" in found.remedy


def test_noise_that_passed_at_base_is_no_noise() -> None:
    base = trial(1, evidence(f"failed {A}", f"passed {B}", f"failed {C}"))
    found = verdict(base, trial(1, evidence(f"passed {A}", f"failed {B}", f"failed {C}")))
    assert found.name is VerdictName.REFERENCE_FAILS and not found.narrowable
    assert f"passes at base only: {B}" in found.details


def test_failures_in_the_report_count_although_the_exit_code_is_0() -> None:
    found = verdict(BASE, trial(0, evidence(f"passed {A}", f"failed {B}")))
    assert found.name is VerdictName.INCONSISTENT
    assert "hides its exit status" in found.reason
    assert found.details[0] == f"fails: {B}"
    by_summary = verdict(trial(1, summary(failed=1)), trial(0, summary(passed=3, failed=1)))
    assert by_summary.name is VerdictName.INCONSISTENT


def test_an_exit_code_that_no_test_explains_is_no_pass() -> None:
    found = verdict(BASE, trial(3, evidence(f"passed {A}", f"passed {B}")))
    assert found.name is VerdictName.INCONSISTENT
    assert "something beside the tests fails" in found.reason


@pytest.mark.parametrize(
    "found_at_end", [Evidence(report_missing=True), evidence(f"passed {A}", report_missing=True)]
)
def test_V02_exit_code_0_without_a_whole_report_is_refused(found_at_end: Evidence) -> None:
    found = verdict(BASE, trial(0, found_at_end))
    assert found.name is VerdictName.REFERENCE_FAILS
    assert "no whole report" in found.reason


def test_V02_a_base_ended_with_0_by_its_own_code_passes() -> None:
    assert verdict(trial(0, Evidence(report_missing=True))).name is VerdictName.BASE_PASSES


def test_tests_that_the_reference_takes_away_are_named() -> None:
    found = verdict(BASE, trial(0, evidence(f"passed {A}")))
    assert found.name is VerdictName.REFERENCE_FAILS
    assert f"passes at base only: {B}" in found.details


def test_V13_a_base_that_can_not_be_collected_is_kept_apart_and_counted() -> None:
    base = trial(2, evidence("error tests/test_x.py | ImportError: new_name", collection_failed=True))
    found = verdict(base)
    assert found.name is VerdictName.VALIDATED
    assert found.base_failure == "collection"
    assert found.fail_to_pass == (A, B)
    assert "2 of 2 test names are known only after the fix" in found.warnings[0]


def test_V13_a_package_that_is_missing_in_both_trials_is_the_references_failure() -> None:
    lost = trial(
        2,
        evidence(
            "error tests/test_x.py | ModuleNotFoundError: No module named 'zmq'", collection_failed=True
        ),
        b"E   ModuleNotFoundError: No module named 'zmq'\n",
    )
    found = verdict(lost, lost)
    assert found.name is VerdictName.REFERENCE_FAILS
    assert "the Python package zmq is not installed in the image" in found.reason


def test_V13_a_base_that_crashes_before_its_report_is_believed_for_the_codes_sake_alone() -> None:
    nothing = Evidence(runner="pytest", report_missing=True)
    assert verdict(trial(139, nothing)).base_failure == "collection"
    compiled = verdict(trial(2, nothing, b"src/a.ts(3,1): error TS2339: Property 'x' does not exist\n"))
    assert compiled.name is VerdictName.VALIDATED
    assert "the base trial left no report of single tests" in compiled.warnings
    linted = verdict(trial(1, nothing, b"a.py:1:1: E501 line too long\n"))
    assert linted.name is VerdictName.BASE_PASSES
    assert "nothing in its log says that the code is the cause" in linted.reason


@pytest.mark.parametrize("code", [None, 1, 129, 130, 137, 143])
def test_V13_tests_that_a_torn_report_lacks_did_not_fail_at_the_base(code: int | None) -> None:
    """The runner was killed, or ended by the code under test, before it came to a hidden test."""
    torn = evidence(f"passed {B}", report_missing=True)
    assert verdict(trial(code, torn, b"Killed\n")).name is VerdictName.BASE_PASSES


@pytest.mark.parametrize(
    ("code", "log"), [(139, b"Segmentation fault\n"), (134, b""), (1, b"TypeError: undefined\n")]
)
def test_V13_code_that_crashes_at_the_base_is_believed(code: int, log: bytes) -> None:
    found = verdict(trial(code, evidence(f"passed {B}", report_missing=True), log))
    assert found.name is VerdictName.VALIDATED


def test_V13_a_hidden_test_seen_to_fail_stands_whatever_came_after() -> None:
    found = verdict(trial(137, evidence(f"failed {A}", report_missing=True, problems=("torn",))))
    assert found.name is VerdictName.VALIDATED
    assert "base trial: torn" in found.warnings


def test_a_test_that_passed_only_on_another_try_is_named() -> None:
    found = verdict(reference=trial(0, evidence(f"passed {A}", f"passed {B}", retried=(A,))))
    assert found.name is VerdictName.VALIDATED
    assert found.warnings == (f"passed only when they were run again, which may be luck: {A}",)


def test_files_that_the_command_names_stand_for_those_that_the_report_does_not() -> None:
    def both(*named: str) -> VerdictName:
        base = trial(1, evidence("failed adds", named=named))
        return verdict(base, trial(0, evidence("passed adds", named=named))).name

    assert both("tests/test_y.py", "tests/test_z.py") is VerdictName.WRONG_TESTS
    assert both("tests/test_y.py", "tests/test_x.py") is VerdictName.VALIDATED
    assert both() is VerdictName.VALIDATED


def test_a_base_whose_command_could_not_start_proves_nothing() -> None:
    assert verdict(trial(127, Evidence(command_missing=True))).name is VerdictName.BASE_PASSES


@pytest.mark.parametrize(
    "words",
    [
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "getaddrinfo EAI_AGAIN example.org",
        "curl: (6) Could not resolve host: example.org",
        "OSError: [Errno 28] No space left on device",
    ],
)
def test_N01_a_base_that_fails_for_the_networks_sake_proves_nothing(words: str) -> None:
    silent = verdict(trial(1, Evidence(), words.encode()), trial(0, evidence(f"passed {A}")))
    assert silent.name is VerdictName.BASE_PASSES and "because" in silent.reason
    told = verdict(trial(1, evidence(f"failed {A} | {words}", f"passed {B}")))
    assert told.name is VerdictName.BASE_PASSES and "environment" in told.reason


def test_N01_a_reference_that_needs_the_network_says_so() -> None:
    log = b"requests.exceptions.ConnectionError: Temporary failure in name resolution\n"
    found = verdict(BASE, trial(1, evidence(f"failed {A}", f"passed {B}"), log))
    assert "the network or name resolution is needed" in found.reason


def test_V19_names_that_change_from_run_to_run_are_left_out_and_listed() -> None:
    base = trial(1, evidence(f"failed {A}", f"passed {B}[0x7f00aa11]"))
    found = verdict(base, trial(0, evidence(f"passed {A}", f"passed {B}[0x7f00bb22]")))
    assert found.name is VerdictName.VALIDATED
    assert found.fail_to_pass == (A,)
    assert "0x7f00aa11" in found.warnings[-1]


def test_V19_a_signal_under_a_changing_name_alone_is_refused() -> None:
    base = trial(1, evidence(f"failed {A}[/tmp/x1/f]"))
    found = verdict(base, trial(0, evidence(f"passed {A}[/tmp/x2/f]")))
    assert found.name is VerdictName.BASE_PASSES
    assert "under a name that stays the same" in found.reason


def test_V01_a_report_that_is_all_green_shows_no_hidden_test_failing() -> None:
    """A conftest that turns every outcome into a pass makes the base pass too."""
    found = verdict(trial(0, evidence(f"passed {A}")), trial(0, evidence(f"passed {A}")))
    assert found.name is VerdictName.BASE_PASSES


def test_without_a_report_the_proof_says_that_it_stands_on_less() -> None:
    by_summary = verdict(trial(1, summary(failed=1, passed=2)), trial(0, summary(passed=3)))
    assert by_summary.name is VerdictName.VALIDATED
    assert by_summary.stands_on == "the log's summary" and by_summary.warnings
    by_code = verdict(trial(1, Evidence()), trial(0, Evidence()))
    assert by_code.stands_on == "the exit code alone" and by_code.warnings


def test_a_report_without_files_says_what_it_does_not_show() -> None:
    found = verdict(trial(1, evidence("failed adds")), trial(0, evidence("passed adds")))
    assert found.name is VerdictName.VALIDATED
    assert "names no files" in found.warnings[0]


def test_disagreements_of_repeats() -> None:
    runs = (
        evidence(f"passed {A}", f"passed {B}"),
        evidence(f"failed {A}", f"passed {B}"),
        evidence(f"passed {B}"),
    )
    assert disagreements(runs) == (A,)
    assert disagreements(runs[:1]) == ()


WORDS = ["passed", "failed", "error", "skipped", "xfailed", "xpassed"]


@pytest.mark.parametrize("before", [*WORDS, "absent"])
@pytest.mark.parametrize("after", [*WORDS, "absent"])
@pytest.mark.parametrize("codes", [(1, 0), (0, 0), (1, 1), (0, 1)])
def test_only_a_test_that_is_seen_to_be_fixed_validates(
    before: str, after: str, codes: tuple[int, int]
) -> None:
    """Every pair of outcomes of the one hidden test, beside one that passes in both."""
    base = trial(codes[0], evidence(f"passed {B}", *([] if before == "absent" else [f"{before} {A}"])))
    reference = trial(codes[1], evidence(f"passed {B}", *([] if after == "absent" else [f"{after} {A}"])))
    fair = codes == (1, 0) and before in ("failed", "error") and after == "passed"
    assert (verdict(base, reference).name is VerdictName.VALIDATED) == fair


def test_verdict_can_be_computed_again() -> None:
    assert judge(BASE, GOOD, HIDDEN) == judge(BASE, GOOD, HIDDEN)


def test_V19_a_name_that_tells_the_time_of_the_trial_is_not_kept() -> None:
    """Both trials may run in the same second; no later one will."""
    now = f"{A}[01:45:03 2026-11-30]"
    fixed = f"{A}[23:12:58 2014-12-22]"
    at = datetime(2026, 11, 30, 1, 44, 58, tzinfo=UTC)
    base = trial(1, evidence(f"failed {B}", f"passed {now}", f"passed {fixed}"), started_at=at)
    found = verdict(
        base, trial(0, evidence(f"passed {B}", f"passed {now}", f"passed {fixed}"), started_at=at)
    )
    assert found.name is VerdictName.VALIDATED
    assert found.pass_to_pass == (fixed,)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("t[2026-11-30]", True),
        ("t[2026-12-01T00:00:00+13:00]", True),
        ("t[01:45:03]", True),
        ("t[02:30]", True),
        ("t[13:45:03]", False),
        ("t[2014-12-22]", False),
        ("t[192:168:1]", False),
    ],
)
def test_the_present_is_told_from_fixed_dates(name: str, told: bool) -> None:
    assert tells_now(name, datetime(2026, 11, 30, 1, 45, tzinfo=UTC)) is told


def test_midnight_is_near_to_both_its_days() -> None:
    assert tells_now("t[23:59:58]", datetime(2026, 11, 30, 0, 0, 1, tzinfo=UTC))


@pytest.mark.parametrize("code", [137, 143])
@pytest.mark.parametrize("found", [Evidence(runner="pytest"), evidence(runner="pytest", report_missing=True)])
def test_a_base_that_was_killed_proves_nothing_whatever_its_log_blames(code: int, found: Evidence) -> None:
    """What the code did before the kill may look like its fault; no hidden test was seen to fail all the same."""
    log = b"ImportError: cannot import name 'x'\nKilled\n"
    said = verdict(trial(code, found, log))
    assert said.name is VerdictName.BASE_PASSES
    assert "killed before a hidden test was seen to fail" in said.reason
    # The same end by the code's own doing is a failing base.
    assert verdict(trial(1, found, log)).name is VerdictName.VALIDATED


def test_a_base_that_was_killed_after_it_said_that_tests_failed_has_failed() -> None:
    assert verdict(trial(137, summary(failed=1))).name is VerdictName.VALIDATED
    assert verdict(trial(137, summary(passed=1))).name is VerdictName.INCONSISTENT


def test_a_base_that_skips_all_its_tests_and_passes_is_a_base_that_passes() -> None:
    skipped = evidence(f"skipped {A}")
    assert verdict(trial(0, skipped)).name is VerdictName.BASE_PASSES
    assert verdict(trial(1, skipped)).name is VerdictName.NO_TESTS_RAN


def test_what_a_proof_stands_on_where_tests_can_not_be_told_apart() -> None:
    found = verdict(trial(1, summary(failed=1)), trial(0, summary(passed=1)))
    assert found.name is VerdictName.VALIDATED
    assert found.reason == "the base fails and the reference passes, by the log's summary"
    assert (found.base_failure, found.fail_to_pass) == ("tests", ())
    bare = verdict(trial(1, Evidence()), trial(0, Evidence()))
    assert (bare.name, bare.base_failure) == (VerdictName.VALIDATED, "collection")
