"""Runners are found behind whatever starts them, and nowhere else."""

from __future__ import annotations

import pytest

from berbench.runners import command_warnings, runner_of
from berbench.runners.recognise import find_runners
from berbench.runners.shell import parse

FOUND = {
    "pytest": [
        "pytest tests/test_x.py",
        "python -m pytest tests",
        "python3.11 -m pytest tests",
        "python3 -W error -X dev -m pytest",
        "python -bbm pytest",
        "python -mpytest tests",
        "py.test a",
        "env -u B A=1 pytest a",
        "A=1 B=2 python -m pytest a",
        "cd sub && pytest a",
        "uv run pytest a",
        "uv run --with foo --frozen pytest a",
        "poetry run python -m pytest a",
        "hatch run pytest a",
        "pdm run pytest",
        "pipenv run pytest",
        "conda run -n env pytest a",
        ".venv/bin/pytest a",
        ".venv/bin/python -m pytest a",
        "coverage run -m pytest a",
        "python -m coverage run --source x -m pytest a",
        "coverage run --branch $(which pytest) || python -m pytest",
        "timeout 60 pytest a",
        "xvfb-run -a pytest a",
        "make build && pytest a",
        "time pytest a",
    ],
    "unittest": ["python -m unittest tests.test_x", "python -m unittest discover", "python setup.py test"],
    "django": [
        "python manage.py test app",
        "./manage.py test",
        "django-admin test",
        "python -m django test",
        "python tests/runtests.py a",
    ],
    "nose": ["nosetests a", "python -m nose a", "pynose"],
    "nose2": ["nose2 a", "python -m nose2 a"],
    "jest": [
        "npx jest a",
        "npx --no-install jest a",
        "yarn jest a",
        "yarn run jest a",
        "pnpm exec jest a",
        "pnpm jest",
        "npm exec -- jest a",
        "./node_modules/.bin/jest a",
        "node node_modules/jest/bin/jest.js a",
        "NODE_OPTIONS=--experimental-vm-modules npx jest",
        "node --experimental-vm-modules node_modules/.bin/jest a",
        "cross-env CI=1 jest a",
        "npx react-scripts test a",
    ],
    "vitest": ["npx vitest run a", "pnpm vitest", "bunx vitest"],
    "mocha": ["mocha a", "npx c8 --reporter text mocha a", "nyc mocha", "npx _mocha a"],
    "node": ["node --test a", "node --import tsx --test a", "node -r ts-node/register --test"],
    "go": ["go test ./...", "CGO_ENABLED=0 go test -v ./a", "cd a && go test ."],
    "cargo": ["cargo test", "cargo +nightly test -p a", "cargo --locked test", "cargo t"],
    "nextest": ["cargo nextest run"],
    "maven": ["mvn -q -Dtest=A test", "./mvnw verify", "mvn -B clean install"],
    "gradle": ["./gradlew test --tests A", "gradle :a:test", "./gradlew :a:integrationTest", "gradle check"],
    "ava": ["npx ava a"],
    "tap": ["npx tap a"],
    "tape": ["npx tape 'a/*.js'"],
    "phpunit": ["vendor/bin/phpunit a"],
    "rspec": ["bundle exec rspec a"],
}


@pytest.mark.parametrize(("runner", "command"), [(runner, c) for runner, cs in FOUND.items() for c in cs])
def test_found(runner: str, command: str) -> None:
    assert runner_of(command) == runner


@pytest.mark.parametrize(
    "command",
    [
        "make test",
        "tox -e py311",
        "npm test",
        "npm test -- a.js",
        "yarn test",
        "npm run test:unit",
        "go build ./...",
        "go vet",
        "cargo build",
        "python script.py",
        "python -c 'import pytest'",
        "echo pytest",
        "mvn compile",
        "gradle assemble",
        "pip install pytest",
        "node server.js",
        "for f in a; do pytest $f; done",
        "bash -c 'pytest a'",
        "",
    ],
)
def test_not_found(command: str) -> None:
    assert runner_of(command) == ""


def test_several_runners_of_a_chain_are_all_found() -> None:
    found = find_runners(parse("(cd a && go test ./x) && (cd b && go test ./y)"))
    assert [one.arguments for one in found] == [("./x",), ("./y",)]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("pytest a.py | tee log", "a pipe hides"),
        ("pytest a.py || true", "`||` lets"),
        ("pytest a.py; echo done", "`;` or a new line"),
        ("pytest a.py\necho done", "`;` or a new line"),
        ("pytest a.py &", "background"),
        ("(pytest a.py) | cat", "a pipe hides"),
        ("for f in a; do pytest $f; done", "shell program"),
        ("pytest", "whole suite"),
        ("pytest tests/", "whole suite"),
        ("go test ./...", "whole suite"),
        ("cargo test", "whole suite"),
        ("mvn test", "whole suite"),
        ("python -m unittest", "whole suite"),
        ("npx jest", "whole suite"),
        ("npm test -- a.js", "call the test runner itself"),
        ("yarn test a.js", "call the test runner itself"),
        ("npm run test:unit -- a.js", "call the test runner itself"),
    ],
)
def test_V16_what_is_unwise_is_said(command: str, words: str) -> None:
    assert any(words in warning for warning in command_warnings(command)), command_warnings(command)


@pytest.mark.parametrize(
    "command",
    [
        "python -m pytest tests/test_x.py",
        "cd a && pytest b.py",
        "(cd a && go test ./x) && (cd b && go test ./y)",
        "export A=1; pytest a.py",
        "set -e\npytest a.py",
        "npx --no-install jest a.js",
        "cargo test --test api",
        "cargo test --lib",
        "mvn -Dtest=A test",
        "./gradlew test --tests A",
        "go test ./a",
        "python manage.py test app",
        "pytest a.py -k 'b | c'",
        "python -m unittest discover -s tests -p test_x.py",
        "pytest a.py 2>&1",
    ],
)
def test_V16_plain_commands_give_no_warning(command: str) -> None:
    assert command_warnings(command) == ()
