"""Asks a verify command's runner for a report, without changing what the command does.

pytest and the unittest family are asked through their environment, so it also reaches them behind scripts;
others get flags, and only when their own simple command can be found for sure. jest and mocha run tests in
their own process, so kits take the flags out of its arguments before a test can see them. Whatever can't be
asked is read from its log. Lines put before the command extend variables that the image may set already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from berbench.model.trial import KIT_DIR, OUT_DIR, Instrumentation
from berbench.runners.altered import Altered
from berbench.runners.clock import move_clock
from berbench.runners.kits import kit_files
from berbench.runners.order import reorder
from berbench.runners.recognise import Found, find_runners
from berbench.runners.shell import Line, insert, parse, quote

_UNITTEST_KIT = ("py/sitecustomize.py", "py/berbench_unittest.py")
_PLACES = f'export BERBENCH_OUT={OUT_DIR} BERBENCH_ROOT="$PWD"'
_PYTEST = (  # what PYTEST_ADDOPTS holds already stays
    'export PYTEST_ADDOPTS="${PYTEST_ADDOPTS:+$PYTEST_ADDOPTS }'
    f'--junitxml={OUT_DIR}/pytest.xml -o junit_family=xunit1"'
)
_PYTHONPATH = f'{_PLACES} PYTHONPATH="{KIT_DIR}/py${{PYTHONPATH:+:$PYTHONPATH}}"'
_ROOT = f"pwd >{OUT_DIR}/root"  # these reports name files by absolute path
# Hides jest's flags from the tests. A variable that is set and empty stays so: the kit takes itself out again.
_JEST_KIT = f"--require {KIT_DIR}/jest.cjs"
_JEST = f'export NODE_OPTIONS="${{NODE_OPTIONS+$NODE_OPTIONS }}{_JEST_KIT}"'
# Node before 18.15 knows no reporters: a flag it does not know would end it, so it is asked first.
_NODE = (
    f'{_PLACES} BERBENCH_NODE=""\n'
    f"if node --test-reporter=tap --test-reporter-destination=stdout -e '' >/dev/null 2>&1; then "
    f'BERBENCH_NODE="--test-reporter=spec --test-reporter-destination=stdout '
    f'--test-reporter={KIT_DIR}/node.mjs --test-reporter-destination={OUT_DIR}/node.jsonl"; fi'
)


@dataclass(frozen=True, slots=True)
class _Request:
    """What one runner needs: lines before the command, insertions into it, files in, files out."""

    before: tuple[str, ...] = ()
    edits: tuple[tuple[int, str], ...] = ()
    kit: tuple[str, ...] = ()
    collect: tuple[str, ...] = ()
    format: str = "summary"


def instrument(
    command: str, evidence: str = "auto", *, shuffle: int | None = None, clock: str = ""
) -> Instrumentation:
    """How to run `command` so that it leaves evidence. `evidence` is the task's `verify.evidence`.

    `shuffle` seeds another order of the tests (see `order`), `clock` ("+400d") moves the clock (see `clock`).

    The command's exit status, output and order stay as they are, but for a runner whose only machine-readable
    form is its standard output (`go test -json`, `ava --tap`).
    """
    line = parse(command)
    found = find_runners(line)
    runner = found[-1].runner if found else ""
    same = [one for one in found if one.runner == runner]
    request, notes = _request(evidence, line, found, same)
    order = reorder(same, shuffle) if shuffle is not None else Altered()
    date = move_clock(found, clock) if clock else Altered()
    return Instrumentation(
        runner=runner,
        command="\n".join(
            (
                *date.before,
                *request.before,
                *order.before,
                insert(command, (*request.edits, *order.edits, *date.edits)),
            )
        ),
        kit=kit_files(*dict.fromkeys((*request.kit, *order.kit, *date.kit))),
        collect=request.collect,
        format=request.format,
        notes=notes,
    )


def _request(
    evidence: str, line: Line, found: Sequence[Found], same: list[Found]
) -> tuple[_Request, tuple[str, ...]]:
    """What to ask for, and notes. Evidence that is declared changes nothing in the command."""
    if evidence.startswith("junit:"):
        return _Request(collect=(evidence.removeprefix("junit:"),), format="junit"), ()
    if evidence in ("none", "go-json", "tap"):
        return _Request(format=evidence), ()
    if not same:
        return _unknown(sure=line.sure)
    runner = same[-1].runner
    notes = tuple(
        f"the command also runs {other}; only {runner} is asked for a report"
        for other in sorted({one.runner for one in found} - {runner})
    )
    return _REQUESTS.get(runner, _summary_only)(same), notes


def _unknown(*, sure: bool) -> tuple[_Request, tuple[str, ...]]:
    """A script or a line that can't be read: pytest and unittest still hear of it through the environment."""
    why = "no known test runner in the command" if sure else "the command is a shell program that is not read"
    note = f"{why}; a report is read if one appears, else the log's closing lines"
    return _Request((_PYTEST, _PYTHONPATH), kit=_UNITTEST_KIT, format="summary"), (note,)


def _pytest(found: list[Found]) -> _Request:
    edits: list[tuple[int, str]] = []
    collect: list[str] = []
    for number, one in enumerate(found, start=1):
        report = f"{OUT_DIR}/pytest.xml" if number == 1 else f"{OUT_DIR}/pytest-{number}.xml"
        own = _own_report(one.arguments)
        if own:
            collect.append(own)
        edits += _pytest_edits(one, report, number)
    return _Request((_PYTEST,), tuple(edits), collect=tuple(collect), format="junit")


