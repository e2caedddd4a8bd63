"""The closing lines by which runners sum up, found in a log. Used where no report can be read, and to hear
"nothing ran" where the exit code would not tell."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from berbench.model.trial import Outcome

Counts = dict[Outcome, int]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a log's closing lines say. `ran` counts all but skipped tests."""

    runner: str
    counts: tuple[tuple[Outcome, int], ...] = ()
    none_ran: bool = False
    collection_failed: bool = False

    @property
    def failures(self) -> int:
        return sum(n for outcome, n in self.counts if outcome in (Outcome.FAILED, Outcome.ERROR))

    @property
    def passes(self) -> int:
        return sum(n for outcome, n in self.counts if outcome is Outcome.PASSED)


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
    """The summary of `runner` in a plain-text log; of any runner, the one standing last, when it is "".

    None when the log holds none."""
    family = _FAMILY.get(runner, runner)
    if family:
        reader = _READERS.get(family)
        return reader(log) if reader else None
    found = [summary for reader in _READERS.values() if (summary := reader(log)) is not None]
    with_counts = [summary for summary in found if summary.counts] or found
    return with_counts[0] if len(with_counts) == 1 else _only_one(with_counts)


def _only_one(found: list[Summary]) -> Summary | None:
    """Several runners' words in one log: believed only when they do not contradict each other."""
    if not found:
        return None
    if any(summary.failures for summary in found):
        return next(summary for summary in found if summary.failures)
    return found[0]


def _make(
    runner: str, counts: Counts, *, none_ran: bool | None = None, collection_failed: bool = False
) -> Summary:
    kept = tuple((outcome, counts[outcome]) for outcome in Outcome if counts.get(outcome))
    if none_ran is None:
        none_ran = not kept and not collection_failed
    return Summary(runner, kept, none_ran, collection_failed)


def _add(counts: Counts, outcome: Outcome, number: str | None) -> None:
    counts[outcome] = counts.get(outcome, 0) + int(number or 0)


def _pytest(log: str) -> Summary | None:
    lost = (
        bool(_CONFTEST.search(log)) or "error during collection" in log or "errors during collection" in log
    )
    counts: Counts = {}
    endings = list(_PYTEST_LAST.finditer(log))
    for ending in endings:
        for number, word in re.findall(r"(\d+) (\w+)", ending[1]):
            if word in _PYTEST_WORDS:
                _add(counts, _PYTEST_WORDS[word], number)
    if not endings:
        collected_none = re.search(
            r"^collected 0 items$|^ERROR: (?:file or directory )?not found: ", log, re.MULTILINE
        )
        if not lost and not collected_none:
            return None
    return _make("pytest", counts, collection_failed=lost)


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
        details = dict(re.findall(r"([a-z ]+?)=(\d+)", run[3] or ""))
        words = {key.strip(): int(value) for key, value in details.items()}
        failed, errors = words.get("failures", 0), words.get("errors", 0)
        skipped, xfailed = words.get("skipped", 0), words.get("expected failures", 0)
        xpassed = words.get("unexpected successes", 0)
        for outcome, number in (
            (Outcome.FAILED, failed),
            (Outcome.ERROR, errors),
            (Outcome.SKIPPED, skipped),
            (Outcome.XFAILED, xfailed),
            (Outcome.XPASSED, xpassed),
            (Outcome.PASSED, max(0, int(run[1]) - failed - errors - skipped - xfailed - xpassed)),
        ):
            _add(counts, outcome, str(number))
    return _make("unittest", counts, collection_failed="unittest.loader._FailedTest" in log)


def _go(log: str) -> Summary | None:
    counts: Counts = {}
    for word, outcome in (("PASS", Outcome.PASSED), ("FAIL", Outcome.FAILED), ("SKIP", Outcome.SKIPPED)):
        _add(counts, outcome, str(len(re.findall(rf"^\s*--- {word}: ", log, re.MULTILINE))))
    packages = re.findall(r"^(ok|FAIL|\?|---)\s+\t?(\S+)\s+(.*)$", log, re.MULTILINE)
    said = [(word, rest) for word, name, rest in packages if word in ("ok", "FAIL", "?") and name != "FAIL"]
    if not said and not any(counts.values()):
        return None
    broken = any("[build failed]" in rest or "[setup failed]" in rest for _, rest in said)
    ran = [word for word, rest in said if word == "ok" and "[no tests to run]" not in rest]
    if not any(counts.values()) and (ran or any(word == "FAIL" for word, _ in said)):
        counts = {Outcome.PASSED: len(ran), Outcome.FAILED: sum(word == "FAIL" for word, _ in said)}
    return _make("go", counts, collection_failed=broken)


