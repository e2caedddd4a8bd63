"""The questions in the order a person would ask them, and the verdict when every answer is yes.

Whatever can't be told is refused: one wrong "validated" is worse than many honest refusals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from berbench.evidence.names import unstable
from berbench.model.trial import Evidence, Outcome, Verdict, VerdictName
from berbench.verdicts import proof, ran
from berbench.verdicts.comparison import FAILING, Comparison, Hidden, Trialed, failures, tests

_QUESTIONS: tuple[Callable[[Comparison], Verdict | None], ...] = (
    ran.out_of_memory,
    ran.timeout,
    ran.setup_failed,
    ran.command_missing,
    ran.no_tests_ran,
    ran.wrong_tests,
    proof.base_passes,
    proof.reference_fails,
    proof.report_missing,
    proof.base_is_no_signal,
    proof.pass_to_fail,
    proof.no_signal,
)
_REPORTS = {
    "junit": "{}'s JUnit report",
    "unittest": "{}'s results as they were recorded",
    "mocha": "{}'s results as they were recorded",
    "node": "{}'s results as they were recorded",
    "go-json": "{}'s JSON stream",
    "jest": "{}'s JSON report",
    "rspec": "{}'s JSON report",
    "tap": "{}'s TAP stream",
    "libtest": "{}'s line for each test",
    "nextest": "{}'s line for each test",
    "summary": "the log's summary",
    "": "the exit code alone",
}


def judge(base: Trialed, reference: Trialed, hidden: Hidden, *, label: str = "") -> Verdict:
    """The verdict on a task whose two trials ran; a broken engine, image or patch never gets here.

    `label` says in messages what kind of trials these are."""
    case = Comparison(base, reference, hidden, label)
    for question in _QUESTIONS:
        verdict = question(case)
        if verdict is not None:
            return verdict
    return _validated(case)


def disagreements(runs: Sequence[Evidence]) -> tuple[str, ...]:
    """Tests whose outcome is not the same in every run; one that is missing from a run disagrees too.

    Names that change by themselves don't count."""
    tables = [{result.id: result.outcome for result in run.results} for run in runs]
    names = sorted({name for table in tables for name in table if not unstable(name)})
    return tuple(name for name in names if len({table.get(name) for table in tables}) > 1)


def _validated(case: Comparison) -> Verdict:
    evidence = case.reference.evidence
    stands_on = _REPORTS.get(evidence.source, evidence.source).format(evidence.runner or "the runner")
    fixed = case.fail_to_pass if evidence.readable else ()
    kept = case.pass_to_pass if evidence.readable else ()
    reason = f"the base fails and the reference passes, by {stands_on}"
    if evidence.readable:
        reason += f": {tests(len(fixed))} from failing to passing, {len(kept)} passing in both"
    collection = _failed_at_collection(case)
    return Verdict(
        VerdictName.VALIDATED,
        reason,
        fail_to_pass=fixed,
        pass_to_pass=kept,
        stands_on=stands_on,
        base_failure="collection" if collection else "tests",
        warnings=_warnings(case, stands_on, fixed, collection=collection),
    )


def _failed_at_collection(case: Comparison) -> bool:
    """Whether no test failed by itself at base: files could not be collected, or tests are missing."""
    evidence = case.base.evidence
    if not evidence.readable:
        return evidence.collection_failed or not failures(evidence)
    return not any(
        result.outcome is Outcome.FAILED or (result.outcome in FAILING and name in case.after)
        for name, result in case.before.items()
    )


def _warnings(
    case: Comparison, stands_on: str, fixed: tuple[str, ...], *, collection: bool
) -> tuple[str, ...]:
    warnings = []
    if not case.reference.evidence.readable:
        warnings.append(f"no report of single tests could be read: the proof stands on {stands_on}")
    unknown = sum(name not in case.before for name in fixed)
    if unknown:
        why = "before its tests can run (at import, collection or compilation)" if collection else "in part"
        warnings.append(
            f"the base fails {why}: {unknown} of {len(fixed)} test names are known only after the fix"
        )
    if fixed and not case.base.evidence.readable:
        warnings.append("the base trial left no report of single tests")
    if fixed and case.hidden.paths and not any(case.after[name].file for name in fixed):
        warnings.append(
            "the report names no files, so that the hidden tests are among those fixed is not shown"
        )
    if case.reference.evidence.retried:
        shown = ", ".join(case.reference.evidence.retried[:5])
        warnings.append(f"passed only when they were run again, which may be luck: {shown}")
    if case.unstable_names:
        shown = ", ".join(case.unstable_names[:5])
        warnings.append(f"left out, because their names change from run to run: {shown}")
    for name, trial in case.trials:
        warnings += [f"{name} trial: {problem}" for problem in trial.evidence.problems]
    return tuple(warnings)
