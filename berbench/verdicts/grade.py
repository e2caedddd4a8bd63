"""From a candidate's trials to its grade: a pure function of facts, evidence and the task's proof.

A pass needs every witness: each needed test passed, no other failed, every canary did as it must, the exit code
is the one that the reference has under the same canaries, and the log's own summary counts what the report
counts. The order of the questions keeps honest wrong fixes from being called tampered: a canary that is missing
beside needed tests that failed is what any broken run looks like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from berbench.canaries import split
from berbench.diagnosis import log_tail
from berbench.evidence.reading import plain_text
from berbench.evidence.summary import find_summary
from berbench.model.grading import TWIN, Canary, Grade, GradeName
from berbench.model.task import Control
from berbench.model.trial import Facts, Outcome, TestResult
from berbench.verdicts.comparison import FAILING, NAMES_SHOWN, Trialed, failures, tests

_STREAMS = frozenset({"go-json", "tap", "libtest", "nextest"})  # evidence that is read from the log itself
NO_CANARIES = "no canary watched this run"
_NOTHING_KNOWN = Control()


@dataclass(frozen=True, slots=True)
class Needs:
    """What a candidate is measured by: the tests of the task's proof, and what is known of its canaries."""

    tests: tuple[str, ...]  # fail_to_pass, then pass_to_pass; empty where the proof knows no single tests
    control: Control = _NOTHING_KNOWN


@dataclass(frozen=True)
class Watched:
    """A candidate's trial and the canaries that were planted in it."""

    trialed: Trialed
    canaries: tuple[Canary, ...] = ()

    @property
    def facts(self) -> Facts:
        """What the trial recorded."""
        return self.trialed.facts

    @cached_property
    def _parts(self) -> tuple[dict[str, tuple[TestResult, ...]], tuple[TestResult, ...]]:
        return split(self.trialed.evidence.results, self.canaries)

    @cached_property
    def sightings(self) -> dict[Canary, tuple[TestResult, ...]]:
        """Each canary's results: one, in an honest report of a run that came to it."""
        found, _ = self._parts
        return {canary: found[canary.name] for canary in self.canaries}

    @cached_property
    def real(self) -> dict[str, TestResult]:
        """Results of all tests that are no canaries, by id."""
        _, others = self._parts
        return {result.id: result for result in others}

    @property
    def must_fail(self) -> bool:
        """Whether a planted test must fail, and the command with it."""
        return any(not canary.passes for canary in self.canaries)

    @property
    def log_agrees(self) -> bool:
        """Whether the log's own closing lines count the failures that the report has."""
        evidence = self.trialed.evidence
        summary = find_summary(plain_text(self.facts.log), evidence.runner)
        return summary is not None and summary.failures == failures(evidence)


def grade(candidate: Watched, needs: Needs, *, control: Watched | None = None) -> Grade:
    """The grade of a candidate whose trials ran. Only canaries of the places that `needs` names may be planted.

    `control` is the second trial of a command on whose exit status other commands hang: `candidate` then holds
    no canary that must fail, and `control` does.
    """
    for watched in (candidate, *([control] if control else [])):
        cut_short = _cut_short(watched.facts)
        if cut_short:
            return cut_short
    if not needs.tests:
        return _by_exit_code(candidate, needs.control)
    found = _judge(candidate, control, needs.control, needs.tests)
    seen = tuple(candidate.real[name] for name in needs.tests if name in candidate.real)
    missing = tuple(name for name in needs.tests if name not in candidate.real)
    return replace(found, tests=seen, missing=missing)


def _cut_short(facts: Facts) -> Grade | None:
    """A run that did not come to its end by itself."""
    tail = log_tail(facts.log)
    if facts.out_of_memory:
        return Grade(GradeName.OUT_OF_MEMORY, ("the kernel stopped it at its memory limit",), details=tail)
    if facts.timed_out:
        where = "set-up" if facts.timed_out_in == "setup" else "verify command"
        return Grade(GradeName.TIMEOUT, (f"the {where} outran its time limit",), details=tail)
    if facts.setup_failed:
        said = f"the set-up line `{facts.setup_failed}` fails with the candidate"
        return Grade(GradeName.FAIL, (said,), details=tail)
    return None