def _cargo(log: str) -> Summary | None:
    totals = re.findall(
        r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;.*$", log, re.MULTILINE
    )
    broken = "error: could not compile" in log
    if not totals and not broken:
        return None
    counts: Counts = {}
    for passed, failed, ignored in totals:
        _add(counts, Outcome.PASSED, passed)
        _add(counts, Outcome.FAILED, failed)
        _add(counts, Outcome.SKIPPED, ignored)
    return _make("cargo", counts, collection_failed=broken)


def _nextest(log: str) -> Summary | None:
    total = re.search(r"^\s+Summary \[[^\]]*\]\s+(\d+)(?:/\d+)? tests? run: (.*)$", log, re.MULTILINE)
    if total is None:
        none = re.search(r"^error: no tests to run", log, re.MULTILINE)
        return _make("nextest", {}) if none else None
    counts: Counts = {}
    for number, word in re.findall(r"(\d+) (passed|failed|timed out)", total[2]):
        _add(counts, Outcome.PASSED if word == "passed" else Outcome.FAILED, number)
    return _make("nextest", counts)


def _js_line(label: str) -> Callable[[str], list[str]]:
    pattern = re.compile(
        rf"^\s*{label}:?\s+(.*\d+ (?:total|passed|failed|skipped|todo).*|\d+ passed.*)$", re.MULTILINE
    )
    return lambda log: pattern.findall(log)


def _js_counts(line: str, counts: Counts) -> None:
    for number, word in re.findall(r"(\d+) (passed|failed|skipped|todo|pending)", line):
        outcome = {"passed": Outcome.PASSED, "failed": Outcome.FAILED}.get(word, Outcome.SKIPPED)
        _add(counts, outcome, number)


def _jest(log: str) -> Summary | None:
    lines = _js_line("Tests")(log)
    suites = " ".join(_js_line("Test Suites")(log))
    if not lines:
        return _make("jest", {}) if re.search(r"^No tests found", log, re.MULTILINE) else None
    counts: Counts = {}
    for line in lines:
        _js_counts(line, counts)
    lost = "Test suite failed to run" in log
    if lost and not counts.get(Outcome.FAILED):
        counts[Outcome.ERROR] = sum(int(n) for n in re.findall(r"(\d+) failed", suites)) or 1
    return _make("jest", counts, collection_failed=lost)


def _vitest(log: str) -> Summary | None:
    lines = re.findall(r"^\s+Tests\s+(.*)$", log, re.MULTILINE)
    if not lines:
        return _make("vitest", {}) if re.search(r"^\s*No test files? found", log, re.MULTILINE) else None
    counts: Counts = {}
    for line in lines:
        _js_counts(line, counts)
    lost = "Failed Suites" in log
    if lost and not counts.get(Outcome.FAILED):
        counts[Outcome.ERROR] = 1
    return _make("vitest", counts, collection_failed=lost)


def _mocha(log: str) -> Summary | None:
    passing = re.findall(r"^\s+(\d+) passing \([^)]*\)", log, re.MULTILINE)
    failing = re.findall(r"^\s+(\d+) failing$", log, re.MULTILINE)
    if not passing and not failing:
        if re.search(r"^Error: No test files found", log, re.MULTILINE):
            return _make("mocha", {})
        return None
    counts: Counts = {}
    for number in passing:
        _add(counts, Outcome.PASSED, number)
    for number in failing:
        _add(counts, Outcome.FAILED, number)
    for number in re.findall(r"^\s+(\d+) pending$", log, re.MULTILINE):
        _add(counts, Outcome.SKIPPED, number)
    return _make("mocha", counts)


