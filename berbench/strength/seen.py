"""What the verifier made of a changed tree: whether it was noticed, and how. Pure.

Only a pass is unnoticed. Code that can't be compiled, imported or collected stands apart from a test that failed:
it says nothing of what the tests check.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from berbench.model.grading import Grade, GradeName
from berbench.model.trial import Outcome
from berbench.verdicts import Trialed


class Noticed(StrEnum):
    """How a change was noticed; the names are part of the document."""

    NO = "unnoticed"
    TESTS = "tests-fail"
    BREAKS = "does-not-run"  # it can't be compiled, imported or collected, or set-up fails
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    WHOLE = "whole-change"  # without it nothing of the reference is left: the proof itself shows that it is noticed
    NO_CODE = "no-code"  # prose, comments, layout: no test could notice, so none was asked
    APART = "not-separable"  # the rest can't be put together without it


# What a trial stands behind: of the audit, or of the proof.
MEASURED = frozenset(Noticed) - {Noticed.NO_CODE, Noticed.APART}


@dataclass(frozen=True, slots=True)
class Sight:
    """How a change was noticed, and in which words: the first test that failed, or why nothing ran."""

    noticed: Noticed
    told: str = ""


def sight(grade: Grade, trials: Collection[Trialed]) -> Sight:
    """What a graded trial says of the change in its tree."""
    told = "; ".join(reason for reason in grade.reasons[:2] if reason)
    by_name = {
        GradeName.PASS: Noticed.NO,
        GradeName.TIMEOUT: Noticed.TIMEOUT,
        GradeName.OUT_OF_MEMORY: Noticed.OUT_OF_MEMORY,
        GradeName.NO_TESTS_RAN: Noticed.BREAKS,
    }
    if grade.name in by_name:
        noticed = by_name[grade.name]
        return Sight(noticed, "" if noticed is Noticed.NO else told)
    if any(trial.facts.setup_failed for trial in trials):
        return Sight(Noticed.BREAKS, told)
    ran_and_failed = any(result.outcome is Outcome.FAILED for result in grade.tests)
    lost = any(trial.evidence.collection_failed for trial in trials)
    bad = [result for result in grade.tests if result.outcome is not Outcome.PASSED]
    errors = bool(bad) and all(result.outcome is Outcome.ERROR for result in bad) and not grade.missing
    if not ran_and_failed and (lost or errors):
        return Sight(Noticed.BREAKS, told)
    return Sight(Noticed.TESTS, told)