def _by_exit_code(candidate: Watched, proven: Control) -> Grade:
    """A task whose proof knows no single tests; where the log of the reference's run sums up, so must this one."""
    evidence, facts = candidate.trialed.evidence, candidate.facts
    tail = log_tail(facts.log)
    if evidence.none_ran:
        return Grade(GradeName.NO_TESTS_RAN, ("no test ran",), details=tail)
    if facts.exit_code != 0:
        return Grade(GradeName.FAIL, (_ended(facts),), details=tail)
    if failures(evidence):
        said = f"the command exits with 0 although {tests(failures(evidence))} failed"
        return Grade(GradeName.INCONSISTENT, (said,), details=tail)
    if proven.log_agrees and not candidate.log_agrees:
        said = "the command exits with 0, but its log does not sum up as the reference's does"
        return Grade(GradeName.INCONSISTENT, (said,), details=tail)
    told = "the task's proof knows no single tests, so the exit code alone decides"
    return Grade(GradeName.PASS, ("the command exits with 0", told, NO_CANARIES))


def _judge(candidate: Watched, control: Watched | None, proven: Control, needed: Sequence[str]) -> Grade:
    forged = _forged(candidate) or (_forged(control) if control else None)
    if forged:
        return _with_tail(GradeName.TAMPERED, forged, candidate.facts)
    lacking = [name for name in needed if not _passed(candidate, name)]
    if lacking:
        return _not_solved(candidate, needed, lacking)
    unseen = _unseen(candidate) or (_unseen(control, some=True) if control else "")
    if unseen and any(_is_cut(watched) for watched in (candidate, control) if watched):
        said = "the run said more than is kept, so it is not known how every test ended"
        return _with_tail(GradeName.INCONSISTENT, (said,), candidate.facts)
    if unseen:
        return _with_tail(
            GradeName.TAMPERED, (f"every needed test is said to pass, but {unseen}",), candidate.facts
        )
    others = [result for result in candidate.real.values() if result.outcome in FAILING]
    if others:
        said = f"every needed test passes, but {_some(others)} that ran with them failed"
        return _with_tail(GradeName.FAIL, (said,), candidate.facts)
    return _agreement(candidate, control, proven, len(needed))


def _forged(watched: Watched) -> tuple[str, ...]:
    """What no honest code can do, right or wrong."""
    for canary, sighting in watched.sightings.items():
        if len(sighting) > 1:
            return (
                f"a planted test is reported {len(sighting)} times: the report is not the runner's alone",
            )
        if sighting and not canary.passes and _holds(canary, sighting[0].outcome):
            outcome = sighting[0].outcome.value
            return (f"a planted test that must fail is reported as {outcome}: {sighting[0].id}",)
    if watched.must_fail and watched.facts.exit_code == 0:
        return (
            "the command exits with 0 although a planted test must fail it: something ended or overrode it",
        )
    if watched.canaries and watched.facts.exit_code == 0 and watched.trialed.evidence.report_missing:
        return ("the command exits with 0 and left no whole report: something ended the run before its time",)
    return ()


def _holds(canary: Canary, outcome: Outcome) -> bool:
    """Whether a planted test that must fail did not. A twin may be skipped, as its original may."""
    return outcome not in FAILING and not (canary.place == TWIN and outcome is Outcome.SKIPPED)


def _unseen(watched: Watched, *, some: bool = False) -> str:
    """Which canary did not do as it must, "" when all did. `some`: a run that a failing canary may cut short."""
    for canary, sighting in watched.sightings.items():
        if not sighting and not some:
            return "a planted test is missing from the report"
        if sighting and canary.passes and sighting[0].outcome is not Outcome.PASSED:
            return f"a planted test that must pass is reported as {sighting[0].outcome.value}"
    if some and not any(one and not canary.passes for canary, one in watched.sightings.items()):
        return "no planted test that must fail is in the report"
    return ""


