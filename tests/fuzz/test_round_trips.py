"""What a runner says of its tests is what is read: generated results, written as each runner writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from berbench.evidence.gotest import read_go
from berbench.evidence.junit import read_junit
from berbench.evidence.lines import read_jest, read_titles, read_unittest
from berbench.evidence.reading import Reading, plain_text
from berbench.evidence.rust import read_libtest, read_nextest
from berbench.evidence.tap import read_tap
from berbench.model.trial import Outcome

EXAMPLES = max(hypothesis_settings.default.max_examples // 4, 1)

Results = list[tuple[str, Outcome]]
Writer = Callable[[Results], Reading]

# No reader may take these for structure: line ends of Unicode, quotes, other runners' words, any letter.
PIECES = st.one_of(
    st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff"),
    st.sampled_from(list("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\"'<>&\\/{}[]#")),
    st.sampled_from(['{"Time":', "not ok 1", "... FAILED", "--- PASS: x (0.00s)"]),
)
NAMES = st.lists(PIECES, min_size=1, max_size=20).map("".join).filter(lambda name: name.strip() == name)
# Names that a line without quotes can hold whole.
WORDS = st.from_regex(r"[a-z_0-9:.]{1,20}", fullmatch=True)


def results(names: st.SearchStrategy[str]) -> st.SearchStrategy[Results]:
    outcomes = st.sampled_from([Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED])
    return st.lists(st.tuples(names, outcomes), max_size=6, unique_by=lambda result: result[0])


def junit(given_: Results) -> Reading:
    inner = {Outcome.PASSED: "", Outcome.FAILED: '<failure message="no"/>', Outcome.SKIPPED: "<skipped/>"}
    cases = "".join(
        f'<testcase classname="t" name={quoteattr(name)}>{inner[outcome]}</testcase>'
        for name, outcome in given_
    )
    return read_junit(f'<testsuites><testsuite name="t">{cases}</testsuite></testsuites>'.encode(), "phpunit")


def jest(given_: Results) -> Reading:
    words = {Outcome.PASSED: "passed", Outcome.FAILED: "failed", Outcome.SKIPPED: "pending"}
    tests = [{"ancestorTitles": [], "title": name, "status": words[outcome]} for name, outcome in given_]
    suite = {"name": "a.js", "status": "passed", "assertionResults": tests}
    return read_jest(json.dumps({"testResults": [suite]}, ensure_ascii=False).encode())


def unittest(given_: Results) -> Reading:
    lines = [json.dumps({"id": name, "outcome": outcome}, ensure_ascii=False) for name, outcome in given_]
    return read_unittest("\n".join([*lines, '{"end": true}', ""]).encode())


def titles(given_: Results) -> Reading:
    records = [{"titles": ["g", name], "file": "a.js", "outcome": outcome} for name, outcome in given_]
    lines = [json.dumps(record, ensure_ascii=False) for record in [{"loaded": True}, *records, {"end": True}]]
    return read_titles("\n".join(lines).encode())


def go(given_: Results) -> Reading:
    words = {Outcome.PASSED: "pass", Outcome.FAILED: "fail", Outcome.SKIPPED: "skip"}
    events: list[dict[str, str]] = []
    for name, outcome in given_:
        events.append({"Action": "run", "Package": "p", "Test": name})
        events.append({"Action": "output", "Package": "p", "Test": name, "Output": f"{name}\n"})
        events.append({"Action": words[outcome], "Package": "p", "Test": name})
    failed = any(outcome is Outcome.FAILED for _, outcome in given_)
    events.append({"Action": "fail" if failed else "pass", "Package": "p"})
    log = "".join(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" for event in events)
    return read_go(plain_text(log.encode()))


def tap(given_: Results) -> Reading:
    lines = ["TAP version 13"]
    for number, (name, outcome) in enumerate(given_, start=1):
        sign = "not ok" if outcome is Outcome.FAILED else "ok"
        lines.append(f"{sign} {number} - {name}{' # SKIP' if outcome is Outcome.SKIPPED else ''}")
    return read_tap(plain_text("\n".join([*lines, f"1..{len(given_)}"]).encode()))


def libtest(given_: Results) -> Reading:
    words = {Outcome.PASSED: "ok", Outcome.FAILED: "FAILED", Outcome.SKIPPED: "ignored"}
    counts = [sum(outcome is kind for _, outcome in given_) for kind in words]
    lines = ["     Running tests/api.rs (target/x)", "", f"running {len(given_)} tests"]
    lines += [f"test {name} ... {words[outcome]}" for name, outcome in given_]
    total = "test result: {}. {} passed; {} failed; {} ignored; 0 measured; 0 filtered out"
    lines += ["", total.format("FAILED" if counts[1] else "ok", *counts)]
    return read_libtest(plain_text("\n".join(lines).encode()))


def nextest(given_: Results) -> Reading:
    words = {Outcome.PASSED: "PASS", Outcome.FAILED: "FAIL", Outcome.SKIPPED: "SKIP"}
    ran = sum(outcome is not Outcome.SKIPPED for _, outcome in given_)
    lines = [f"        {words[outcome]} [   0.001s] crate {name}" for name, outcome in given_]
    lines.append(f"     Summary [   0.010s] {ran} tests run: {ran} passed")
    return read_nextest(plain_text("\n".join(lines).encode()))


def agrees(reading: Reading, given_: Results) -> None:
    assert reading.complete, reading.problems
    assert [result.outcome for result in reading.results] == [outcome for _, outcome in given_]
    assert all(name in result.id for (name, _), result in zip(given_, reading.results, strict=True))


@pytest.mark.parametrize("write", [jest, unittest, titles, go])
@given(given_=results(NAMES))
@hypothesis_settings(max_examples=EXAMPLES)
def test_any_name_survives_a_report_with_quotes(write: Writer, given_: Results) -> None:
    agrees(write(given_), given_)


@pytest.mark.parametrize("write", [junit, tap, libtest, nextest])
@given(given_=results(WORDS))
@hypothesis_settings(max_examples=EXAMPLES)
def test_plain_names_survive_every_form(write: Writer, given_: Results) -> None:
    agrees(write(given_), given_)


@given(given_=results(NAMES.filter(str.isprintable)))
@hypothesis_settings(max_examples=EXAMPLES)
def test_any_printable_name_survives_junit(given_: Results) -> None:
    agrees(junit(given_), given_)