def _pytest_edits(found: Found, report: str, number: int) -> list[tuple[int, str]]:
    """An assignment of the user's own is extended in place; later runs of a chain get a report of their own."""
    words = found.command.words[: found.at]
    options = f"--junitxml={report} -o junit_family=xunit1"
    for word in reversed(words):
        if word.raw.startswith("PYTEST_ADDOPTS="):
            return [(word.end, quote(f" {options}"))]
    if number == 1:
        return []
    start = found.command.words[0].start
    return [(start, f'PYTEST_ADDOPTS="${{PYTEST_ADDOPTS:-}} {options}" ')]


def _own_report(arguments: tuple[str, ...]) -> str:
    """The JUnit file the user asks for themselves: theirs wins over ours, so it is collected."""
    for index, argument in enumerate(arguments):
        for flag in ("--junitxml", "--junit-xml"):
            if argument.startswith(f"{flag}="):
                return argument.removeprefix(f"{flag}=")
            if argument == flag and index + 1 < len(arguments):
                return arguments[index + 1]
    return ""


def _unittest(found: list[Found]) -> _Request:
    return _Request((_PYTHONPATH,), kit=_UNITTEST_KIT, format="unittest")


def _go(found: list[Found]) -> _Request:
    edits = [(one.insert_at, " -json") for one in found if not {"-json", "-json=true"} & set(one.arguments)]
    return _Request(edits=tuple(edits), format="go-json")


def _flags(flags: str, format_: str, before: tuple[str, ...] = ()) -> Callable[[list[Found]], _Request]:
    """Flags right after the runner's name. `{n}` numbers the reports of a chain."""

    def request(found: list[Found]) -> _Request:
        edits = tuple(
            (one.insert_at, " " + flags.format(out=OUT_DIR, kit=KIT_DIR, n=number))
            for number, one in enumerate(found, start=1)
        )
        return _Request(before, edits, format=format_)

    return request


def _jest(found: list[Found]) -> _Request:
    """Flags, which work under any version, and a kit that hides them where it can.

    A NODE_OPTIONS of the user's own in the command is extended in place."""
    edits: list[tuple[int, str]] = []
    for number, one in enumerate(found, start=1):
        own = [word for word in one.command.words[: one.at] if word.text.startswith("NODE_OPTIONS=")]
        edits += [(word.end, quote(f" {_JEST_KIT}")) for word in own[-1:]]
        edits.append((one.insert_at, f" --json --outputFile={OUT_DIR}/jest-{number}.json"))
    return _Request((_ROOT, _JEST), tuple(edits), kit=("jest.cjs",), format="jest")


def _mocha(found: list[Found]) -> _Request:
    edits = tuple((one.insert_at, f" --require {KIT_DIR}/mocha.cjs") for one in found)
    return _Request((_PLACES,), edits, kit=("mocha.cjs",), format="mocha")


def _vitest(found: list[Found]) -> _Request:
    """Flags go after the subcommand, where there is one: `vitest run`."""
    edits: list[tuple[int, str]] = []
    for number, one in enumerate(found, start=1):
        words = one.command.words
        after = one.at + 1
        has_subcommand = after < len(words) and words[after].text in ("run", "watch", "dev", "related")
        at = words[after].end if has_subcommand else one.insert_at
        report = f"{OUT_DIR}/vitest-{number}.json"
        edits.append((at, f" --reporter=default --reporter=json --outputFile.json={report}"))
    return _Request((_ROOT,), tuple(edits), format="jest")


def _node(found: list[Found]) -> _Request:
    edits = tuple((one.insert_at, " $BERBENCH_NODE") for one in found)
    return _Request((_NODE,), edits, kit=("node.mjs",), format="node")


def _rspec(found: list[Found]) -> _Request:
    """A formatter beside the one that would print anyhow. An output file with no formatter of the user's own goes to
    the last one named, so then RSpec is left alone."""
    edits: list[tuple[int, str]] = []
    for number, one in enumerate(found, start=1):
        flags = {argument.partition("=")[0] for argument in one.arguments}
        own = flags & {"-f", "--format"} or {flag for flag in flags if re.match(r"-f\w", flag)}
        if flags & {"-o", "--out"} and not own:
            return _Request()
        plain = "" if own else "-f progress "
        edits.append((one.insert_at, f" {plain}-f json -o {OUT_DIR}/rspec-{number}.json"))
    return _Request(edits=tuple(edits), format="rspec")


def _files(*globs: str) -> Callable[[list[Found]], _Request]:
    def request(found: list[Found]) -> _Request:
        return _Request(collect=globs, format="junit")

    return request


def _log(format_: str) -> Callable[[list[Found]], _Request]:
    def request(found: list[Found]) -> _Request:
        return _Request(format=format_)

    return request


_summary_only = _log("summary")

_REQUESTS: dict[str, Callable[[list[Found]], _Request]] = {
    "pytest": _pytest,
    "unittest": _unittest,
    "django": _unittest,
    "nose": _unittest,
    "nose2": _unittest,
    "go": _go,
    "cargo": _log("libtest"),
    "nextest": _log("nextest"),
    "jest": _jest,
    "vitest": _vitest,
    "mocha": _mocha,
    "node": _node,
    "ava": _flags("--tap", "tap"),
    # The first versions know no -R; to them, and to all others, the variable says the same.
    "tap": _flags("-R tap", "tap", ("export TAP=1",)),
    "tape": _log("tap"),
    "qunit": _log("tap"),
    "phpunit": _flags("--log-junit {out}/phpunit-{n}.xml", "junit"),
    "rspec": _rspec,
    "maven": _files("**/target/surefire-reports/TEST-*.xml", "**/target/failsafe-reports/TEST-*.xml"),
    "gradle": _files("**/build/test-results/**/TEST-*.xml"),
}