def _node(log: str) -> Summary | None:
    totals = dict(re.findall(r"^(?:#|ℹ) (tests|pass|fail|cancelled|skipped|todo) (\d+)$", log, re.MULTILINE))
    if "pass" not in totals or "fail" not in totals:
        return None
    counts: Counts = {}
    _add(counts, Outcome.PASSED, totals["pass"])
    _add(counts, Outcome.FAILED, totals["fail"])
    _add(counts, Outcome.FAILED, totals.get("cancelled"))
    _add(counts, Outcome.SKIPPED, totals.get("skipped"))
    _add(counts, Outcome.SKIPPED, totals.get("todo"))
    return _make("node", counts)


def _tap(log: str) -> Summary | None:
    totals = dict(re.findall(r"^# (tests|pass|fail|skip|todo)\s*[=:]?\s*(\d+)", log, re.MULTILINE))
    if "pass" not in totals:
        return None
    counts: Counts = {}
    _add(counts, Outcome.PASSED, totals["pass"])
    _add(counts, Outcome.FAILED, totals.get("fail"))
    _add(counts, Outcome.SKIPPED, totals.get("skip"))
    return _make("tap", counts)


def _maven(log: str) -> Summary | None:
    pattern = r"^(?:\[\w+\] )?\s*Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)\s*$"
    totals = re.findall(pattern, log, re.MULTILINE)
    lost = "COMPILATION ERROR" in log or "Compilation failure" in log
    if not totals:
        none = "No tests to run" in log or "No tests were executed" in log
        return _make("maven", {}, collection_failed=lost) if none or lost else None
    counts: Counts = {}
    for run, failed, errors, skipped in totals:
        _add(counts, Outcome.PASSED, str(max(0, int(run) - int(failed) - int(errors) - int(skipped))))
        _add(counts, Outcome.FAILED, failed)
        _add(counts, Outcome.ERROR, errors)
        _add(counts, Outcome.SKIPPED, skipped)
    return _make("maven", counts, collection_failed=lost)


def _gradle(log: str) -> Summary | None:
    total = re.findall(r"^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?$", log, re.MULTILINE)
    lost = bool(re.search(r"Execution failed for task ':.*compile\w*'", log))
    if not total:
        none = "No tests found for given includes" in log or bool(
            re.search(r"^> Task :\S*[tT]est NO-SOURCE", log, re.MULTILINE)
        )
        return _make("gradle", {}, collection_failed=lost) if none or lost else None
    counts: Counts = {}
    for completed, failed, skipped in total:
        _add(counts, Outcome.PASSED, str(int(completed) - int(failed or 0) - int(skipped or 0)))
        _add(counts, Outcome.FAILED, failed)
        _add(counts, Outcome.SKIPPED, skipped)
    return _make("gradle", counts, collection_failed=lost)


def _phpunit(log: str) -> Summary | None:
    good = re.search(r"^OK \((\d+) tests?, \d+ assertions?\)", log, re.MULTILINE)
    bad = re.search(r"^Tests: (\d+), Assertions: \d+(.*)\.$", log, re.MULTILINE)
    if good:
        return _make("phpunit", {Outcome.PASSED: int(good[1])})
    if bad:
        words = {key: int(value) for key, value in re.findall(r"(\w+): (\d+)", bad[2])}
        failed, errors, skipped = (words.get(key, 0) for key in ("Failures", "Errors", "Skipped"))
        counts = {Outcome.FAILED: failed, Outcome.ERROR: errors, Outcome.SKIPPED: skipped}
        counts[Outcome.PASSED] = max(0, int(bad[1]) - failed - errors - skipped)
        return _make("phpunit", counts)
    return _make("phpunit", {}) if re.search(r"^No tests executed!", log, re.MULTILINE) else None


def _rspec(log: str) -> Summary | None:
    total = re.search(r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?", log, re.MULTILINE)
    if total is None:
        return None
    pending = int(total[3] or 0)
    passed = max(0, int(total[1]) - int(total[2]) - pending)
    lost = "occurred outside of examples" in log
    counts = {Outcome.PASSED: passed, Outcome.FAILED: int(total[2]), Outcome.SKIPPED: pending}
    return _make("rspec", counts, collection_failed=lost)


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
    "go": _go,
    "cargo": _cargo,
    "nextest": _nextest,
    "jest": _jest,
    "vitest": _vitest,
    "mocha": _mocha,
    "node": _node,
    "tap": _tap,
    "maven": _maven,
    "gradle": _gradle,
    "phpunit": _phpunit,
    "rspec": _rspec,
}
