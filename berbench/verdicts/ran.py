"""Did both trials run, did tests run, and the right ones? Each question gives a verdict, or None to go on."""

from __future__ import annotations

from berbench.diagnosis import log_tail
from berbench.model.trial import Outcome, TestResult, Verdict, VerdictName
from berbench.verdicts.comparison import NAMES_SHOWN, Comparison, because, executed


def out_of_memory(case: Comparison) -> Verdict | None:
    """The kernel killed something: neither a pass nor a failure."""
    for name, trial in case.trials:
        if trial.facts.out_of_memory:
            return Verdict(
                VerdictName.OUT_OF_MEMORY,
                f"the {name} trial was stopped by the kernel at its memory limit",
                "Raise limits.memory in task.yaml, or narrow verify.command to the changed tests.",
                log_tail(trial.facts.log),
            )
    return None


def timeout(case: Comparison) -> Verdict | None:
    """A trial that was cut off."""
    for name, trial in case.trials:
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


def setup_failed(case: Comparison) -> Verdict | None:
    """A set-up line failed before any test."""
    for name, trial in case.trials:
        facts = trial.facts
        if facts.setup_failed:
            code = "" if facts.setup_exit_code is None else f" with exit code {facts.setup_exit_code}"
            line = f"the set-up line `{facts.setup_failed}` of the {name} trial failed{code}"
            return Verdict(
                VerdictName.SETUP_FAILED,
                because(line, facts.log),
                "Install what it needs in the task's Dockerfile, or correct environment.setup in task.yaml.",
                log_tail(facts.log),
            )
    return None


def command_missing(case: Comparison) -> Verdict | None:
    """The shell could not start the command, or the launcher not the runner."""
    if not case.reference.evidence.command_missing:
        return None
    facts = case.reference.facts
    return Verdict(
        VerdictName.REFERENCE_FAILS,
        because("the verify command could not be started in the image", facts.log),
        "Install the test runner in the task's Dockerfile, or correct verify.command.",
        log_tail(facts.log),
    )


def no_tests_ran(case: Comparison) -> Verdict | None:
    """A trial in which nothing ran proves nothing, whatever its exit code."""
    for name, trial in case.trials:
        evidence = trial.evidence
        only_skipped = bool(evidence.counts) and executed(evidence) == 0
        if evidence.collection_failed or not (evidence.none_ran or only_skipped):
            continue
        if trial is case.base and only_skipped and trial.facts.exit_code == 0:
            continue  # the base passes, which says more
        said = "every test was skipped" if only_skipped else "no test ran"
        return Verdict(
            VerdictName.NO_TESTS_RAN,
            f"{said} in the {name} trial (exit code {trial.facts.exit_code}): the command selects nothing to run",
            "Correct verify.command so that it names the changed tests, and check the runner's configuration.",
            log_tail(trial.facts.log),
        )
    return None


def wrong_tests(case: Comparison) -> Verdict | None:
    """Only where the files of all tests are known, so that a report without files never leads here."""
    results = (*case.reference.evidence.results, *case.base.evidence.results)
    if not results or not case.hidden.paths:
        return None
    named = case.reference.evidence.named
    if named and not any(result.file for result in results):
        # Reports that name no files: those that the command names are all that can have run.
        results = tuple(TestResult(file, Outcome.PASSED, file) for file in named)
    if any(not result.file or case.is_hidden(result) for result in results):
        return None
    expected = tuple(f"expected: {path}" for path in case.hidden.paths[:NAMES_SHOWN])
    seen = tuple(f"ran: {file}" for file in sorted({result.file for result in results})[:NAMES_SHOWN])
    return Verdict(
        VerdictName.WRONG_TESTS,
        "tests ran, but none of those that tests.patch adds or changes",
        "Correct verify.command so that it runs the files named as expected.",
        (*expected, *seen),
    )
