"""Twins make the calls of their original and expect what nobody could know."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from planted import planting, run

from berbench.canaries import twins
from berbench.model.grading import BESIDE, INSIDE, TWIN

BODY = {
    "assert f(2) == 4": True,
    "assert 'a' == f(2), 'why'": True,
    "x = f(2)\n    assert x == [1, {'a': 2}]": True,
    "x = f(\n        2)\n    assert x == (\n        1,\n        -2.5,\n    )": True,
    "assert f(1) == 1\n    assert f(2) == 4": True,
    "with raises(E):\n        f(0)\n    assert f(2) == b'x'": True,
    "assert 'é' + f(2) == 'éé'": True,
    "assert f(2) == g(4)": False,  # no literal
    "assert f(2) == True": False,  # one of two
    "assert 2 == 4": False,  # asks nothing
    "assert f(2) != 4": False,
    "assert f(2) == 4\n    f(3)": False,  # what follows would be left out
    "if f(2):\n        return\n    assert f(2) == 4": False,
    "if f(2):\n        pytest.skip('no')\n    assert f(2) == 4": False,
    "for x in f(2):\n        assert x == 4": False,  # may never be come to
    "pass": False,
}


@pytest.mark.parametrize(("body", "fits"), BODY.items())
def test_only_a_comparison_that_is_always_come_to_has_a_twin(body: str, fits: bool) -> None:
    assert bool(twins.places(f"def test_a():\n    {body}\n".encode(), "pytest")) is fits


@pytest.mark.parametrize(
    "text",
    [
        "@mark.x\ndef test_a():\n    assert f() == 1\n",
        "def test_a(given):\n    assert f() == 1\n",
        "async def test_a():\n    assert f() == 1\n",
        "def helps():\n    assert f() == 1\n",
        "@mark.x\nclass TestA:\n    def test_a(self):\n        assert f() == 1\n",
        "class TestA:\n    @staticmethod\n    def test_a():\n        assert f() == 1\n",
        "# coding: latin-1\ndef test_a():\n    assert f() == 1\n",
        "def test_a():\r\n    assert f() == 1\r\n",
        "def test_a(:\n",
    ],
)
def test_whatever_may_run_otherwise_has_none(text: str) -> None:
    assert twins.places(text.encode(), "pytest") == ()


@pytest.mark.parametrize("body", [body for body, fits in BODY.items() if fits])
@pytest.mark.parametrize("inside", [False, True])
def test_a_twin_differs_in_its_name_and_one_literal(body: str, inside: bool) -> None:
    text = f"def test_a():\n    {body}\n"
    if inside:
        text = "class TestA:\n" + "".join(f"    {line}\n" for line in text.splitlines())
        text = text.replace("test_a()", "test_a(self)")
    planted = planting("pytest test_a.py", {"test_a.py": text}, places=(TWIN,))
    assert planted is not None
    (canary,) = planted.canaries
    assert (canary.place, canary.passes) == (TWIN, False)
    tree = ast.parse(planted.writes[0].data)
    original, twin = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else tree.body
    assert isinstance(original, ast.FunctionDef) and isinstance(twin, ast.FunctionDef)
    assert (original.name, twin.name) == ("test_a", canary.name)
    assert len(original.body) == len(twin.body)
    assert [ast.dump(a) == ast.dump(b) for a, b in zip(original.body, twin.body, strict=True)].count(
        False
    ) == 1
    assert ast.dump(original.body[-1]) != ast.dump(twin.body[-1])


def test_a_twin_without_failures_is_a_copy() -> None:
    text = "def test_a():\n    assert f(2) == 4\n"
    planted = planting("pytest test_a.py", {"test_a.py": text}, places=(TWIN,), failing=False)
    assert planted is not None
    (canary,) = planted.canaries
    assert canary.passes
    assert planted.writes[0].data.decode() == text + f"\n\n{text}".replace("test_a", canary.name)


def test_a_file_of_which_a_part_is_run_has_none() -> None:
    text = "def test_a():\n    assert f(2) == 4\n"
    assert planting("pytest test_a.py::test_a", {"test_a.py": text}, places=(TWIN,)) is None


PYTEST = {
    "test_a.py": "def test_a():\n    assert len('ab') == 2\n\n\n"
    "class TestB:\n    def test_b(self):\n        x = 2\n        assert x == 2\n"
}
UNITTEST = {
    "test_a.py": "import unittest\n\n\nclass TestA(unittest.TestCase):\n    def test_a(self):\n"
    "        self.assertEqual(len('ab'), 2)\n\n    def test_b(self):\n        self.assertEqual(2, len('ab'), 'why')\n"
}


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("python -m pytest -x test_a.py", PYTEST),
        ("python -m pytest -k 'a or b'", PYTEST),
        ("python -m unittest test_a", UNITTEST),
        ("python -m unittest discover -k test_a", UNITTEST),
    ],
)
def test_runners_run_twins_once_and_they_fail(tmp_path: Path, command: str, files: dict[str, str]) -> None:
    facts, real, planted = run(tmp_path, command, files, places=(INSIDE, BESIDE, TWIN))
    assert facts.exit_code == 1
    assert set(real.values()) == {"passed"}
    assert sum(canary.place == TWIN for canary in planted.canaries) == 1
