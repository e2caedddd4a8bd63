"""From two trials to one verdict: a pure function of facts and evidence, in the order a person would ask.

Did both trials run at all? Did tests run, and the right ones? Does the base fail? Does the reference pass? Do
exit codes and reports agree? Only when every answer is yes, and at least one hidden test is seen to go from
failing to passing, is a task validated. Whatever can't be told is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from berbench.diagnosis import diagnose_log, is_environment, log_tail
from berbench.evidence.names import beside, is_test_file, names_file, unstable
from berbench.model.trial import Evidence, Facts, Outcome, TestResult, Verdict, VerdictName

_NAMES_SHOWN = 20
_FAILING = frozenset({Outcome.FAILED, Outcome.ERROR})
_SOURCES = {
    "junit": "the runner's JUnit report",
    "unittest": "unittest's own results",
    "go-json": "go test's JSON stream",
    "jest": "the runner's JSON report",
    "mocha": "mocha's own results",
    "node": "Node's own results",
    "tap": "the TAP stream",
    "libtest": "cargo's line for each test",
    "nextest": "nextest's line for each test",
    "summary": "the log's summary",
    "": "the exit code alone",
}


@dataclass(frozen=True, slots=True)
class Trialed:
    """A trial's facts with the evidence read from them."""

    facts: Facts
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Hidden:
    """Repository paths that tests.patch adds or modifies."""

    paths: tuple[str, ...] = ()


def judge(base: Trialed, reference: Trialed, hidden: Hidden) -> Verdict:
    """The verdict on a task whose trials ran; a broken engine, image or patch never gets here."""
    case = _Case(base, reference, hidden)
    for question in _QUESTIONS:
        verdict = question(case)
        if verdict is not None:
            return verdict
    return _validated(case)


def disagreements(runs: Sequence[Evidence]) -> tuple[str, ...]:
    """Tests whose outcome is not the same in every run; one that is missing from a run disagrees too."""
    tables = [{result.id: result.outcome for result in run.results} for run in runs]
    names = sorted({name for table in tables for name in table})
    return tuple(name for name in names if len({table.get(name) for table in tables}) > 1)


@dataclass(frozen=True)
class _Case:
    """Both trials and what is asked of them more than once."""

    base: Trialed
    reference: Trialed
    hidden: Hidden

    @cached_property
    def before(self) -> dict[str, TestResult]:
        return {result.id: result for result in self.base.evidence.results}

    @cached_property
    def after(self) -> dict[str, TestResult]:
        return {result.id: result for result in self.reference.evidence.results}

    @cached_property
    def both_readable(self) -> bool:
        return self.base.evidence.readable and self.reference.evidence.readable

    @cached_property
    def fail_to_pass(self) -> tuple[str, ...]:
        """Failed or missing at base, passed with the reference. Names that change by themselves don't count."""
        return tuple(
            name
            for name, result in self.after.items()
            if result.outcome is Outcome.PASSED and not unstable(name) and self._failed_before(name)
        )

    def _failed_before(self, name: str) -> bool:
        result = self.before.get(name)
        return result is None or result.outcome in _FAILING

    @cached_property
    def pass_to_pass(self) -> tuple[str, ...]:
        return tuple(
            n for n, r in self.after.items() if _passed(r) and n in self.before and _passed(self.before[n])
        )

    @cached_property
    def pass_to_fail(self) -> tuple[str, ...]:
        """Passed at base, and with the reference not: failed, skipped or gone."""
        return tuple(
            name
            for name, result in self.before.items()
            if _passed(result)
            and not (name in self.after and _passed(self.after[name]))
            and not (unstable(name) and name not in self.after)
        )

    @cached_property
    def failing_after(self) -> tuple[str, ...]:
        return tuple(name for name, result in self.after.items() if result.outcome in _FAILING)

    @cached_property
    def noise(self) -> tuple[str, ...]:
        return tuple(n for n in self.failing_after if n in self.before and self.before[n].outcome in _FAILING)

    @cached_property
    def unstable_names(self) -> tuple[str, ...]:
        return tuple(sorted(name for name in {*self.before, *self.after} if unstable(name)))

    def is_hidden(self, result: TestResult) -> bool:
        """Whether a result belongs to the hidden tests; True where that can't be told."""
        if not result.file or not self.hidden.paths:
            return True
        tests = [path for path in self.hidden.paths if is_test_file(path)]
        if tests:
            return any(names_file(result.file, path) for path in tests)
        return any(beside(result.file, path) for path in self.hidden.paths)


def _passed(result: TestResult) -> bool:
    return result.outcome is Outcome.PASSED


def _failures(evidence: Evidence) -> int:
    return sum(number for outcome, number in evidence.counts if outcome in _FAILING)


