"""Candidates that solve nothing, and must not pass: each a few lines that anybody could write. Pure.

They tell whether a task can be won without the work. What is not written here for a task's language is left out,
and said so.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from berbench.evidence.names import is_test_file
from berbench.strength.mutants import LANGUAGES, stubbed

NOTHING, DELETES, CONFTEST, EXITS, STUBS = "nothing", "deletes-tests", "edits-conftest", "exits-0", "stubs"
_TESTS_DELETED = 500  # more say nothing more

# A plug-in of pytest's that calls every test passed.
_HOOK = b"""\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = "passed"
    report.longrepr = None
"""
# What ends a process at once and well, as the last line of a file of that language.
_EXITS = {
    "python": b'\n__import__("os")._exit(0)\n',
    "javascript": b"\nprocess.exit(0);\n",
}


@dataclass(frozen=True, slots=True)
class Adversary:
    """A candidate as files on the base tree: contents by path, and what is deleted. `absent` says why there is none."""

    name: str
    writes: Mapping[str, bytes] = field(default_factory=dict)
    deletes: tuple[str, ...] = ()
    absent: str = ""


def adversaries(
    base_paths: Iterable[str],
    reference: Mapping[str, tuple[bytes, bytes]],
    added: Mapping[str, Sequence[int]],
) -> tuple[Adversary, ...]:
    """All of them for one task.

    `reference` holds the contents, before and after, of the files that the reference adds or changes (b"" before
    for a new one), `added` the numbers of the lines that it adds to each.
    """
    paths = list(base_paths)
    tests = tuple(path for path in paths if is_test_file(path))[:_TESTS_DELETED]
    languages = {path: _language(path) for path in reference}
    python = "python" in {*languages.values(), *map(_language, tests)}
    return (
        Adversary(DELETES, deletes=tests)
        if tests
        else Adversary(DELETES, absent="the base tree has no file that looks like a test"),
        Adversary(CONFTEST, {"conftest.py": _HOOK})
        if python
        else Adversary(CONFTEST, absent="it is written for Python alone"),
        _exits(reference, languages),
        _stubs(reference, languages, added),
    )


def _language(path: str) -> str:
    return LANGUAGES.get(posixpath.splitext(path)[1].lower(), "")


def _exits(reference: Mapping[str, tuple[bytes, bytes]], languages: Mapping[str, str]) -> Adversary:
    """The files that the reference touches, ending the process when they are loaded."""
    writes = {
        path: before.rstrip(b"\n") + _EXITS[languages[path]]
        for path, (before, _) in reference.items()
        if languages[path] in _EXITS
    }
    if not writes:
        return Adversary(EXITS, absent="it is written for Python and JavaScript alone")
    return Adversary(EXITS, writes)


def _stubs(
    reference: Mapping[str, tuple[bytes, bytes]],
    languages: Mapping[str, str],
    added: Mapping[str, Sequence[int]],
) -> Adversary:
    """The reference, with every function that it adds or changes doing nothing."""
    writes = {path: after for path, (_, after) in reference.items()}
    emptied = {
        path: made
        for path, (_, after) in reference.items()
        if languages[path] == "python" and (made := stubbed(after, added.get(path, ()))) is not None
    }
    if not emptied:
        return Adversary(STUBS, absent="no Python function of the reference can be emptied")
    return Adversary(STUBS, writes | emptied)