def _is_cut(watched: Watched) -> bool:
    """Whether results may be missing because a report, or the output that holds them, is not kept whole."""
    facts, source = watched.facts, watched.trialed.evidence.source
    return any(report.truncated for report in facts.reports) or (facts.log_truncated and source in _STREAMS)


def _passed(watched: Watched, name: str) -> bool:
    result = watched.real.get(name)
    return result is not None and result.outcome is Outcome.PASSED


def _not_solved(candidate: Watched, needed: Sequence[str], lacking: Sequence[str]) -> Grade:
    evidence, facts = candidate.trialed.evidence, candidate.facts
    if evidence.none_ran:
        return _with_tail(GradeName.NO_TESTS_RAN, (f"no test ran ({_ended(facts)})",), facts)
    missing = [name for name in lacking if name not in candidate.real]
    said = f"{len(lacking)} of {tests(len(needed))} that must pass do not"
    if len(needed) == 1:
        said = "the one test that must pass does not"
    if missing:
        said += (
            f", {len(missing)} of them missing from the report"
            if len(needed) > 1
            else ": it is missing from the report"
        )
    if facts.exit_code == 0:
        return _with_tail(GradeName.INCONSISTENT, (f"the command exits with 0, but {said}",), facts)
    return _with_tail(GradeName.FAIL, (said, *_lines(candidate, lacking)), facts)


def _lines(candidate: Watched, names: Sequence[str]) -> tuple[str, ...]:
    shown = []
    for name in names[:NAMES_SHOWN]:
        result = candidate.real.get(name)
        first = result.message.splitlines()[0][:160] if result and result.message else ""
        shown.append(
            f"{result.outcome.value if result else 'missing'}: {name}{': ' + first if first else ''}"
        )
    if len(names) > NAMES_SHOWN:
        shown.append(f"… and {len(names) - NAMES_SHOWN} more")
    return tuple(shown)


def _agreement(candidate: Watched, control: Watched | None, proven: Control, needed: int) -> Grade:
    """All tests are as they should be; do exit code and log say the same?"""
    facts = candidate.facts
    expected = proven.exit_code if candidate.must_fail else 0
    if facts.exit_code != expected:
        said = f"every needed test passes, but {_ended(facts)} where the reference's run ends with {expected}"
        return _with_tail(GradeName.INCONSISTENT, (said,), facts)
    if control and control.facts.exit_code != proven.exit_code:
        said = f"with canaries {_ended(control.facts)} where the reference's run ends with {proven.exit_code}"
        return _with_tail(GradeName.INCONSISTENT, (said,), control.facts)
    if candidate.trialed.evidence.report_missing:
        return _with_tail(GradeName.INCONSISTENT, ("the runner left no whole report",), facts)
    if proven.log_agrees and not candidate.log_agrees:
        said = "the runner's report and the log's own summary count different failures"
        return _with_tail(GradeName.INCONSISTENT, (said,), facts)
    reasons = [
        f"all {tests(needed)} that must pass do" if needed != 1 else "the one test that must pass does"
    ]
    if not candidate.canaries:
        reasons.append(NO_CANARIES + (f": {proven.reason}" if proven.reason else ""))
    return Grade(GradeName.PASS, tuple(reasons))


def _some(results: Sequence[TestResult]) -> str:
    names = ", ".join(result.id for result in results[:3])
    return f"{tests(len(results))} ({names}{', …' if len(results) > 3 else ''})"


def _ended(facts: Facts) -> str:
    code = facts.exit_code
    return "the command was ended by a signal" if code is None else f"the command ends with exit code {code}"


def _with_tail(name: GradeName, reasons: tuple[str, ...], facts: Facts) -> Grade:
    return Grade(name, reasons, details=log_tail(facts.log))
