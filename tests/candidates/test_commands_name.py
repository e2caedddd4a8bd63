"""What command lines name: files, the programs behind scripts, the folders that count."""

from __future__ import annotations

import json

import pytest

from berbench.candidates import Commands, read_commands

FILES: dict[str, bytes] = {
    "package.json": json.dumps(
        {
            "scripts": {
                "pretest": "eslint lib/index.js",
                "test": "node tools/x.js --cfg=ci/run && npm run unit",
                "unit": "mocha -r ./lib/setup lib/**/*.test.js",
                "unrelated": "node tools/other.js",
            }
        }
    ).encode(),
    "pk/package.json": b'{"scripts": {"test": "node t.js", "loop": "npm run loop && node loop.js"}}',
    "broken/package.json": b'{"scripts": [',
    "scripts/test.sh": b"exec make check\ncmake -B build\n",
    "scripts/run.py": b"",
    "ci/run": b"#!/usr/bin/env bash\ncargo test\n",
    "ci/binary": b"\x7fELF make rake",
    "Makefile": b"t:\n\tgradle test\n",
    "lib/index.js": b"",
    "lib/setup.js": b"",
    "tools/x.js": b"",
    "tools/other.js": b"",
    "pk/t.js": b"",
    "pk/loop.js": b"",
    "src/pkg/mod.py": b"",
    "src/main.c": b"",
    "manage.py": b"",
    "proj/settings.py": b"",
    "tests/test_a.py": b"",
}


def read(*lines: str) -> Commands:
    return read_commands(lines, FILES.keys(), FILES.get)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("./scripts/test.sh", "scripts/test.sh"),
        ("sh scripts/test.sh --fast", "scripts/test.sh"),
        ("sh < scripts/test.sh", "scripts/test.sh"),
        ("cd scripts && sh test.sh", "scripts/test.sh"),
        ("bash -lc 'cd scripts; ./test.sh'", "scripts/test.sh"),
        ("if true; then ./ci/run; fi", "ci/run"),
        ("/testbed/scripts/test.sh", "scripts/test.sh"),
        ("A=1 env B=2 python scripts/run.py", "scripts/run.py"),
        ("python -m scripts.run", "scripts/run.py"),
        ("python3.11 -Im scripts.run", "scripts/run.py"),
        ("pytest -p scripts.run tests/test_a.py", "scripts/run.py"),
        ("pytest -c=ci/run", "ci/run"),
        ("pytest tests/test_a.py::test_x", "tests/test_a.py"),
        ("DJANGO_SETTINGS_MODULE=proj.settings python manage.py test", "proj/settings.py"),
        ("python manage.py test --settings=proj.settings", "manage.py"),
        ("python manage.py test --settings proj.settings", "proj/settings.py"),
        ("NODE_OPTIONS='--require ./lib/setup.js' jest", "lib/setup.js"),
        ("mocha -r ./lib/setup", "lib/setup.js"),
        ("npm test", "tools/x.js"),
        ("npm test", "ci/run"),
        ("npm test", "lib/setup.js"),
        ("yarn run unit", "lib/setup.js"),
        ("run-s un*", "lib/setup.js"),
        ("cd pk && npm t", "pk/t.js"),
        ("npm --prefix pk test", "pk/t.js"),
        ("cd pk && npm run loop", "pk/loop.js"),
    ],
)
def test_files_are_named(line: str, named: str) -> None:
    assert named in read(line).files


@pytest.mark.parametrize(
    ("line", "free"),
    [
        ("gcc -o t src/main.c && ./t", "src/main.c"),
        ("clang-15 src/main.c", "src/main.c"),
        ("npm test", "lib/index.js"),  # a linter reads it
        ("npm test", "tools/other.js"),
        ("npm run nothing", "tools/other.js"),
        ("pytest -m run scripts", "scripts/run.py"),  # pytest's -m is no module
        ("python -m pytest -m mod src", "src/mod.py"),
        ("jest lib/setup", "lib/setup.js"),  # a pattern of test names
        ("pytest src/pkg tests", "src/pkg/mod.py"),
        ("cd broken && npm test", "pk/t.js"),
    ],
)
def test_code_under_test_is_not_named(line: str, free: str) -> None:
    assert free not in read(line).files


def test_folders_are_no_files() -> None:
    assert not {"src", "src/pkg", "tests"} & read("pytest src/pkg tests src").files


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("make -j2 check", "gradle"),
        ("./scripts/test.sh", "cmake"),
        ("./ci/run", "cargo"),
        ("npm test", "mocha"),
        ("/usr/bin/rake test", "rake"),
        ("while true; do mvn test; done", "mvn"),
    ],
)
def test_programs_behind_scripts_are_known(line: str, program: str) -> None:
    assert program in read(line).programs


def test_programs_are_not_read_out_of_binaries() -> None:
    assert "rake" not in read("./ci/binary").programs


def test_folders_that_python_looks_in() -> None:
    found = read("cd pk && PYTHONPATH=../lib:inner python -m pytest", "pytest").folders
    assert found == {"pk", "lib", "pk/inner"}


@pytest.mark.parametrize(
    "line", ["", "'", "$(", "cd ..", "cd / && x", "npm run \0", "\udcff", "((((", "a <", "cd"]
)
def test_odd_lines_are_read(line: str) -> None:
    assert isinstance(read(line), Commands)
