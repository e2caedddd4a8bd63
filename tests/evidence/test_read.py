"""From a trial's facts to its evidence: what is read first, and what a log alone can tell."""

from __future__ import annotations

import json

import pytest

from berbench.evidence import read_evidence, unstable
from berbench.evidence.names import beside, is_test_file, names_file
from berbench.evidence.reading import legible
from berbench.evidence.rspec import read_rspec
from berbench.model.trial import Evidence, Facts, Outcome, ReportFile
from berbench.runners import instrument

JUNIT = b'<testsuites><testsuite><testcase classname="t" name="test_a" file="t.py"/></testsuite></testsuites>'


def read(
    command: str, *, log: bytes = b"", code: int | None = 0, evidence: str = "auto", **reports: bytes
) -> Evidence:
    files = tuple(ReportFile(name.replace("__", "."), data) for name, data in reports.items())
    return read_evidence(
        instrument(command, evidence), Facts("base", code, log=log, log_bytes=len(log), reports=files)
    )


def test_V02_a_runner_that_was_ended_before_its_report_left_none() -> None:
    evidence = read("pytest t.py", code=0, log=b"")
    assert evidence.report_missing and not evidence.readable
    assert evidence.problems == ("pytest left no junit report",)


def test_V02_unittest_records_without_an_end_are_not_whole() -> None:
    record = json.dumps({"id": "t.T.test_a", "outcome": "passed", "file": "t.py", "message": ""}).encode()
    evidence = read("python -m unittest t", unittest__jsonl=b"", **{"unittest-7__jsonl": record + b"\n"})
    assert [r.id for r in evidence.results] == ["t.T.test_a"]
    assert evidence.report_missing
    assert "has no end" in evidence.problems[0]


def test_V17_two_tests_of_one_name_are_counted_twice() -> None:
    twice = b"".join(
        json.dumps({"id": "t.T.test_a", "outcome": outcome, "file": "t.py"}).encode() + b"\n"
        for outcome in ("passed", "failed")
    )
    evidence = read("python -m unittest t", **{"unittest-7__jsonl": twice + b'{"end": true}\n'})
    assert [(r.id, r.outcome.value) for r in evidence.results] == [
        ("t.T.test_a", "passed"),
        ("t.T.test_a#2", "failed"),
    ]
    assert evidence.counts == ((Outcome.PASSED, 1), (Outcome.FAILED, 1))


def test_V20_the_report_counts_and_not_the_stream() -> None:
    log = b"t.py F.F.F 12 failed, 3 errors in 0.1s\n"
    evidence = read("pytest t.py", log=log, pytest__xml=JUNIT)
    assert evidence.source == "junit" and evidence.counts == ((Outcome.PASSED, 1),)


@pytest.mark.parametrize(
    "line",
    [
        b"\x1b[32m\x1b[1m185 passed\x1b[0m\x1b[32m in 1.20s\x1b[0m",
        b"\x1b]0;title\x07185 passed in 1.20s",
        b"\x1b]8;;http://x\x1b\\185 passed\x1b]8;;\x1b\\ in 1.20s",
        b"\x1b[2K\x1b[1G\x1b[?25h185 passed in 1.20s",
        b"\x1b(B185 passed in 1.20s",
        b"\x1b]0;never ended\n185 passed in 1.20s",
    ],
)
def test_V22_colours_and_titles_hide_no_result(line: bytes) -> None:
    evidence = read("make test", log=b"start\n" + line + b"\n")
    assert evidence.source == "summary" and evidence.counts == ((Outcome.PASSED, 185),)


@pytest.mark.parametrize("junk", [b"\xff", b"\xe2\x82", b"\xc3\x28", b"\x00"])
def test_V23_stray_bytes_lose_nothing(junk: bytes) -> None:
    evidence = read("make test", log=b"a " + junk + b" b\n2 passed in 0.1s\n" + junk)
    assert evidence.counts == ((Outcome.PASSED, 2),)


@pytest.mark.parametrize(
    ("code", "log"),
    [
        (127, b"sh: 1: pytest: not found\n"),
        (127, b"bash: line 1: pytest: command not found\n"),
        (126, b"sh: 1: ./run.sh: Permission denied\n"),
        (1, b"/usr/bin/python: No module named pytest\n"),
        (1, b"npm error could not determine executable to run\n"),
        (1, b'npm ERR! npx canceled due to missing packages and no YES option: ["jest@29"]\n'),
    ],
)
def test_a_command_that_could_not_start_is_told_apart(code: int, log: bytes) -> None:
    assert read("pytest t.py", log=log, code=code).command_missing


