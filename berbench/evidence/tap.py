"""The Test Anything Protocol, versions 12 to 14, picked out of a log or file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from berbench.evidence.names import is_script
from berbench.evidence.reading import Reading, shorten
from berbench.evidence.tally import whole
from berbench.model.trial import Outcome, TestResult

_POINT = re.compile(r"^(?P<indent> *)(?P<not>not )?ok\b(?:\s+(?P<number>\d+))?(?:\s+-)?(?P<rest>[^\n]*)$")
_PLAN = re.compile(r"^(?P<indent> *)(?P<first>\d+)\.\.(?P<last>\d+)(?:\s*#\s*(?P<why>.*))?$")
_DIRECTIVE = re.compile(r"(?<!\\)#\s*(?P<kind>skip|todo|time)\w*\b\s*(?P<why>.*)$", re.IGNORECASE)
_GROUP = re.compile(r"^# (?!(?:tests|pass|fail|skip|todo)\b\s*\d|ok$|Subtest:)(\S.*)$")
_BAIL = re.compile(r"^ *Bail out!(?P<why>.*)$")
# Points that stand for a file that could not be loaded or did not end well, and for no test: ava's and qunit's words.
_NO_TEST = re.compile(
    r"^(?P<file>\S+) exited (?:with a non-zero exit code: \d+|due to \w+)$"
    r"|^\w*Error(?: \[\w+\])?: |(?:^|> )global failure$"
)
_NO_MATCH = re.compile(r"No tests (?:matched the|were run)")  # qunit's


@dataclass
class _Point:
    depth: int
    name: str
    outcome: Outcome
    children: list[_Point] = field(default_factory=list)
    diagnosis: list[str] = field(default_factory=list)


class _Parser:
    """Subtests are indented by four and come before the point that sums them up."""

    def __init__(self, *, grouped: bool) -> None:
        self.grouped = grouped
        self.group = ""
        self.waiting: dict[int, list[_Point]] = {}
        self.top_seen = 0
        self.planned: int | None = None
        self.bail = ""
        self.last: _Point | None = None
        self.in_yaml = False

    def line(self, line: str) -> None:
        if self.in_yaml or (self.last is not None and re.match(r"^ *---\s*$", line)):
            self._yaml(line)
        elif point := _POINT.match(line):
            self._point(point)
        elif plan := _PLAN.match(line):
            if not plan["indent"]:
                self.planned = (self.planned or 0) + whole(plan["last"]) - whole(plan["first"]) + 1
        elif self.grouped and (comment := _GROUP.match(line)):
            self.group = comment[1].strip()
        elif bail := _BAIL.match(line):
            self.bail = bail["why"].strip() or "no reason given"

    def _yaml(self, line: str) -> None:
        if self.last is not None and self.in_yaml and len(self.last.diagnosis) < 12:
            self.last.diagnosis.append(line.strip())
        self.in_yaml = not re.match(r"^ *\.\.\.\s*$", line)

    def _point(self, match: re.Match[str]) -> None:
        depth = len(match["indent"]) // 4
        name = match["rest"].strip()
        outcome = Outcome.FAILED if match["not"] else Outcome.PASSED
        if directive := _DIRECTIVE.search(name):
            name = name[: directive.start()].strip()
            kind = directive["kind"].lower()
            if kind == "skip":
                outcome = Outcome.SKIPPED
            elif kind == "todo":
                outcome = Outcome.XFAILED if match["not"] else Outcome.XPASSED
        name = name.removesuffix("{").strip().replace("\\#", "#") or f"test {match['number'] or '?'}"
        if self.group and depth == 0:
            name = f"{self.group} > {name}"
        point = _Point(depth, name, outcome, self.waiting.pop(depth + 1, []))
        self.waiting.setdefault(depth, []).append(point)
        self.top_seen += depth == 0
        self.last = point


def read_tap(text: str, *, grouped: bool = False) -> Reading:
    """Results by `outer > inner`. Points that only sum up their subtests are no tests of their own.

    `grouped` is tape's habit: a test's name stands in a comment before its assertions, which often share names.
    Fewer points than the plan says, no plan at all, or `Bail out!` make the reading incomplete.
    """
    parser = _Parser(grouped=grouped)
    for line in text.splitlines():
        parser.line(line)
    results: list[TestResult] = []
    for depth in sorted(parser.waiting):  # depth above 0 here: subtests whose summing-up never came
        for point in parser.waiting[depth]:
            _flatten(point, (), results)
    problems = []
    if parser.bail:
        problems.append(f"the TAP stream bailed out: {parser.bail}")
    if parser.planned is None and not parser.bail:
        problems.append("the TAP stream has no plan")
    elif parser.planned is not None and parser.top_seen < parser.planned:
        problems.append(f"the TAP stream plans {parser.planned} tests and holds {parser.top_seen}")
    if any(depth > 0 for depth in parser.waiting):
        problems.append("the TAP stream ends inside a subtest")
    lost = bool(results) and all(result.outcome is Outcome.ERROR for result in results)
    nothing = lost and all(_NO_MATCH.search(result.message) for result in results)
    return Reading(tuple(results), lost or bool(parser.bail), not problems, tuple(problems), nothing)


def _flatten(point: _Point, outer: tuple[str, ...], results: list[TestResult]) -> None:
    names = (*outer, point.name)
    for child in point.children:
        _flatten(child, names, results)
    lone_failure = point.outcome is Outcome.FAILED and all(
        child.outcome is not Outcome.FAILED for child in point.children
    )
    if not point.children or lone_failure:
        message = shorten("\n".join(point.diagnosis)) if point.outcome is not Outcome.PASSED else ""
        results.append(_result(names, point.outcome, message))


def _result(names: tuple[str, ...], outcome: Outcome, message: str) -> TestResult:
    """tap gives each file a point of its own, with the file's tests below it."""
    file = names[0] if is_script(names[0]) else ""
    said = _NO_TEST.search(names[0]) if len(names) == 1 else None
    if outcome is Outcome.FAILED and (said or names == (file,)):
        outcome = Outcome.ERROR
        file = file or (said["file"] if said else "") or ""
    return TestResult(" > ".join(names), outcome, file, message)
