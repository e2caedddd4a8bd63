"""`go test -json` events, picked out of a log that also holds other text."""

from __future__ import annotations

import json
import re
from typing import Any

from berbench.evidence.reading import Reading, shorten
from berbench.model.trial import Outcome, TestResult

_OUTCOMES = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}
_FAILED_BUILD = re.compile(r"^FAIL\s+(\S+) \[(?:build|setup) failed\]", re.MULTILINE)
_OUTPUT_LINES = 40


class _Stream:
    """Tests of all packages in the order they began."""

    def __init__(self) -> None:
        self.outcomes: dict[tuple[str, str], Outcome | None] = {}
        self.output: dict[tuple[str, str], list[str]] = {}
        self.packages: dict[str, str] = {}  # package → its last action
        self.broken: list[str] = []  # packages whose build or set-up failed

    def take(self, event: dict[str, Any]) -> None:
        package, test, action = (str(event.get(key) or "") for key in ("Package", "Test", "Action"))
        if action == "build-fail":
            return
        if event.get("FailedBuild") and package:
            self._break(package)
        if action == "output":
            self._output(package, test, str(event.get("Output", "")))
        elif not test:
            if package:
                self.packages[package] = action
        elif action == "run":
            self.outcomes.setdefault((package, test), None)
        elif action in _OUTCOMES:
            self.outcomes[package, test] = _OUTCOMES[action]

    def _output(self, package: str, test: str, text: str) -> None:
        if broken := _FAILED_BUILD.match(text):
            self._break(package or broken[1])
        lines = self.output.setdefault((package, test), [])
        if len(lines) < _OUTPUT_LINES and not text.startswith(("=== ", "--- ", "    --- ")):
            lines.append(text)

    def _break(self, package: str) -> None:
        if package not in self.broken:
            self.broken.append(package)


def read_go(log: str) -> Reading:
    """Results by `import/path.Test/sub`. `file` is the import path.

    A test that ran and never ended (a panic, os.Exit) failed. A package that could not be built is an error by
    its import path, and so is one that failed with no failing test (a panic or exit in TestMain).
    """
    stream = _Stream()
    seen = False
    for line in log.splitlines():
        if event := _event(line):
            seen = True
            stream.take(event)
        elif broken := _FAILED_BUILD.match(line):  # before Go 1.24 on stderr, in plain words
            stream._break(broken[1].removesuffix("_test"))
    results = [
        TestResult(
            f"{package}.{test}",
            Outcome.FAILED if outcome is None else outcome,
            package,
            "" if outcome is Outcome.PASSED else shorten("".join(stream.output.get((package, test), []))),
        )
        for (package, test), outcome in stream.outcomes.items()
    ]
    failed = {result.file for result in results if result.outcome is Outcome.FAILED}
    for package, action in stream.packages.items():
        if action == "fail" and package not in failed and package not in stream.broken:
            stream.broken.append(package)
    for package in stream.broken:
        message = shorten("".join(stream.output.get((package, ""), []))) or "the package could not be built"
        results.append(TestResult(package, Outcome.ERROR, package, message))
    open_packages = [p for p, action in stream.packages.items() if action not in ("pass", "fail", "skip")]
    problems = tuple(f"the stream ends before package {package} does" for package in open_packages)
    return Reading(
        tuple(results), bool(stream.broken), (seen or bool(stream.broken)) and not problems, problems
    )


def _event(line: str) -> dict[str, Any] | None:
    """An event, also one that follows text a test printed without a newline."""
    for mark in ('{"Time":', '{"Action":', '{"ImportPath":'):
        at = line.find(mark)
        if at >= 0:
            try:
                event = json.loads(line[at:])
            except ValueError:
                return None
            return event if isinstance(event, dict) and "Action" in event else None
    return None