@pytest.mark.parametrize(
    ("code", "log"),
    [
        (1, b"sh: 1: helper: not found\n"),
        (127, b"the program under test exits with 127\n"),
        (0, b"sh: 1: pytest: not found\n"),
        (1, b"E   ModuleNotFoundError: No module named 'requests'\n"),
    ],
)
def test_other_failures_are_no_missing_command(code: int, log: bytes) -> None:
    assert not read("pytest t.py", log=log, code=code).command_missing


def test_a_command_that_ran_tests_was_not_missing() -> None:
    assert not read("pytest t.py", log=b"sh: x: not found\n", code=127, pytest__xml=JUNIT).command_missing


def test_a_report_named_by_the_task() -> None:
    evidence = read("make check", evidence="junit:out/*.xml", **{"collected/out/r__xml": JUNIT})
    assert evidence.readable and not evidence.report_missing
    absent = read("make check", evidence="junit:out/*.xml", log=b"3 passed in 0.1s\n")
    assert absent.problems == ("the command left no junit report",)


def test_a_script_that_runs_pytest_is_read_when_its_report_appears() -> None:
    assert read("make test", pytest__xml=JUNIT).source == "junit"
    assert read("make test").report_missing is False


def test_evidence_none_reads_nothing() -> None:
    evidence = read("pytest t.py", evidence="none", log=b"3 passed in 0.1s\n", pytest__xml=JUNIT)
    assert not evidence.source and not evidence.counts


def test_several_reports_of_a_chain_are_one() -> None:
    other = JUNIT.replace(b"test_a", b"test_b")
    evidence = read("pytest a && pytest b", pytest__xml=JUNIT, **{"pytest-2__xml": other})
    assert [r.id for r in evidence.results] == ["t.py::test_b", "t.py::test_a"]


def test_absolute_paths_are_made_relative_to_the_work_tree() -> None:
    suite = {
        "name": "/app/src/a.test.js",
        "status": "passed",
        "assertionResults": [{"title": "x", "status": "passed"}],
    }
    report = json.dumps({"testResults": [suite]}).encode()
    evidence = read("npx jest", root=b"/app\n", **{"jest-1__json": report})
    assert [(r.id, r.file) for r in evidence.results] == [("src/a.test.js > x", "src/a.test.js")]


@pytest.mark.parametrize("junk", [b"", b"{", b"[]", b'{"testResults": 3}', b"\xff\xfe"])
def test_a_broken_json_report_is_a_problem_not_an_empty_run(junk: bytes) -> None:
    evidence = read("npx jest", **{"jest-1__json": junk})
    assert evidence.report_missing and not evidence.none_ran and evidence.problems


@pytest.mark.parametrize(
    "junk",
    [
        b'{"testResults": [3, null]}',
        b'{"testResults": [{"assertionResults": 4}]}',
        b'{"examples": [[], 1, {"id": 1}]}',
        b"[" * 200_000,
        b'{"a":' * 100_000,
    ],
)
def test_json_of_a_strange_shape_does_not_break_the_reader(junk: bytes) -> None:
    read("npx jest", **{"jest-1__json": junk})
    read_rspec(junk)
    read("npx mocha", **{"mocha-1__jsonl": junk})
    read("python -m unittest", **{"unittest-1__jsonl": junk})


def test_a_log_cut_in_the_middle_is_said_of_streams() -> None:
    test = b'"Package":"p","Test":"A"}'
    log = b'{"Action":"run",' + test + b'\n{"Action":"pass",' + test + b'\n{"Action":"pass","Package":"p"}\n'
    facts = Facts("base", 0, log=log, log_bytes=10**9, log_truncated=True)
    assert "cut in the middle" in read_evidence(instrument("go test ./p"), facts).problems[-1]


@pytest.mark.parametrize(
    "name",
    [
        "t.py::test[<object at 0x7f2b32c22050>]",
        "t.py::test[/tmp/x123/a]",
        "writes (0.03 s)",
        "took 12.34ms",
        "t.py::test[2024-01-02 03:04]",
        "run[3f2504e0-4f89-11d3-9a0c-0305e82c3301]",
    ],
)
def test_V19_names_that_change_by_themselves_are_known(name: str) -> None:
    assert unstable(name)


@pytest.mark.parametrize(
    "name", ["t.py::test_a[0x1f]", "t.py::test_tmp", "adds 3 seconds", "t.py::test[2024-01-02]", "a (3)"]
)
def test_V19_plain_names_are_not_taken_for_changing_ones(name: str) -> None:
    assert not unstable(name)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain [a/b] é 中 \U0001f600", "plain [a/b] é 中 \U0001f600"),
        ("\x1b[31mred\x00", "\\x1b[31mred\\x00"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\u2028 \x85 \ud800", "\\u2028 \\x85 \\ud800"),
    ],
)
def test_names_are_written_so_that_they_can_be_kept_and_shown(name: str, shown: str) -> None:
    assert legible(name) == shown
    assert legible(shown) == shown


