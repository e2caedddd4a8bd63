"""`go test -json` events, picked out of a log that also holds other text."""

from __future__ import annotations

import json
import re
from typing import Any

from berbench.evidence.reading import Reading, shorten
from berbench.model.trial import Outcome, TestResult

_OUTCOMES = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}
_WORDS = {"PASS": Outcome.PASSED, "FAIL": Outcome.FAILED, "SKIP": Outcome.SKIPPED}
_FAILED_BUILD = re.compile(r"^FAIL\s+(\S+) \[(?:build|setup) failed\]")
_BUILD_OUTPUT = re.compile(r"^# (\S+)(?: \[\S+\])?$")
# Before Go 1.20 a test that prints without a newline glues its end to its output, and the event is lost.
_GLUED_END = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d+s\)\n$")
_GLUED_START = re.compile(r".=== RUN +(\S+)\n$")
_ABSENT = re.compile(r"^stat \S+: directory not found$|\bmatched no packages\b", re.MULTILINE)
_OUTPUT_LINES = 40

_Test = tuple[str, str]  # package, test


class _Stream:
    """Tests of all packages in the order they began."""

    def __init__(self) -> None:
        self.outcomes: dict[_Test, Outcome | None] = {}
        self.glued: dict[_Test, Outcome] = {}
        self.started: list[_Test] = []  # subtests whose beginning was glued to other output
        self.output: dict[_Test, list[str]] = {}
        self.packages: dict[str, str] = {}  # package → its last action
        self.broken: list[str] = []  # packages whose build or set-up failed
        self.building = ""  # the package whose compiler messages stand here, as plain text
        self.seen = False

    def line(self, line: str) -> None:
        event = _event(line)
        if event is not None:
            self.seen = True
            self.building = ""
            self._take(event)
        elif broken := _FAILED_BUILD.match(line):  # before Go 1.24 in plain words
            self._break(broken[1])
        elif header := _BUILD_OUTPUT.match(line):
            self.building = header[1].removesuffix("_test")
        elif self.building:
            self._keep((self.building, ""), f"{line}\n")

    def _take(self, event: dict[str, Any]) -> None:
        package, test, action = (str(event.get(key) or "") for key in ("Package", "Test", "Action"))
        if action == "build-output":
            built = str(event.get("ImportPath", "")).split(" ", 1)[0].removesuffix("_test")
            self._keep((built, ""), str(event.get("Output", "")))
        elif action == "output":
            self._output(package, test, str(event.get("Output", "")))
        elif test and action == "run":
            self.outcomes.setdefault((package, test), None)
        elif test and action in _OUTCOMES:
            self.outcomes[package, test] = _OUTCOMES[action]
        elif not test and package:
            self.packages[package] = action
            if event.get("FailedBuild"):
                self._break(package)

    def _output(self, package: str, test: str, text: str) -> None:
        if broken := _FAILED_BUILD.match(text):
            self._break(package or broken[1])
        if glued := _GLUED_END.search(text):
            self.glued[package, glued[2]] = _WORDS[glued[1]]
        if started := _GLUED_START.search(text):
            self.started.append((package, started[1]))
        if not text.lstrip().startswith(("=== ", "--- ")):
            self._keep((package, test), text)

    def _keep(self, test: _Test, text: str) -> None:
        lines = self.output.setdefault(test, [])
        if len(lines) < _OUTPUT_LINES:
            lines.append(text)

    def _break(self, package: str) -> None:
        package = package.removesuffix("_test")
        if package not in self.broken:
            self.broken.append(package)

    def message(self, test: _Test) -> str:
        return shorten("".join(self.output.get(test, [])))

    def recover(self) -> None:
        """Subtests whose beginning no event tells of, where the runner's own words tell of their end."""
        for package, test in self.started:
            if (package, test.partition("/")[0]) in self.outcomes and (package, test) in self.glued:
                self.outcomes.setdefault((package, test), None)

    def outcome(self, test: _Test) -> Outcome:
        """A test that ran and never ended (a panic, os.Exit) failed."""
        return self.outcomes[test] or self.glued.get(test, Outcome.FAILED)


def read_go(log: str) -> Reading:
    """Results by `import/path.Test/sub`; `file` is the import path.

    A package that could not be built is an error by its import path, and so is one that failed with no failing
    test (a panic or an exit in TestMain).
    """
    stream = _Stream()
    for line in log.split("\n"):
        stream.line(line)
    stream.recover()
    results = []
    for test in stream.outcomes:
        outcome = stream.outcome(test)
        message = "" if outcome is Outcome.PASSED else stream.message(test)
        results.append(TestResult(".".join(test), outcome, test[0], message))
    failed = {result.file for result in results if result.outcome is Outcome.FAILED}
    for package, action in stream.packages.items():
        if action == "fail" and package not in failed and package not in stream.broken:
            stream.broken.append(package)
    for package in stream.broken:
        message = stream.message((package, "")) or "the package could not be built"
        results.append(TestResult(package, Outcome.ERROR, package, message))
    unended = [package for package, action in stream.packages.items() if action not in _OUTCOMES]
    unended += sorted({package for package, _ in stream.outcomes} - set(stream.packages))
    problems = tuple(f"the stream ends before package {package} does" for package in unended)
    complete = (stream.seen or bool(stream.broken)) and not problems
    nothing = bool(results) and all(_ABSENT.search(result.message) for result in results)
    return Reading(tuple(results), bool(stream.broken), complete, problems, nothing)


def _event(line: str) -> dict[str, Any] | None:
    """An event, also one that follows text printed without a newline."""
    for mark in ('{"Time":', '{"Action":', '{"ImportPath":'):
        at = line.find(mark)
        if at >= 0:
            try:
                event = json.loads(line[at:])
            except (ValueError, RecursionError):
                return None
            return event if isinstance(event, dict) and "Action" in event else None
    return None