def _executed(evidence: Evidence) -> int:
    return sum(number for outcome, number in evidence.counts if outcome is not Outcome.SKIPPED)


def _trials(case: _Case) -> tuple[tuple[str, Trialed], ...]:
    return ("reference", case.reference), ("base", case.base)


def _out_of_memory(case: _Case) -> Verdict | None:
    for name, trial in _trials(case):
        if trial.facts.out_of_memory:
            return Verdict(
                VerdictName.OUT_OF_MEMORY,
                f"the {name} trial was stopped by the kernel at its memory limit",
                "Raise limits.memory in task.yaml, or narrow verify.command to the changed tests.",
                log_tail(trial.facts.log),
            )
    return None


def _timeout(case: _Case) -> Verdict | None:
    for name, trial in _trials(case):
        if trial.facts.timed_out:
            where = "set-up" if trial.facts.timed_out_in == "setup" else "verify command"
            return Verdict(
                VerdictName.TIMEOUT,
                f"the {where} of the {name} trial outran its time limit",
                "Narrow verify.command to the changed tests; raise verify.timeout_s only when the focused test "
                "genuinely needs it.",
                log_tail(trial.facts.log),
            )
    return None


def _setup_failed(case: _Case) -> Verdict | None:
    for name, trial in _trials(case):
        facts = trial.facts
        if facts.setup_failed:
            code = "" if facts.setup_exit_code is None else f" with exit code {facts.setup_exit_code}"
            return Verdict(
                VerdictName.SETUP_FAILED,
                _because(
                    f"the set-up line `{facts.setup_failed}` of the {name} trial failed{code}", facts.log
                ),
                "Install what it needs in the task's Dockerfile, or correct environment.setup in task.yaml.",
                log_tail(facts.log),
            )
    return None


def _command_missing(case: _Case) -> Verdict | None:
    if not case.reference.evidence.command_missing:
        return None
    facts = case.reference.facts
    return Verdict(
        VerdictName.REFERENCE_FAILS,
        _because("the verify command could not be started in the image", facts.log),
        "Install the test runner in the task's Dockerfile, or correct verify.command.",
        log_tail(facts.log),
    )


def _no_tests_ran(case: _Case) -> Verdict | None:
    """A trial in which nothing ran proves nothing, whatever its exit code."""
    for name, trial in _trials(case):
        evidence = trial.evidence
        only_skipped = bool(evidence.counts) and _executed(evidence) == 0
        if evidence.collection_failed or not (evidence.none_ran or only_skipped):
            continue
        if name == "base" and only_skipped and trial.facts.exit_code == 0:
            continue  # the base passes, and that is said better
        said = "every test was skipped" if only_skipped else "no test ran"
        return Verdict(
            VerdictName.NO_TESTS_RAN,
            f"{said} in the {name} trial (exit code {trial.facts.exit_code}): the command selects nothing to run",
            "Correct verify.command so that it names the changed tests, and check the runner's configuration.",
            log_tail(trial.facts.log),
        )
    return None


def _wrong_tests(case: _Case) -> Verdict | None:
    """Only where the files of all tests are known, so that a report without files never leads here."""
    results = (*case.reference.evidence.results, *case.base.evidence.results)
    if not results or not case.hidden.paths or any(not result.file for result in results):
        return None
    if any(case.is_hidden(result) for result in results):
        return None
    expected = tuple(f"expected: {path}" for path in case.hidden.paths[:_NAMES_SHOWN])
    seen = tuple(f"ran: {file}" for file in sorted({result.file for result in results})[:_NAMES_SHOWN])
    return Verdict(
        VerdictName.WRONG_TESTS,
        "tests ran, but none of those that tests.patch adds or changes",
        "Correct verify.command so that it runs the files named as expected.",
        (*expected, *seen),
    )


def _base_passes(case: _Case) -> Verdict | None:
    facts, evidence = case.base.facts, case.base.evidence
    if facts.exit_code == 0:
        if _failures(evidence) or evidence.collection_failed:
            return _base_verdict(
                f"the base trial exits with 0 although {_failures(evidence) or 'some'} tests failed: the command "
                "hides its exit status",
                "Remove the pipe, `|| true` or `;` from verify.command, so that a failing test fails the command.",
                facts,
            )
        return _base_verdict(
            "the base trial passes: the hidden tests do not reproduce the old behaviour, or the base commit is wrong",
            "Check that tests.patch tests the change and that source.base_commit is the state before it.",
            facts,
        )
    if evidence.readable and _nothing_failed(evidence) and not evidence.report_missing:
        return _base_verdict(
            f"every test passes at the base; its exit code {facts.exit_code} comes from something else",
            "Remove what else can fail from verify.command (a coverage threshold, a linter), and check that "
            "tests.patch tests the change.",
            facts,
        )
    return None


