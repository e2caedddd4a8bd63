"""Noise is deselected by the runner's own means, exactly, or not at all."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hosted import outcomes, trial_on_host

from berbench.model.trial import Outcome, TestResult
from berbench.runners import narrow

PY, GO, JS = "tests/test_x.py", "example.com/m/a", "src/a.test.js"


def narrowed(command: str, runner: str, noise: list[str], passing: list[str], file: str = "") -> str | None:
    results = [TestResult(name, Outcome.PASSED, file) for name in passing]
    results += [TestResult(name, Outcome.FAILED, file) for name in noise]
    return narrow(command, runner, noise, passing, results)


@pytest.mark.parametrize(
    ("command", "noise", "passing", "expected"),
    [
        (
            f"python -m pytest {PY}",
            [f"{PY}::test_a", f"{PY}::T::test_b[x y]"],
            [f"{PY}::test_c"],
            f"python -m pytest {PY} --deselect={PY}::test_a --deselect='{PY}::T::test_b[x y]'",
        ),
        (
            f"cd a && pytest {PY} && echo x",
            [f"{PY}::test_a"],
            [f"{PY}::test_c"],
            f"cd a && pytest {PY} --deselect={PY}::test_a && echo x",
        ),
        (f"pytest {PY} tests/b.py", ["tests/b.py"], [f"{PY}::test_a"], f"pytest {PY} --ignore=tests/b.py"),
        ("pytest tests", ["tests/b.py"], [f"{PY}::test_a"], "pytest tests --ignore=tests/b.py"),
        (f"pytest {PY}", [f"{PY}::test_a#2"], [f"{PY}::test_b"], f"pytest {PY} --deselect='{PY}::test_a#2'"),
        (f"pytest {PY}", [f"{PY}::test_a"], [f"{PY}::test_ab"], None),  # a prefix would take test_ab along
        (f"pytest {PY}", [PY], ["tests/b.py::test_a"], None),  # nothing would be named any more
        (f"pytest {PY} && pytest b.py", [f"{PY}::test_a"], [f"{PY}::test_c"], None),
        ("make test", [f"{PY}::test_a"], [f"{PY}::test_c"], None),
        (f"pytest {PY}", [], [f"{PY}::test_c"], None),
        (f"pytest {PY}", [f"{PY}::test_a"], [], None),
    ],
)
def test_pytest(command: str, noise: list[str], passing: list[str], expected: str | None) -> None:
    assert narrowed(command, "pytest", noise, passing, PY) == expected


def test_the_repeat_of_a_test_goes_with_the_test_or_not_at_all() -> None:
    again = [f"{PY}::test_a", f"{PY}::test_a#2"]
    assert (
        narrowed(f"pytest {PY}", "pytest", again, [f"{PY}::test_b"]) == f"pytest {PY} --deselect={PY}::test_a"
    )
    assert narrowed(f"pytest {PY}", "pytest", again[1:], [again[0], f"{PY}::test_b"]) is None


@pytest.mark.parametrize(
    ("command", "noise", "passing", "expected"),
    [
        (
            "go test ./a",
            ["TestA", "TestA/sub"],
            ["TestB", "TestC", "TestC/x"],
            "go test -run '^(TestB|TestC)$' ./a",
        ),
        ("go test -v ./a -run TestX", ["TestX1"], ["TestX2"], "go test -v ./a -run '^(TestX2)$'"),
        ("go test -run=TestX ./a", ["TestX1"], ["TestX2"], "go test -run '^(TestX2)$' ./a"),
        ("go test ./a", ["TestA/sub", "TestA"], ["TestA/other", "TestB"], "go test -run '^(TestB)$' ./a"),
        ("go test ./a", ["TestA"], ["TestA/other"], None),
    ],
)
def test_go(command: str, noise: list[str], passing: list[str], expected: str | None) -> None:
    assert (
        narrowed(command, "go", [f"{GO}.{n}" for n in noise], [f"{GO}.{p}" for p in passing], GO) == expected
    )


def test_go_package_that_can_not_be_built_stays() -> None:
    assert narrowed("go test ./a", "go", [GO], [f"{GO}.TestB"], GO) is None


@pytest.mark.parametrize(("runner", "flag"), [("jest", "-t"), ("vitest", "-t"), ("mocha", "--grep")])
def test_full_titles(runner: str, flag: str) -> None:
    noise = [f"{JS} > outer > adds (fast)", f"{JS} > a.b"]
    passing = [f"{JS} > outer > adds (fast) twice", f"{JS} > axb"]
    found = narrowed(f"npx {runner} {JS}", runner, noise, passing, JS)
    assert found is not None
    pattern = re.search(rf"{flag} '(.*)'$", found)
    assert pattern is not None
    assert not re.search(pattern[1], "outer adds (fast)") and not re.search(pattern[1], "a.b")
    assert re.search(pattern[1], "outer adds (fast) twice") and re.search(pattern[1], "axb")


def test_full_titles_that_are_not_alone_or_filtered_already_give_none() -> None:
    one, two = f"{JS} > a > b", f"{JS} > a b"
    assert narrowed(f"npx jest {JS}", "jest", [one], [two], JS) is None
    assert narrowed(f"npx jest -t x {JS}", "jest", [one], [f"{JS} > c"], JS) is None
    assert narrowed(f"npx jest {JS}", "jest", [JS], [f"{JS} > c"], JS) is None


@pytest.mark.parametrize(
    ("command", "noise", "passing", "expected"),
    [
        (
            "python -m unittest -v t.test_x",
            ["t.test_x.A.test_a"],
            ["t.test_x.A.test_b", "t.test_x.B.test_c"],
            "python -m unittest -v t.test_x.A.test_b t.test_x.B",
        ),
        (
            "python manage.py test app --settings s",
            ["app.tests.A.test_a (i=1)", "app.tests.A.test_a"],
            ["app.tests.B.test_b", "app.test_y.C.test_c"],
            "python manage.py test app.test_y app.tests.B --settings s",
        ),
        (
            "python -m unittest t.test_x",
            ["setUpClass (t.test_x.A)"],
            ["t.test_x.B.test_c"],
            "python -m unittest t.test_x.B",
        ),
        ("python -m unittest discover -s t", ["test_x.A.test_a"], ["test_x.A.test_b"], None),
        ("python -m unittest t/test_x.py", ["t.test_x.A.test_a"], ["t.test_x.A.test_b"], None),
        ("python -m unittest sub.test_x", ["other.A.test_a"], ["other.A.test_b"], None),
    ],
)
def test_dotted_labels(command: str, noise: list[str], passing: list[str], expected: str | None) -> None:
    runner = "django" if "manage.py" in command else "unittest"
    assert narrowed(command, runner, noise, passing) == expected


@pytest.mark.parametrize(
    ("command", "noise", "passing", "expected"),
    [
        (
            "cargo test --test api",
            ["tests/api.rs a"],
            ["tests/api.rs ab"],
            "cargo test --test api -- --exact --skip a",
        ),
        (
            "cargo test -p x -- --nocapture",
            ["tests/api.rs m::a"],
            ["src/lib.rs b"],
            "cargo test -p x -- --nocapture --exact --skip m::a",
        ),
        ("cargo test filter", ["tests/api.rs a"], ["tests/api.rs b"], None),
        ("cargo test", ["tests/api.rs a"], ["src/lib.rs a"], None),
        ("cargo test", ["doc-tests x src/lib.rs - two (line 1)"], ["src/lib.rs a"], None),
        ("cargo test", ["mylib"], ["src/lib.rs a"], None),
    ],
)
def test_cargo(command: str, noise: list[str], passing: list[str], expected: str | None) -> None:
    assert narrowed(command, "cargo", noise, passing) == expected


def test_maven_and_gradle() -> None:
    noise, passing = ["a.BTest#bad"], ["a.BTest#good", "a.BTest#good(int)[2]", "a.CTest#x"]
    assert (
        narrowed("mvn -Dtest=BTest,CTest test", "maven", noise, passing)
        == "mvn -Dtest='BTest,CTest,!BTest#bad' test"
    )
    assert narrowed("mvn -Dtest=BTest test", "maven", ["a.BTest#bad[1]"], ["a.BTest#bad[2]"]) is None
    assert narrowed("mvn -Dtest=BTest test", "maven", ["a.BTest#bad"], ["b.BTest#bad"]) is None
    assert narrowed("mvn test", "maven", noise, passing) is None
    assert narrowed("gradle :m:test --tests a.BTest", "gradle", noise, passing) == (
        "gradle :m:test --tests a.BTest.good --tests a.CTest.x"
    )


def test_the_shell_reads_a_narrowed_command_whole() -> None:
    found = narrowed(f"npx jest {JS}", "jest", [f'{JS} > it\'s $HOME "x" `y`'], [f"{JS} > z"], JS)
    assert found is not None
    line = found.replace("npx jest", "printf '%s\\n'")
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].startswith("^(?!(?:it's\\ \\$HOME")


def test_a_narrowed_pytest_really_leaves_out_the_noise_alone(tmp_path: Path) -> None:
    files = {
        "test_x.py": "import pytest\n\n@pytest.mark.parametrize('x', ['a b', 'c'])\ndef test_p(x): assert x == 'c'\n\n"
        "class T1: pass\n\nclass TestK:\n    def test_m(self): pass\n\ndef test_bad(): assert 0\n",
        "test_lost.py": "import nowhere\n",
    }
    command = "python -m pytest test_x.py test_lost.py --continue-on-collection-errors"
    _, evidence = trial_on_host(tmp_path / "wide", command, files)
    seen = outcomes(evidence)
    noise = [name for name, outcome in seen.items() if outcome != "passed"]
    passing = [name for name, outcome in seen.items() if outcome == "passed"]
    assert sorted(noise) == ["test_lost.py", "test_x.py::test_bad", "test_x.py::test_p[a b]"]
    narrower = narrow(command, "pytest", noise, passing, evidence.results)
    assert narrower is not None
    facts, again = trial_on_host(tmp_path / "narrow", narrower, files)
    assert facts.exit_code == 0
    assert sorted(outcomes(again)) == sorted(passing)
