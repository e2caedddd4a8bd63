"""Measured cells on disk: whole or not at all, found by their key, and one at a time."""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from berbench.errors import StoreError, UsageError
from berbench.model.cells import AgentFacts, CellOutcome, CellResult, Refused, StepFacts, Usage
from berbench.model.trial import Facts
from berbench.store import cellfiles
from berbench.store.cellfiles import CellRecord
from berbench.store.cells import KEPT_ERRORS, RESULT, RUN, Cells
from berbench.store.records import Unreadable
from taskfiles import ended, in_child

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
KEY, OTHER = "a" * 64, "ab" + "0" * 62
RESULT_OF = CellResult(
    key=KEY,
    task="7",
    fingerprint="sha256:1",
    label="agent/m+fast",
    tool="agent",
    model="m",
    effort="",
    options=("fast",),
    attempt=2,
    outcome=CellOutcome.FAIL,
    reasons=("1 of 2 tests that must pass do not", "caf\udce9"),
    verdict="fail",
    seconds=12.5,
    usage=Usage(input_tokens=5, cost_usd=None, final_message="done\x00"),
    started_at=NOW,
    finished_at=NOW,
)
RECORD = CellRecord(RESULT_OF, {"prompt": "1"}, {"hide": "2"}, run="r", regraded_from="b" * 64)
AGENT = AgentFacts(
    exit_code=None,
    seconds=3.25,
    timed_out=True,
    log=b"\xff\x00said\r\n",
    telemetry=b"{}",
    candidate=b"diff \xe9\n",
    left_out=("build/x",),
    refused=(Refused("github.com", 443, NOW, "a code forge"),),
    image="sha256:2",
    warnings=("slow",),
    egress=b"CONNECT github.com:443\n",
)


@pytest.fixture
def cells(tmp_path: Path) -> Cells:
    return Cells(tmp_path / "data", locks=tmp_path / "locks")


def test_a_cell_reads_back_as_it_was_written(cells: Cells) -> None:
    files = cellfiles.agent_files(AGENT) | cellfiles.trial_files(
        {"candidate": Facts("candidate", 1, log=b"x")}
    )
    cells.save(RECORD, files)
    stored = cells.open("aaaa")
    assert stored.record == RECORD
    assert cellfiles.agent_from(stored.read) == AGENT
    assert stored.trials() == ("candidate",)
    assert stored.facts("candidate").log == b"x"
    assert cells.find(OTHER) is None
    assert cells.measured() == (KEY,)


def test_steps_of_an_agent_read_back_one_by_one(cells: Cells) -> None:
    one = StepFacts("plan", 0, 1.0, log=b"first", telemetry=b"1")
    two = StepFacts("build", 1, 2.0, log=b"second", telemetry=b"2", setup_failed="no")
    for steps, log in (((one,), b"first"), ((one, two), b"firstsecond")):
        facts = replace(AGENT, log=log, steps=steps, telemetry=steps[-1].telemetry)
        cells.save(RECORD, cellfiles.agent_files(facts))
        assert cellfiles.agent_from(cells.open(KEY).read) == facts


def test_a_cell_with_no_agent_has_no_facts_of_one(cells: Cells) -> None:
    cells.save(RECORD, {})
    assert cellfiles.agent_from(cells.open(KEY).read) is None


def test_a_key_may_be_cut_where_it_is_the_only_one(cells: Cells) -> None:
    cells.save(RECORD, {})
    cells.save(replace(RECORD, result=replace(RESULT_OF, key=OTHER)), {})
    assert cells.open("aa").record == RECORD
    for wrong in ("a", "c", ""):
        with pytest.raises(UsageError):
            cells.open(wrong)


def test_what_is_no_cell_is_told(cells: Cells) -> None:
    folder = cells.save(RECORD, {})
    for text in (b"", b"[]", b'{"schema": "berbench.cell/2"}', b'{"schema": "berbench.cell/1", "usage": 1}'):
        (folder / cellfiles.CELL).write_bytes(text)
        with pytest.raises(StoreError, match="stored cell"):
            cells.find(KEY)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("key", OTHER),
        ("task", None),
        ("attempt", "1"),
        ("attempt", True),
        ("attempt", 10**400),
        ("seconds", float("nan")),
        ("seconds", float("inf")),
        ("options", ["a", 1]),
        ("options", "a"),
        ("outcome", "passed"),
        ("usage", {"cost_usd": "1"}),
        ("usage", {"cost_usd": float("nan")}),
        ("usage", {"price": 1}),
        ("usage", []),
        ("finished_at", 1),
        ("inputs", {"task": 1}),
        ("inputs", []),
        ("run", None),
        ("unheard_of", 1),
    ],
)
def test_a_value_of_another_kind_is_damage(cells: Cells, name: str, value: object) -> None:
    """Nothing but what `cell_file` can have written is believed."""
    path = cells.save(RECORD, {}) / cellfiles.CELL
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, name: value}), encoding="ascii")
    with pytest.raises(Unreadable, match="can't be read"):
        cells.find(KEY)
    assert cells.find_readable(KEY) is None
    path.write_text(json.dumps(document), encoding="ascii")
    assert cells.find(KEY) == RECORD


