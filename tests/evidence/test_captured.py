"""Real outputs of real runners, kept under data/, and what berbench reads in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from berbench.evidence import read_evidence
from berbench.model.trial import Evidence, Facts, ReportFile
from berbench.runners import instrument

DATA = Path(__file__).parent / "data"


def captured(name: str) -> tuple[Facts, Evidence]:
    """Facts and evidence of a kept run."""
    folder = DATA / name
    meta = json.loads((folder / "command.json").read_text())
    reports = tuple(
        ReportFile(path.name.replace("+", "/"), path.read_bytes())
        for path in sorted(folder.iterdir())
        if path.name not in ("command.json", "log")
    )
    log = (folder / "log").read_bytes()
    facts = Facts("base", meta["exit_code"], log=log, log_bytes=len(log), reports=reports)
    return facts, read_evidence(instrument(meta["command"]), facts)


def told(evidence: Evidence) -> set[str]:
    return {f"{result.outcome.value} {result.id}" for result in evidence.results}


NODE = {
    "passed no/a.test.js > outer > inner > adds",
    "failed no/a.test.js > outer > inner > fails",
    "skipped no/a.test.js > outer > inner > skipped",
    "passed no/a.test.js > outer > top",
    "xfailed no/a.test.js > todo one",
    "passed no/a.test.js > parent > child",
    "failed no/a.test.js > parent > child2",
    "error no/b.test.js",
}
MOCHA = {
    "passed mo/a.js > outer > top",
    "passed mo/a.js > outer > inner > x > adds",
    "failed mo/a.js > outer > inner > x > fails",
    "skipped mo/a.js > outer > inner > x > skipped",
    'error mo/a.js > h > "before all" hook for "never"',
}
UNITTEST = {
    "passed u.test_u.Inner.test_runs_a_suite",
    "error setUpClass (u.test_u.S)",
    "passed u.test_u.Sub.test_child",
    "failed u.test_u.T.test_a",
    "passed u.test_u.T.test_b",
    "xfailed u.test_u.T.test_c",
    "xpassed u.test_u.T.test_d",
    "skipped u.test_u.T.test_e",
    "failed u.test_u.T.test_sub",
    "failed u.test_u.T.test_sub (i=1)",
}
EXPECTED = {
    "jest": {
        "passed jest/a.test.js > outer > inner > x > adds",
        "failed jest/a.test.js > outer > inner > x > fails",
        "skipped jest/a.test.js > outer > inner > x > skipped",
        "passed jest/a.test.js > outer > top",
        "error jest/b.test.js",
        "error jest/empty.test.js",
    },
    "vitest": {
        "passed vt/a.test.ts > outer > inner > x > adds",
        "failed vt/a.test.ts > outer > inner > x > fails",
        "skipped vt/a.test.ts > outer > inner > x > skipped",
        "passed vt/a.test.ts > outer > top",
        "error vt/b.test.ts",
    },
    "mocha": MOCHA,
    "mocha-parallel": {*MOCHA, "error mo/b.js > Uncaught error outside test suite"},
    "node-18": NODE,
    "node-20": NODE,
    "node-22": NODE,
    "ava": {"skipped three", "passed one", "failed two", "passed known"},
    "tap": {
        "passed tp/a.js > outer > same",
        "failed tp/a.js > outer > in > should be equal",
        "skipped tp/a.js > sk",
    },
    "tape": {"passed outer > same", "failed outer > diff"},
    "go": {
        "passed example.com/m/a.TestOne",
        "failed example.com/m/a.TestTwo",
        "passed example.com/m/a.TestTwo/good",
        "failed example.com/m/a.TestTwo/bad_one",
        "skipped example.com/m/a.TestSkip",
        "passed example.com/m/a.TestPar1",
        "passed example.com/m/a.TestPar2",
        "passed example.com/m/a.ExampleX",
        "passed example.com/m/b.TestB",
    },
    "go-broken": {"error example.com/m/broken", "passed example.com/m/b.TestB"},
    "go-panic": {"passed example.com/m/pan.TestFine", "failed example.com/m/pan.TestP"},
    "cargo": {
        "passed src/lib.rs tests::good",
        "failed src/lib.rs tests::bad",
        "passed src/lib.rs tests::panics",
        "skipped src/lib.rs tests::slow",
        "passed tests/api.rs api",
        "passed doc-tests mylib src/lib.rs - two (line 1)",
    },
    "cargo-broken": {"error mylib"},
    "unittest": UNITTEST,
    "nose2": {
        *UNITTEST,
        "failed u.test_fn.test_fn",
        "passed u.test_fn.test_ok",
        "passed u.test_fn.TestN.test_m",
    },
    "django": {
        "failed app.tests.A.test_a",
        "passed app.tests.A.test_b",
        "failed app.tests.A.test_sub",
        "failed app.tests.A.test_sub (i=1)",
        "skipped app.tests.B.test_c",
        "passed app.tests.B.test_d",
        "error app.tests.C.test_e",
    },
    "pytest-7-xdist": {
        "failed u/test_u.py::T::test_a",
        "passed u/test_u.py::T::test_b",
        "xfailed u/test_u.py::T::test_c",
        "failed u/test_u.py::T::test_d",
        "skipped u/test_u.py::T::test_e",
        "failed u/test_u.py::T::test_sub",
        "error u/test_u.py::S::test_never",
        "passed u/test_u.py::Inner::test_runs_a_suite",
        "passed u/test_u.py::Sub::test_child",
        "failed u/test_fn.py::test_fn",
        "passed u/test_fn.py::test_ok",
        "passed u/test_fn.py::TestN::test_m",
    },
}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_test_is_read_with_its_own_outcome(name: str) -> None:
    _, evidence = captured(name)
    assert told(evidence) == EXPECTED[name]
    assert evidence.readable and not evidence.none_ran and not evidence.report_missing


@pytest.mark.parametrize(
    "name",
    [
        "jest-none",
        "vitest-none",
        "mocha-none",
        "node-none",
        "node-absent",
        "go-none",
        "cargo-none",
        "unittest-none",
        "unittest-lost",  # the module that its command names is not there
        "pytest-none",
        "pytest-absent",
    ],
)
def test_V14_nothing_ran_is_heard_whatever_the_exit_code(name: str) -> None:
    _, evidence = captured(name)
    assert evidence.none_ran
    assert not evidence.collection_failed


@pytest.mark.parametrize(
    "name",
    [
        "jest",
        "vitest",
        "node-20",
        "go-broken",
        "cargo-broken",
        "mocha-lost",
        "mocha-parallel",
    ],
)
def test_V13_files_lost_before_their_tests_are_a_class_of_their_own(name: str) -> None:
    _, evidence = captured(name)
    assert evidence.collection_failed
    assert not evidence.none_ran


def test_V20_results_glued_to_printed_text_are_not_lost() -> None:
    facts, evidence = captured("go")
    assert b'"Output":"no newline--- PASS: TestOne' in facts.log  # the end event of this test never came
    assert "passed example.com/m/a.TestOne" in told(evidence)


def test_serial_libtest_with_output_between_name_and_outcome() -> None:
    _, evidence = captured("cargo-serial")
    assert told(evidence) == EXPECTED["cargo"]


def test_parallel_django_records_in_the_parent_alone() -> None:
    _, evidence = captured("django-parallel")
    ids = {result.id for result in evidence.results if " (i=1)" not in result.id}
    assert ids == {result.split(" ", 1)[1] for result in EXPECTED["django"] if " (i=1)" not in result}


def test_an_isolated_python_can_not_be_asked_and_its_summary_is_read() -> None:
    _, evidence = captured("unittest-isolated")
    assert evidence.source == "summary" and not evidence.report_missing
    assert {outcome.value: number for outcome, number in evidence.counts} == {
        "passed": 1,
        "failed": 3,
        "error": 1,
        "skipped": 1,
        "xfailed": 1,
        "xpassed": 1,
    }


def test_files_are_told_as_repository_paths() -> None:
    for name in ("jest", "vitest", "mocha", "node-22", "unittest", "django", "pytest-7-xdist"):
        _, evidence = captured(name)
        files = {result.file for result in evidence.results}
        assert all(not file.startswith("/") for file in files), name
        assert any(file.endswith((".js", ".ts", ".py")) for file in files), name
