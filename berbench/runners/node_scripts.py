"""package.json: what a script really runs, step by step, and a runner's own arguments in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import basename
from typing import Any

from berbench.model.changes import Snapshot
from berbench.runners.proposal import inside
from berbench.runners.recognise import Found, find_runners
from berbench.runners.shell import Line, Simple, parse

_DEEPEST = 6
_BUILDS = re.compile(r"(?:^|[:\-_])(?:build|compile|transpile|bundle|dist|generate|codegen|tsc)(?:$|[:\-_])")
_NO_BUILDS = re.compile(
    r"(?:^|[:\-_])(?:reset|docs?|site|website|man|types?|release|watch|demo|storybook|clean|examples?)(?:$|[:\-_])"
)
_BUILDERS = frozenset(
    {"tsc", "babel", "rollup", "webpack", "esbuild", "tsup", "swc", "vite", "microbundle", "ncc"}
)
_RUN_ALL = frozenset({"npm-run-all", "run-s", "run-p", "npm-run-all2"})


@dataclass(frozen=True, slots=True)
class Package:
    """A package.json as far as tests go."""

    folder: str
    scripts: dict[str, str]
    dependencies: dict[str, str]  # of all kinds: name → range
    module: bool  # "type": "module"
    keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class Step:
    """A simple command of a script after expansion. `build` steps make files the tests may need."""

    command: Simple
    text: str
    runner: Found | None
    build: bool


def read_package(snapshot: Snapshot, folder: str) -> Package | None:
    """The package.json of a folder, None when there is none or it is no JSON object."""
    try:
        document = json.loads(snapshot.text(inside(folder, "package.json")))
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    dependencies: dict[str, str] = {}
    for key in ("dependencies", "peerDependencies", "optionalDependencies", "devDependencies"):
        dependencies.update(_strings(document.get(key)))
    return Package(
        folder,
        _strings(document.get("scripts")),
        dependencies,
        document.get("type") == "module",
        frozenset(document),
    )


def expand(package: Package, name: str) -> tuple[Step, ...]:
    """The steps of a script and its `pre` script, scripts it runs opened; builds are kept as they are called."""
    return tuple(_expand(package, name, 0))


def _strings(value: Any) -> dict[str, str]:
    return {str(k): v for k, v in value.items() if isinstance(v, str)} if isinstance(value, dict) else {}


def _expand(package: Package, name: str, depth: int) -> Iterator[Step]:
    if depth > _DEEPEST:
        return
    for script in (f"pre{name}", name):
        line = parse(package.scripts.get(script, ""))
        for command in line.commands:
            yield from _open(package, line, command, depth)


def _open(package: Package, line: Line, command: Simple, depth: int) -> Iterator[Step]:
    called = [name for name in _called(package, command) if name in package.scripts]
    text = line.text[command.words[0].start : command.words[-1].end]
    if called and all(_BUILDS.search(name) for name in called):
        yield Step(command, text, None, build=not any(_is_extra(package, name) for name in called))
    elif called:
        for name in called:
            yield from _expand(package, name, depth + 1)
    else:
        found = find_runners(Line(line.text, (command,), line.sure))
        yield Step(command, text, found[0] if found else None, not found and _is_builder(command))


def _is_extra(package: Package, name: str) -> bool:
    """Builds of what no test needs, and scripts that ask git, which no trial's tree has."""
    return _NO_BUILDS.search(name) is not None or re.search(r"\bgit ", package.scripts[name]) is not None


def _is_builder(command: Simple) -> bool:
    texts = [word.text for word in command.words[command.assignments :]]
    return bool(texts) and basename(texts[0]) in _BUILDERS and "--noEmit" not in texts


def _called(package: Package, command: Simple) -> list[str]:
    """Names of the scripts a command runs: `npm run x`, `npm t`, `yarn x`, `run-s a b`, `npm-run-all test:*`."""
    texts = [word.text for word in command.words[command.assignments :]]
    program = basename(texts[0]) if texts else ""
    if program in _RUN_ALL:
        wanted = [text for text in texts[1:] if not text.startswith("-")]
        names = list(package.scripts)
        return [
            n for w in wanted for n in ([w] if w in package.scripts else names) if w == n or fnmatchcase(n, w)
        ]
    if program not in ("npm", "yarn", "pnpm", "bun"):
        return []
    rest = [text for text in texts[1:] if text in ("--",) or not text.startswith("-")]
    if rest[:1] in (["run"], ["run-script"]):
        rest = rest[1:]
    elif rest[:1] in (["t"], ["tst"]):
        rest = ["test"]
    elif program == "npm" and rest[:1] != ["test"]:
        return []
    return rest[:1]


