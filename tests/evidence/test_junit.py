"""JUnit XML of every make, whole and broken."""

from __future__ import annotations

import pytest

from berbench.evidence.junit import read_junit
from berbench.model.trial import Outcome

PYTEST = """<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" tests="4">
<testcase classname="tests.test_x.TestA.TestB" name="test_m[a::b]" file="tests/test_x.py" line="3" time="0.1"/>
<testcase classname="tests.test_x" name="test_f" file="tests/test_x.py"><failure message="assert 1">E  assert 1
more</failure></testcase>
<testcase classname="tests.test_x" name="test_x" file="tests/test_x.py">
<skipped type="pytest.xfail" message="known"/></testcase>
<testcase classname="tests.test_x" name="test_s" file="tests/test_x.py">
<failure message="[XPASS(strict)] ok"/></testcase>
</testsuite></testsuites>"""


def test_pytest_ids_are_node_ids() -> None:
    reading = read_junit(PYTEST.encode(), "pytest")
    assert [(r.id, r.outcome) for r in reading.results] == [
        ("tests/test_x.py::TestA::TestB::test_m[a::b]", Outcome.PASSED),
        ("tests/test_x.py::test_f", Outcome.FAILED),
        ("tests/test_x.py::test_x", Outcome.XFAILED),
        ("tests/test_x.py::test_s", Outcome.XPASSED),
    ]
    assert reading.complete and not reading.problems


def test_pytest_without_file_attributes_is_placed_by_its_class_name() -> None:
    text = PYTEST.replace(' file="tests/test_x.py"', "")
    assert [r.id for r in read_junit(text.encode(), "pytest").results] == [
        "tests/test_x.py::TestA::TestB::test_m[a::b]",
        "tests/test_x.py::test_f",
        "tests/test_x.py::test_x",
        "tests/test_x.py::test_s",
    ]


def test_a_module_that_can_not_be_collected_is_an_error_by_its_file() -> None:
    text = (
        '<testsuites><testsuite><testcase classname="" name="tests.test_x">'
        '<error message="collection failure">ImportError: no</error></testcase></testsuite></testsuites>'
    )
    reading = read_junit(text.encode(), "pytest")
    assert [(r.id, r.file, r.outcome) for r in reading.results] == [
        ("tests/test_x.py", "tests/test_x.py", Outcome.ERROR)
    ]
    assert reading.collection_failed
    assert "ImportError: no" in reading.results[0].message


SUREFIRE = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" name="org.acme.AdderTest" tests="4" failures="1">
  <properties><property name="os.name" value="Linux"/></properties>
  <testcase name="adds" classname="org.acme.AdderTest" time="0.01"/>
  <testcase name="fails" classname="org.acme.AdderTest" time="0.01">
    <failure message="expected: &lt;3&gt;" type="org.opentest4j.AssertionFailedError"><![CDATA[stack]]></failure>
    <system-out><![CDATA[text with <failure> in it]]></system-out>
  </testcase>
  <testcase name="later" classname="org.acme.AdderTest"><skipped/></testcase>
  <testcase name="retried" classname="org.acme.AdderTest"><flakyFailure message="x" type="y">z</flakyFailure></testcase>
