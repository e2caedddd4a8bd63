"""Real runners run plantings: each canary is seen once and does as it must, and the real tests are as they were.

Runners that are not on this machine are not tried here; those that come from a registry are in
test_canaries_run_npm.py.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from planted import run

from berbench.canaries import split
from berbench.model.grading import BESIDE, INSIDE, Canary
from berbench.model.trial import Outcome, TestResult

PYTEST = {
    "t/test_a.py": "import pytest\n\n\nclass TestT:\n    def test_m(self): assert 1\n"
    "    def test_slow(self): assert 0\n\n\n@pytest.mark.parametrize('x', [1, 2])\n"
    "def test_p(x): assert x\n# no newline at the end",
    "t/test_b.py": "def test_q() -> None:\n    assert 2\n",
}
UNIT = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): pass\n"
NODE = {
    "t/a.test.mjs": "import test from 'node:test'\n\ntest('adds', async (t) => { await t.test('sub', () => {}) })\n",
    "t/b.test.js": "'use strict';\nconst { describe, it } = require('node:test');\n"
    "describe('outer', () => {\n  it('one', () => {});\n  it('two', () => {});\n}); // it's `the end",
}
GO = {
    "a/a_test.go": 'package a\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestOne(t *testing.T) {\n'
    '\tt.Run("sub", func(t *testing.T) { _ = os.Args })\n}\n\nfunc TestTwo(t *testing.T) {}\n',
    "a/b_test.go": '//go:build !windows\n\npackage a_test\n\nimport T "testing"\n\nfunc TestB(t *T.T) {}\n',
}
GO_REST = {"go.mod": "module example.com/m\n\ngo 1.16\n", "a/a.go": "package a\n"}


def test_pytest_that_stops_at_the_first_failure_does_not_stop_at_a_planted_one(tmp_path: Path) -> None:
    facts, real, planted = run(
        tmp_path,
        "python -m pytest -x t/test_a.py::TestT::test_m t/test_a.py::test_p t/test_b.py",
        PYTEST,
        {"pytest.ini": "[pytest]\naddopts = --maxfail=1\n"},
    )
    assert real == dict.fromkeys(
        ("t/test_a.py::TestT::test_m", "t/test_a.py::test_p[1]", "t/test_a.py::test_p[2]", "t/test_b.py::test_q"),
        "passed",
    )  # fmt: skip
    assert facts.exit_code == 1 and len(planted.canaries) == 6


def test_pytest_with_an_expression_in_a_folder_and_nothing_that_fails(tmp_path: Path) -> None:
    facts, real, _ = run(tmp_path, "cd t && pytest -k 'not slow and not q'", PYTEST, failing=False)
    assert sorted(real) == ["test_a.py::TestT::test_m", "test_a.py::test_p[1]", "test_a.py::test_p[2]"]
    assert facts.exit_code == 0, facts.log


def test_each_pytest_of_a_chain_runs_its_canaries(tmp_path: Path) -> None:
    facts, real, planted = run(
        tmp_path, "pytest -q -m 'not x' t/test_b.py && pytest -q t/test_a.py::TestT::test_m", PYTEST
    )
    assert sorted(real) == ["t/test_a.py::TestT::test_m", "t/test_b.py::test_q"]
    assert planted.apart and facts.exit_code == 1 and len(planted.canaries) == 8


@pytest.mark.parametrize(
    "command",
    [
        "python -m unittest -f t.test_a.T.test_a t.test_a.T.test_b t/test_b.py",
        "python -m unittest discover -vf -k test_ -s t -t .",
    ],
)
def test_unittest(tmp_path: Path, command: str) -> None:
    hidden = {"t/test_a.py": UNIT, "t/test_b.py": UNIT}
    facts, real, planted = run(tmp_path, command, hidden, {"t/__init__.py": ""})
    assert real == {f"t.test_{module}.T.test_{name}": "passed" for module in "ab" for name in "ab"}
    assert facts.exit_code == 1 and len(planted.canaries) == 6


if shutil.which("node"):

    @pytest.mark.parametrize(
        ("command", "names"),
        [
            ("cd t && node --test", ["a.test.mjs > adds > sub", "b.test.js > outer > one", "b.test.js > outer > two"]),
            ("node --test --test-name-pattern=one --test-name-pattern outer t/b.test.js", ["b.test.js > outer > one"]),
        ],
    )  # fmt: skip
    def test_node(tmp_path: Path, command: str, names: list[str]) -> None:
        facts, real, _ = run(tmp_path, command, NODE)
        assert {f"t/{name}" for name in names} <= real.keys()
        assert set(real.values()) <= {"passed", "skipped"}
        assert facts.exit_code == 1


if shutil.which("go"):

    def test_go(tmp_path: Path) -> None:
        """The build fails if `go vet` finds fault with a canary."""
        command = "go test -failfast -run 'TestOne/sub|TestB' ./a/..."
        facts, real, planted = run(tmp_path, command, GO, GO_REST)
        names = ("a.TestOne", "a.TestOne/sub", "a.TestB")
        assert real == {f"example.com/m/{name}": "passed" for name in names}
        assert facts.exit_code == 1 and len(planted.canaries) == 4


def test_canaries_are_found_in_results_of_every_runner_and_repeats_are_theirs() -> None:
    canaries = [
        Canary("test_keeps_x", True, INSIDE, "t/test_a.py"),
        Canary("keeps y", False, BESIDE, "t/b.js"),
        Canary("TestKeepsZ", False, BESIDE, "a/z_test.go"),
    ]
    ids = [
        "t/test_a.py::test_keeps_x",
        "mod.TestOne.test_keeps_x#2",
        "t/b.js > keeps y",
        "example.com/m/a.TestKeepsY",
    ]
    seen, real = split([TestResult(name, Outcome.PASSED) for name in ids], canaries)
    assert {name: [result.id for result in found] for name, found in seen.items()} == {
        "test_keeps_x": ids[:2],
        "keeps y": ids[2:3],
        "TestKeepsZ": [],
    }
    assert [result.id for result in real] == ids[3:]
