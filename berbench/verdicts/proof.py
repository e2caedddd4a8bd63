"""Does the base fail for the code's sake, does the reference pass, and do exit codes and reports agree?

Each question gives a verdict, or None to go on. An exit code without a test that shows it is no proof, and
neither is a test without an exit code.
"""

from __future__ import annotations

from berbench.diagnosis import code_is_to_blame, diagnose_log, is_environment, log_tail
from berbench.model.trial import Evidence, Facts, Outcome, TestResult, Verdict, VerdictName
from berbench.verdicts.comparison import (
    FAILING,
    NAMES_SHOWN,
    Comparison,
    Trialed,
    because,
    failures,
    passed,
    tests,
)

_SIGNALLED = 128  # a shell's exit code for a process ended by a signal starts here
# What a program does to itself: ILL, TRAP, ABRT, BUS, FPE, SEGV. What comes from outside: HUP, INT, KILL, TERM.
_CRASHES = frozenset(_SIGNALLED + number for number in (4, 5, 6, 7, 8, 11))
_KILLS = frozenset(_SIGNALLED + number for number in (1, 2, 9, 15))
_HIDDEN_STATUS = (
    "Remove the pipe, `|| true` or `;` from verify.command, so that a failing test fails the command."
)
_MISFILED = (
    "Complete the task's Dockerfile or correct verify.command; if the fix itself is missing, part of it was put "
    "into tests.patch: correct harvest.test_patterns and create the task again."
)


def base_passes(case: Comparison) -> Verdict | None:
    """By its exit code, or by its report: then the exit code comes from something that is no test."""
    facts, evidence = case.base.facts, case.base.evidence
    if facts.exit_code == 0 and (failures(evidence) or evidence.collection_failed):
        number = failures(evidence)
        what = f"{tests(number)} failed" if number else "tests could not be collected"
        reason = f"the base trial exits with 0 although {what}: the command hides its exit status"
        return _inconsistent(case.base, reason, _HIDDEN_STATUS)
    if facts.exit_code == 0:
        return _base(
            "the base trial passes: the hidden tests do not reproduce the old behaviour, or the base commit is "
            "wrong",
            "Check that tests.patch tests the change and that source.base_commit is the state before it.",
            facts,
        )
    if facts.exit_code is None:
        return _base(
            "the base trial was ended from outside, so it proves nothing",
            "Validate the task again.",
            facts,
        )
    if _all_passed(evidence):
        return _inconsistent(
            case.base,
            f"every test passes at the base; its exit code {facts.exit_code} comes from something else",
            "Remove what else can fail from verify.command (a coverage threshold, a linter), and check that "
            "tests.patch tests the change.",
        )
    return None


def _inconsistent(trial: Trialed, reason: str, remedy: str, details: tuple[str, ...] = ()) -> Verdict:
    """Exit code and report of a trial contradict one another, so neither can be believed."""
    log = trial.facts.log
    return Verdict(VerdictName.INCONSISTENT, because(reason, log), remedy, (*details, *log_tail(log)))


def _all_passed(evidence: Evidence) -> bool:
    """Whether a whole report, or the log's summary, names tests and none that failed."""
    if evidence.report_missing or evidence.collection_failed or not evidence.counts:
        return False
    return not any(outcome in FAILING | {Outcome.XPASSED} for outcome, number in evidence.counts if number)


def _base(reason: str, remedy: str, facts: Facts, details: tuple[str, ...] = ()) -> Verdict:
    return Verdict(VerdictName.BASE_PASSES, reason, remedy, (*details, *log_tail(facts.log)))


def reference_fails(case: Comparison) -> Verdict | None:
    """By its exit code, or by its report."""
    facts, evidence = case.reference.facts, case.reference.evidence
    if facts.exit_code == 0 and (case.failing_after or failures(evidence)):
        return _inconsistent(
            case.reference,
            f"the reference trial exits with 0 although {tests(failures(evidence))} failed: the command hides its "
            "exit status",
            _HIDDEN_STATUS,
            _failing(case),
        )
    if case.failing_after:
        return _failures_with_reference(case)
    if facts.exit_code == 0:
        return None
    if facts.exit_code is not None and _all_passed(evidence):
        return _inconsistent(
            case.reference,
            f"every test passes with the reference, but the command ends with exit code {facts.exit_code}: "
            "something beside the tests fails",
            "Remove what else can fail from verify.command, such as a coverage threshold or a linter.",
        )
    code = "was ended by a signal" if facts.exit_code is None else f"fails with exit code {facts.exit_code}"
    return _reference(case, f"the reference trial {code}", _MISFILED)


def _failures_with_reference(case: Comparison) -> Verdict:
    """Noise, where others give the signal and all that fails fails in both trials; else a broken reference."""
    number = len(case.failing_after)
    signal: tuple[str, ...] = ()
    reason, remedy = f"{tests(number)} failed with the reference", _MISFILED
    only_noise = case.both_readable and set(case.noise) == set(case.failing_after) and not case.pass_to_fail
    if only_noise and case.fail_to_pass:
        signal = case.fail_to_pass
        reason = (
            f"{tests(number)} failed in both trials while {tests(len(signal))} went from failing to passing: the "
            "environment's noise"
        )
        remedy = "Deselect them with `validate --narrow`, or complete the task's Dockerfile."
    return _reference(case, reason, remedy, signal)


def _failing(case: Comparison) -> tuple[str, ...]:
    return tuple(f"fails: {_line(case.after[name])}" for name in case.failing_after[:NAMES_SHOWN])


