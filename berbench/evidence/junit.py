"""JUnit XML, as pytest, surefire, Gradle, phpunit and others write it.

Read by expat as a stream: entity declarations are refused, characters XML forbids are dropped, and what stands
before a torn end is kept and reported as incomplete.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from berbench.evidence.reading import Reading, seconds_of, shorten
from berbench.model.trial import Outcome, TestResult

_FORBIDDEN = bytes(set(range(32)) - {9, 10, 13})
_BAD_REFERENCE = re.compile(
    rb"&#(?:x0*(?:[0-8bBcCeEfF]|1[0-9a-fA-F]|[dD][89a-fA-F]..|[fF]{3}[eEfF])|0*(?:[0-8]|1[124-9]|2\d|3[01]));"
)
_UTF8_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*encoding=["']utf-?8["']""", re.IGNORECASE)
_TEXT_CHARS = 4000


class _Refused(Exception):
    """The document declares entities."""


@dataclass
class _Case:
    name: str
    classname: str
    file: str
    outcome: Outcome = Outcome.PASSED
    message: str = ""
    text: list[str] = field(default_factory=list)
    text_size: int = 0
    seconds: float | None = None
    again: bool = False  # it failed before, and was run again


class _Handler:
    """Collects test cases while expat walks the document."""

    def __init__(self, runner: str) -> None:
        self.runner = runner
        self.results: list[TestResult] = []
        self.retried: list[str] = []
        self.collection_failed = False
        self.closed = False
        self.seen_root = False
        self._depth = 0
        self._suite_files: list[str] = []
        self._case: _Case | None = None
        self._in_verdict = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rsplit("}", 1)[-1]
        if self._depth == 0 and tag not in ("testsuites", "testsuite"):
            raise _Refused(f"the root element is <{tag}>, not <testsuites>")
        self._depth += 1
        self.seen_root = True
        if tag == "testsuite":
            inherited = self._suite_files[-1] if self._suite_files else ""
            self._suite_files.append(attributes.get("file", inherited))
        elif tag == "testcase":
            inherited = self._suite_files[-1] if self._suite_files else ""
            file = attributes.get("file", inherited)
            self._case = _Case(attributes.get("name", ""), attributes.get("classname", ""), file)
            self._case.seconds = seconds_of(attributes.get("time"))
            if attributes.get("status") in ("notrun", "disabled"):
                self._case.outcome = Outcome.SKIPPED
        elif self._case is not None and tag in ("failure", "error", "skipped"):
            self._in_verdict = True
            self._judge(self._case, tag, attributes)
        elif self._case is not None and tag in ("flakyFailure", "flakyError"):  # Maven's surefire
            self._case.again = True

    def _judge(self, case: _Case, tag: str, attributes: dict[str, str]) -> None:
        message = attributes.get("message", "")
        kind = attributes.get("type", "")
        if tag == "skipped":
            if case.outcome is Outcome.PASSED:
                case.outcome = Outcome.XFAILED if kind == "pytest.xfail" else Outcome.SKIPPED
                case.message = message
            return
        outcome = Outcome.FAILED if tag == "failure" else Outcome.ERROR
        if tag == "failure" and message.startswith("[XPASS(strict)]"):
            outcome = Outcome.XPASSED
        if tag == "error" and self.runner in ("pytest", "") and message == "collection failure":
            self.collection_failed = True
        if case.outcome is not Outcome.FAILED:
            case.outcome = outcome
        case.message = case.message or message

    def data(self, text: str) -> None:
        if self._case is not None and self._in_verdict and self._case.text_size < _TEXT_CHARS:
            self._case.text.append(text)
            self._case.text_size += len(text)

    def end(self, tag: str) -> None:
        tag = tag.rsplit("}", 1)[-1]
        self._depth -= 1
        self.closed = self._depth == 0
        if tag == "testsuite":
            self._suite_files.pop()
        elif tag in ("failure", "error", "skipped"):
            self._in_verdict = False
        elif tag == "testcase" and self._case is not None:
            self.results.append(self._result(self._case))
            if self._case.again and self.results[-1].outcome is Outcome.PASSED:
                self.retried.append(self.results[-1].id)
            self._case = None

    def _result(self, case: _Case) -> TestResult:
        test_id, file = _name(case, self.runner)
        message = "" if case.outcome is Outcome.PASSED else shorten(_message(case))
        return TestResult(test_id, case.outcome, file, message, case.seconds)


