"""The closing lines by which runners sum up, found in a log. Used where no report can be read, and to hear
"nothing ran" where the exit code would not tell."""

from __future__ import annotations

import re
from collections.abc import Callable

from berbench.evidence import summary_node as node
from berbench.evidence import summary_other as other
from berbench.evidence.tally import Counts, Summary, add, make_summary, whole
from berbench.model.trial import Outcome

_PYTEST_WORDS = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "error": Outcome.ERROR,
    "errors": Outcome.ERROR,
    "skipped": Outcome.SKIPPED,
    "xfailed": Outcome.XFAILED,
    "xpassed": Outcome.XPASSED,
}
_PYTEST_LAST = re.compile(
    r"^(?:=+ )?((?:no tests ran|\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun"
    r"|subtests passed)\b)[^\n]*?) in [\d.]+ ?s",
    re.MULTILINE,
)
_CONFTEST = re.compile(
    r"^ImportError while loading conftest|^ERROR collecting |^!+ Interrupted: \d+ error", re.MULTILINE
)


def find_summary(log: str, runner: str) -> Summary | None:
    """The summary of `runner` in a plain-text log, None when the log holds none.

    For "" every runner's words are looked for; where several speak, one that tells of failures is believed.
    """
    family = _FAMILY.get(runner, runner)
    if family:
        reader = _READERS.get(family)
        return reader(log) if reader else None
    found = [summary for reader in _READERS.values() if (summary := reader(log)) is not None]
    counted = [summary for summary in found if summary.counts] or found
    return next((summary for summary in counted if summary.failures), counted[0] if counted else None)


def sums_up(runner: str) -> bool:
    """Whether a runner is known to end with words of its own, so that a log without them was cut off."""
    return _FAMILY.get(runner, runner) in _READERS


def _pytest(log: str) -> Summary | None:
    lost = (
        bool(_CONFTEST.search(log)) or "error during collection" in log or "errors during collection" in log
    )
    counts: Counts = {}
    endings = list(_PYTEST_LAST.finditer(log))
    for ending in endings:
        for number, word in re.findall(r"\b(\d++) (\w+)", ending[1]):
            if word in _PYTEST_WORDS:
                add(counts, _PYTEST_WORDS[word], number)
    if not endings:
        collected_none = re.search(
            r"^collected 0 items$|^ERROR: (?:file or directory )?not found: ", log, re.MULTILINE
        )
        if not lost and not collected_none:
            return None
    return make_summary("pytest", counts, collection_failed=lost)


def _unittest(log: str) -> Summary | None:
    runs = list(
        re.finditer(
            r"^Ran (\d+) tests? in [\d.]+s$\s*^(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$", log, re.MULTILINE
        )
    )
    if not runs:
        return None
    counts: Counts = {}
    for run in runs:
        details = dict(re.findall(r"(?<![a-z ])([a-z ]++)=(\d++)", run[3] or ""))
        words = {key.strip(): whole(value) for key, value in details.items()}
        failed, errors = words.get("failures", 0), words.get("errors", 0)
        skipped, xfailed = words.get("skipped", 0), words.get("expected failures", 0)
        xpassed = words.get("unexpected successes", 0)
        for outcome, number in (
            (Outcome.FAILED, failed),
            (Outcome.ERROR, errors),
            (Outcome.SKIPPED, skipped),
            (Outcome.XFAILED, xfailed),
            (Outcome.XPASSED, xpassed),
            (Outcome.PASSED, max(0, whole(run[1]) - failed - errors - skipped - xfailed - xpassed)),
        ):
            add(counts, outcome, str(number))
    return make_summary("unittest", counts, collection_failed="unittest.loader._FailedTest" in log)


# nose prints as unittest does, so does Django.
_FAMILY = {
    "django": "unittest",
    "nose": "unittest",
    "nose2": "unittest",
    "ava": "tap",
    "tape": "tap",
    "qunit": "tap",
}
_READERS: dict[str, Callable[[str], Summary | None]] = {
    "pytest": _pytest,
    "unittest": _unittest,
    "go": other.go,
    "cargo": other.cargo,
    "nextest": other.nextest,
    "jest": node.jest,
    "vitest": node.vitest,
    "mocha": node.mocha,
    "node": node.node,
    "tap": node.tap,
    "maven": other.maven,
    "gradle": other.gradle,
    "phpunit": other.phpunit,
    "rspec": other.rspec,
}
