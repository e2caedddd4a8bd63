"""The proposed command for changed tests, in projects of every make."""

from __future__ import annotations

import json

import pytest

from berbench.model.changes import ABSENT, REGULAR, SYMLINK, Change, Snapshot
from berbench.runners import Proposal, command_warnings, propose, runner_of


def proposal(files: dict[str, str] | list[str], *changed: str, deleted: tuple[str, ...] = ()) -> Proposal:
    """For a tree of these files (contents where given) and these changed and deleted test paths."""
    contents = {name: text.encode() for name, text in files.items()} if isinstance(files, dict) else {}
    paths = tuple(dict.fromkeys((*files, *changed)))
    changes = [Change(path, REGULAR, REGULAR, "1" * 40, "2" * 40) for path in changed]
    changes += [Change(path, REGULAR, ABSENT, "1" * 40, "0" * 40) for path in deleted]
    return propose(Snapshot(paths, contents), changes)


def command(files: dict[str, str] | list[str], *changed: str) -> str:
    found = proposal(files, *changed)
    assert found.reasons
    if found.command:
        assert runner_of(found.command) == found.runner
        assert not [w for w in command_warnings(found.command) if "whole suite" not in w]
    return found.command


def package(script: str = "", **more: object) -> str:
    return json.dumps({"scripts": {"test": script} if script else {}, **more})


PYTEST = {"pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\n"}


