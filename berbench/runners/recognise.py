"""Finds the test runners in a command line, behind whatever starts them.

`env X=1`, `python -m`, `uv run`, `poetry run`, `npx`, `pnpm exec`, `yarn`, `node_modules/.bin/`, `coverage run`,
`cross-env` and their like are looked through. `npm test`, `make` and `tox` are not: what they run is elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from posixpath import basename

from berbench.runners.shell import Line, Simple, parse

_PYTHON = re.compile(r"(?:python|pypy)(?:\d+(?:\.\d+)*)?$|py$")
_PYTHON_VALUE_FLAGS = frozenset({"-W", "-X", "-Q", "--check-hash-based-pycs"})
_RUN_PROGRAMS = frozenset(
    ["uv", "poetry", "pdm", "pipenv", "rye", "hatch", "conda", "mamba", "micromamba", "pixi"]
)
_RUN_VALUE_FLAGS = frozenset(
    [
        "--with",
        "--group",
        "--extra",
        "--python",
        "-p",
        "--project",
        "--directory",
        "-C",
        "--package",
        "--env-file",
        "--only-group",
        "--no-group",
        "--with-requirements",
        "--with-editable",
        "-n",
        "--name",
        "--prefix",
        "-e",
        "--environment",
        "--index-url",
    ]
)
_PLAIN_PREFIXES = frozenset(
    ["time", "exec", "command", "nohup", "catchsegv", "dbus-run-session", "xvfb-run", "ionice", "unbuffer"]
)
_NODE_STARTERS = frozenset(["npx", "bunx", "pnpx"])
_PACKAGE_MANAGERS = frozenset(["npm", "pnpm", "yarn", "bun"])
_NODE_VALUE_FLAGS = frozenset(
    [
        "-r",
        "--require",
        "--import",
        "--loader",
        "--experimental-loader",
        "--conditions",
        "-C",
        "--env-file",
        "--max-old-space-size",
        "--test-reporter",
        "--test-reporter-destination",
        "--test-name-pattern",
        "--test-concurrency",
        "--test-timeout",
        "--test-skip-pattern",
        "--test-shard",
        "--input-type",
        "--title",
    ]
)

# Programs that are a runner by their own name; `flag_after` words that must follow are in _SUBCOMMANDS.
PROGRAMS = {
    "pytest": "pytest",
    "py.test": "pytest",
    "unit2": "unittest",
    "nosetests": "nose",
    "nosetests3": "nose",
    "pynose": "nose",
    "nose2": "nose2",
    "jest": "jest",
    "vitest": "vitest",
    "mocha": "mocha",
    "_mocha": "mocha",
    "ava": "ava",
    "tap": "tap",
    "tape": "tape",
    "qunit": "qunit",
    "phpunit": "phpunit",
    "rspec": "rspec",
    "ctest": "ctest",
}
_MODULES = {
    "pytest": "pytest",
    "py.test": "pytest",
    "unittest": "unittest",
    "unittest2": "unittest",
    "nose": "nose",
    "pynose": "nose",
    "nose2": "nose2",
}
_SUBCOMMANDS = {
    ("go", "test"): "go",
    ("cargo", "test"): "cargo",
    ("cargo", "t"): "cargo",
    ("django-admin", "test"): "django",
    ("react-scripts", "test"): "jest",
    ("deno", "test"): "deno",
    ("bun", "test"): "bun",
}
_MAVEN_GOALS = frozenset(
    ["test", "verify", "install", "package", "integration-test", "surefire:test", "failsafe:integration-test"]
)


@dataclass(frozen=True, slots=True)
class Found:
    """A runner in a simple command. Flags may be inserted right after word `at`; its arguments start at `at + 1`."""

    runner: str
    command: Simple
    at: int

    @property
    def insert_at(self) -> int:
        """Offset in the command text right after the runner's own words."""
        return self.command.words[self.at].end

    @property
    def arguments(self) -> tuple[str, ...]:
        """The runner's arguments without quotes."""
        return tuple(word.text for word in self.command.words[self.at + 1 :])


