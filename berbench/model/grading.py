"""Grading a candidate: what is dropped from it, what is planted beside the hidden tests, and the grade.

A candidate is any patch. Its changes to what decides the outcome of a test run are dropped before the hidden
tests go in. What no list of paths can stop is code under test that rewrites outcomes while the tests run, so
canaries go in as well: tests of a known outcome that the candidate has never seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from berbench.model.changes import FileEntry
from berbench.model.trial import TestResult

INSIDE = "inside"  # in the hidden test files themselves
BESIDE = "beside"  # in files of their own, in the same folders
TWIN = "twin"  # behind a hidden test, whose calls it makes with another expected value


@dataclass(frozen=True, slots=True)
class Dropped:
    """A changed path of a candidate that does not reach the verifier, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Canary:
    """A planted test. `name` is a part of the id that its runner reports, and of no other test's."""

    name: str
    passes: bool  # the outcome it must have
    place: str  # INSIDE | BESIDE | TWIN
    file: str  # repository path of the file it stands in


@dataclass(frozen=True, slots=True)
class Planting:
    """A verify command with canaries: `writes` take the place of the tree's own files of these paths.

    `apart` says that something else in the command hangs on the runner's exit status (`pytest a && pytest b`), so
    canaries that must fail need a trial of their own.
    """

    command: str
    writes: tuple[FileEntry, ...]
    canaries: tuple[Canary, ...]
    apart: bool = False


class GradeName(StrEnum):
    """What a candidate is found to be; the names are part of every document."""

    PASS = "pass"
    FAIL = "fail"
    TAMPERED = "tampered"
    INCONSISTENT = "inconsistent"
    NO_TESTS_RAN = "no-tests-ran"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    PATCH_CONFLICT = "patch-conflict"
    ENGINE_ERROR = "engine-error"


@dataclass(frozen=True, slots=True)
class Grade:
    """The judgement of a candidate, a pure function of facts, evidence and the task's proof.

    `tests` are results of the needed tests (fail_to_pass and pass_to_pass), the missing ones left out; `reasons`
    are sentences, the deciding one first; `dropped` is what was taken out of the candidate.
    """

    name: GradeName
    reasons: tuple[str, ...] = ()
    tests: tuple[TestResult, ...] = ()
    missing: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    details: tuple[str, ...] = ()  # the log's last lines, where they say more