def _nothing_failed(evidence: Evidence) -> bool:
    return not evidence.collection_failed and not any(
        result.outcome in _FAILING or result.outcome is Outcome.XPASSED for result in evidence.results
    )


def _base_verdict(reason: str, remedy: str, facts: Facts) -> Verdict:
    return Verdict(VerdictName.BASE_PASSES, reason, remedy, log_tail(facts.log))


def _base_is_no_signal(case: _Case) -> Verdict | None:
    """A base trial that failed for the machine's sake, before any test, says nothing about the code."""
    facts, evidence = case.base.facts, case.base.evidence
    if evidence.command_missing:
        return _base_verdict(
            "the base trial fails because its command could not be started, not because of a test",
            "Correct verify.command, so that it also starts at the base.",
            facts,
        )
    cause = diagnose_log(facts.log)
    if not evidence.readable and not _failures(evidence) and is_environment(cause):
        return _base_verdict(
            f"the base trial fails before any test, and the cause is the environment: {cause}",
            "Make the environment complete, or set verify.network if the tests need it.",
            facts,
        )
    return None


def _reference_fails(case: _Case) -> Verdict | None:
    facts, evidence = case.reference.facts, case.reference.evidence
    if facts.exit_code == 0 and not case.failing_after and not _failures(evidence):
        return None
    if case.failing_after:
        return _reference_has_failures(case)
    if (
        facts.exit_code != 0
        and evidence.readable
        and not evidence.report_missing
        and not evidence.collection_failed
    ):
        return _reference_verdict(
            case,
            f"every test passes with the reference, but the command ends with exit code {facts.exit_code}: "
            "something beside the tests fails",
            "Remove what else can fail from verify.command, such as a coverage threshold or a linter.",
        )
    if facts.exit_code == 0:
        return _reference_verdict(
            case,
            f"the reference trial exits with 0 although {_failures(evidence)} tests failed: the command hides its "
            "exit status",
            "Remove the pipe, `|| true` or `;` from verify.command, and complete the image.",
        )
    code = "was ended by a signal" if facts.exit_code is None else f"fails with exit code {facts.exit_code}"
    return _reference_verdict(
        case,
        f"the reference trial {code}",
        "Complete the task's Dockerfile or correct verify.command; if the log shows the fix itself missing, part "
        "of it was put into tests.patch: correct harvest.test_patterns and create the task again.",
    )


def _reference_has_failures(case: _Case) -> Verdict:
    number = len(case.failing_after)
    signal = case.fail_to_pass if case.both_readable and not case.pass_to_fail else ()
    if signal and case.noise and set(case.noise) == set(case.failing_after):
        reason = (
            f"{number} tests fail in both trials while {len(signal)} others go from failing to passing: "
            "the environment's noise"
        )
        remedy = "Deselect them with `validate --narrow`, or complete the task's Dockerfile."
    else:
        reason = f"{number} tests fail with the reference"
        remedy = (
            "Complete the task's Dockerfile or correct verify.command; if they fail for the fix's sake, part of it "
            "was put into tests.patch: correct harvest.test_patterns and create the task again."
        )
        signal = () if set(case.noise) != set(case.failing_after) else signal
    if case.reference.facts.exit_code == 0:
        reason += "; the exit code is 0 all the same, so the command hides its exit status"
    return _reference_verdict(case, reason, remedy, signal)


def _reference_verdict(case: _Case, reason: str, remedy: str, signal: tuple[str, ...] = ()) -> Verdict:
    log = case.reference.facts.log
    failing = tuple(f"fails: {_line(case.after[name])}" for name in case.failing_after[:_NAMES_SHOWN])
    broken = tuple(f"passed at base only: {name}" for name in case.pass_to_fail[:_NAMES_SHOWN])
    return Verdict(
        VerdictName.REFERENCE_FAILS,
        _because(reason, log),
        remedy,
        (*failing, *broken, *case.reference.evidence.problems, *log_tail(log)),
        fail_to_pass=signal,
        pass_to_pass=case.pass_to_pass if case.both_readable else (),
        noise=case.noise if case.both_readable else (),
    )


def _line(result: TestResult) -> str:
    first = result.message.splitlines()[0][:160] if result.message else ""
    return f"{result.id}: {first}" if first else result.id


def _report_missing(case: _Case) -> Verdict | None:
    """Exit code 0 with no report, or a torn one: the process was ended from within, and what ran is unknown."""
    evidence = case.reference.evidence
    if not evidence.report_missing:
        return None
    return _reference_verdict(
        case,
        "the reference trial exits with 0, but the runner left no whole report: it ended before its time, "
        "or another program ran in its place",
        "Read the log; make verify.command start the test runner itself, or name its report in verify.evidence.",
    )


