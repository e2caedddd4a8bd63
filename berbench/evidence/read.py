"""From a trial's facts to its evidence: reports first, streams next, the log's closing lines last."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from berbench.evidence.commandfiles import files_named
from berbench.evidence.gotest import read_go
from berbench.evidence.junit import read_junit
from berbench.evidence.lines import read_jest, read_titles, read_unittest
from berbench.evidence.reading import Reading, count, join, legible, number_repeats, plain_text
from berbench.evidence.rspec import read_rspec
from berbench.evidence.rust import read_libtest, read_nextest
from berbench.evidence.summary import find_summary, sums_up
from berbench.evidence.tally import Summary
from berbench.evidence.tap import read_tap
from berbench.model.trial import Evidence, Facts, Instrumentation, ReportFile, TestResult

_STREAMS: dict[str, Callable[[str], Reading]] = {
    "go-json": read_go,
    "tap": read_tap,
    "libtest": read_libtest,
    "nextest": read_nextest,
}
# The shell's words for a command it can't find or run, and the launchers' words for a runner that is absent.
_NOT_FOUND = re.compile(
    r"not found|No such file or directory|Permission denied|cannot execute|Exec format error|not recognized"
)
_RUNNER_ABSENT = re.compile(
    r"No module named '?(?:pytest|nose2?|pynose|django)'?(?:\.__main__)?(?:;.*)?$"
    r"|could not determine executable to run|npx canceled due to missing packages"
    # npx asks the registry for a runner that is not there, where no network is
    r"|^npm (?:error|ERR!)[^\n]* request to \S+/(?:jest|vitest|mocha|ava|tap|tape|qunit) failed"
    r"|^error: no such (?:sub)?command: `|^go: command not found",
    re.MULTILINE,
)


def read_evidence(instrumentation: Instrumentation, facts: Facts) -> Evidence:
    """All that can be told about single tests from what the trial recorded."""
    log = plain_text(facts.log)
    if instrumentation.format == "none":
        missing = _command_missing(facts, log, ran=False)
        return Evidence(command_missing=missing, runner=instrumentation.runner)
    found = _read_reports(instrumentation, facts)
    if found is None and instrumentation.format in _STREAMS:
        found = _read_stream(instrumentation, log)
    summary = find_summary(log, instrumentation.runner)
    if found is None or (not found[1].complete and not found[1].results):
        return _from_summary(instrumentation, facts, log, summary, found[1] if found else None)
    source, reading = found
    results = number_repeats(_named(instrumentation, _below_root(reading.results, facts.reports)))
    problems = list(reading.problems)
    if facts.log_truncated and source in _STREAMS:
        problems.append("the log was cut in the middle, so results may be missing")
    lost = reading.collection_failed or (summary is not None and summary.collection_failed)
    lost = lost and not reading.nothing
    root = _root(facts.reports)
    return Evidence(
        source=source,
        results=results,
        counts=count(results),
        none_ran=reading.nothing or (not results and not lost),
        collection_failed=lost,
        command_missing=_command_missing(facts, log, ran=bool(results)),
        problems=tuple(problems),
        runner=instrumentation.runner,
        report_missing=not reading.complete,
        retried=tuple(legible(name.removeprefix(root)) for name in reading.retried),
        named=() if any(result.file for result in results) else files_named(instrumentation),
    )


def _from_summary(
    instrumentation: Instrumentation,
    facts: Facts,
    log: str,
    summary: Summary | None,
    torn: Reading | None,
) -> Evidence:
    """No single test can be told apart.

    A report that was asked for and is absent counts as missing only where the runner did not sum up in words
    either: then it ended before its time. Some commands can't be asked (`python -I`), and still sum up."""
    expected = instrumentation.format not in ("summary", "none") or sums_up(instrumentation.runner)
    problems = list(torn.problems) if torn else []
    if expected and not problems:
        what = "summary" if instrumentation.format == "summary" else f"{instrumentation.format} report"
        if what != "summary" or not summary:
            problems.append(f"{instrumentation.runner or 'the command'} left no {what}")
    none_ran = summary is not None and summary.none_ran
    lost = torn is not None and torn.collection_failed and not none_ran
    counts = summary.counts if summary else ()
    return Evidence(
        source="summary" if summary else "",
        counts=counts,
        none_ran=none_ran,
        collection_failed=lost or (summary is not None and summary.collection_failed),
        command_missing=_command_missing(facts, log, ran=bool(counts)),
        problems=tuple(problems),
        runner=instrumentation.runner,
        report_missing=expected and (torn is not None or not counts),
    )


