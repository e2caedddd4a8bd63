"""jest, vitest, mocha, ava, tap, node --test: the runner inside a package's `test` script, called by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import basename, dirname, splitext

from berbench.model.changes import Snapshot
from berbench.runners.node_scripts import RULES, Package, Step, expand, own_arguments, read_package
from berbench.runners.proposal import (
    Proposal,
    ancestors,
    files,
    files_beside,
    inside,
    quoted,
    relative,
    within,
)
from berbench.runners.recognise import PROGRAMS, Found
from berbench.runners.shell import quote

_SCRIPT = frozenset({".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"})
_NO_TESTS = frozenset(
    {"fixtures", "__fixtures__", "fixture", "helpers", "helper", "support", "mocks", "__mocks__", "data"}
    | {"utils", "util", "__snapshots__", "tap-snapshots"}
)
_NAMED = re.compile(r"[.\-_](?:test|spec|tests|specs)$|^(?:test|spec|tests)$|^(?:test|spec)[.\-_]")
_HELPER = re.compile(r"(?:^|[.\-_])(?:helpers?|setup|teardown|utils?|common|config|bootstrap)$")
_BY_IMPORT = re.compile(
    r"""(?:from|require\(|import)\s*['"](vitest|node:test|ava|tap|tape|@jest/globals|qunit|mocha)['"]"""
)
_BY_DEPENDENCY = ("vitest", "jest", "mocha", "ava", "tap", "tape", "qunit")
_COMPILED = re.compile(r"^(?:\./)?(?:dist|build|lib|out|\.tmp|tmp|compiled|cjs|es|esm)[\w.\-]*/")
_REGEX_SPECIAL = re.compile(r"[()\[\]{}+*?^$|\\]")


@dataclass(frozen=True, slots=True)
class _Call:
    """A runner as a package calls it."""

    runner: str
    head: str  # assignments and the program, with its launcher
    flags: tuple[str, ...]
    positional: tuple[str, ...]
    builds: tuple[str, ...]
    reason: str


def propose_node(snapshot: Snapshot, changed: tuple[str, ...]) -> Proposal:
    """The command for changed JavaScript or TypeScript tests, in the package that holds them."""
    named = dict.fromkeys(test for path in changed if (test := _test_of(snapshot, path)))
    tests = tuple(test for test in named if _is_run(snapshot, test))
    tests = tests or tuple(
        path for path in changed if _HELPER.search(_stem(path)) and _is_reached(snapshot, path)
    )
    reasons = [f"runs the {files(len(tests))}"]
    if not tests:
        tests = _script_files(snapshot, changed) or files_beside(snapshot, changed, _is_test)
        reasons = ["only helpers or data changed: runs the tests that use them"]
    if not tests:
        return Proposal("", "", ("no test file is near the changed files",))
    homes: dict[str, list[str]] = {}
    calls: dict[str, _Call] = {}
    for test in tests:
        found = _find_call(snapshot, test)
        if found is None:
            return Proposal("", "", (f"no known test runner serves {test}",))
        folder, call = found
        homes.setdefault(folder, []).append(test)
        calls[folder] = call
    commands = [
        (folder, _command(snapshot, calls[folder], folder, homes[folder])) for folder in sorted(homes)
    ]
    reasons += dict.fromkeys(calls[folder].reason for folder in sorted(homes))
    runner = calls[commands[0][0]].runner
    if len(commands) == 1:
        return Proposal(within(*commands[0]), runner, tuple(reasons))
    return Proposal(
        " && ".join(f"({within(*one)})" for one in commands), runner, (*reasons, "several packages hold them")
    )


def _is_test(path: str) -> bool:
    """By its name, or by a folder of tests that is not one of helpers."""
    stem, extension = splitext(basename(path))
    folders = set(dirname(path).split("/"))
    if extension not in _SCRIPT or stem.endswith(".d") or _NO_TESTS & folders:
        return False
    if _NAMED.search(stem):
        return True
    return bool({"__tests__", "test", "tests", "spec", "specs"} & folders) and not _HELPER.search(stem)


def _test_of(snapshot: Snapshot, path: str) -> str:
    """The test file itself, or the one a snapshot belongs to; "" for helpers and data."""
    if path.endswith(".snap"):
        owner = inside(dirname(dirname(path)), basename(path).removesuffix(".snap"))
    elif "tap-snapshots/" in path:
        owner = re.sub(r"\.test\.c?js$", "", path.replace("tap-snapshots/", "", 1))
    else:
        return path if _is_test(path) else ""
    return owner if owner in snapshot.paths else ""


def _is_run(snapshot: Snapshot, test: str) -> bool:
    """Whether the script's own paths and globs reach a file that its folder alone makes a test."""
    if _NAMED.search(_stem(test)):
        return True
    found = _find_call(snapshot, test)
    if found is None or not found[1].positional or all(_COMPILED.match(word) for word in found[1].positional):
        return True
    return _is_reached(snapshot, test)


def _is_reached(snapshot: Snapshot, path: str) -> bool:
    """Whether the script names the file, a folder above it, or a glob for it: `test/utils.js` may hold tests."""
    if splitext(path)[1] not in _SCRIPT or _NO_TESTS & set(dirname(path).split("/")):
        return False
    found = _find_call(snapshot, path)
    if found is None:
        return False
    (inner,) = relative((path,), found[0])
    return any(_reaches(word.removeprefix("./"), inner) for word in found[1].positional)


def _stem(path: str) -> str:
    return splitext(basename(path))[0]


def _reaches(word: str, path: str) -> bool:
    if "{" in word or "(" in word:
        return True  # alternatives are not read here
    folder = word.rstrip("/") + "/"
    return path.startswith(folder) or fnmatchcase(path, word) or fnmatchcase(path, word.replace("**/", ""))


def _script_files(snapshot: Snapshot, changed: tuple[str, ...]) -> tuple[str, ...]:
    """Files that a test script names and that stand above changed data: they read it, as spec runners do."""
    found: dict[str, None] = {}
    for path in changed:
        for folder in ancestors(path):
            package = read_package(snapshot, folder)
            for step in expand(package, "test") if package else ():
                if step.runner is None or step.runner.runner not in RULES:
                    continue
                _, positional = own_arguments(step.runner, RULES[step.runner.runner])
                for name in (inside(folder, word.removeprefix("./")) for word in positional):
                    above = dirname(name)
                    if name in snapshot.paths and above and path.startswith(f"{above}/"):
                        found[name] = None
    return tuple(found)


def _find_call(snapshot: Snapshot, test: str) -> tuple[str, _Call] | None:
    """The innermost package above a test that says how to run it."""
    packages = [p for folder in ancestors(test) if (p := read_package(snapshot, folder)) is not None]
    wanted = _wanted(snapshot, test)
    for package in packages:
        if call := _by_script(snapshot, package, wanted, test):
            return package.folder, call
        if call := _by_dependency(snapshot, package, wanted):
            return package.folder, call
    if packages and wanted == "node":
        return packages[0].folder, _Call("node", "node", (), (), (), "the tests import node:test")
    return None


def _wanted(snapshot: Snapshot, test: str) -> str:
    """The runner a test file imports, where its contents are at hand."""
    match = _BY_IMPORT.search(snapshot.text(test))
    names = {"node:test": "node", "@jest/globals": "jest"}
    return names.get(match[1], match[1]) if match else ""


def _by_script(snapshot: Snapshot, package: Package, wanted: str, test: str) -> _Call | None:
    """From `test`, else from another script that speaks of tests."""
    names = [
        "test",
        *sorted(n for n in package.scripts if n != "test" and re.search(r"test|unit|spec|mocha|jest", n)),
    ]
    for name in names:
        if re.search(r"watch|coverage|update|debug|bench|lint|types?$", name):
            continue
        steps = expand(package, name)
        runners = [
            s for s in steps if s.runner and s.runner.runner in RULES and wanted in ("", s.runner.runner)
        ]
        if runners:
            step = next((s for s in runners if _covers(s, test, package.folder)), runners[0])
            return _call(snapshot, package, steps, step, name)
    return None


def _covers(step: Step, test: str, folder: str) -> bool:
    """Whether one of a step's paths or globs leads into the test's folder."""
    assert step.runner is not None
    (inner,) = relative((test,), folder)
    _, positional = own_arguments(step.runner, RULES[step.runner.runner])
    starts = [re.split(r"[*?{\[]", word, maxsplit=1)[0].removeprefix("./") for word in positional]
    return any(start and inner.startswith(start) for start in starts)


def _call(snapshot: Snapshot, package: Package, steps: tuple[Step, ...], step: Step, script: str) -> _Call:
    found = step.runner
    assert found is not None
    flags, positional = own_arguments(found, RULES[found.runner])
    before = steps[: steps.index(step)]
    builds = tuple(dict.fromkeys(_launch(snapshot, s.text) for s in before if s.build))
    reason = f"the script `{script}` of {inside(package.folder, 'package.json')} runs {found.runner}"
    return _Call(found.runner, _head(snapshot, found), flags, positional, builds, reason)


def _launch(snapshot: Snapshot, text: str) -> str:
    """A build step as it can be called outside of a script, where node_modules/.bin is not on PATH."""
    first = text.split(maxsplit=1)[0]
    return (
        text
        if first in ("npm", "yarn", "pnpm", "node", "bun") or "=" in first
        else f"{_npx(snapshot)} {text}"
    )


def _npx(snapshot: Snapshot) -> str:
    return "yarn" if {".pnp.cjs", ".pnp.js"} & set(snapshot.paths) else "npx --no-install"


def _head(snapshot: Snapshot, found: Found) -> str:
    """Assignments (also those given to cross-env), then the program: through npx, or node with its flags."""
    words = found.command.words[: found.at + 1]
    assignments = [word.raw for word in words if word.is_assignment and word.plain]
    names = [basename(word.text) for word in words]
    if found.runner == "node":
        program = "node"
    elif "node" in names:  # node --experimental-vm-modules node_modules/jest/bin/jest.js
        program = " ".join(word.raw for word in words[names.index("node") :])
    else:
        program = f"{_npx(snapshot)} {basename(words[-1].text)}"
    return " ".join((*assignments, program))


def _by_dependency(snapshot: Snapshot, package: Package, wanted: str) -> _Call | None:
    names = [wanted] if wanted else list(_BY_DEPENDENCY)
    for name in names:
        if name in package.dependencies and name in PROGRAMS:
            where = inside(package.folder, "package.json")
            return _Call(name, f"{_npx(snapshot)} {name}", (), (), (), f"{where} depends on {name}")
    return None


def _command(snapshot: Snapshot, call: _Call, folder: str, tests: list[str]) -> str:
    words = quoted(relative(tests, folder))
    flags = list(call.flags)
    if call.runner == "vitest":
        flags.insert(0, "run")
    elif call.runner == "jest" and not all(_is_plain_pattern(snapshot, test) for test in tests):
        flags.append("--runTestsByPath")
    elif call.runner == "node" and "--test" not in flags:
        flags.append("--test")
    elif call.runner == "tap":
        flags += _tap_coverage(read_package(snapshot, folder))
    elif call.runner == "mocha" and _runs_compiled(call, tests):
        words = " ".join(quote(word) for word in call.positional)
    helpers = [
        p
        for p in call.positional
        if inside(folder, p.removeprefix("./")) in snapshot.paths and not _is_test(p)
    ]
    if call.runner in ("mocha", "tape") and helpers:
        words = f"{quoted(helpers)} {words}"
    return " && ".join((*call.builds, " ".join((call.head, *flags, words))))


def _is_plain_pattern(snapshot: Snapshot, test: str) -> bool:
    """Whether jest, which takes paths for regular expressions, finds this file alone by its path."""
    if _REGEX_SPECIAL.search(test):
        return False
    return sum(test in path for path in snapshot.paths) == 1


def _runs_compiled(call: _Call, tests: list[str]) -> bool:
    """Whether TypeScript tests are compiled first and run from there: then the script's own globs must stay."""
    typescript = all(test.endswith(("ts", "tsx")) for test in tests)
    return typescript and bool(call.positional) and all(_COMPILED.match(word) for word in call.positional)


def _tap_coverage(package: Package | None) -> list[str]:
    """tap fails a narrow run for its coverage, by a flag that changed with its versions."""
    found = re.search(r"\d{1,4}", package.dependencies.get("tap", "")) if package else None
    major = int(found[0]) if found else 0
    if major >= 18:
        return ["--allow-incomplete-coverage"]
    return ["--no-check-coverage"] if major >= 15 else []
