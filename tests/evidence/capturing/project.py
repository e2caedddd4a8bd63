"""What is captured: one small project per runner, and the trials that every runner is put through.

Each project holds a source in an old and a new state, a hidden test file and another one. The hidden file has one
test that fails on the old state and passes on the new, and one that passes on both.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# name → what happens in it
TRIALS = {
    "base": "the hidden tests on the old state",
    "good": "the hidden tests on the new state",
    "broken": "the hidden tests ask for what the old state does not have, so they can't be loaded or compiled",
    "mended": "the same on the new state",
    "none": "a filter that matches no test",
    "absent": "a test file that is not there",
    "skipped": "every test is skipped",
    "other-base": "other tests than the hidden ones, on the old state",
    "other-good": "other tests than the hidden ones, on the new state",
    "gone": "the runner is not installed",
    "crash": "the runner can't start: its configuration is broken",
    "lacking": "the hidden tests need a package that is not installed",
    "exits": "the code under test ends the process with 0 in the middle",
    "odd": "names of every kind, and outcomes that are neither passed nor failed",
}


@dataclass(frozen=True)
class Run:
    """One trial: a command on a state of the source, with files of its own laid over the project's."""

    command: str
    state: str = "new"
    files: dict[str, str] = field(default_factory=dict)
    bare: bool = False  # without the runner


@dataclass(frozen=True)
class Project:
    """All trials of one runner."""

    runner: str
    hidden: str  # path of the hidden test file
    files: dict[str, str]
    old: dict[str, str]
    new: dict[str, str]
    runs: dict[str, Run]