def test_names_that_become_the_same_are_numbered() -> None:
    lines = [{"id": name, "outcome": "passed"} for name in ("t.a\n", "t.a\\n")]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in [*lines, {"end": True}])
    evidence = read("python -m unittest t", **{"unittest-7__jsonl": data})
    assert [r.id for r in evidence.results] == ["t.a\\n", "t.a\\n#2"]


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("npx ava test/a.js", ("test/a.js",)),
        ("cd sub && npx tape -r ./setup.js test/a.js test/b.js | cat", ("test/a.js", "test/b.js")),
        ("node_modules/.bin/qunit --filter x test/a.js", ("test/a.js",)),
        ("npx ava", ()),
        ("npx ava test", ()),
        ("npx tape 'test/*.js'", ()),
        ("npx tape test/a.js && npx tape test/b.js", ()),
        ("npx mocha test/a.js", ()),
        ("npx ava 'broken", ()),
    ],
)
def test_files_named_by_a_command_whose_report_names_none(command: str, named: tuple[str, ...]) -> None:
    log = b"TAP version 13\nok 1 - adds\n1..1\n# tests 1\n# pass 1\n"
    evidence = read(command, log=log, evidence="auto")
    files = {result.file for result in evidence.results}
    assert evidence.named == (named if len(named) > 1 else ())  # of one file, every result knows
    assert files in (({named[0]},) if len(named) == 1 else ({""}, set()))


@pytest.mark.parametrize(
    ("seen", "path"),
    [
        ("tests/test_x.py", "tests/test_x.py"),
        ("tests/api/main.rs", "tests/api/cases.rs"),
        ("tests/api.rs", "crates/a/tests/api/main.rs"),
        ("tests/test_x.py", "sub/tests/test_x.py"),
        ("/app/tests/test_x.py", "tests/test_x.py"),
        ("org/acme/AdderTest", "core/src/test/java/org/acme/AdderTest.java"),
        ("example.com/m/a", "a/a_test.go"),
        ("example.com/m", "a_test.go"),
        ("./tests/a.js", "tests/a.js"),
    ],
)
def test_a_results_file_means_a_path(seen: str, path: str) -> None:
    assert names_file(seen, path)


@pytest.mark.parametrize(
    ("seen", "path", "near"),
    [
        ("tests/io/test_a.py", "tests/io/data/x.json", True),
        ("tests/io/deep/test_a.py", "tests/io/conftest.py", True),
        ("example.com/m/a", "a/testdata/x.golden", True),
        ("test_a.py", "data.json", True),
        ("other/test_a.py", "tests/data/x.json", False),
        ("example.com/m/b", "a/testdata/x.golden", False),
        ("test_a.py", "data/x.json", False),
    ],
)
def test_data_and_helpers_are_served_by_tests_near_them(seen: str, path: str, near: bool) -> None:
    assert beside(seen, path) == near


@pytest.mark.parametrize(
    ("seen", "path"),
    [
        ("tests/test_x.py", "tests/test_xx.py"),
        ("x.py", "tests/test_x.py"),
        ("other/tests/test_x.py", "tests2/test_x.py"),
        ("org/acme/Adder", "src/test/java/org/acme/AdderTest.java"),
        ("example.com/m/b", "a/a_test.go"),
    ],
)
def test_another_file_does_not(seen: str, path: str) -> None:
    assert not names_file(seen, path)


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_x.py",
        "pkg/x_test.py",
        "app/tests.py",
        "a.spec.ts",
        "__tests__/a.js",
        "p/a_test.go",
        "tests/api.rs",
        "src/test/java/a/BTest.java",
        "tests/FooTest.php",
        "spec/a_spec.rb",
    ],
)
def test_files_of_tests(path: str) -> None:
    assert is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "tests/conftest.py",
        "tests/__init__.py",
        "tests/data/x.json",
        "src/testing.py",
        "lib/latest.py",
        "a.js",
        "__tests__/__mocks__/a.js",
        "p/a.go",
        "src/main.rs",
        "src/test/java/a/Base.java",
    ],
)
def test_helpers_and_sources_are_none(path: str) -> None:
    assert not is_test_file(path)


def test_a_log_of_blank_lines_is_read_in_a_moment() -> None:
    """Patterns that look across lines would take hours here."""
    assert not read("make test", log=b"\n" * 300_000 + b"Tests " * 20_000).counts