@pytest.mark.parametrize(
    ("files", "changed", "expected"),
    [
        (PYTEST, ["tests/test_x.py"], "python -m pytest tests/test_x.py"),
        (
            PYTEST,
            ["tests/test_x.py", "tests/helpers.py", "tests/conftest.py"],
            "python -m pytest tests/test_x.py",
        ),
        (
            PYTEST,
            ["tests/a b/test_x.py", "-/test_y.py"],
            "python -m pytest 'tests/a b/test_x.py' ./-/test_y.py",
        ),
        ({"setup.cfg": "[tool:pytest]\n"}, ["test_x.py"], "python -m pytest test_x.py"),
        (
            {"tox.ini": "[testenv]\ncommands = pytest {posargs}\n"},
            ["t/test_x.py"],
            "python -m pytest t/test_x.py",
        ),
        ({"requirements-dev.txt": "pytest>=7\n"}, ["t/test_x.py"], "python -m pytest t/test_x.py"),
        ({".github/workflows/ci.yml": "run: py.test\n"}, ["t/test_x.py"], "python -m pytest t/test_x.py"),
        ({"t/conftest.py": ""}, ["t/test_x.py"], "python -m pytest t/test_x.py"),
        ({"t/test_x.py": "import pytest\n"}, ["t/test_x.py"], "python -m pytest t/test_x.py"),
        (
            {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['--cov=x', '--cov-fail-under=100']\n"},
            ["tests/test_x.py"],
            "python -m pytest --no-cov tests/test_x.py",
        ),
        (
            {"pytest.ini": "[pytest]\npython_files = check_*.py\n"},
            ["tests/check_x.py", "tests/other.py"],
            "python -m pytest tests/check_x.py",
        ),
        (
            {**PYTEST, "pkgs/a/pyproject.toml": "[project]\nname='a'\n"},
            ["pkgs/a/tests/test_x.py"],
            "cd pkgs/a && python -m pytest tests/test_x.py",
        ),
        (
            {**PYTEST, "a/setup.py": "", "b/setup.py": ""},
            ["a/tests/test_x.py", "b/tests/test_y.py"],
            "python -m pytest a/tests/test_x.py b/tests/test_y.py",
        ),
        ({"tests/__init__.py": ""}, ["tests/test_x.py"], "python -m unittest -v tests.test_x"),
        ({"setup.py": ""}, ["tests/test_x.py"], "python -m unittest discover -v -s tests -p test_x.py"),
        (
            {"setup.py": ""},
            ["tests/test_x.py", "tests/test_y.py"],
            "python -m unittest -v tests/test_x.py tests/test_y.py",
        ),
        ({"setup.py": "test_suite='nose.collector'"}, ["t/test_x.py"], "nosetests t/test_x.py"),
        ({"tox.ini": "[testenv]\ncommands = nose2 -v\n"}, ["t/test_x.py"], "nose2 t/test_x.py"),
        (["manage.py", "app/__init__.py"], ["app/tests/test_x.py"], "python manage.py test app.tests.test_x"),
        (["web/manage.py"], ["web/app/tests.py"], "cd web && python manage.py test app.tests"),
        (
            {"manage.py": "", "pytest.ini": "[pytest]\nDJANGO_SETTINGS_MODULE = s\n"},
            ["app/tests.py"],
            "python -m pytest app/tests.py",
        ),
        (
            ["django/__init__.py", "tests/runtests.py"],
            ["tests/aggregation/tests.py", "tests/queries/test_q.py"],
            "python tests/runtests.py aggregation.tests queries.test_q",
        ),
        (["runtests.py"], ["app/tests/test_x.py"], "python runtests.py app.tests.test_x"),
    ],
)
def test_python(files: dict[str, str] | list[str], changed: list[str], expected: str) -> None:
    assert command(files, *changed) == expected


def test_where_only_data_or_helpers_changed_the_tests_beside_them_run() -> None:
    tree = {**PYTEST, "tests/io/test_a.py": "", "tests/io/test_b.py": "", "tests/other/test_c.py": ""}
    assert command(tree, "tests/io/data/x.json") == "python -m pytest tests/io/test_a.py tests/io/test_b.py"
    assert command(tree, "tests/io/conftest.py") == "python -m pytest tests/io/test_a.py tests/io/test_b.py"
    assert command({**PYTEST, "x.py": ""}, "data/x.json") == ""


def test_deleted_tests_are_not_run() -> None:
    found = proposal(PYTEST, "tests/test_x.py", deleted=("tests/test_old.py",))
    assert found.command == "python -m pytest tests/test_x.py"
    only = proposal(PYTEST, deleted=("tests/test_old.py",))
    assert only.command == "" and only.reasons[0].startswith("the pull request only deletes tests, so")


def test_a_link_among_the_tests_is_not_called_deleted() -> None:
    link = Change("tests/data", ABSENT, SYMLINK, "0" * 40, "2" * 40)
    found = propose(Snapshot((), {}), [link])
    assert found.command == "" and found.reasons[0].startswith("the pull request changes only links")


def test_broken_manifests_are_read_past() -> None:
    broken = {
        "pyproject.toml": "[tool",
        "setup.cfg": "no section",
        "tox.ini": "[pytest]\n",
        "package.json": "{",
    }
    assert command(broken, "tests/test_x.py") == "python -m pytest tests/test_x.py"


NPX = "npx --no-install"


@pytest.mark.parametrize(
    ("files", "changed", "expected"),
    [
        ({"package.json": package("jest")}, ["src/a.test.js"], f"{NPX} jest src/a.test.js"),
        (
            {
                "package.json": package(
                    "cross-env NODE_OPTIONS=--experimental-vm-modules jest --coverage --config j.json src"
                )
            },
            ["src/a.test.js"],
            f"NODE_OPTIONS=--experimental-vm-modules {NPX} jest --config j.json src/a.test.js",
        ),
        (
            {
                "package.json": package(
                    "node --experimental-vm-modules node_modules/jest/bin/jest.js --runInBand"
                )
            },
            ["a.test.js"],
            "node --experimental-vm-modules node_modules/jest/bin/jest.js --runInBand a.test.js",
        ),
        (
            {"package.json": package("jest")},
            ["src/[id].test.js"],
            f"{NPX} jest --runTestsByPath 'src/[id].test.js'",
        ),
        (
            {"package.json": package("jest"), "src/a.test.jsx": ""},
            ["src/a.test.js"],
            f"{NPX} jest --runTestsByPath src/a.test.js",
        ),
        ({"package.json": package("vitest --coverage")}, ["a.test.ts"], f"{NPX} vitest run a.test.ts"),
        ({"package.json": package("vitest run")}, ["a.test.ts"], f"{NPX} vitest run a.test.ts"),
        (
            {
                "package.json": package(
                    "mocha --require ts-node/register --reporter dot --timeout 5000 'test/**/*.ts'"
                )
            },
            ["test/a.ts"],
            f"{NPX} mocha --require ts-node/register --timeout 5000 test/a.ts",
        ),
        (
            {
                "package.json": package("npm run lint && npm run build && npm run unit"),
            }
            | {
                "package.json": json.dumps(
                    {
                        "scripts": {
                            "test": "npm run lint && npm run build && npm run unit",
                            "lint": "eslint .",
                            "build": "tsc",
                            "unit": "nyc mocha -R spec test/",
                        }
                    }
                )
            },
            ["test/a.js"],
            f"npm run build && {NPX} mocha test/a.js",
        ),
        (
            {
                "package.json": json.dumps(
                    {"scripts": {"pretest": "npm run compile", "compile": "tsc -b", "test": "mocha"}}
                )
            },
            ["test/a.js"],
            f"npm run compile && {NPX} mocha test/a.js",
        ),
        (
            {
                "package.json": json.dumps(
                    {"scripts": {"test": "run-s lint test:*", "test:unit": "ava", "lint": "xo"}}
                )
            },
            ["test/a.js"],
            f"{NPX} ava test/a.js",
        ),
        (
            {"package.json": package("node --import tsx --test 'test/*.test.ts'")},
            ["test/a.test.ts"],
            "node --import tsx --test test/a.test.ts",
        ),
        (
            {"package.json": package("tsc && node --test")},
            ["test/a.test.js"],
            f"{NPX} tsc && node --test test/a.test.js",
        ),
        (
            {"package.json": package("mocha test/setup.js 'test/**/*.spec.js'"), "test/setup.js": ""},
            ["test/a.spec.js"],
            f"{NPX} mocha test/setup.js test/a.spec.js",
        ),
        (
            {"package.json": package("tap", devDependencies={"tap": "^16.0.0"})},
            ["test/a.js"],
            f"{NPX} tap --no-check-coverage test/a.js",
        ),
        (
            {"package.json": package("tap", devDependencies={"tap": "^18.1.0"})},
            ["test/a.js"],
            f"{NPX} tap --allow-incomplete-coverage test/a.js",
        ),
        ({"package.json": package("tape 'test/*.js'")}, ["test/a.js"], f"{NPX} tape test/a.js"),
        (
            {"package.json": package("grunt test", devDependencies={"mocha": "1"})},
            ["test/a.js"],
            f"{NPX} mocha test/a.js",
        ),
        (
            {"package.json": package(), "a.test.mjs": "import test from 'node:test'"},
            ["a.test.mjs"],
            "node --test a.test.mjs",
        ),
        (
            {
                "package.json": package("jest", devDependencies={"vitest": "1"}),
                "a.test.ts": "import { it } from 'vitest'",
            },
            ["a.test.ts"],
            f"{NPX} vitest run a.test.ts",
        ),
        (
            {"package.json": package("lerna run test"), "packages/a/package.json": package("jest")},
            ["packages/a/test/x.test.js"],
            f"cd packages/a && {NPX} jest test/x.test.js",
        ),
        (
            {"package.json": package("jest"), "packages/a/package.json": package()},
            ["packages/a/test/x.test.js"],
            f"{NPX} jest packages/a/test/x.test.js",
        ),
        (
            {"a/package.json": package("jest"), "b/package.json": package("jest")},
            ["a/x.test.js", "b/y.test.js"],
            f"(cd a && {NPX} jest x.test.js) && (cd b && {NPX} jest y.test.js)",
        ),
        ({"package.json": package("jest"), ".pnp.cjs": ""}, ["a.test.js"], "yarn jest a.test.js"),
        (
            {"package.json": package("jest"), "src/a.test.js": ""},
            ["src/__snapshots__/a.test.js.snap"],
            f"{NPX} jest src/a.test.js",
        ),
        (
            {"package.json": package("jest")},
            ["test/fixtures/a.js", "test/b.test.js"],
            f"{NPX} jest test/b.test.js",
        ),
        (
            {"package.json": package("tsc && mocha dist/test/*.js")},
            ["test/a.test.ts"],
            f"{NPX} tsc && {NPX} mocha 'dist/test/*.js'",
        ),
        ({"package.json": package("make test")}, ["test/a.js"], ""),
        ({"x.txt": ""}, ["test/a.test.js"], ""),
    ],
)
def test_node(files: dict[str, str], changed: list[str], expected: str) -> None:
    assert command(files, *changed) == expected


def test_a_script_that_chains_several_runners_gives_the_one_for_the_changed_test() -> None:
    scripts = {"test": "npm run unit && npm run e2e", "unit": "mocha unit/", "e2e": "jest e2e/"}
    files = {"package.json": json.dumps({"scripts": scripts})}
    assert command(files, "e2e/a.test.js") == f"{NPX} jest e2e/a.test.js"
    assert command(files, "unit/a.test.js") == f"{NPX} mocha unit/a.test.js"


def test_builds_of_documents_and_scripts_that_ask_git_are_left_out() -> None:
    scripts = {
        "test": "npm run build:reset && npm run build:docs && npm run build && npm run unit",
        "build:reset": "git checkout upstream/main lib",
        "build:docs": "node docs.js",
        "build": "esbuild src",
        "unit": "node --test test/unit/*.test.js",
    }
    files = {"package.json": json.dumps({"scripts": scripts})}
    assert command(files, "test/unit/a.test.js") == "npm run build && node --test test/unit/a.test.js"


def test_changed_data_runs_the_script_file_that_reads_it() -> None:
    scripts = {
        "test": "npm run specs && npm run unit",
        "specs": "node --test test/run.js",
        "unit": "node --test test/unit/*.test.js",
    }
    files = {"package.json": json.dumps({"scripts": scripts}), "test/run.js": "", "test/unit/a.test.js": ""}
    assert command(files, "test/specs/new/a.md") == "node --test test/run.js"
    assert command(files, "test/specs/redos/a.cjs") == "node --test test/run.js"


def test_a_file_named_like_a_helper_is_a_test_where_the_script_runs_its_folder() -> None:
    files = {"package.json": package("mocha test/"), "test/a.js": ""}
    assert command(files, "test/utils.js") == f"{NPX} mocha test/utils.js"
    assert command(files, "test/utils.js", "test/a.js") == f"{NPX} mocha test/a.js"
    assert command(files, "test/support/utils.js") == f"{NPX} mocha test/a.js"


def test_a_tap_snapshot_runs_the_test_it_belongs_to() -> None:
    files = {"package.json": package("tap"), "test/bin/semver.js": ""}
    assert command(files, "tap-snapshots/test/bin/semver.js.test.cjs") == f"{NPX} tap test/bin/semver.js"


def test_scripts_that_call_each_other_end() -> None:
    scripts = {"test": "npm run a", "a": "npm run b", "b": "npm run a"}
    assert command({"package.json": json.dumps({"scripts": scripts})}, "test/a.js") == ""


@pytest.mark.parametrize(
    ("files", "changed", "expected"),
    [
        (["go.mod"], ["a_test.go"], "go test ."),
        (["go.mod"], ["a/x_test.go", "a/y_test.go", "b/z_test.go"], "go test ./a ./b"),
        (["go.mod", "sub/go.mod"], ["sub/a/x_test.go"], "cd sub && go test ./a"),
        (
            ["go.mod", "sub/go.mod"],
            ["a/x_test.go", "sub/x_test.go"],
            "(go test ./a) && (cd sub && go test .)",
        ),
        ({"go.mod": "", "a/a_test.go": ""}, ["a/testdata/x.go"], "go test ./a"),
        (
            {"go.mod": "", "a/x_test.go": "//go:build integration\n\npackage a\n"},
            ["a/x_test.go"],
            "go test -tags integration ./a",
        ),
        ({"go.mod": "", "a/x_test.go": "//go:build linux\n\npackage a\n"}, ["a/x_test.go"], "go test ./a"),
    ],
)
def test_go(files: dict[str, str] | list[str], changed: list[str], expected: str) -> None:
    assert command(files, *changed) == expected


CRATE = '[package]\nname = "mylib"\n'


@pytest.mark.parametrize(
    ("files", "changed", "expected"),
    [
        ({"Cargo.toml": CRATE}, ["tests/api.rs"], "cargo test --offline --test api"),
        ({"Cargo.toml": CRATE}, ["tests/api.rs", "tests/b.rs"], "cargo test --offline --test api --test b"),
        ({"Cargo.toml": CRATE, "src/lib.rs": ""}, ["src/a/tests.rs"], "cargo test --offline --lib"),
        ({"Cargo.toml": CRATE, "src/main.rs": ""}, ["src/a/tests.rs"], "cargo test --offline --bins"),
        ({"Cargo.toml": CRATE, "tests/it/main.rs": ""}, ["tests/it/a.rs"], "cargo test --offline --test it"),
        ({"Cargo.toml": CRATE}, ["tests/common/mod.rs"], "cargo test --offline --tests"),
        (
            {"Cargo.toml": CRATE + '[[test]]\nname = "odd"\npath = "tests/strange/x.rs"\n'},
            ["tests/strange/x.rs"],
            "cargo test --offline --test odd",
        ),
        (
            {
                "Cargo.toml": "[workspace]\nmembers = ['crates/*']\n",
                "crates/a/Cargo.toml": CRATE.replace("mylib", "a"),
            },
            ["crates/a/tests/api.rs"],
            "cargo test --offline -p a --test api",
        ),
        (
            {"a/Cargo.toml": CRATE},
            ["a/tests/api.rs"],
            "cargo test --offline --manifest-path a/Cargo.toml --test api",
        ),
        (
            {"Cargo.toml": CRATE, ".github/workflows/ci.yml": "run: cargo test --all-features\n"},
            ["tests/api.rs"],
            "cargo test --offline --all-features --test api",
        ),
    ],
)
def test_cargo(files: dict[str, str], changed: list[str], expected: str) -> None:
    assert command(files, *changed) == expected


@pytest.mark.parametrize(
    ("files", "changed", "expected"),
    [
        (
            ["pom.xml"],
            ["src/test/java/a/BTest.java", "src/test/java/a/CIT.java"],
            "mvn -B -o -Dtest=BTest,CIT test",
        ),
        (
            ["pom.xml", "core/pom.xml"],
            ["core/src/test/java/a/BTest.java"],
            "mvn -B -o -pl core -am -Dtest=BTest -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false test",
        ),
        (
            ["build.gradle", "gradlew"],
            ["src/test/java/a/BTest.java"],
            "./gradlew --offline :test --tests a.BTest",
        ),
        (
            ["settings.gradle", "m/n/build.gradle.kts"],
            ["m/n/src/test/kotlin/a/BTest.kt"],
            "gradle --offline :m:n:test --tests a.BTest",
        ),
        (
            ["build.gradle"],
            ["src/integrationTest/java/a/BTest.java"],
            "gradle --offline :integrationTest --tests a.BTest",
        ),
        (["x"], ["src/test/java/a/BTest.java"], ""),
    ],
)
def test_jvm(files: list[str], changed: list[str], expected: str) -> None:
    assert command(files, *changed) == expected


def test_the_language_of_most_changed_tests_decides_and_the_rest_is_named() -> None:
    found = proposal(
        {**PYTEST, "package.json": package("jest")}, "tests/test_a.py", "tests/test_b.py", "js/a.test.js"
    )
    assert found.runner == "pytest"
    assert found.reasons[-1] == "changed tests in node are not run by it"


def test_an_unknown_language_gives_a_reason_and_no_command() -> None:
    found = proposal(["x.zig"], "test/a.zig")
    assert found == Proposal("", "", ("no language with a known test runner among the changed tests",))