def find_runners(line: Line) -> tuple[Found, ...]:
    """Every runner of a line that is read for sure, in order."""
    if not line.sure:
        return ()
    found = (_recognise(command) for command in line.commands)
    return tuple(one for one in found if one is not None)


def runner_of(command: str) -> str:
    """Row name of the command's test runner (its last, where several are chained), "" when none is known."""
    found = find_runners(parse(command))
    return found[-1].runner if found else ""


def _recognise(command: Simple) -> Found | None:
    texts = [word.text for word in command.words]
    at = 0
    for _ in range(len(texts) + 1):  # each round looks through one starter
        if at >= len(texts):
            return None
        result = _step(texts, at)
        if result is None:
            return None
        runner, at = result
        if runner:
            return Found(runner, command, at)
    return None


def _step(texts: list[str], at: int) -> tuple[str, int] | None:
    """(runner, index of its last own word), or ("", index to go on from), or None for a dead end."""
    program = basename(texts[at])
    following = texts[at + 1] if at + 1 < len(texts) else ""
    if re.match(r"[A-Za-z_]\w*\+?=", texts[at]):
        return "", at + 1
    if program in PROGRAMS:
        return PROGRAMS[program], at
    if (program, following) in _SUBCOMMANDS:
        return _SUBCOMMANDS[program, following], at + 1
    if program == "cargo":
        return _cargo(texts, at)
    if _PYTHON.match(program):
        return _python(texts, at + 1)
    if program in ("manage.py", "runtests.py"):
        return _python_script(texts, at)
    if program in ("node", "nodejs"):
        return _node(texts, at)
    if program in ("mvn", "mvnw", "mvnd"):
        return ("maven", at) if _MAVEN_GOALS & set(texts[at + 1 :]) else None
    if program in ("gradle", "gradlew"):
        return (
            ("gradle", at)
            if any(re.search(r"(?:^|:)(?:\w*[tT]est|check|build)$", t) for t in texts[at + 1 :])
            else None
        )
    return _starter(texts, at, program, following)


def _starter(texts: list[str], at: int, program: str, following: str) -> tuple[str, int] | None:
    if program in ("env", "cross-env", "cross-env-shell"):
        return "", _skip_flags(texts, at + 1, frozenset({"-u", "--unset", "-C", "--chdir"}))
    if program in _PLAIN_PREFIXES:
        return "", _skip_flags(texts, at + 1, frozenset({"-n", "-s", "--server-args", "-c"}))
    if program in ("nice", "stdbuf"):
        return "", _skip_flags(texts, at + 1, frozenset({"-n", "-i", "-o", "-e"}))
    if program == "timeout":
        return "", _skip_flags(texts, at + 1, frozenset({"-k", "-s", "--kill-after", "--signal"})) + 1
    if program in _RUN_PROGRAMS and following in ("run", "--"):
        return "", _skip_flags(texts, at + 2, _RUN_VALUE_FLAGS)
    if program == "bundle" and following == "exec":
        return "", at + 2
    if program == "coverage" and following == "run":
        return _coverage(texts, at + 2)
    if program in ("c8", "nyc"):
        return "", _skip_flags(
            texts, at + 1, frozenset({"-r", "--reporter", "-x", "--exclude", "-n", "--include"})
        )
    if program in _NODE_STARTERS:
        return "", _skip_flags(texts, at + 1, frozenset({"-p", "--package"}))
    if program in _PACKAGE_MANAGERS:
        return _package_manager(texts, at, following)
    return None


def _package_manager(texts: list[str], at: int, following: str) -> tuple[str, int] | None:
    """`yarn jest`, `pnpm exec jest`, `npm exec -- jest`: binaries. `npm test` and other scripts: a dead end."""
    start = at + 2 if following in ("exec", "x", "dlx", "run", "node") else at + 1
    start = _skip_flags(
        texts, start, frozenset({"-C", "--dir", "--cwd", "--filter", "-F", "-w", "--workspace"})
    )
    if start < len(texts) and (
        basename(texts[start]) in PROGRAMS or following in ("exec", "x", "dlx", "node")
    ):
        # `pnpm tap` may be a script of that name, and is the same runner then; `yarn test` never is.
        return ("", start) if following != "node" else _node(texts, start - 1)
    return None