@dataclass(frozen=True, slots=True)
class ArgumentRules:
    """Which arguments of a runner take a value, and which have no place in a narrow run."""

    values: frozenset[str]
    dropped: re.Pattern[str]


def _rules(values: str, dropped: str) -> ArgumentRules:
    return ArgumentRules(frozenset(values.split()), re.compile(dropped))


RULES = {
    "mocha": _rules(
        "-r --require -R --reporter -O --reporter-option --reporter-options -t --timeout --timeouts -u --ui --config "
        "--package --loader --import --extension --spec -g --grep -f --fgrep --retries -j --jobs --file --exclude "
        "--ignore --slow -s --opts --watch-files --compilers -C -n --node-option",
        r"^(?:-R|--reporter.*|-O|--spec|-g|--grep|-f|--fgrep|-w|--watch.*|--invert|-i)$",
    ),
    "jest": _rules(
        "-c --config --env --testEnvironment --rootDir --roots --selectProjects --projects --maxWorkers -w "
        "--testTimeout --setupFiles --setupFilesAfterEnv -t --testNamePattern --shard --reporters --coverageDirectory "
        "--testPathPattern --testPathPatterns --outputFile --changedSince --testPathIgnorePatterns --testRunner "
        "--coverageReporters --collectCoverageFrom --transform --preset --maxConcurrency --cacheDirectory --testMatch",
        r"^(?:--coverage.*|--collectCoverage.*|--watch.*|-t|--testNamePattern|--testPathPatterns?|--shard"
        r"|--reporters|--json|--outputFile|--changedSince|-o|--onlyChanged|--passWithNoTests|--listTests|-b|--bail"
        r"|--findRelatedTests|--runTestsByPath|-f|--onlyFailures|--updateSnapshot|-u)$",
    ),
    "vitest": _rules(
        "-c --config -r --root --dir --project --reporter --outputFile -t --testNamePattern --shard --bail "
        "--environment --pool --mode --testTimeout --maxWorkers --minWorkers --retry --exclude",
        r"^(?:--coverage.*|-w|--watch|--ui|--reporter|--outputFile.*|-t|--testNamePattern|--shard|--bail|--changed"
        r"|--passWithNoTests|-u|--update)$",
    ),
    "node": _rules(
        "-r --require --import --loader --experimental-loader -C --conditions --env-file --test-concurrency "
        "--test-timeout --test-reporter --test-reporter-destination --test-name-pattern --test-skip-pattern "
        "--test-shard --test-coverage-include --test-coverage-exclude",
        r"^(?:--watch|--test-reporter.*|--test-name-pattern|--test-skip-pattern|--test-shard|--test-only"
        r"|--experimental-test-coverage|--test-coverage.*|--test-update-snapshots)$",
    ),
    "ava": _rules(
        "--config --node-arguments --timeout -T --match -m -c --concurrency",
        r"^(?:-w|--watch|-m|--match|-u|--tap|-t)$",
    ),
    "tap": _rules(
        "-R --reporter -j --jobs -t --timeout --test-regex --coverage-report --node-arg --test-arg --plugin --files",
        r"^(?:-R|--reporter|--coverage.*|--cov|--100|--check-coverage|--watch|-w|--branches.*|--lines.*|--functions.*"
        r"|--statements.*|--show-full-coverage|--no-check-coverage|--allow-.*coverage|--files|-b|--bail)$",
    ),
    "tape": _rules("-r --require -i --ignore --ignore-pattern", r"^(?:--only)$"),
    "qunit": _rules("--require --reporter --filter --module --seed", r"^(?:--reporter|--filter|--module|--watch)$"),
}  # fmt: skip


def own_arguments(found: Found, rules: ArgumentRules) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(flags to keep, as written; positional arguments without quotes)."""
    kept: list[str] = []
    positional: list[str] = []
    words = list(found.command.words[found.at + 1 :])
    while words:
        word = words.pop(0)
        if word.text == "--":
            positional += [w.text for w in words]
            break
        if not word.text.startswith("-"):
            positional.append(word.text)
            continue
        name, glued = word.text.split("=", 1)[0], "=" in word.text
        value = [words.pop(0)] if words and not glued and name in rules.values else []
        if not rules.dropped.match(name) and all(w.plain for w in (word, *value)):
            kept += [w.raw for w in (word, *value)]
    return tuple(kept), tuple(positional)