def test_tries_without_a_measurement_lie_aside_and_the_oldest_go(cells: Cells) -> None:
    record = replace(RECORD, result=replace(RESULT_OF, outcome=CellOutcome.ERROR, error="429"))
    folders = [
        cells.save_error(record, {"n": str(number).encode()}, NOW.replace(second=number))
        for number in range(5)
    ]
    assert [folder.exists() for folder in folders] == [False] * (5 - KEPT_ERRORS) + [True] * KEPT_ERRORS
    last = cells.last_error(KEY)
    assert last is not None and last.read("n") == b"4" and last.record == record
    assert cells.find(KEY) is None and cells.last_error(OTHER) is None


def test_one_at_a_time_measures_a_cell(cells: Cells, tmp_path: Path) -> None:
    other = Cells(tmp_path / "data", locks=tmp_path / "locks")
    with cells.claim(KEY) as first:
        assert first
        with other.claim(KEY) as second, other.claim("b" * 64) as elsewhere:
            assert (second, elsewhere) == (False, True)
    with other.claim(KEY) as free:
        assert free


def test_locks_are_bounded_whatever_the_number_of_cells(cells: Cells, tmp_path: Path) -> None:
    for number in range(300):
        with cells.claim(f"aaa{number:061x}") as free:
            assert free
    assert len(list((tmp_path / "locks").glob("*.lock"))) == 1


def test_work_waits_for_its_grade_and_goes_with_it(cells: Cells) -> None:
    assert cells.find_work(KEY) is None
    cells.save_work(KEY, cellfiles.agent_files(AGENT))
    read = cells.find_work(KEY)
    assert read is not None and cellfiles.agent_from(read) == AGENT
    cells.save(RECORD, {})
    assert cells.find_work(KEY) is None


def test_work_that_was_graded_already_is_not_taken_for_new(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells.save_work(KEY, cellfiles.agent_files(AGENT))
    monkeypatch.setattr("berbench.store.files.remove_tree", lambda path: None)  # a kill before it is removed
    cells.save(RECORD, cellfiles.agent_files(AGENT))
    monkeypatch.undo()
    assert cells.find_work(KEY) is None
    cells.sweep()
    assert list((cells.folder / "work").iterdir()) == []
    # Newer work is told by what it is: the clock may have gone back since.
    cells.save_work(KEY, cellfiles.agent_files(replace(AGENT, seconds=AGENT.seconds + 1)))
    os.utime(cells.folder / "work" / KEY, (0, 0))
    assert cells.find_work(KEY) is not None


def test_C04_a_kill_at_any_step_leaves_the_old_cell_or_the_new(cells: Cells, tmp_path: Path) -> None:
    new = replace(RECORD, run="new")
    cells.save(RECORD, {"transcript.log": b"old"})
    seen, step = set(), 1
    while _killed_at(step, lambda: cells.save(new, {"transcript.log": b"new"})):
        cells.sweep()
        stored = cells.open(KEY)
        assert (stored.record, stored.read("transcript.log")) in ((RECORD, b"old"), (new, b"new"))
        assert [path.name for path in stored.folder.parent.iterdir()] == [KEY]
        seen.add(stored.record.run)
        cells.save(RECORD, {"transcript.log": b"old"})
        step += 1
    assert step > 6 and seen == {"r", "new"}


def test_what_a_kill_left_of_a_try_or_of_a_runs_end_goes_as_well(cells: Cells) -> None:
    failed = cells.save_error(RECORD, {}, NOW)
    run = cells.begin_run("smoke", NOW, {})
    cells.save_error(replace(RECORD, result=replace(RECORD.result, key=OTHER)), {}, NOW)
    half = failed.with_name(f".new.{'0' * 16}.{failed.name}")
    half.mkdir()
    (cells.folder / "runs" / run / ".new.0123").write_bytes(b"{")
    cells.sweep()
    assert not half.exists() and failed.exists()
    assert [path.name for path in (cells.folder / "runs" / run).iterdir()] == [RUN]
    cells.end_run(run, {})
    assert cells.find_run("latest", ended=True) == run


EVENTS = frozenset({"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"})


def _killed_at(step: int, work: object) -> bool:
    def counted() -> None:
        left = step

        def watch(event: str, _: object) -> None:
            nonlocal left
            if event in EVENTS:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        work()  # type: ignore[operator]

    code = ended(in_child(counted))
    assert code in (0, -signal.SIGKILL)
    return code != 0


def test_runs_are_found_by_name_by_id_and_as_the_latest(cells: Cells) -> None:
    first = cells.begin_run("smoke", NOW, {"planned": []})
    second = cells.begin_run("smoke-two", NOW.replace(minute=5), {"planned": []})
    assert cells.runs() == (first, second)
    assert cells.find_run("latest") == cells.find_run("smoke-two") == second
    assert cells.find_run("smoke") == cells.find_run(first) == first
    with pytest.raises(UsageError, match="no run tow"):
        cells.find_run("tow")
    record = cells.read_run(first, RUN)
    assert record == {"planned": [], "run": first, "started_at": NOW.isoformat()}
    assert cells.read_run(first, RESULT) is None


def test_a_run_that_did_not_end_is_no_measure_for_another(cells: Cells) -> None:
    first = cells.begin_run("smoke", NOW, {})
    cells.begin_run("smoke", NOW.replace(minute=5), {})
    with pytest.raises(UsageError, match="no run that came to its end"):
        cells.find_run("smoke", ended=True)
    cells.end_run(first, {"cells": []})
    assert cells.find_run("latest", ended=True) == first
