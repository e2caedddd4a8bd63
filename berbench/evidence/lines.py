"""Reports of one JSON object a line, or one JSON document: berbench's own kit files and jest's report."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from berbench.evidence.reading import Reading, seconds_of, shorten
from berbench.model.trial import Outcome, TestResult

_MOCHA_LOST = "Uncaught error outside test suite"  # a file that a parallel worker could not load
_JEST = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "pending": Outcome.SKIPPED,
    "skipped": Outcome.SKIPPED,
    "todo": Outcome.SKIPPED,
    "disabled": Outcome.SKIPPED,
}
# The loaders of unittest, nose and nose2 report what they could not load as a test of these names.
_FAILED_LOADS = (
    "unittest.loader._FailedTest.",
    "unittest.loader.ModuleImportFailure.",
    "nose2.loader.LoadTestsFailure.",
    "nose.failure.Failure.runTest",
)
_NO_SUCH = re.compile(
    r"(?:No module named '?|module '[^']*' has no attribute ')(?P<name>[\w.]+)'?\s*$", re.MULTILINE
)


def read_unittest(data: bytes, *, where: str = "report") -> Reading:
    """The unittest recorder's lines. Import failures arrive as tests of `unittest.loader._FailedTest`."""
    results = []
    complete = collection_failed = False
    absent = 0
    for record in _records(data):
        if record.get("end"):
            complete = True
            continue
        test_id, message = _text(record, "id"), _text(record, "message")
        collection_failed = collection_failed or test_id.startswith(_FAILED_LOADS)
        absent += _is_absent(test_id, message)
        outcome = _outcome(_text(record, "outcome"))
        took = seconds_of(record.get("seconds"))
        results.append(TestResult(test_id, outcome, _text(record, "file"), shorten(message), took))
    nothing = bool(results) and absent == len(results)
    return Reading(tuple(results), collection_failed, complete, _unended(complete, where), nothing)


def _is_absent(test_id: str, message: str) -> bool:
    """Whether a load failed because the very thing that the command names is not there.

    Not so where a test file that is there asks for something else. nose raises a plain ImportError of its own for a
    file that it can't find, where Python's own is a ModuleNotFoundError by now.
    """
    if test_id.startswith(
        "nose2."
    ):  # its own words are the same whatever went wrong; the cause stands before them
        message = message.partition("\n")[0]
    missing = _NO_SUCH.search(message)
    if missing is None or not test_id.startswith(_FAILED_LOADS):
        return False
    if test_id == "nose.failure.Failure.runTest":
        return message.startswith("ImportError: No module named")
    return missing["name"].rpartition(".")[2] == test_id.rpartition(".")[2]


def read_titles(data: bytes, *, where: str = "report") -> Reading:
    """The mocha and Node recorders' lines: titles from the outermost group to the test.

    Groups that only pass on their tests' outcome are no tests; one that failed by itself (a hook, a file that
    could not be loaded) is an error.
    """
    complete = loaded = False
    records = []
    for record in _records(data):
        loaded = loaded or "kind" in record or bool(record.get("loaded"))
        if record.get("end"):
            complete = True
        elif not record.get("loaded"):
            records.append(record)
    groups = _groups(records)
    results: list[TestResult] = []
    retried = []
    collection_failed = False
    for record in records:
        titles = _titles(record)
        file = _text(record, "file")
        outcome = _outcome(_text(record, "outcome"))
        group = record.get("kind") == "suite" or _holds_more(groups, file, titles)
        if group and (outcome is not Outcome.FAILED or _text(record, "failure") == "subtestsFailed"):
            continue
        if (group or record.get("hook") or _is_file(record, titles, file)) and outcome is Outcome.FAILED:
            outcome = Outcome.ERROR
        elif _is_file(record, titles, file):
            continue
        lost = _is_file(record, titles, file) or titles[-1:] == (_MOCHA_LOST,)
        collection_failed = collection_failed or (outcome is Outcome.ERROR and lost)
        test_id = file if _is_file(record, titles, file) else " > ".join((file, *titles) if file else titles)
        results.append(TestResult(test_id, outcome, file, shorten(_text(record, "message"))))
        if outcome is Outcome.PASSED and record.get("tries"):
            retried.append(test_id)
    unloaded = not loaded and not complete  # mocha made the file, and its test files could not be loaded
    return Reading(
        tuple(results),
        collection_failed or unloaded,
        complete,
        _unended(complete, where),
        retried=tuple(retried),
    )


