"""Twins make the calls of their original, or look at what it computed, and expect what nobody could know."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from planted import entries, planting, run, trial_on_host

from berbench.canaries import affordable, split, twins
from berbench.model.grading import BESIDE, INSIDE, TWIN
from berbench.model.trial import Outcome, TestResult

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


def text_of(body: str, *, inside: bool) -> str:
    """A file with one test, in a class or not."""
    text = f"def test_a():\n    {body}\n"
    if not inside:
        return text
    text = "class TestA:\n" + "".join(f"    {line}\n" for line in text.splitlines())
    return text.replace("test_a()", "test_a(self)")


def original_and_twin(text: str, again: tuple[str, ...] | None) -> tuple[ast.FunctionDef, ast.FunctionDef]:
    """Both as they were planted, the twin right behind its original."""
    planted = planting("pytest test_a.py", {"test_a.py": text}, places=(TWIN,), again=again)
    assert planted is not None
    (canary,) = planted.canaries
    assert (canary.place, canary.passes) == (TWIN, False)
    tree = ast.parse(planted.writes[0].data)
    original, twin = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else tree.body
    assert isinstance(original, ast.FunctionDef) and isinstance(twin, ast.FunctionDef)
    assert (original.name, twin.name) == ("test_a", canary.name)
    return original, twin


@pytest.mark.parametrize("body", [body for body, fits in BODY.items() if fits])
@pytest.mark.parametrize("inside", [False, True])
def test_a_twin_differs_in_its_name_and_one_literal(body: str, inside: bool) -> None:
    original, twin = original_and_twin(text_of(body, inside=inside), None)
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
    assert sum(canary.place == TWIN for canary in planted.canaries) == 2


LOOKED_AT = [body for body, fits in BODY.items() if fits]


@pytest.mark.parametrize("body", LOOKED_AT)
@pytest.mark.parametrize("inside", [False, True])
def test_one_that_only_looks_makes_no_call(body: str, inside: bool) -> None:
    text = text_of(body, inside=inside)
    original, twin = original_and_twin(text, ())
    assert not any(isinstance(node, ast.Call) for node in ast.walk(twin))
    before = ast.parse(text).body[0]
    before = before.body[0] if isinstance(before, ast.ClassDef) else before
    assert isinstance(before, ast.FunctionDef)
    assert _without_the_kept(original) == [ast.unparse(one) for one in before.body]


def _without_the_kept(function: ast.FunctionDef) -> list[str]:
    """The body with the kept value back in its place."""
    *rest, keeps, stores, last = function.body
    assert isinstance(keeps, ast.Assign) and isinstance(keeps.targets[0], ast.Name)
    assert isinstance(stores, ast.Assign) and isinstance(stores.targets[0], ast.Attribute)
    name = keeps.targets[0].id
    assert stores.targets[0].attr == name
    asked = ast.unparse(last).replace(name, ast.unparse(keeps.value), 1)
    return [*(ast.unparse(one) for one in rest), ast.unparse(ast.parse(asked))]


@pytest.mark.parametrize(
    "text",
    [
        "def test_a(): assert f(2) == 4\n",
        "def test_a():\n    x = 1; assert f(x) == 4\n",
        "def test_a():\n    x = 1; \\\n    assert f(x) == 4\n",
    ],
)
def test_where_no_line_can_be_written_above_nothing_looks(text: str) -> None:
    assert planting("pytest test_a.py", {"test_a.py": text}, places=(TWIN,), again=()) is None


@pytest.mark.parametrize(
    ("command", "files"), [("pytest test_a.py", PYTEST), ("python -m unittest", UNITTEST)]
)
def test_what_looks_fails_as_well_without_the_calls(
    tmp_path: Path, command: str, files: dict[str, str]
) -> None:
    facts, real, planted = run(tmp_path, command, files, places=(TWIN,), again=())
    assert facts.exit_code == 1
    assert set(real.values()) == {"passed"}
    assert len(planted.canaries) == 2
    assert b"AttributeError" not in facts.log  # their originals ran before them


def test_without_failures_what_looks_holds_and_its_original_is_left_alone(tmp_path: Path) -> None:
    facts, _, planted = run(tmp_path, "pytest test_a.py", PYTEST, places=(TWIN,), again=(), failing=False)
    assert facts.exit_code == 0
    text = planted.writes[0].data.decode()
    assert all(line in text.splitlines() for line in PYTEST["test_a.py"].splitlines())


ANYTHING = "class Any:\n    def __eq__(self, other):\n        return True\n\n\ndef f():\n    return Any()\n"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("pytest test_a.py", "from code_ import f\n\n\ndef test_a():\n    assert f() == 2\n"),
        (
            "python -m unittest test_a",
            "import unittest\n\nfrom code_ import f\n\n\nclass TestA(unittest.TestCase):\n"
            "    def test_z(self):\n        self.assertEqual(2, f())\n",
        ),
    ],
)
@pytest.mark.parametrize("again", [(), None])
def test_a_value_that_equals_anything_is_seen(
    tmp_path: Path, command: str, text: str, again: tuple[str, ...] | None
) -> None:
    planted = planting(command, {"test_a.py": text}, places=(TWIN,), again=again)
    assert planted is not None
    files = {"code_.py": ANYTHING, **{entry.path: entry.data.decode() for entry in planted.writes}}
    facts, evidence = trial_on_host(tmp_path, planted.command, files)
    seen, _ = split(evidence.results, planted.canaries)
    (found,) = seen.values()
    assert [result.outcome.value for result in found] == ["passed"], facts.log.decode()


def test_at_most_some_are_looked_at() -> None:
    text = "".join(f"def test_{n}():\n    assert f({n}) == 4\n\n\n" for n in range(30))
    planted = planting("pytest test_a.py", {"test_a.py": text}, places=(TWIN,))
    assert planted is not None
    assert len(planted.canaries) == 5
    ast.parse(planted.writes[0].data)


def test_what_may_run_again_is_named_by_file_and_class() -> None:
    text = "def test_a():\n    assert f(1) == 4\n\n\nclass TestB:\n    def test_b(self):\n        assert f(2) == 4\n"
    planted = planting("pytest", {"test_a.py": text}, places=(TWIN,), again=("test_a.py::TestB.test_b",))
    assert planted is not None
    twin = next(canary.name for canary in planted.canaries if not canary.name.startswith("test_a_"))
    assert f"def {twin}(self):\n        assert f(2) == " in planted.writes[0].data.decode()


def result(name: str, seconds: float | None) -> TestResult:
    return TestResult(name, Outcome.PASSED, "tests/test_a.py", seconds=seconds)


TWO = (
    "def test_a():\n    assert f(1) == 4\n\n\nclass TestB:\n    def test_b(self):\n        assert f(2) == 4\n"
)


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [
        ((0.9, 0.1), ("TestB.test_b",)),
        ((0.09, 0.1), ("test_a", "TestB.test_b")),
        ((0.9, 0.2), ()),
        ((0.9, None), ()),
        ((0.0, 0.0), ("TestB.test_b", "test_a")),
    ],
)
@pytest.mark.parametrize("joint", ["tests/test_a.py::{}", "tests.test_a.{}"])
def test_a_test_is_run_again_where_it_takes_a_tenth_at_most(
    seconds: tuple[float | None, float | None], wanted: tuple[str, ...], joint: str
) -> None:
    function, method = joint.format("test_a"), joint.format("TestB.test_b")
    if "::" in joint:
        method = method.replace("TestB.", "TestB::")
    ran = [result(function, seconds[0]), result(method, seconds[1])]
    found = affordable(entries({"tests/test_a.py": TWO}), ran, "pytest", 1.0)
    assert found == tuple(f"tests/test_a.py::{name}" for name in wanted)


def test_of_many_files_each_has_its_part_of_the_tenth() -> None:
    files = entries({f"tests/test_{n}.py": "def test_a():\n    assert f(1) == 4\n" for n in range(10)})
    ran = [
        TestResult(f"{path}::test_a", Outcome.PASSED, path, seconds=0.1 * n) for n, path in enumerate(files)
    ]
    assert affordable(files, ran, "pytest", 10.0) == ("tests/test_0.py::test_a", "tests/test_1.py::test_a")


SLOW = "import time\n\n\ndef test_a():\n    time.sleep(0.3)\n    assert len('ab') == 2\n"
SLOW_METHOD = (
    "import time\nimport unittest\n\n\nclass TestA(unittest.TestCase):\n    def test_a(self):\n"
    '        """Sleeps."""\n        time.sleep(0.3)\n        self.assertEqual(len("ab"), 2)\n'
)


@pytest.mark.parametrize(
    ("command", "text"), [("pytest test_a.py", SLOW), ("python -m unittest", SLOW_METHOD)]
)
@pytest.mark.parametrize(("quick", "outcome"), [(0.2, "skipped"), (20.0, "failed")])
def test_where_nothing_is_known_a_twin_of_a_slow_test_is_skipped(
    tmp_path: Path, command: str, text: str, quick: float, outcome: str
) -> None:
    planted = planting(command, {"test_a.py": text}, places=(TWIN,), quick=quick)
    assert planted is not None
    files = {entry.path: entry.data.decode() for entry in planted.writes}
    facts, evidence = trial_on_host(tmp_path, planted.command, files)
    seen, real = split(evidence.results, planted.canaries)
    assert [found.outcome.value for results in seen.values() for found in results] == [outcome], facts.log
    assert [found.outcome.value for found in real] == ["passed"]


def test_without_failures_a_quick_twin_holds(tmp_path: Path) -> None:
    planted = planting("pytest test_a.py", {"test_a.py": SLOW}, places=(TWIN,), quick=0.1, failing=False)
    assert planted is not None
    facts, _ = trial_on_host(tmp_path, planted.command, {e.path: e.data.decode() for e in planted.writes})
    assert facts.exit_code == 0


def test_a_test_on_one_line_has_no_place_for_a_clock() -> None:
    text = "def test_a(): assert f(2) == 4\n"
    assert planting("pytest test_a.py", {"test_a.py": text}, places=(TWIN,)) is not None
    assert planting("pytest test_a.py", {"test_a.py": text}, places=(TWIN,), quick=0.1) is None