def _read_reports(instrumentation: Instrumentation, facts: Facts) -> tuple[str, Reading] | None:
    """Every report file of the first kind that is there."""
    kinds: dict[str, list[Reading]] = {}
    for report in sorted(facts.reports, key=lambda report: report.name):
        kind, reading = _read_report(instrumentation, report)
        if reading is not None:
            kinds.setdefault(kind, []).append(reading)
    if not kinds:
        return None
    kind = instrumentation.format if instrumentation.format in kinds else next(iter(kinds))
    return kind, join(kinds[kind])


def _read_report(instrumentation: Instrumentation, report: ReportFile) -> tuple[str, Reading | None]:
    name = report.name.rsplit("/", 1)[-1]
    if name.startswith("unittest-") and name.endswith(".jsonl"):
        return "unittest", read_unittest(report.data, where=name)
    if name.startswith(("mocha-", "node.")) and name.endswith(".jsonl"):
        return name[:5].rstrip("-."), read_titles(report.data, where=name)
    if name.startswith(("jest-", "vitest-")) and name.endswith(".json"):
        return "jest", read_jest(report.data, where=name, truncated=report.truncated)
    if name.startswith("rspec-") and name.endswith(".json"):
        return "rspec", read_rspec(report.data, where=name, truncated=report.truncated)
    if name.endswith(".xml") and instrumentation.format in ("junit", "summary"):
        runner = instrumentation.runner or ("pytest" if name.startswith("pytest") else "")
        return "junit", read_junit(report.data, runner, where=name, truncated=report.truncated)
    return "", None


def _read_stream(instrumentation: Instrumentation, log: str) -> tuple[str, Reading] | None:
    """A stream that never began is no report at all."""
    format_ = instrumentation.format
    reading = read_tap(log, grouped=True) if instrumentation.runner == "tape" else _STREAMS[format_](log)
    if not reading.results and (not reading.complete or format_ in ("libtest", "nextest", "tap")):
        return (format_, replace(reading, complete=False)) if reading.problems else None
    return format_, reading


def _below_root(results: tuple[TestResult, ...], reports: tuple[ReportFile, ...]) -> tuple[TestResult, ...]:
    """Absolute paths made relative to the work tree, whose place the instrumented command wrote down."""
    prefix = _root(reports)
    if not prefix:
        return results
    return tuple(
        replace(result, id=result.id.removeprefix(prefix), file=result.file.removeprefix(prefix))
        for result in results
    )


def _root(reports: tuple[ReportFile, ...]) -> str:
    root = next((r.data.decode("utf-8", "surrogateescape").strip() for r in reports if r.name == "root"), "")
    return root.rstrip("/") + "/" if root else ""


def _named(instrumentation: Instrumentation, results: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    """Results under legible names; where a command names one file and its runner none, the tests are of that file."""
    named = () if any(result.file for result in results) else files_named(instrumentation)
    file = named[0] if len(named) == 1 else ""
    return tuple(replace(result, id=legible(result.id), file=result.file or file) for result in results)


def _command_missing(facts: Facts, log: str, *, ran: bool) -> bool:
    if ran:
        return False
    tail = "\n".join(log.splitlines()[-30:])
    if facts.exit_code in (126, 127):
        return _NOT_FOUND.search(tail) is not None
    return facts.exit_code not in (0, None) and _RUNNER_ABSENT.search(tail) is not None
