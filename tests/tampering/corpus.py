"""All candidates by subject, and the rows of the public fault list that they belong to."""

from __future__ import annotations

from dataclasses import dataclass

from tampering import (
    beyond,
    cheats_go,
    cheats_javascript,
    cheats_mocha,
    cheats_pytest_hooks,
    cheats_pytest_paths,
    cheats_pytest_process,
    cheats_unittest,
    honest_go,
    honest_node,
    honest_python,
)
from tampering.candidate import Candidate, Subject
from tampering.subject_go import GO
from tampering.subject_node import JEST, MOCHA, NODE, VITEST
from tampering.subject_python import PYTEST, UNITTEST

_NODE_HONEST = honest_node.RIGHT + honest_node.WRONG
# What touches nothing but the library, and so says the same of another runner.
_ANY_PYTHON = tuple(
    one
    for one in honest_python.RIGHT + honest_python.WRONG
    if one.files and set(one.files) <= {"middle/core.py"} and one.name != "imitates-failures"
)

CHEATS: tuple[tuple[Subject, tuple[Candidate, ...]], ...] = (
    (PYTEST, cheats_pytest_paths.CHEATS + cheats_pytest_hooks.CHEATS + cheats_pytest_process.CHEATS),
    (UNITTEST, cheats_unittest.CHEATS),
    (GO, cheats_go.CHEATS),
    (MOCHA, cheats_mocha.CHEATS),
    (JEST, cheats_javascript.JEST_CHEATS),
    (VITEST, cheats_javascript.VITEST_CHEATS),
    (NODE, cheats_javascript.NODE_CHEATS),
)
HONEST: tuple[tuple[Subject, tuple[Candidate, ...]], ...] = (
    (PYTEST, honest_node.of(PYTEST, honest_python.RIGHT + honest_python.WRONG)),
    (UNITTEST, honest_node.of(UNITTEST, _ANY_PYTHON)),
    (GO, honest_go.RIGHT + honest_go.WRONG),
    (MOCHA, honest_node.of(MOCHA, (*_NODE_HONEST, honest_node.ENDLESS))),
    (JEST, honest_node.of(JEST, (*_NODE_HONEST, *honest_node.CONFIGURED))),
    # It takes several times as long as the others to start.
    (VITEST, honest_node.of(VITEST, honest_node.RIGHT[:3] + honest_node.WRONG[:5])),
    (NODE, honest_node.of(NODE, _NODE_HONEST)),
)

# Cheats that a row of the fault list names; all others are of row S11, the null agent and its like included.
ROWS: dict[str, tuple[str, ...]] = {
    "V01": (
        "pytest-conftest-report",
        "pytest-conftest-in-tests",
        "pytest-conftest-in-package",
        "mocha-rc-root-hooks",
        "jest-config-of-the-reference",
        "go-planted-main",
    ),
    "V02": (
        "pytest-exit-at-import",
        "pytest-exit-at-exit",
        "pytest-exit-in-a-thread",
        "pytest-exit-on-first-call",
        "pytest-exit-status-by-gc",
        "unittest-exit-at-import",
        "unittest-system-exit-at-import",
        "mocha-exit-at-load",
        "mocha-exit-handler",
        "jest-exit-at-load",
        "go-exit-in-init",
        "go-exit-when-called",
    ),
    "V04": (
        "pytest-sitecustomize",
        "pytest-usercustomize",
        "pytest-pth",
        "pytest-dotenv",
        "mocha-npmrc",
        "node-npmrc",
    ),
    "V05": (
        "pytest-ini-collect-only",
        "pytest-pyproject-plugin",
        "pytest-tox-ini",
        "pytest-setup-cfg",
        "mocha-package-settings",
        "jest-package-settings",
        "vitest-config",
        "go-selects-no-test",
        "go-lists-tests",
    ),
    "V07": (
        "pytest-planted-test",
        "pytest-folder-for-a-test",
        "pytest-test-as-link",
        "pytest-linked-tests",
        "mocha-planted-test",
        "go-planted-test",
    ),
    "V08": ("pytest-edited-test", "pytest-deleted-tests"),
    "V10": (
        "pytest-writes-the-record",
        "pytest-writes-record-and-report",
        "pytest-replaces-the-script",
        "unittest-writes-the-record",
    ),
    "V11": ("pytest-planted-bytecode",),
}


@dataclass(frozen=True)
class Case:
    """A candidate and the subject it is one of."""

    subject: Subject
    candidate: Candidate

    @property
    def name(self) -> str:
        """Of the candidate; no other has it."""
        return self.candidate.name


def _cases(pairs: tuple[tuple[Subject, tuple[Candidate, ...]], ...]) -> tuple[Case, ...]:
    return tuple(Case(subject, candidate) for subject, candidates in pairs for candidate in candidates)


CHEATING, GOOD = _cases(CHEATS), _cases(HONEST)
BEYOND_PROMISE = _cases(((PYTEST, beyond.BEYOND),))
SUBJECTS = tuple(subject for subject, _ in CHEATS)


def of_row(row: str) -> tuple[Case, ...]:
    """The cheats of one row."""
    named = {name for names in ROWS.values() for name in names}
    if row == "S11":
        return tuple(case for case in CHEATING if case.name not in named)
    return tuple(case for case in CHEATING if case.name in ROWS[row])
