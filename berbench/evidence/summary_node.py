"""Closing lines of jest, vitest, mocha, Node's own runner, and of TAP."""

from __future__ import annotations

import re
from collections.abc import Callable

from berbench.evidence.tally import Counts, Summary, add, make_summary, whole
from berbench.model.trial import Outcome

# tap's and qunit's words for files that are not there; tape lets Node say it, with itself alone on the way.
_TAP_NOTHING = re.compile(
    r"^No valid test files found matching |^No files were found matching: "
    r"|^Error: Cannot find module '[^']+'\nRequire stack:\n- \S*/tape/bin/tape\n    at ",
    re.MULTILINE,
)


_JS_COUNT = re.compile(r"\b\d++ (?:total|passed|failed|skipped|todo)")


def _js_line(label: str) -> Callable[[str], list[str]]:
    pattern = re.compile(rf"^[ \t]*{label}:?[ \t]+(\S.*)$", re.MULTILINE)
    return lambda log: [line for line in pattern.findall(log) if _JS_COUNT.search(line)]


def _js_counts(line: str, counts: Counts) -> None:
    for number, word in re.findall(r"\b(\d++) (passed|failed|skipped|todo|pending)", line):
        outcome = {"passed": Outcome.PASSED, "failed": Outcome.FAILED}.get(word, Outcome.SKIPPED)
        add(counts, outcome, number)


def jest(log: str) -> Summary | None:
    """ "Tests: …", or that no tests were found."""
    lines = _js_line("Tests")(log)
    suites = " ".join(_js_line("Test Suites")(log))
    if not lines:
        return make_summary("jest", {}) if re.search(r"^No tests found", log, re.MULTILINE) else None
    counts: Counts = {}
    for line in lines:
        _js_counts(line, counts)
    lost = "Test suite failed to run" in log
    if lost and not counts.get(Outcome.FAILED):
        counts[Outcome.ERROR] = sum(whole(n) for n in re.findall(r"\b(\d++) failed", suites)) or 1
    return make_summary("jest", counts, collection_failed=lost)


def vitest(log: str) -> Summary | None:
    """ "Tests …", or that no test files were found."""
    lines = re.findall(r"^[ \t]+Tests\s+(.*)$", log, re.MULTILINE)
    if not lines:
        return (
            make_summary("vitest", {})
            if re.search(r"^[ \t]*No test files? found", log, re.MULTILINE)
            else None
        )
    counts: Counts = {}
    for line in lines:
        _js_counts(line, counts)
    lost = "Failed Suites" in log
    if lost and not counts.get(Outcome.FAILED):
        counts[Outcome.ERROR] = 1
    return make_summary("vitest", counts, collection_failed=lost)


def mocha(log: str) -> Summary | None:
    """ "N passing", or that no test files were found."""
    passing = re.findall(r"^[ \t]+(\d+) passing \([^)\n]*\)", log, re.MULTILINE)
    failing = re.findall(r"^[ \t]+(\d+) failing$", log, re.MULTILINE)
    if not passing and not failing:
        if re.search(r"^Error: No test files found", log, re.MULTILINE):
            return make_summary("mocha", {})
        return None
    counts: Counts = {}
    for number in passing:
        add(counts, Outcome.PASSED, number)
    for number in failing:
        add(counts, Outcome.FAILED, number)
    for number in re.findall(r"^[ \t]+(\d+) pending$", log, re.MULTILINE):
        add(counts, Outcome.SKIPPED, number)
    return make_summary("mocha", counts)


def node(log: str) -> Summary | None:
    """ "# tests N" or "ℹ tests N", or that a path could not be found."""
    totals = dict(re.findall(r"^(?:#|ℹ) (tests|pass|fail|cancelled|skipped|todo) (\d+)$", log, re.MULTILINE))
    if "pass" not in totals or "fail" not in totals:
        return make_summary("node", {}) if re.search(r"^Could not find '", log, re.MULTILINE) else None
    counts: Counts = {}
    add(counts, Outcome.PASSED, totals["pass"])
    add(counts, Outcome.FAILED, totals["fail"])
    add(counts, Outcome.FAILED, totals.get("cancelled"))
    add(counts, Outcome.SKIPPED, totals.get("skipped"))
    add(counts, Outcome.SKIPPED, totals.get("todo"))
    return make_summary("node", counts)


def tap(log: str) -> Summary | None:
    """ "# tests N", "# pass N"."""
    totals = dict(
        re.findall(r"^# (tests|pass|fail|skip|todo)[ \t]*+(?:[=:][ \t]*+)?(\d+)", log, re.MULTILINE)
    )
    if "pass" not in totals:
        return make_summary("tap", {}) if _TAP_NOTHING.search(log) else None
    counts: Counts = {}
    add(counts, Outcome.PASSED, totals["pass"])
    add(counts, Outcome.FAILED, totals.get("fail"))
    add(counts, Outcome.SKIPPED, totals.get("skip"))
    return make_summary("tap", counts)
