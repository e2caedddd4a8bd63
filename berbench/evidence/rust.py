"""Per-test lines of `cargo test` (libtest) and `cargo nextest run`, which are all that stable Rust reports."""

from __future__ import annotations

import re

from berbench.evidence.reading import Reading
from berbench.evidence.tally import whole
from berbench.model.trial import Outcome, TestResult

_TARGET = re.compile(r"^\s*Running (?:unittests )?(?P<path>\S+)(?: \((?P<binary>[^)]*)\))?\s*$")
_DOC = re.compile(r"^\s*Doc-tests (?P<crate>\S+)\s*$")
_TEST = re.compile(
    r"^test (?P<name>.+?)(?: - should panic)? \.\.\. (?P<outcome>ok|FAILED|ignored|bench:)(?:[, (].*)?$"
)
_OPEN = re.compile(r"^test (?P<name>\S+(?: \(line \d+\))?)(?: - should panic)? \.\.\. (?P<rest>.*)$")
_TOTAL = re.compile(
    r"^test result: (?P<word>ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored;"
)
_COMPILE = re.compile(r"^error: could not compile `(?P<crate>[^`]+)`|^error(?:\[E\d+\])?: ", re.MULTILINE)
_NOT_COMPILED = re.compile(r"^error: could not compile `(?P<crate>[^`]+)`", re.MULTILINE)
# What failed tests printed is shown between this line and the totals; it may look like lines of tests.
_SHOWN_OUTPUT = "failures:"
_OUTCOMES = {
    "ok": Outcome.PASSED,
    "FAILED": Outcome.FAILED,
    "ignored": Outcome.SKIPPED,
    "bench:": Outcome.PASSED,
}

_NEXTEST = re.compile(
    r"^\s+(?P<word>PASS|FAIL|LEAK|TIMEOUT|SIG\w+|ABORT|SKIP|FLAKY \d+/\d+|TRY \d+ \w+) (?:\+ )?\[[^\]]*\]\s+"
    r"(?:\(\s*\d+/\d+\)\s+)?(?P<binary>\S+)\s+(?P<name>\S.*)$"
)
_NEXTEST_TOTAL = re.compile(r"^[ \t]+Summary \[[^\]\n]*\]\s+(?P<run>\d+)(?:/\d+)? tests? run:", re.MULTILINE)


def read_libtest(log: str) -> Reading:
    """Results by `target name`, where target is the path cargo names (`tests/api.rs`) or `doc-tests crate`.

    Each target's own totals must agree with its lines; a target with lines lost to interleaved output makes
    the reading incomplete, as does one that never printed its totals.
    """
    results: list[TestResult] = []
    problems: list[str] = []
    target, file = "", ""
    current: list[TestResult] = []
    ended = True
    showing = False
    waiting = ""  # a test whose own output stands between its name and its outcome

    def close(reason: str) -> None:
        if not ended:
            problems.append(f"test target {target or '(unnamed)'} {reason}")
        results.extend(current)
        current.clear()

    for line in log.split("\n"):
        if total := _TOTAL.match(line):
            counted = sum(whole(total[word]) for word in ("passed", "failed", "ignored"))
            if counted != len(current):
                problems.append(
                    f"test target {target} counts {counted} tests, {len(current)} lines could be read"
                )
            ended, showing = True, False
            close("")
        elif line == _SHOWN_OUTPUT or showing:
            showing = True
        elif header := _TARGET.match(line) or _DOC.match(line):
            close("ended before its totals")
            ended = True
            groups = header.groupdict()
            target = groups.get("path") or f"doc-tests {groups['crate']}"
            file = target if "path" in groups and not target.startswith("src/") else ""
        elif re.match(r"^running \d+ tests?$", line):
            close("ended before its totals")
            ended = False
        elif test := _TEST.match(line):
            current.append(TestResult(f"{target} {test['name']}", _OUTCOMES[test["outcome"]], file))
        elif opened := _OPEN.match(line):
            waiting = opened["name"]
        elif waiting and line in _OUTCOMES:
            current.append(TestResult(f"{target} {waiting}", _OUTCOMES[line], file))
            waiting = ""
    close("ended before its totals")
    broken = list(dict.fromkeys(match["crate"] for match in _NOT_COMPILED.finditer(log)))
    results += [TestResult(crate, Outcome.ERROR, "", _first_error(log)) for crate in broken]
    return Reading(tuple(results), bool(broken), not problems, tuple(problems))


def read_nextest(log: str) -> Reading:
    """Results by `binary name`; retries count by their last line."""
    outcomes: dict[str, Outcome] = {}
    retried: dict[str, None] = {}
    for line in log.split("\n"):
        match = _NEXTEST.match(line.rstrip())
        if match is None or match["word"].startswith("TRY"):
            continue
        word = match["word"]
        outcome = Outcome.PASSED if word in ("PASS", "LEAK") or word.startswith("FLAKY") else Outcome.FAILED
        if word == "SKIP":
            outcome = Outcome.SKIPPED
        outcomes[f"{match['binary']} {match['name']}"] = outcome
        if word.startswith("FLAKY"):
            retried[f"{match['binary']} {match['name']}"] = None
    results = [TestResult(name, outcome, _nextest_file(name)) for name, outcome in outcomes.items()]
    broken = list(dict.fromkeys(match["crate"] for match in _NOT_COMPILED.finditer(log)))
    results += [TestResult(crate, Outcome.ERROR, "", _first_error(log)) for crate in broken]
    total = _NEXTEST_TOTAL.search(log)
    ran = sum(outcome is not Outcome.SKIPPED for outcome in outcomes.values())
    problems = []
    if total is None and not broken:
        problems.append("the log has no summary of nextest")
    elif total is not None and whole(total["run"]) != ran:
        problems.append(f"nextest counts {total['run']} tests, {ran} lines could be read")
    return Reading(tuple(results), bool(broken), not problems, tuple(problems), retried=tuple(retried))


def _nextest_file(name: str) -> str:
    """`mylib::api case` is of the target `tests/api.rs`; unit tests' ids name their crate alone."""
    target = name.split(" ", 1)[0].partition("::")[2]
    return f"tests/{target}.rs" if target and "/" not in target else ""


def _first_error(log: str) -> str:
    match = _COMPILE.search(log)
    if match is None:
        return ""
    return "\n".join(log[match.start() :].splitlines()[:8])[:600]