def _reference(case: Comparison, reason: str, remedy: str, signal: tuple[str, ...] = ()) -> Verdict:
    log = case.reference.facts.log
    broken = tuple(f"passes at base only: {name}" for name in case.pass_to_fail[:NAMES_SHOWN])
    return Verdict(
        VerdictName.REFERENCE_FAILS,
        because(reason, log),
        remedy,
        (*_failing(case), *broken, *case.reference.evidence.problems, *log_tail(log)),
        fail_to_pass=signal,
        pass_to_pass=case.pass_to_pass if case.both_readable else (),
        noise=case.noise if case.both_readable else (),
    )


def _line(result: TestResult) -> str:
    first = result.message.splitlines()[0][:160] if result.message else ""
    return f"{result.id}: {first}" if first else result.id


def report_missing(case: Comparison) -> Verdict | None:
    """Exit code 0 with no report, or a torn one: the process was ended from within, and what ran is unknown."""
    if not case.reference.evidence.report_missing:
        return None
    return _reference(
        case,
        "the reference trial exits with 0, but the runner left no whole report: it ended before its time, or "
        "another program ran in its place",
        "Read the log; make verify.command start the test runner itself, or name its report in verify.evidence.",
    )


def base_is_no_signal(case: Comparison) -> Verdict | None:
    """A base trial that failed for the machine's sake, or for no cause that can be seen, says nothing."""
    facts, evidence = case.base.facts, case.base.evidence
    remedy = "Make the environment complete, or set verify.network if the tests need it."
    if evidence.command_missing:
        return _base(
            "the base trial fails because its command could not be started, not because of a test",
            "Correct verify.command, so that it also starts at the base.",
            facts,
        )
    if _only_environment(case):
        return _base("every failure at the base is the environment's, not the code's", remedy, facts)
    if facts.exit_code in _KILLS and not _seen_failing(case):
        return _base(
            "the base trial was killed before a hidden test was seen to fail",
            "Read the log; find what stops it: a limit, a time-out of the command's own, the code under test.",
            facts,
            evidence.problems,
        )
    if evidence.readable and evidence.report_missing and not _seen_failing(case):
        return _torn(case)
    if evidence.readable or failures(evidence) or evidence.collection_failed:
        return None
    cause = diagnose_log(facts.log)
    if is_environment(cause):
        return _base(f"the base trial fails before any test, because {cause}", remedy, facts)
    known = bool(evidence.runner) and case.reference.evidence.readable
    if known and facts.exit_code not in _CRASHES and not code_is_to_blame(facts.log):
        return _base(
            "the base trial fails before the runner leaves a report, and nothing in its log says that the code is "
            "the cause",
            "Keep to the test runner in verify.command; put linters and other steps elsewhere.",
            facts,
        )
    return None


def _seen_failing(case: Comparison) -> bool:
    """Whether a test that the reference mends is seen to fail at the base, and not only missing from its report."""
    if not case.both_readable:
        return bool(failures(case.base.evidence))
    return any(name in case.before for name in case.fail_to_pass)


def _torn(case: Comparison) -> Verdict | None:
    """A report with no end: tests that are missing from it did not fail, they were never reached."""
    facts = case.base.facts
    if facts.exit_code in _CRASHES or code_is_to_blame(facts.log):
        return None
    return _base(
        "the base trial ended before its runner did and before a hidden test failed, and nothing in its log says that "
        "the code is the cause",
        "Read the log; what ends the runner early (a kill, an exit in the code under test) must be found first.",
        facts,
        case.base.evidence.problems,
    )


def _only_environment(case: Comparison) -> bool:
    failed = [case.before[name] for name in case.fail_to_pass if name in case.before]
    if not failed or len(failed) < len(case.fail_to_pass):
        return False
    return all(is_environment(diagnose_log(result.message.encode())) for result in failed)


def pass_to_fail(case: Comparison) -> Verdict | None:
    """Tests that the reference takes away are a broken measurement, though its exit code is 0."""
    if not case.both_readable or not case.pass_to_fail:
        return None
    return _reference(
        case,
        f"{tests(len(case.pass_to_fail))} passed at the base and not with the reference: skipped, gone or named anew",
        "Narrow verify.command to the tests that belong to the change.",
    )


def no_signal(case: Comparison) -> Verdict | None:
    """Both exit codes are as they should be; is there a hidden test that shows it?"""
    evidence = case.reference.evidence
    if evidence.source == "summary" and not any(o is Outcome.PASSED and n for o, n in evidence.counts):
        return Verdict(
            VerdictName.NO_TESTS_RAN,
            "the log's summary of the reference trial names no test that passed",
            "Correct verify.command so that it names the changed tests.",
            log_tail(case.reference.facts.log),
        )
    if not evidence.readable:
        return None
    if not case.fail_to_pass:
        return _nothing_fixed(case)
    if any(case.is_hidden(case.after[name]) for name in case.fail_to_pass):
        return None
    return _base(
        "the tests that go from failing to passing are not those that tests.patch adds or changes",
        "Correct verify.command so that it runs the changed tests; they do not reproduce the old behaviour.",
        case.base.facts,
        tuple(f"fixed: {name}" for name in case.fail_to_pass[:NAMES_SHOWN]),
    )


def _nothing_fixed(case: Comparison) -> Verdict:
    reason = "no hidden test fails at the base and passes with the reference"
    if any(passed(case.after[name]) for name in case.unstable_names if name in case.after):
        reason += " under a name that stays the same"
    others = tuple(
        f"{result.outcome.value} at base, {case.after[name].outcome.value} with the reference: {name}"
        for name, result in case.before.items()
        if result.outcome in FAILING and name in case.after
    )
    remedy = "Check that the changed tests really run (are they skipped?) and that they test the change."
    return _base(reason, remedy, case.base.facts, others[:NAMES_SHOWN])