def _skip_flags(texts: list[str], at: int, value_flags: frozenset[str]) -> int:
    """Index of the first word that is neither a flag, a flag's value, nor the first `--`."""
    while at < len(texts) and texts[at].startswith("-"):
        if texts[at] == "--":
            return at + 1
        at += 2 if texts[at] in value_flags else 1
    return at


def _python(texts: list[str], at: int) -> tuple[str, int] | None:
    while at < len(texts) and texts[at].startswith("-"):
        if texts[at] == "-c":
            return None
        # `-m` may be glued to other one-letter flags: `-Im pytest`, `-bbm pytest`
        if re.fullmatch(r"-[bBdEhiIOqsSuvx]*m", texts[at]):
            return _python_module(texts, at + 1)
        if re.fullmatch(r"-m\w.*", texts[at]):
            return (_MODULES[texts[at][2:]], at) if texts[at][2:] in _MODULES else None
        at += 2 if texts[at] in _PYTHON_VALUE_FLAGS else 1
    return _python_script(texts, at)


def _python_module(texts: list[str], at: int, *, measured: bool = False) -> tuple[str, int] | None:
    """What `-m` runs; `measured` is below `coverage run`, which is not run by itself."""
    if at >= len(texts):
        return None
    module = texts[at]
    following = texts[at + 1] if at + 1 < len(texts) else ""
    if module in _MODULES:
        return _MODULES[module], at
    if module == "django" and following == "test":
        return "django", at + 1
    if module == "coverage" and following == "run" and not measured:
        return _coverage(texts, at + 2)
    return None


def _coverage(texts: list[str], at: int) -> tuple[str, int] | None:
    values = frozenset(
        {"--source", "--omit", "--include", "--rcfile", "--context", "--data-file", "--concurrency"}
    )
    while at < len(texts) and texts[at].startswith("-"):
        if texts[at] in ("-m", "--module"):
            return _python_module(texts, at + 1, measured=True)
        at += 2 if texts[at] in values else 1
    return (
        _step(texts, at) if at < len(texts) and basename(texts[at]) in PROGRAMS else _python_script(texts, at)
    )


def _python_script(texts: list[str], at: int) -> tuple[str, int] | None:
    if at >= len(texts):
        return None
    name = basename(texts[at])
    if name == "manage.py":
        # `manage.py --settings x test` is legal, and so is `manage.py test`
        for index in range(at + 1, len(texts)):
            if texts[index] == "test":
                return "django", index
        return None
    if name == "runtests.py":
        return "django", at
    if name == "setup.py" and "test" in texts[at + 1 :]:
        return "unittest", len(texts) - 1
    return (PROGRAMS[name], at) if name in PROGRAMS else None


def _node(texts: list[str], at: int) -> tuple[str, int] | None:
    """`node --test …`, or node running another runner's script: `node node_modules/.bin/jest`."""
    index = at + 1
    while index < len(texts) and texts[index].startswith("-"):
        if texts[index] == "--test":
            return "node", at
        index += 2 if texts[index] in _NODE_VALUE_FLAGS else 1
    if index >= len(texts):
        return None
    name = re.sub(r"\.[cm]?js$", "", basename(texts[index]))
    return (PROGRAMS[name], index) if name in PROGRAMS and "node_modules/" in texts[index] else None


def _cargo(texts: list[str], at: int) -> tuple[str, int] | None:
    """`cargo +nightly test`, `cargo nextest run`, `cargo --locked test`."""
    index = at + 1
    while index < len(texts) and texts[index].startswith(("-", "+")):
        index += 2 if texts[index] in ("--config", "--color", "-C", "-Z") else 1
    if index < len(texts) and texts[index] in ("test", "t"):
        return "cargo", index
    if texts[index : index + 2] == ["nextest", "run"]:
        return "nextest", index + 1
    return None
