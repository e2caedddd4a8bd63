"""Another order of the tests. Python's runners really run; of the others, the commands are held against theirs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hosted import outcomes, trial_on_host

from berbench.runners import instrument, order_trouble

MODULES = {
    f"test_{name}.py": "\n".join(
        [
            *(f"def test_f{n}(): pass\n" for n in range(3)),
            *(
                f"class Test{c}:\n" + "".join(f"    def test_{n}(self): pass\n" for n in range(3))
                for c in "AB"
            ),
        ]
    )
    for name in "xyz"
}
SUITE = "import unittest\n\n" + "\n".join(
    f"class {c}(unittest.TestCase):\n"
    f"    @classmethod\n    def setUpClass(cls): print('begin {c}', flush=True)\n"
    + "".join(f"    def test_{n}(self): pass\n" for n in range(4))
    for c in "ABC"
)


def order(room: Path, command: str, files: dict[str, str], seed: int | None) -> list[str]:
    facts, evidence = trial_on_host(room, command, files, shuffle=seed)
    assert facts.exit_code == 0, facts.log
    return list(outcomes(evidence))


def owners(names: list[str], depth: int) -> list[str]:
    """The first parts of ids, runs of the same one once."""
    found = ["::".join(name.split("::")[:depth]) for name in names]
    return [owner for at, owner in enumerate(found) if at == 0 or found[at - 1] != owner]


def test_pytest_runs_the_same_tests_in_the_order_of_the_seed(tmp_path: Path) -> None:
    runs = {
        name: order(tmp_path / name, "python -m pytest -q", MODULES, seed)
        for name, seed in (("usual", None), ("one", 1), ("again", 1))
    }
    assert runs["one"] == runs["again"] != runs["usual"]
    assert len({tuple(sorted(names)) for names in runs.values()}) == 1
    # What belongs together stays together: modules as a whole, and the classes in them.
    assert len(owners(runs["one"], 1)) == 3
    classes = [owner for owner in owners(runs["one"], 2) if "::Test" in owner]
    assert len(classes) == len(set(classes)) == 6


def test_two_tests_change_places_whatever_the_seed(tmp_path: Path) -> None:
    two = {"test_x.py": "def test_a(): pass\n\n\ndef test_b(): pass\n"}
    for seed in (1, 5):  # a plain shuffle by seed 5 would leave them where they are
        names = order(tmp_path / str(seed), "python -m pytest -q test_x.py", two, seed)
        assert names == ["test_x.py::test_b", "test_x.py::test_a"]


@pytest.mark.parametrize(
    ("command", "env"),
    [
        ("PYTEST_ADDOPTS='-v' PYTHONPATH=lib python -m pytest -q test_x.py", {}),
        ("env PYTEST_ADDOPTS=-v python -m pytest -q test_x.py", {}),
        ("sh run.sh", {}),
        ("python -m pytest -q test_x.py", {"PYTEST_ADDOPTS": "-v", "PYTHONPATH": "lib"}),
        ("python -m pytest -q -p xdist -n 2 test_x.py", {}),
        ("python -m pytest -q nowhere.py || python -m pytest -q test_x.py", {}),
    ],
)
def test_pytest_hears_of_it_beside_what_the_command_and_the_image_set(
    tmp_path: Path, command: str, env: dict[str, str]
) -> None:
    text = "import extra\n" if "PYTHONPATH" in command or "PYTHONPATH" in env else ""
    text += "\n\n".join(
        f"def test_{n}():\n    with open('ran', 'a') as file: file.write('{n}')\n" for n in range(4)
    )
    files = {"test_x.py": text, "lib/extra.py": "", "run.sh": "python -m pytest -q test_x.py\n"}
    facts, _ = trial_on_host(tmp_path, command, files, shuffle=5, env=env)
    assert facts.exit_code == 0, facts.log
    ran = (tmp_path / "work" / "ran").read_text()
    assert sorted(ran) == ["0", "1", "2", "3"]
    assert "xdist" in command or ran != "0123"


def test_a_chain_is_reordered_in_every_run(tmp_path: Path) -> None:
    files = {f"test_{x}.py": "def test_a(): pass\n\n\ndef test_b(): pass\n" for x in "xy"}
    names = order(tmp_path, "python -m pytest -q test_x.py && python -m pytest -q test_y.py", files, 3)
    for module in "xy":
        mine = [name for name in names if name.startswith(f"test_{module}")]
        assert mine == [f"test_{module}.py::test_{test}" for test in "ba"]


def test_unittest_runs_classes_and_their_tests_in_another_order(tmp_path: Path) -> None:
    command = "python -m unittest test_x"
    usual = order(tmp_path / "usual", command, {"test_x.py": SUITE}, None)
    facts, evidence = trial_on_host(tmp_path / "one", command, {"test_x.py": SUITE}, shuffle=1)
    one = list(outcomes(evidence))
    assert one == order(tmp_path / "again", command, {"test_x.py": SUITE}, 1)
    assert one != usual and sorted(one) == sorted(usual)
    assert facts.log.count(b"begin") == 3  # each class is set up once, as before


def test_unittest_by_names_and_by_discovery(tmp_path: Path) -> None:
    for room, command in (
        ("names", "python -m unittest test_x.A.test_0 test_x.A.test_1"),
        ("discovery", "python -m unittest discover -p 'test_*.py'"),
    ):
        usual = order(tmp_path / room / "usual", command, {"test_x.py": SUITE}, None)
        other = order(tmp_path / room / "other", command, {"test_x.py": SUITE}, 7)
        assert other != usual and sorted(other) == sorted(usual)


def test_the_seed_is_hidden_from_the_tests_of_unittest(tmp_path: Path) -> None:
    text = SUITE.replace("pass", "import os; self.assertNotIn('BERBENCH_SHUFFLE', os.environ)")
    assert order(tmp_path, "python -m unittest test_x", {"test_x.py": text}, 1)


KINDS = """
import types, unittest