</testsuite>"""


def test_surefire_files() -> None:
    reading = read_junit(SUREFIRE.encode(), "maven")
    assert [(r.id, r.outcome.value, r.file) for r in reading.results] == [
        ("org.acme.AdderTest#adds", "passed", "org/acme/AdderTest"),
        ("org.acme.AdderTest#fails", "failed", "org/acme/AdderTest"),
        ("org.acme.AdderTest#later", "skipped", "org/acme/AdderTest"),
        ("org.acme.AdderTest#retried", "passed", "org/acme/AdderTest"),
    ]
    assert reading.retried == ("org.acme.AdderTest#retried",)


def test_pytest_runs_of_one_test_count_once_and_by_the_worst() -> None:
    """Runs that a plug-in did not count stand there as if they had passed; a teardown may fail after its test."""
    case = '<testcase classname="t" name="{}" file="t.py">{}</testcase>'
    bad, late = '<failure message="no"/>', '<error message="failed on teardown"/>'
    cases = [
        ("good", ""),
        ("good", ""),
        ("bad", ""),
        ("bad", ""),
        ("bad", bad),
        ("late", bad),
        ("late", late),
    ]
    body = "".join(case.format(*one) for one in cases)
    reading = read_junit(f"<testsuites><testsuite>{body}</testsuite></testsuites>".encode(), "pytest")
    assert [(r.id, r.outcome.value) for r in reading.results] == [
        ("t.py::good", "passed"),
        ("t.py::bad", "failed"),
        ("t.py::late", "failed"),
    ]
    assert reading.retried == ("t.py::good",)


def test_nested_suites_hand_their_file_down() -> None:
    text = (
        '<testsuites><testsuite name="a" file="t/a.php"><testsuite name="b"><testcase name="x" classname="A"/>'
        '</testsuite></testsuite><testsuite name="c"><testcase name="y"/></testsuite></testsuites>'
    )
    assert [(r.id, r.file) for r in read_junit(text.encode(), "phpunit").results] == [
        ("t/a.php::A.x", "t/a.php"),
        ("y", ""),
    ]


def test_a_report_torn_by_a_kill_keeps_what_it_holds_and_is_not_whole() -> None:
    data = PYTEST.encode()
    reading = read_junit(data[: data.index(b"<skipped")], "pytest", where="pytest.xml")
    assert [r.id for r in reading.results] == [
        "tests/test_x.py::TestA::TestB::test_m[a::b]",
        "tests/test_x.py::test_f",
    ]
    assert not reading.complete
    assert "pytest.xml is no complete XML" in reading.problems[0]


def test_an_empty_file_is_not_a_report_of_nothing() -> None:
    assert not read_junit(b"", "pytest").complete


@pytest.mark.parametrize(
    "junk", [b"\x1b", b"\x00", b"&#x1b;", b"&#0;", b"&#xFFFE;", b"\xff", b"\xc3", "\ufffe".encode()]
)
def test_characters_that_xml_forbids_do_not_lose_the_report(junk: bytes) -> None:
    data = PYTEST.encode().replace(b"more", b"more " + junk + b" text")
    reading = read_junit(data, "pytest")
    assert reading.complete and len(reading.results) == 4


@pytest.mark.parametrize("kept", [b"&#9;", b"&#10;", b"&#x41;", b"&amp;", b"&#128512;", b"&#x10FFFF;"])
def test_characters_that_xml_allows_stay(kept: bytes) -> None:
    data = PYTEST.encode().replace(b"assert 1\nmore", b"[" + kept + b"]")
    reading = read_junit(data, "pytest")
    assert reading.complete
    assert "?" not in reading.results[1].message


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16"])
def test_other_encodings_are_read_as_declared(encoding: str) -> None:
    text = PYTEST.replace('encoding="utf-8"', f'encoding="{encoding}"').replace("assert 1", "é")
    reading = read_junit(text.encode(encoding), "pytest")
    assert reading.complete and "é" in reading.results[1].message


def test_entities_are_refused() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuites><testsuite/></testsuites>'
    reading = read_junit(bomb.encode(), "", where="bomb.xml")
    assert not reading.complete and reading.problems == ("bomb.xml was refused: it declares entities",)


def test_another_xml_document_is_refused() -> None:
    reading = read_junit(b"<coverage/>", "", where="c.xml")
    assert reading.problems == ("c.xml was refused: the root element is <coverage>, not <testsuites>",)


def test_a_huge_report_is_read_whole_and_messages_are_capped() -> None:
    case = '<testcase classname="t" name="n{}" file="t.py"><failure message="m">{}</failure></testcase>'
    body = "".join(case.format(i, "line\n" * 400) for i in range(2000))
    reading = read_junit(f"<testsuites><testsuite>{body}</testsuite></testsuites>".encode(), "pytest")
    assert len(reading.results) == 2000
    assert max(len(r.message) for r in reading.results) <= 600


def test_a_report_cut_at_the_size_limit_says_so() -> None:
    data = PYTEST.encode()
    assert read_junit(data[:300], "pytest", where="a.xml", truncated=True).complete is False
    whole = read_junit(data, "pytest", where="a.xml", truncated=True)
    assert whole.problems == ("a.xml was cut at berbench's size limit",)


@pytest.mark.parametrize("status", ["notrun", "disabled"])
def test_V25_a_test_that_was_not_run_did_not_pass(status: str) -> None:
    """GoogleTest lists what a filter or a name keeps from running, with no mark but this one."""
    cases = (
        f'<testcase name="a" classname="S" status="{status}"/><testcase name="b" classname="S" status="run"/>'
    )
    reading = read_junit(f"<testsuites><testsuite>{cases}</testsuite></testsuites>".encode(), "")
    assert [one.outcome for one in reading.results] == [Outcome.SKIPPED, Outcome.PASSED]


@pytest.mark.parametrize(
    ("message", "text", "first"),
    [
        (
            "TypeError: no",
            "self = &lt;A object&gt;\n\n    def f():\n&gt;       g()\nE       TypeError: no",
            "TypeError: no",
        ),
        ("assert 1 == 2\n +  where", "    def f():\nE       assert 1 == 2", "assert 1 == 2"),
        ("expected: 1", "org.acme.Failed: expected: 1\n\tat org.acme", "org.acme.Failed: expected: 1"),
        ("", "Error: no\n    at f", "Error: no"),
    ],
)
def test_a_failure_begins_with_its_reason(message: str, text: str, first: str) -> None:
    """pytest's text begins with the values of names, and the reason is somewhere below."""
    message = message.replace("\n", "&#10;")
    case = f'<testcase classname="t" name="x" file="t.py"><failure message="{message}">{text}</failure></testcase>'
    reading = read_junit(f"<testsuites><testsuite>{case}</testsuite></testsuites>".encode(), "pytest")
    assert reading.results[0].message.splitlines()[0] == first