def read_junit(data: bytes, runner: str, *, where: str = "report", truncated: bool = False) -> Reading:
    """Results of one JUnit file. `runner` decides how ids are built; `where` names the file in problems."""
    handler = _Handler(runner)
    parser = expat.ParserCreate()
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.data
    parser.EntityDeclHandler = _refuse_entities
    data = _clean(data)
    problem = ""
    try:
        parser.Parse(data, True)  # at once: expat reads a long token anew with every further piece
    except (expat.ExpatError, LookupError, ValueError) as error:  # the last two: an encoding of no known name
        problem = f"{where} is no complete XML: {error}"
    except _Refused as error:
        return Reading(complete=False, problems=(f"{where} was refused: {error}",))
    if truncated and not problem:
        problem = f"{where} was cut at berbench's size limit"
    results, retried = handler.results, handler.retried
    if runner == "pytest":
        results, retried = _once(results)
    return Reading(
        results=tuple(results),
        collection_failed=handler.collection_failed,
        complete=handler.closed and not problem,
        problems=(problem,) if problem else (),
        retried=tuple(retried),
    )


# From bad to good: what counts of a test that stands in a report more than once.
_WORST_FIRST = (
    *(Outcome.FAILED, Outcome.ERROR, Outcome.XPASSED),
    *(Outcome.XFAILED, Outcome.SKIPPED, Outcome.PASSED),
)


def _once(results: list[TestResult]) -> tuple[list[TestResult], list[str]]:
    """pytest's results, each test once, and those that passed after more than one run.

    An id that pytest gives twice is the same test: it failed and then its teardown did, or a plug-in ran it again, and
    then the runs that did not count stand in the report as if they had passed.
    """
    merged: dict[str, TestResult] = {}
    repeated: dict[str, None] = {}
    for result in results:
        known = merged.get(result.id)
        if known is not None:
            repeated[result.id] = None
        if known is None or _WORST_FIRST.index(result.outcome) < _WORST_FIRST.index(known.outcome):
            merged[result.id] = result
    return list(merged.values()), [name for name in repeated if merged[name].outcome is Outcome.PASSED]


def _refuse_entities(*_: object) -> None:
    raise _Refused("it declares entities")


def _clean(data: bytes) -> bytes:
    """What XML forbids is dropped; stray bytes are replaced where the document says it is UTF-8 (or nothing)."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data  # UTF-16: expat reads it, and byte-wise cleaning would break it
    data = _BAD_REFERENCE.sub(b"?", data.translate(None, _FORBIDDEN))
    if _UTF8_DECLARED.match(data) or b"encoding=" not in data[:100]:
        text = data.decode("utf-8", "replace")
        data = text.replace("\ufffe", "?").replace("\uffff", "?").encode("utf-8")
    return data


def _message(case: _Case) -> str:
    """What is told of a failure, the reason first: pytest's text begins with the values of names."""
    text = "".join(case.text).strip()
    first, _, _ = text.partition("\n")
    if case.message and case.message.partition("\n")[0] not in first:
        return f"{case.message}\n{text}"
    return text or case.message


def _name(case: _Case, runner: str) -> tuple[str, str]:
    """(id, file): the runner's own node id where it can be rebuilt."""
    if case.file.endswith(".py") or runner == "pytest":
        return _pytest_name(case)
    if runner in ("maven", "gradle"):
        return f"{case.classname}#{case.name}", case.file or case.classname.split("$")[0].replace(".", "/")
    joined = f"{case.classname}.{case.name}" if case.classname else case.name
    return (f"{case.file}::{joined}" if case.file else joined), case.file


def _pytest_name(case: _Case) -> tuple[str, str]:
    file = case.file
    if not case.classname and file in ("", _dotted_file(case.name)):  # a module that could not be collected
        file = _dotted_file(case.name)
        return file, file
    if not file:
        file = _dotted_file(_module_part(case.classname))
    module = file.removesuffix(".py").replace("/", ".")
    if module != case.classname and not case.classname.startswith(f"{module}."):
        return f"{file}::{case.classname}::{case.name}" if case.classname else f"{file}::{case.name}", file
    classes = case.classname[len(module) + 1 :].split(".") if case.classname != module else []
    return "::".join((file, *classes, case.name)), file


def _module_part(classname: str) -> str:
    """`tests.test_x.TestA.TestInner` → `tests.test_x`: classes are taken to start with a capital letter."""
    parts = classname.split(".")
    while len(parts) > 1 and parts[-1][:1].isupper():
        parts.pop()
    return ".".join(parts)


def _dotted_file(dotted: str) -> str:
    return dotted if dotted.endswith(".py") else dotted.replace(".", "/") + ".py"