django = types.ModuleType('django.test')
for name in ('TransactionTestCase', 'TestCase'):
    setattr(django, name, type(name, (unittest.TestCase,), {'__module__': 'django.test.testcases'}))
for name, base in (('A', 'TestCase'), ('B', 'TestCase'), ('C', 'TransactionTestCase'), ('D', 'TransactionTestCase')):
    tests = {f'test_{n}': lambda self: None for n in range(2)}
    globals()[name] = type(name, (getattr(django, base),), {'__module__': __name__, **tests})
"""
FLAT = """
import unittest, test_x

load = unittest.defaultTestLoader.loadTestsFromTestCase
unittest.TestSuite([t for c in 'ABCD' for t in load(getattr(test_x, c))]).run(unittest.TestResult())
"""


def test_djangos_kinds_of_tests_keep_their_order(tmp_path: Path) -> None:
    for seed in (1, 2):
        names = order(tmp_path / str(seed), "python run.py", {"test_x.py": KINDS, "run.py": FLAT}, seed)
        assert len(names) == 8 and names != sorted(names)
        kinds = [name.split(".")[1] for name in names]
        assert set(kinds[:4]) == {"A", "B"} and set(kinds[4:]) == {"C", "D"}


@pytest.mark.parametrize(
    ("command", "last_line"),
    [
        ("go test ./a", "go test $BERBENCH_SHUFFLE -json ./a"),
        ("npx mocha a.js", "npx mocha --require /berbench/kit/mocha.cjs a.js"),
        ("npx jest a.js", "npx jest --json --outputFile=/berbench/out/jest-1.json a.js"),
        (
            "npx vitest run a",
            "npx vitest run --reporter=default --reporter=json --outputFile.json=/berbench/out/vitest-1.json a"
            " --sequence.shuffle --sequence.seed=5",
        ),
    ],
)
def test_other_runners_are_asked_by_their_own_option_or_by_the_kit(command: str, last_line: str) -> None:
    asked = instrument(command, shuffle=5).command
    assert sorted(asked.splitlines()[-1].split()) == sorted(last_line.split())
    before = asked.removesuffix(asked.splitlines()[-1])
    assert "5" in asked and subprocess.run(["sh", "-n"], input=before, text=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("help_text", "flags", "note"),
    [("-shuffle off,on,N", ["test", "-shuffle=5", "-json"], ""), ("-short", ["test", "-json"], "1.17")],
)
def test_go_is_asked_whether_it_knows_the_option(
    tmp_path: Path, help_text: str, flags: list[str], note: str
) -> None:
    stand_in = tmp_path / "bin" / "go"
    stand_in.parent.mkdir()
    stand_in.write_text(f'#!/bin/sh\nif [ "$1" = help ]; then echo "{help_text}"; else echo "$@" >said; fi\n')
    stand_in.chmod(0o755)
    asked = instrument("go test", shuffle=5).command.replace("/berbench/out", str(tmp_path))
    subprocess.run(
        ["sh", "-c", asked], cwd=tmp_path, env={"PATH": f"{stand_in.parent}:/usr/bin:/bin"}, check=True
    )
    assert sorted((tmp_path / "said").read_text().split()) == sorted(flags)
    said = (tmp_path / "order").read_text() if (tmp_path / "order").exists() else ""
    assert bool(said) == bool(note) and note in said


@pytest.mark.parametrize(
    ("command", "evidence", "trouble"),
    [
        ("pytest a.py", "auto", ""),
        ("go test", "go-json", ""),
        ("make test", "auto", ""),
        ("node --test", "auto", "node has no option"),
        ("cargo test", "auto", "cargo has no option"),
        ("python -I -m pytest a.py", "auto", "-E or -I"),
        ("pytest a.py", "none", "verify.evidence is none"),
    ],
)
def test_where_no_way_is_known_it_is_said_before_any_trial(command: str, evidence: str, trouble: str) -> None:
    found = order_trouble(command, evidence)
    assert bool(found) == bool(trouble) and trouble in found


def test_evidence_that_is_declared_is_left_as_it_is() -> None:
    asked = instrument("go test ./a", "go-json", shuffle=5)
    assert asked.format == "go-json"
    assert asked.command.splitlines()[-1] == "go test $BERBENCH_SHUFFLE ./a"