def read_jest(data: bytes, *, where: str = "report", truncated: bool = False) -> Reading:
    """Jest's `--json` document, which vitest writes too. A suite that failed with no tests is an error."""
    try:
        document = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        cut = " (it was cut at berbench's size limit)" if truncated else ""
        return Reading(complete=False, problems=(f"{where} is no JSON: {error}{cut}",))
    if not isinstance(document, dict) or not isinstance(document.get("testResults"), list):
        return Reading(complete=False, problems=(f"{where} is no report of jest: it has no testResults",))
    results: list[TestResult] = []
    retried = []
    collection_failed = False
    for suite in _objects(document["testResults"]):
        file = _text(suite, "name")
        assertions = _objects(suite.get("assertionResults"))
        for assertion in assertions:
            results.append(_jest_result(file, assertion))
            if results[-1].outcome is Outcome.PASSED and _tried_again(assertion):
                retried.append(results[-1].id)
        if suite.get("status") == "failed" and not any(a.get("status") == "failed" for a in assertions):
            collection_failed = collection_failed or not assertions
            results.append(TestResult(file, Outcome.ERROR, file, shorten(_text(suite, "message"))))
    return Reading(tuple(results), collection_failed, retried=tuple(retried))


def _tried_again(assertion: dict[str, Any]) -> bool:
    """Whether a test that passed had failed before: jest counts how often it ran, vitest keeps the failures."""
    invocations = assertion.get("invocations")
    return bool(assertion.get("failureMessages")) or (isinstance(invocations, int) and invocations > 1)


def _jest_result(file: str, assertion: dict[str, Any]) -> TestResult:
    outer = assertion.get("ancestorTitles")
    titles = [str(title) for title in outer if title] if isinstance(outer, list) else []
    messages = assertion.get("failureMessages")
    message = shorten("\n".join(map(str, messages))) if isinstance(messages, list) else ""
    outcome = _JEST.get(_text(assertion, "status"), Outcome.ERROR)
    return TestResult(" > ".join((file, *titles, _text(assertion, "title"))), outcome, file, message)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _records(data: bytes) -> Iterator[dict[str, Any]]:
    """Whole lines only: a process that was killed may leave a torn last one."""
    for line in data.split(b"\n"):
        try:
            record = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def _unended(complete: bool, where: str) -> tuple[str, ...]:
    return () if complete else (f"{where} has no end: the runner's process ended before its time",)


_Groups = dict[str, Any]  # file, then title below title: as many entries as there are titles, however deep


def _groups(records: list[dict[str, Any]]) -> _Groups:
    groups: _Groups = {}
    for record in records:
        inside = groups.setdefault(_text(record, "file"), {})
        for title in _titles(record):
            inside = inside.setdefault(title, {})
    return groups


def _holds_more(groups: _Groups, file: str, titles: tuple[str, ...]) -> bool:
    """Whether other tests stand below these titles."""
    inside = groups[file]
    for title in titles:
        inside = inside[title]
    return bool(titles and inside)


def _is_file(record: dict[str, Any], titles: tuple[str, ...], file: str) -> bool:
    """Whether Node reports a whole test file as one test, as it does when the file fails or holds none."""
    return "kind" in record and len(titles) == 1 and file != "" and titles[0].endswith(file)


def _titles(record: dict[str, Any]) -> tuple[str, ...]:
    titles = record.get("titles")
    return tuple(str(title) for title in titles) if isinstance(titles, list) else ()


def _text(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _outcome(name: str) -> Outcome:
    try:
        return Outcome(name)
    except ValueError:
        return Outcome.ERROR