def _pass_to_fail(case: _Case) -> Verdict | None:
    if not case.both_readable or not case.pass_to_fail:
        return None
    number = len(case.pass_to_fail)
    return _reference_verdict(
        case,
        f"{number} tests pass at the base and not with the reference: they are skipped, gone or named anew",
        "Narrow verify.command to the tests that belong to the change.",
    )


def _no_signal(case: _Case) -> Verdict | None:
    """Both exit codes are as they should be; is there a hidden test that shows it?"""
    if case.reference.evidence.source == "summary":
        return _no_passes_in_summary(case)
    if not case.reference.evidence.readable:
        return None
    if not case.fail_to_pass:
        others = tuple(
            f"{case.before[n].outcome.value} at base, {case.after[n].outcome.value} with the reference: {n}"
            for n in case.after
            if n in case.before and case.before[n].outcome in _FAILING
        )
        reason = "no hidden test fails at the base and passes with the reference"
        if case.unstable_names:
            reason += " under a name that stays the same"
        return Verdict(
            VerdictName.BASE_PASSES,
            reason,
            "Check that the changed tests really run (are they skipped?) and test the change.",
            (*others[:_NAMES_SHOWN], *log_tail(case.base.facts.log)),
        )
    if not any(case.is_hidden(case.after[name]) for name in case.fail_to_pass):
        return Verdict(
            VerdictName.BASE_PASSES,
            "the tests that go from failing to passing are not those that tests.patch adds or changes",
            "Correct verify.command so that it runs the changed tests; they do not reproduce the old behaviour.",
            tuple(f"fixed: {name}" for name in case.fail_to_pass[:_NAMES_SHOWN]),
        )
    return None


def _no_passes_in_summary(case: _Case) -> Verdict | None:
    if any(outcome is Outcome.PASSED and number for outcome, number in case.reference.evidence.counts):
        return None
    return Verdict(
        VerdictName.NO_TESTS_RAN,
        "the log's summary of the reference trial names no test that passed",
        "Correct verify.command so that it names the changed tests.",
        log_tail(case.reference.facts.log),
    )


_QUESTIONS: tuple[Callable[[_Case], Verdict | None], ...] = (
    _out_of_memory,
    _timeout,
    _setup_failed,
    _command_missing,
    _no_tests_ran,
    _wrong_tests,
    _base_passes,
    _reference_fails,
    _report_missing,
    _base_is_no_signal,
    _pass_to_fail,
    _no_signal,
)


def _validated(case: _Case) -> Verdict:
    evidence = case.reference.evidence
    readable = evidence.readable
    stands_on = _SOURCES.get(evidence.source, evidence.source)
    fixed = case.fail_to_pass if readable else ()
    collection = _failed_at_collection(case)
    reason = (
        f"the base fails, the reference passes: {len(fixed)} tests go from failing to passing, "
        f"{len(case.pass_to_pass)} pass in both"
        if readable
        else f"the base fails and the reference passes, by {stands_on}"
    )
    return Verdict(
        VerdictName.VALIDATED,
        reason,
        fail_to_pass=fixed,
        pass_to_pass=case.pass_to_pass if readable else (),
        stands_on=stands_on,
        base_failure="collection" if collection else "tests",
        warnings=_warnings(case, stands_on, fixed, collection=collection),
    )


def _failed_at_collection(case: _Case) -> bool:
    """Whether no hidden test failed by itself at base: its file could not be collected, or it is missing."""
    if not case.base.evidence.readable:
        return case.base.evidence.collection_failed or not _failures(case.base.evidence)
    return not any(
        result.outcome is Outcome.FAILED or (result.outcome is Outcome.ERROR and name in case.after)
        for name, result in case.before.items()
        if result.outcome in _FAILING
    )


def _warnings(case: _Case, stands_on: str, fixed: tuple[str, ...], *, collection: bool) -> tuple[str, ...]:
    warnings = []
    if not case.reference.evidence.readable:
        warnings.append(f"no report of single tests could be read: the proof stands on {stands_on}")
    unknown = [name for name in fixed if name not in case.before]
    if collection and fixed:
        warnings.append(
            f"the base fails before its tests can run (at import, collection or compilation): {len(unknown)} of "
            f"{len(fixed)} test names are known only after the fix"
        )
    if fixed and not case.base.evidence.readable:
        warnings.append("the base trial left no report of single tests")
    if case.unstable_names:
        shown = ", ".join(case.unstable_names[:5])
        warnings.append(f"left out, because their names change from run to run: {shown}")
    warnings += [f"base trial: {problem}" for problem in case.base.evidence.problems]
    return tuple(warnings)


def _because(reason: str, log: bytes) -> str:
    cause = diagnose_log(log)
    return f"{reason}; the log says that {cause}" if cause else reason
