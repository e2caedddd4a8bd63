"""Whatever the candidate is: hidden and protected paths are the task's own, and the reference is the solved tree."""

from __future__ import annotations

import tempfile
from pathlib import Path

from candidatebench import CandidateBench, Files
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from berbench.candidates.table import Lookup, rows_for
from berbench.errors import PatchConflict
from berbench.model.task import Verify
from berbench.split import matcher
from berbench.stages.candidate import Prepared
from gitrepo import File, executable, gitlink, symlink

TESTS = ("tests/**", "tests")
OWN = ("kept/**", "kept")
SEGMENTS = st.sampled_from(
    [
        b"a",
        b"b",
        b"tests",
        b"kept",
        b"src",
        b"conftest.py",
        b"pytest.py",
        b"node_modules",
        b"pyproject.toml",
        b"\xff n",
    ]
)
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map(b"/".join)
CONTENTS = st.sampled_from([b"", b"1\n", b"2\n", b"[tool.pytest]\nx = 1\n", b"[tool.ruff]\n", b"\0\xff"])
ENTRIES: st.SearchStrategy[File] = st.one_of(
    CONTENTS,
    CONTENTS.map(executable),
    st.sampled_from(["a", "tests", "../b", "/etc", "src/a", "..", "b/../../.."]).map(symlink),
    st.just(gitlink("1" * 40)),
)
STATES: st.SearchStrategy[Files] = st.dictionaries(PATHS, ENTRIES, max_size=6)
STEERING = Lookup([row for row in rows_for(frozenset()) if not row.new_only])
PROTECTED = matcher((*TESTS, *OWN))
EXAMPLES = max(settings.default.max_examples // 10, 1)


def turned(base: Files, into: Files) -> Files:
    """Changes that turn one state into exactly another."""
    return {**dict.fromkeys(base), **into}


def task_of(folder: Path, base: Files, landed: Files) -> CandidateBench | None:
    """A task of two states, None where the split law can't be kept."""
    verify = Verify(command="pytest", protected_paths=OWN)
    changes = turned(base, {**landed, b"tests/t": b"2\n", b"fix": b"2\n"})
    try:
        bench = CandidateBench(folder, base, changes, patterns=TESTS, verify=verify)
        return bench if bench.trees.solved == bench.history.tree_of("landing") else None
    except PatchConflict:
        return None


@given(base=STATES, landed=STATES, candidate=STATES)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_V07_V08_P19_hidden_and_protected_paths_are_the_tasks_whatever_a_candidate_is(
    base: Files, landed: Files, candidate: Files
) -> None:
    with tempfile.TemporaryDirectory() as name:
        base = {**base, b"tests/t": b"1\n", b"fix": b"1\n"}
        bench = task_of(Path(name), base, landed)
        if bench is None:
            event("no task")
            return
        with bench.history:
            solved = bench.prepare(bench.files.reference_patch)
            assert (solved.tree, solved.dropped) == (bench.trees.solved, ())
            try:
                prepared = bench.prepare(turned(base, candidate))
            except PatchConflict:
                event("no change, or one that git can't read")
                return
            event(f"prepared, {len(prepared.dropped)} dropped")
            holds(bench, prepared)


def holds(bench: CandidateBench, prepared: Prepared) -> None:
    """What is hidden or protected is the task's own; all else is the candidate's, or named as dropped."""
    history, trees = bench.history, bench.trees
    hidden = {change.path for change in history.changes(trees.base, trees.with_tests)}
    reference = {change.path for change in history.changes(trees.with_tests, trees.solved)}
    made, wanted = bench.entries(prepared.tree), bench.entries(trees.with_tests)
    for path in made.keys() | wanted.keys():
        if path in hidden or (path not in reference and (PROTECTED(path) or STEERING(path))):
            assert made.get(path) == wanted.get(path), path
    dropped = {one.path for one in prepared.dropped}
    for change in history.changes("main", "candidate"):
        entry = made.get(change.path)
        as_given = (entry.mode, entry.id) if entry else (0, "0" * 40)
        assert as_given == (change.new_mode, change.new_id) or change.path in dropped, change.path
