"""Closing lines of Go, Rust, Java, PHP and Ruby runners."""

from __future__ import annotations

import re

from berbench.evidence.tally import Counts, Summary, add, make_summary, whole
from berbench.model.trial import Outcome

_GO_ABSENT = re.compile(
    r"^stat \S+: directory not found$|^no packages to test$|\bmatched no packages$", re.MULTILINE
)
_CARGO_ABSENT = re.compile(
    r"^error: no (?:test|bin|bench|example|library) targets? (?:named|found|matches)", re.MULTILINE
)
_PHP_ABSENT = re.compile(
    r"^Cannot open file \"\S*Test\.php\"|^Test (?:file|directory) \".+\" not found", re.MULTILINE
)
_RSPEC_LOST = re.compile(
    r"^An error occurred while loading \./(?P<file>\S+?)\.(?: - Did you mean\?)?$", re.MULTILINE
)


def go(log: str) -> Summary | None:
    """Lines of tests with -v, else of packages."""
    counts: Counts = {}
    for word, outcome in (("PASS", Outcome.PASSED), ("FAIL", Outcome.FAILED), ("SKIP", Outcome.SKIPPED)):
        add(counts, outcome, str(len(re.findall(rf"^[ \t]*--- {word}: ", log, re.MULTILINE))))
    packages = re.findall(r"^(ok|FAIL|\?) *\t(\S+)[ \t]+(.*)$", log, re.MULTILINE)
    said = [(word, rest) for word, _, rest in packages]
    if not said and not any(counts.values()):
        return make_summary("go", {}) if _GO_ABSENT.search(log) else None
    broken = any("[build failed]" in rest or "[setup failed]" in rest for _, rest in said)
    ran = [word for word, rest in said if word == "ok" and "[no tests to run]" not in rest]
    if not any(counts.values()) and (ran or any(word == "FAIL" for word, _ in said)):
        counts = {Outcome.PASSED: len(ran), Outcome.FAILED: sum(word == "FAIL" for word, _ in said)}
    return make_summary("go", counts, collection_failed=broken)


def cargo(log: str) -> Summary | None:
    """ "test result: …" of every target."""
    totals = re.findall(
        r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;.*$", log, re.MULTILINE
    )
    broken = "error: could not compile" in log
    if not totals and not broken:
        return make_summary("cargo", {}) if _CARGO_ABSENT.search(log) else None
    counts: Counts = {}
    for passed, failed, ignored in totals:
        add(counts, Outcome.PASSED, passed)
        add(counts, Outcome.FAILED, failed)
        add(counts, Outcome.SKIPPED, ignored)
    return make_summary("cargo", counts, collection_failed=broken)


def nextest(log: str) -> Summary | None:
    """ "Summary [..] N tests run"."""
    total = re.search(r"^[ \t]+Summary \[[^\]\n]*\]\s+(\d+)(?:/\d+)? tests? run: (.*)$", log, re.MULTILINE)
    if total is None:
        none = re.search(r"^error: no tests to run", log, re.MULTILINE)
        return make_summary("nextest", {}) if none else None
    counts: Counts = {}
    for number, word in re.findall(r"\b(\d++) (passed|failed|timed out)", total[2]):
        add(counts, Outcome.PASSED if word == "passed" else Outcome.FAILED, number)
    return make_summary("nextest", counts)


def maven(log: str) -> Summary | None:
    """ "Tests run: N" totals, "No tests to run", or a compilation error."""
    pattern = r"^(?:\[\w+\] )?[ \t]*Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)[ \t]*$"
    totals = re.findall(pattern, log, re.MULTILINE)
    if "The forked VM terminated" in log and not any(whole(total[0]) for total in totals):
        return None  # its tests ran, and were not counted
    lost = "COMPILATION ERROR" in log or "Compilation failure" in log
    if not totals:
        none = "No tests to run" in log or "No tests were executed" in log
        return make_summary("maven", {}, collection_failed=lost) if none or lost else None
    counts: Counts = {}
    for run, failed, errors, skipped in totals:
        add(counts, Outcome.PASSED, str(max(0, whole(run) - whole(failed) - whole(errors) - whole(skipped))))
        add(counts, Outcome.FAILED, failed)
        add(counts, Outcome.ERROR, errors)
        add(counts, Outcome.SKIPPED, skipped)
    return make_summary("maven", counts, collection_failed=lost)


def gradle(log: str) -> Summary | None:
    """ "N tests completed", NO-SOURCE, or a failed compile task."""
    total = re.findall(r"^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?$", log, re.MULTILINE)
    failed_tasks = re.findall(r"Execution failed for task ':([^'\n]*+)'", log)
    lost = any("compile" in task.rpartition(":")[2] for task in failed_tasks)
    if not total:
        none = "No tests found for given includes" in log or bool(
            re.search(r"^> Task :\S*[tT]est NO-SOURCE", log, re.MULTILINE)
        )
        return make_summary("gradle", {}, collection_failed=lost) if none or lost else None
    counts: Counts = {}
    for completed, failed, skipped in total:
        add(counts, Outcome.PASSED, str(max(0, whole(completed) - whole(failed) - whole(skipped))))
        add(counts, Outcome.FAILED, failed)
        add(counts, Outcome.SKIPPED, skipped)
    return make_summary("gradle", counts, collection_failed=lost)


def phpunit(log: str) -> Summary | None:
    """ "OK (N tests" or "Tests: N"."""
    good = re.search(r"^OK \((\d+) tests?, \d+ assertions?\)", log, re.MULTILINE)
    bad = re.search(r"^Tests: (\d+), Assertions: \d++(.*)\.$", log, re.MULTILINE)
    if good:
        return make_summary("phpunit", {Outcome.PASSED: whole(good[1])})
    if bad:
        words = {key: whole(value) for key, value in re.findall(r"\b(\w++): (\d+)", bad[2])}
        failed, errors, skipped = (words.get(key, 0) for key in ("Failures", "Errors", "Skipped"))
        counts = {Outcome.FAILED: failed, Outcome.ERROR: errors, Outcome.SKIPPED: skipped}
        counts[Outcome.PASSED] = max(0, whole(bad[1]) - failed - errors - skipped)
        return make_summary("phpunit", counts)
    none = re.search(r"^No tests executed!", log, re.MULTILINE) or _PHP_ABSENT.search(log)
    return make_summary("phpunit", {}) if none else None


def rspec(log: str) -> Summary | None:
    """ "N examples, N failures"."""
    total = re.search(r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?", log, re.MULTILINE)
    if total is None:
        return None
    pending = whole(total[3])
    passed = max(0, whole(total[1]) - whole(total[2]) - pending)
    lost = "occurred outside of examples" in log and not _rspec_absent(log)
    counts = {Outcome.PASSED: passed, Outcome.FAILED: whole(total[2]), Outcome.SKIPPED: pending}
    return make_summary("rspec", counts, collection_failed=lost)


def _rspec_absent(log: str) -> bool:
    """Whether every file that could not be loaded is one that is not there."""
    lost = [match["file"] for match in _RSPEC_LOST.finditer(log)]
    return bool(lost) and all(
        re.search(rf"cannot load such file -- \S*/{re.escape(file)}$", log, re.MULTILINE) for file in lost
    )
