"""From a record, an exit state and a deadline to facts: the combinations that could fool a verdict."""

from __future__ import annotations

import pytest

from berbench.engine import script
from berbench.engine.archive import Taken
from berbench.engine.capture import Capture
from berbench.engine.facts import Seen, check_globs, facts_of
from berbench.engine.record import read_record
from berbench.errors import ConfigError
from berbench.model.changes import Delta
from berbench.model.trial import Image, ReportFile, Trial

IMAGE = Image("sha256:1", "k", "t", "/w", "")
START = b"limited yes\ncounters before 0 0\nprepare 0\n"
RAN = START + b"verify began 100.00\nverify ended 101.50 %d\ncounters after 0 0\nend\n"


def trial(**more: object) -> Trial:
    return Trial("base", "t", IMAGE, Delta(), "true", 60, **more)  # type: ignore[arg-type]


def seen(
    record: bytes | None, code: int | None, *, reports: dict[str, bytes] | None = None, **more: object
) -> Seen:
    files = [ReportFile(name, data) for name, data in (reports or {}).items()]
    if record is not None:
        files.append(ReportFile(script.RECORD, record))
    return Seen(Capture(), Taken(tuple(files)), code, **more)  # type: ignore[arg-type]


def test_a_plain_end():
    facts = facts_of(trial(), seen(RAN % 3, 3))
    assert (facts.exit_code, facts.seconds, facts.timed_out, facts.warnings) == (3, 1.5, False, ())
    assert facts.reports == ()


@pytest.mark.parametrize(("noted", "state"), [(0, 1), (0, 137), (0, None)])
def test_a_zero_in_the_record_needs_a_zero_of_the_engine(noted: int, state: int | None):
    facts = facts_of(trial(), seen(RAN % noted, state))
    assert facts.exit_code == state != 0


@pytest.mark.parametrize("record", [None, b"", START, START + b"verify began 5\n"])
def test_a_zero_of_the_engine_needs_a_record(record: bytes | None):
    assert facts_of(trial(), seen(record, 0)).exit_code is None
    assert facts_of(trial(), seen(record, 137)).exit_code == 137


def test_D11_any_kill_for_memory_counts():
    killed = (RAN % 0).replace(b"counters after 0 0", b"counters after 1 0")
    assert facts_of(trial(), seen(killed, 0)).out_of_memory
    assert facts_of(trial(), seen(RAN % 0, 0, out_of_memory=True)).out_of_memory
    assert not facts_of(trial(), seen(RAN % 0, 0)).out_of_memory
    inherited = (RAN % 0).replace(b" 0 0\n", b" 7 0\n")
    assert not facts_of(trial(), seen(inherited, 0)).out_of_memory


def test_a_command_that_outran_its_time_has_no_code_whatever_it_made_of_term():
    for code in (0, 124, 143):
        record = START + b"verify began 100.00\nverify ended 160.00 %d\nend\n" % code
        facts = facts_of(trial(), seen(record, code))
        assert (facts.timed_out, facts.timed_out_in, facts.exit_code) == (True, "verify", None)


def test_code_124_in_time_is_the_commands_own():
    facts = facts_of(trial(), seen(RAN % 124, 124))
    assert (facts.timed_out, facts.exit_code) == (False, 124)


@pytest.mark.parametrize(
    ("record", "where"),
    [
        (START + b"verify began 5\n", "verify"),
        (START + b"setup 0 began 5\n", "setup"),
        (START, "setup"),
        (b"", "setup"),
        (None, "setup"),
    ],
)
def test_the_deadline_outside_says_where(record: bytes | None, where: str):
    facts = facts_of(trial(setup=("a",)), seen(record, 137, killed=True))
    assert (facts.timed_out_in, facts.exit_code) == (where, None)


def test_a_kill_while_collecting_leaves_the_result():
    facts = facts_of(trial(), seen((RAN % 1).replace(b"end\n", b""), 137, killed=True))
    assert (facts.exit_code, facts.timed_out) == (1, False)


def test_a_set_up_line_that_failed_is_named():
    record = START + b"setup 0 began 1\nsetup 0 ended 2 0\nsetup 1 began 2\nsetup 1 ended 3 4\nend\n"
    facts = facts_of(trial(setup=("a", "b")), seen(record, 4))
    assert (facts.setup_failed, facts.setup_exit_code, facts.exit_code) == ("b", 4, None)


def test_a_tree_that_could_not_be_prepared_says_why():
    record = b"limited yes\nprepare 1\nend\n"
    facts = facts_of(trial(), seen(record, 1, reports={script.PREPARE_LOG: b"no room\n"}))
    assert "work tree" in facts.setup_failed and facts.log == b"no room\n" and facts.exit_code is None


@pytest.mark.parametrize(
    "junk",
    [b"\xff\xfe", b"verify ended 1 0\n", b"setup 9 ended x y\n", b"counters after z 1\n", b"prepare\n" * 9],
)
def test_a_record_of_junk_is_no_result(junk: bytes):
    assert read_record(junk).verify is None
    assert facts_of(trial(setup=("a",)), seen(junk, 0)).exit_code is None


def test_only_what_the_pattern_says_exactly_is_a_report():
    reports = {
        "junit.xml": b"1",
        "collected/a/out/r.xml": b"2",
        "collected/a/out/deeper/r.xml": b"3",
        "collected/layout/r.xml": b"4",
        "collected/.hidden/out/r.xml": b"5",
    }
    facts = facts_of(trial(collect=("**/out/*.xml",)), seen(RAN % 0, 0, reports=reports))
    assert {file.name for file in facts.reports} == {
        "junit.xml",
        "collected/a/out/r.xml",
        "collected/.hidden/out/r.xml",
    }


@pytest.mark.parametrize("pattern", ["/etc/*", "../x", "a/../../x", "", " "])
def test_S10_patterns_that_leave_the_tree_are_refused(pattern: str):
    with pytest.raises(ConfigError, match="not relative"):
        check_globs(trial(collect=(pattern,)))


def test_what_went_wrong_beside_it_is_told():
    record = (RAN % 0).replace(b"after 0 0", b"after 0 12").replace(b"end\n", b"collect failed\n")
    facts = facts_of(trial(), Seen(Capture(), Taken((ReportFile(script.RECORD, record),), complete=False), 0))
    said = " ".join(facts.warnings)
    for word in ("1024 processes", "collected", "more or larger", "ended from within"):
        assert word in said
