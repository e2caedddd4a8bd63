"""Two trials side by side: which tests went which way, and which of them are the hidden ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from berbench.diagnosis import diagnose_log
from berbench.evidence.names import beside, is_test_file, names_file, tells_now, unstable
from berbench.model.trial import Evidence, Facts, Outcome, TestResult

FAILING = frozenset({Outcome.FAILED, Outcome.ERROR})
NAMES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Trialed:
    """A trial's facts with the evidence read from them."""

    facts: Facts
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Hidden:
    """Repository paths that tests.patch adds or modifies."""

    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Both trials of a validation, and what is asked of them more than once."""

    base: Trialed
    reference: Trialed
    hidden: Hidden
    label: str = ""  # what kind of trials these are, where they are not the usual ones: "repeated"

    @property
    def trials(self) -> tuple[tuple[str, Trialed], ...]:
        """The reference first: what breaks both trials is said of the one that should work."""
        kind = f"{self.label} " if self.label else ""
        return (f"{kind}reference", self.reference), (f"{kind}base", self.base)

    @cached_property
    def before(self) -> dict[str, TestResult]:
        """Results at base by id."""
        return {result.id: result for result in self.base.evidence.results}

    @cached_property
    def after(self) -> dict[str, TestResult]:
        """Results with the reference by id."""
        return {result.id: result for result in self.reference.evidence.results}

    @cached_property
    def both_readable(self) -> bool:
        """Whether single tests can be told apart in both trials."""
        return self.base.evidence.readable and self.reference.evidence.readable

    @cached_property
    def fail_to_pass(self) -> tuple[str, ...]:
        """Failed or missing at base, passed with the reference. Names that change by themselves don't count."""
        return tuple(
            name
            for name, result in self.after.items()
            if passed(result)
            and not unstable(name)
            and (name not in self.before or self.before[name].outcome in FAILING)
        )

    @cached_property
    def pass_to_pass(self) -> tuple[str, ...]:
        """Passed in both trials, under a name that a later trial will know as well."""
        at = self.reference.facts.started_at
        return tuple(
            name
            for name, result in self.after.items()
            if passed(result)
            and name in self.before
            and passed(self.before[name])
            and not (at and unstable(name) and tells_now(name, at))
        )

    @cached_property
    def pass_to_fail(self) -> tuple[str, ...]:
        """Passed at base, and with the reference not: failed, skipped or gone."""
        return tuple(
            name
            for name, result in self.before.items()
            if passed(result)
            and not (name in self.after and passed(self.after[name]))
            and not (unstable(name) and name not in self.after)
        )

    @cached_property
    def failing_after(self) -> tuple[str, ...]:
        """What fails with the reference; an unexpected pass too, where it alone can be what fails the command."""
        failing = tuple(name for name, result in self.after.items() if result.outcome in FAILING)
        if failing or self.reference.facts.exit_code == 0:
            return failing
        return tuple(name for name, result in self.after.items() if result.outcome is Outcome.XPASSED)

    @cached_property
    def noise(self) -> tuple[str, ...]:
        """What fails in both trials."""
        bad = FAILING | {Outcome.XPASSED}
        return tuple(n for n in self.failing_after if n in self.before and self.before[n].outcome in bad)

    @cached_property
    def unstable_names(self) -> tuple[str, ...]:
        """Names that differ from run to run, and so can't be matched."""
        return tuple(sorted(name for name in {*self.before, *self.after} if unstable(name)))

    def is_hidden(self, result: TestResult) -> bool:
        """Whether a result belongs to the hidden tests; True where that can't be told."""
        if not result.file or not self.hidden.paths:
            return True
        tests = [path for path in self.hidden.paths if is_test_file(path)]
        if tests:
            return any(names_file(result.file, path) for path in tests)
        return any(beside(result.file, path) for path in self.hidden.paths)


def passed(result: TestResult) -> bool:
    """Only PASSED is a pass: a skipped test shows nothing."""
    return result.outcome is Outcome.PASSED


def failures(evidence: Evidence) -> int:
    """How many tests failed or could not run, by whatever could be read."""
    return sum(number for outcome, number in evidence.counts if outcome in FAILING)


def executed(evidence: Evidence) -> int:
    """How many tests really ran: all but skipped ones."""
    return sum(number for outcome, number in evidence.counts if outcome is not Outcome.SKIPPED)


def because(reason: str, log: bytes) -> str:
    """The reason, with the cause that the log tells of."""
    cause = diagnose_log(log)
    return f"{reason}; the log says that {cause}" if cause else reason


def tests(number: int) -> str:
    """A count of tests in words."""
    return "1 test" if number == 1 else f"{number} tests"
