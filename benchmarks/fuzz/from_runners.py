"""Reports, streams and logs of test runners, as a trial brings them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from berbench.diagnosis import code_is_to_blame, diagnose_log, log_tail
from berbench.emit import dump
from berbench.evidence import read_evidence, unstable
from berbench.evidence.gotest import read_go
from berbench.evidence.junit import read_junit
from berbench.evidence.lines import read_jest, read_titles, read_unittest
from berbench.evidence.names import beside, is_test_file, names_file
from berbench.evidence.reading import Reading, number_repeats, plain_text
from berbench.evidence.rust import read_libtest, read_nextest
from berbench.evidence.summary import find_summary
from berbench.evidence.tap import read_tap
from berbench.model.trial import Evidence, Facts, ReportFile
from berbench.runners import instrument
from berbench.runners.narrow import narrow
from berbench.yamlio import load

_DATA = Path(__file__).resolve().parents[2] / "tests" / "evidence" / "data"
_CUT = b"\n%%%%\n"  # between the parts of a trial
_RUNNERS = (
    "pytest", "unittest", "django", "nose2", "go", "cargo", "nextest", "jest", "vitest", "mocha", "node", "tap", "tape",
    "maven", "gradle", "phpunit", "rspec", "", "ctest",
)  # fmt: skip


def reports(*endings: str) -> Callable[[], Iterator[bytes]]:
    """The kept reports of real runners whose names end so."""

    def seeds() -> Iterator[bytes]:
        for path in sorted(_DATA.glob("*/*")):
            if path.name.endswith(endings):
                yield path.read_bytes()

    return seeds


def logs(*runners: str) -> Callable[[], Iterator[bytes]]:
    """The kept logs of real runners whose folders' names start so."""

    def seeds() -> Iterator[bytes]:
        for path in sorted(_DATA.glob("*/log")):
            if path.parent.name.startswith(runners):
                yield path.read_bytes()

    return seeds


def trials() -> Iterator[bytes]:
    """Whole kept trials: command, exit code, log, then each report's name and bytes."""
    for command in sorted(_DATA.glob("*/command.json")):
        folder, meta = command.parent, json.loads(command.read_text(encoding="utf-8"))
        parts = [meta["command"].encode(), str(meta["exit_code"]).encode(), (folder / "log").read_bytes()]
        for path in sorted(folder.iterdir()):
            if path.name not in ("command.json", "log"):
                parts += [path.name.replace("+", "/").encode(), path.read_bytes()]
        yield _CUT.join(parts)


def _well_formed(reading: Reading) -> None:
    """Ids become unique, what is not complete says why, and texts are bounded."""
    named = number_repeats(reading.results)
    assert len({result.id for result in named}) == len(named) == len(reading.results)
    assert reading.complete or reading.problems or not reading.results, "incomplete, and nobody says why"
    assert all(len(result.message) <= 600 for result in named)


def check_junit(data: bytes) -> None:
    """JUnit XML, whoever wrote it."""
    for runner in ("pytest", "maven", "phpunit", ""):
        _well_formed(read_junit(data, runner))
    _well_formed(read_junit(data, "pytest", truncated=True))


def check_lines(data: bytes) -> None:
    """The kits' lines, and jest's document."""
    _well_formed(read_unittest(data))
    _well_formed(read_titles(data))
    _well_formed(read_jest(data))


def check_go(data: bytes) -> None:
    """`go test -json`."""
    _well_formed(read_go(plain_text(data)))


def check_tap(data: bytes) -> None:
    """TAP of every version, and tape's habits."""
    text = plain_text(data)
    _well_formed(read_tap(text))
    _well_formed(read_tap(text, grouped=True))


def check_rust(data: bytes) -> None:
    """cargo's and nextest's lines."""
    text = plain_text(data)
    _well_formed(read_libtest(text))
    _well_formed(read_nextest(text))


def check_summary(data: bytes) -> None:
    """Closing lines, causes, and what is told from names."""
    text = plain_text(data)
    for runner in _RUNNERS:
        summary = find_summary(text, runner)
        assert summary is None or all(number > 0 for _, number in summary.counts), summary
    diagnose_log(data)
    code_is_to_blame(data)
    assert sum(map(len, log_tail(data))) <= 2000
    for line in text.split("\n")[:50]:
        unstable(line)
        is_test_file(line)
        names_file(line, "tests/test_x.py")
        names_file("a.b.CTest", line)
        beside(line, "tests/data/x.json")


def check_evidence(data: bytes) -> None:
    """A whole trial: what is read of it is well-formed, the same when read again, and can be narrowed or not."""
    command, code, log, *rest = (*data.split(_CUT), b"", b"", b"")
    named = [part.decode("utf-8", "surrogateescape") for part in rest[:-2:2]]
    files = tuple(ReportFile(name, report) for name, report in zip(named, rest[1::2], strict=False))
    instrumentation = instrument(command.decode("utf-8", "surrogateescape"))
    facts = Facts(
        "base",
        sum(code) % 256 if code else None,
        log=log,
        log_bytes=len(log),
        reports=files,
        log_truncated=len(log) % 2 > 0,
    )
    evidence = read_evidence(instrumentation, facts)
    assert evidence == read_evidence(instrumentation, facts)
    _consistent(evidence)
    ids = [result.id for result in evidence.results]
    if len(ids) > 1:
        text = command.decode("utf-8", "surrogateescape")
        narrow(text, instrumentation.runner, ids[:1], ids[1:], evidence.results)


def _consistent(evidence: Evidence) -> None:
    ids = [result.id for result in evidence.results]
    messages = [result.message for result in evidence.results]
    assert load(dump({"ids": ids, "messages": messages}), "kept") == {"ids": ids, "messages": messages}
    assert len(set(ids)) == len(ids), "an id stands twice"
    if evidence.readable:
        counted = Counter(result.outcome for result in evidence.results)
        assert dict(evidence.counts) == dict(counted)
    assert not (evidence.command_missing and evidence.results)
