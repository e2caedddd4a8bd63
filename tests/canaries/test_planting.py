"""Commands with canaries: what is widened, what is left, and what carries none."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from planted import entries, planting, told

from berbench.canaries import plant
from berbench.model.changes import SYMLINK, FileEntry
from berbench.model.grading import BESIDE, INSIDE, Planting

PY = "def test_a():\n    assert 1\n"
UNIT = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n"
GO = 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n'
JEST = "test('adds', () => {\n  expect(1).toBe(1);\n});\n"
MOCHA = "describe('a', () => {\n  it('b', () => {});\n});\n"
NODE = "import test from 'node:test';\n\ntest('a', () => {});\n"
VITEST = "import { expect, test } from 'vitest';\n\ntest('a', () => {\n  expect(1).toBe(1);\n});\n"

PYTESTS = {"t/test_a.py": PY, "t/test_b.py": PY}
UNITS = {"t/test_a.py": UNIT, "t/test_b.py": UNIT}


def widened(command: str, hidden: dict[str, str]) -> str | None:
    planted = planting(command, hidden)
    return None if planted is None else told(planted)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest t/test_a.py", "pytest t/test_a.py t/NEW1.py --maxfail=0"),
        ("pytest ./t/test_a.py -x", "pytest ./t/test_a.py ./t/NEW1.py -x --maxfail=0"),
        ("pytest t", "pytest t --maxfail=0"),
        ("pytest", "pytest --maxfail=0"),
        ("pytest t/test_*.py", "pytest t/test_*.py --maxfail=0"),
        ("cd t && pytest test_a.py", "cd t && pytest test_a.py NEW1.py --maxfail=0"),
        ("(cd t && python -m pytest test_a.py)", "(cd t && python -m pytest test_a.py NEW1.py --maxfail=0)"),
        (
            "pytest t/test_a.py::test_a t/test_a.py::test_b",
            "pytest t/test_a.py::test_a t/test_a.py::test_b t/test_a.py::IN1P t/test_a.py::IN1F t/NEW1.py"
            " --maxfail=0",
        ),
        (
            "pytest t/test_a.py t/test_a.py::test_a",
            "pytest t/test_a.py t/NEW1.py t/test_a.py::test_a --maxfail=0",
        ),
        (
            "pytest -k 'a and not b' t/test_a.py",
            "pytest -k '(a and not b) or IN1P or IN1F or BY1P or BY1F' t/test_a.py t/NEW1.py --maxfail=0",
        ),
        (
            "pytest -kslow t/test_a.py",
            "pytest -k '(slow) or IN1P or IN1F or BY1P or BY1F' t/test_a.py t/NEW1.py --maxfail=0",
        ),
        ("pytest -m 'not slow' t/test_a.py", "pytest -m 'not slow' t/test_a.py t/NEW1.py --maxfail=0"),
        (
            "pytest --ignore t/x t/test_a.py > log 2>&1",
            "pytest --ignore t/x t/test_a.py t/NEW1.py --maxfail=0 > log 2>&1",
        ),
        (
            "A=1 pytest t/test_a.py && pytest t/test_b.py",
            "A=1 pytest t/test_a.py t/NEW1.py --maxfail=0 ; pytest t/test_b.py t/NEW2.py --maxfail=0",
        ),
        ("pytest -m slow t/test_a.py", None),
        ("pytest -m 'a +' t/test_a.py", None),
        ("pytest --lf t/test_a.py", None),
        ("pytest --sw t/test_a.py", None),
        ("pytest -vk a t/test_a.py", None),
        ('pytest -k "$WHAT" t/test_a.py', None),
        ("pytest $FILES", None),
        ("pytest @files.txt", None),
        ("pytest other/test_a.py", None),
        ("pytest /app/t/test_a.py", None),
        ('cd "$HERE" && pytest t/test_a.py', None),
        ("uv run --directory x pytest t/test_a.py", None),
        ("pytest t/test_a.py &", None),
        ("pytest t/test_a.py || pytest t/test_b.py", None),
        ("set -e; pytest t/test_a.py; pytest t/test_b.py", None),
        ("for f in t/*.py; do pytest $f; done", None),
        ("make test", None),
        ("npm test", None),
        ("tox -e py", None),
        ("nosetests t/test_a.py", None),
    ],
)
def test_pytest(command: str, expected: str | None) -> None:
    assert widened(command, PYTESTS) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python -m unittest t.test_a", "python -m unittest t.test_a t.NEW1"),
        ("python -m unittest t/test_a.py", "python -m unittest t/test_a.py t/NEW1.py"),
        ("python -m unittest t.test_a.T", "python -m unittest t.test_a.T t.test_a.CLASS t.NEW1"),
        ("python -m unittest -vf t.test_a", "python -m unittest -v t.test_a t.NEW1"),
        ("python -m unittest --failfast", "python -m unittest "),
        (
            "python -m unittest discover -s t -p 'test_*.py'",
            "python -m unittest discover -s t -p 'test_*.py'",
        ),
        (
            "python -m unittest -k one t.test_a",
            "python -m unittest -k one -k IN1P -k IN1F -k BY1P -k BY1F t.test_a t.NEW1",
        ),
        ("cd t; python -m unittest test_a", "cd t; python -m unittest test_a NEW1"),
        ("python -m unittest discover -s t -p '*_check.py'", None),
        ("python -m unittest other", None),
        ("python setup.py test", None),
    ],
)
def test_unittest(command: str, expected: str | None) -> None:
    assert widened(command, UNITS) == expected


def test_a_pattern_that_finds_no_new_file_leaves_canaries_inside_alone() -> None:
    planted = planting("python -m unittest discover -p test_a.py", UNITS)
    assert planted is not None
    assert {(canary.place, canary.file) for canary in planted.canaries} == {(INSIDE, "t/test_a.py")}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python manage.py test t.test_a --failfast", "python manage.py test t.test_a t.NEW1 "),
        ("python manage.py test t --parallel 2", "python manage.py test t --parallel 2"),
        (
            "python manage.py test t.test_a.T.test_a",
            "python manage.py test t.test_a.T.test_a t.test_a.CLASS t.NEW1",
        ),
        ("python manage.py test --tag fast", None),
    ],
)
def test_django(command: str, expected: str | None) -> None:
    assert widened(command, UNITS) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("go test ./a", "go test ./a"),
        ("go test ./...", "go test ./..."),
        ("cd a && go test -v", "cd a && go test -v"),
        ("go test -run TestA/sub ./a", "go test -run '^(IN1P|IN1F|BY1P|BY1F)$|TestA/sub' ./a"),
        (
            "go test ./a -run='^TestA$' -failfast",
            "go test ./a -run '^(IN1P|IN1F|BY1P|BY1F)$|^TestA$' -failfast=false",
        ),
        ("go test -run '' ./a", "go test -run '' ./a"),
        ("go test a/a.go a/a_test.go", "go test a/a.go a/a_test.go a/NEW1.go"),
        ("go test ./a -args -run x", "go test ./a -args -run x"),
        ("go test -skip TestB ./a", None),
        ("go test -c ./a", None),
        ("go test -C a .", None),
        ("go test ./b", None),
        ("go test example.com/m/a", None),
        ("go test $(go list ./...)", None),
    ],
)
def test_go(command: str, expected: str | None) -> None:
    assert widened(command, {"a/a_test.go": GO}) == expected


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a/a_windows_test.go", GO),
        ("a/a_test.go", f"//go:build ignore\n\n{GO}"),
        ("testdata/a_test.go", GO),
        ("a/a.go", GO),
    ],
)
def test_go_files_that_may_not_be_built_get_none(path: str, text: str) -> None:
    assert widened("go test ./...", {path: text}) is None


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npx jest s/a.test.js", "npx jest --bail=0 s/a.test.js s/NEW1.test.js"),
        ("npx jest", "npx jest --bail=0"),
        ("npx jest -b s", "npx jest --bail=0 s s/NEW1.test.js"),
        (
            "npx jest --bail=2 --runTestsByPath s/a.test.js",
            "npx jest --bail=0 --runTestsByPath s/a.test.js s/NEW1.test.js",
        ),
        ("npx jest -t '^adds$' s/a", "npx jest --bail=0 -t '^adds$|IN1P|IN1F|BY1P|BY1F' s/a s/NEW1.test.js"),
        ("npx jest --testPathPattern=s/a", "npx jest --bail=0 --testPathPattern=s/a s/NEW1.test.js"),
        (
            "npx jest --reporters default --coverage s",
            "npx jest --bail=0 --reporters default --coverage s s/NEW1.test.js",
        ),
        ("yarn jest s/a.test.js || true", "yarn jest --bail=0 s/a.test.js s/NEW1.test.js || true"),
        ("npx jest --reporters default s/a.test.js", "npx jest --bail=0 --reporters default s/a.test.js"),
        ("npx jest other", None),
        ("npx jest -t one -t two", None),
        ("npx jest --onlyChanged", None),
        ("npx jest --shard=1/2", None),
        ("npx jest --findRelatedTests s/a.js", None),
        ("npx jest --testPathIgnorePatterns a b -- $X", None),
    ],
)
def test_jest(command: str, expected: str | None) -> None:
    assert widened(command, {"s/a.test.js": JEST}) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npx vitest run s/a.test.ts", "npx vitest run s/a.test.ts s/NEW1.test.ts"),
        ("npx vitest run", "npx vitest run"),
        ("npx vitest run --bail 1 A.test", "npx vitest run --bail=0 A.test s/NEW1.test.ts"),
        ("npx vitest run --root s a.test.ts", "npx vitest run --root s a.test.ts NEW1.test.ts"),
        ("npx vitest -t adds --run", "npx vitest -t 'adds|IN1P|IN1F|BY1P|BY1F' --run"),
        ("npx vitest related s/a.ts", None),
        ("npx vitest run s/a.test.ts:12", None),
        ("npx vitest run --changed", None),
    ],
)
def test_vitest(command: str, expected: str | None) -> None:
    assert widened(command, {"s/a.test.ts": VITEST}) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npx mocha test/a.spec.js", "npx mocha --no-bail test/a.spec.js test/NEW1.spec.js"),
        ("npx mocha -b test", "npx mocha --no-bail test"),
        ("npx mocha 'test/**/*.spec.js'", "npx mocha --no-bail 'test/**/*.spec.js'"),
        ("npx mocha test/*.js -g 'a b'", "npx mocha --no-bail test/*.js --grep 'a b|IN1P|IN1F|BY1P|BY1F'"),
        ("npx mocha test --grep=/A/i", "npx mocha --no-bail test --grep '/A|IN1P|IN1F|BY1P|BY1F/i'"),
        ("npx mocha test -f 'a.b'", "npx mocha --no-bail test --grep 'a\\.b|IN1P|IN1F|BY1P|BY1F'"),
        ("npx mocha --recursive .", "npx mocha --no-bail --recursive ."),
        ("npx mocha .", None),
        ("npx mocha -i -g b test", None),
        ("npx mocha --ui exports test", None),
        ("npx mocha --spec test", None),
        ("npx mocha '{test,spec}/*.js'", None),
    ],
)
def test_mocha(command: str, expected: str | None) -> None:
    assert widened(command, {"test/a.spec.js": MOCHA}) == expected


def test_mocha_whose_settings_may_name_its_files_carries_canaries_inside_alone() -> None:
    planted = planting("npx mocha", {"test/a.spec.js": MOCHA})
    assert planted is not None
    assert {canary.place for canary in planted.canaries} == {INSIDE}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("node --test t/a.test.mjs", "node --test t/a.test.mjs t/NEW1.test.mjs"),
        ("node --import tsx --test", "node --import tsx --test"),
        ("node --test 't/**/*.test.mjs'", "node --test 't/**/*.test.mjs'"),
        (
            "node --test --test-name-pattern a t/a.test.mjs",
            "node --test --test-name-pattern a '--test-name-pattern=IN1P' '--test-name-pattern=IN1F' "
            "'--test-name-pattern=BY1P' '--test-name-pattern=BY1F' t/a.test.mjs t/NEW1.test.mjs",
        ),
        ("node --test --test-only", None),
        ("node --test --test-skip-pattern=a", None),
    ],
)
def test_node(command: str, expected: str | None) -> None:
    assert widened(command, {"t/a.test.mjs": NODE}) == expected


@pytest.mark.parametrize(
    ("command", "apart"),
    [
        ("pytest t/test_a.py", False),
        ("make x && cd . && A=1 pytest t/test_a.py", False),
        ("(cd t && pytest test_a.py)\n", False),
        ("pytest t/test_a.py;", False),
        ("pytest t/test_a.py && echo done", True),
        ("pytest t/test_a.py || true", True),
        ("pytest t/test_a.py | tee log", True),
        ("pytest t/test_a.py; echo $?", True),
        ("pytest t/test_a.py\npytest t/test_b.py", True),
    ],
)
def test_apart_says_that_more_hangs_on_the_exit_status(command: str, apart: bool) -> None:
    planted = planting(command, PYTESTS)
    assert planted is not None
    assert planted.apart == apart


def placed(planted: Planting) -> list[tuple[str, str]]:
    return [(canary.name, canary.file) for canary in planted.canaries]


def test_all_runs_of_a_chain_run_where_canaries_fail_and_the_chain_stays_where_none_does() -> None:
    command = "(cd t && pytest test_a.py) && (cd t && pytest test_b.py) && make && pytest u && echo done"
    hidden = {**PYTESTS, "u/test_c.py": PY}
    failing, passing = planting(command, hidden), planting(command, hidden, failing=False)
    assert failing and passing
    assert (
        failing.command.count("&&") == 4 and ") ; (" in failing.command and ") ; make &&" in failing.command
    )
    assert passing.command.count("&&") == 6
    assert placed(failing) == placed(passing)
    assert all(canary.passes for canary in passing.canaries)


def test_a_file_that_runs_twice_gets_none() -> None:
    """It would be reported twice, and that is how a forged report looks."""
    planted = planting("pytest t/test_a.py && pytest t", PYTESTS)
    assert planted is not None
    assert {canary.file for canary in planted.canaries if canary.place == INSIDE} == {"t/test_b.py"}


def test_only_the_runner_whose_report_is_read_carries_canaries() -> None:
    planted = planting("npx jest s/a.test.js && pytest t/test_a.py", {**PYTESTS, "s/a.test.js": JEST})
    assert planted is not None
    assert {canary.file.split("/")[0] for canary in planted.canaries} == {"t"}


def test_the_same_seed_gives_the_same_and_another_seed_another_planting() -> None:
    one, again, other = (planting("pytest t", PYTESTS, seed=seed) for seed in ("1a", "1a", "1b"))
    assert one and other
    assert one == again
    assert not {c.name for c in one.canaries} & {c.name for c in other.canaries}


def test_without_failures_names_and_places_are_the_same_and_the_texts_near_so() -> None:
    one, calm = planting("pytest t", PYTESTS), planting("pytest t", PYTESTS, failing=False)
    assert one and calm
    assert placed(one) == placed(calm) and one.command == calm.command
    assert all(canary.passes for canary in calm.canaries)
    for loud, quiet in zip(one.writes, calm.writes, strict=True):
        before, after = loud.data.splitlines(), quiet.data.splitlines()
        assert loud.path == quiet.path and len(before) == len(after)
        assert sum(a != b for a, b in zip(before, after, strict=True)) == 1  # the literal


def test_each_file_has_a_pair_and_at_most_three_folders_a_file_beside() -> None:
    hidden = {f"f{n}/test_a.py": PY for n in range(5)}
    planted = planting("pytest", hidden)
    assert planted is not None
    inside = [canary.file for canary in planted.canaries if canary.place == INSIDE]
    beside = [canary.file for canary in planted.canaries if canary.place == BESIDE]
    assert sorted(inside) == sorted([*hidden, *hidden])
    assert len(set(beside)) == 3 and len(beside) == 6
    assert sum(canary.passes for canary in planted.canaries) == 8


@pytest.mark.parametrize(("place", "count"), [(INSIDE, 4), (BESIDE, 2)])
def test_places_can_be_chosen(place: str, count: int) -> None:
    planted = planting("pytest t", PYTESTS, places=(place,))
    assert planted is not None
    assert {canary.place for canary in planted.canaries} == {place} and len(planted.canaries) == count


def test_a_new_file_takes_no_path_that_is_there() -> None:
    free = planting("pytest t/test_a.py", PYTESTS, places=(BESIDE,))
    assert free is not None
    (new,) = free.writes
    again = plant("pytest t/test_a.py", entries(PYTESTS), seed="5eed", places=(BESIDE,), taken=(new.path,))
    assert again is not None
    assert again.writes[0].path != new.path


def test_links_and_files_of_other_languages_get_none() -> None:
    link = FileEntry("t/test_a.py", SYMLINK, b"../a.py")
    assert plant("pytest t", {link.path: link}, seed="5eed") is None
    assert planting("pytest t", {"t/test_data.json": "{}", "t/a.test.js": JEST}) is None
    assert planting("pytest t", {}) is None


def test_the_shell_reads_names_with_spaces_whole() -> None:
    planted = planting('npx mocha test/a.spec.js -g "it\'s"', {"test/a.spec.js": MOCHA})
    assert planted is not None
    line = planted.command.replace("npx mocha", "printf '%s\\n'")
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True)
    words = done.stdout.splitlines()
    assert words == shlex.split(planted.command)[2:]
    assert words[-1] == "|".join(["it's", *(canary.name for canary in planted.canaries)])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("word", "reached"),
    [
        ("test/a", True),
        ("./test/a.test.js", True),
        (r"test/\[id\]", False),
        ("[[a]]", False),
        ("[a--z]", False),
        ("(a+)+$", False),
        ("a{99999999999}", False),
        ("(a", False),
    ],
)
def test_a_pattern_of_paths_is_tried_only_where_it_is_sure(word: str, reached: bool) -> None:
    hidden = entries({"test/a.test.js": "it('a', () => { expect(1).toBe(1) })\n"})
    found = plant(f"npx jest '{word}'", hidden, seed="ab" * 32)
    assert (found is not None) == reached
