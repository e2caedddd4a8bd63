"""Runs as a flow: what is measured, what is reused, what is no measurement, and what stops a run."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from runplace import Heard, RunPlace, Work, left, outcomes, run_place

from berbench.errors import EngineError, StoreError, UsageError
from berbench.model.cells import AgentFacts, Cell, CellOutcome, Usage
from berbench.model.trial import Facts, Trial
from berbench.stages.crew import forecast
from berbench.stages.gates import earlier
from berbench.stages.plan import Ground, Narrowing, Plan
from berbench.stages.run import Gates
from berbench.store import cellfiles, machine
from berbench.store.cells import RESULT, RUN, Cells
from taskfiles import ended, in_child

BOTH = "{tools: [{tool: [oracle, nop]}, {tool: agent, model: [a, b]}], attempts: 1}"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunPlace]:
    with run_place(tmp_path_factory.mktemp("run")) as place:
        yield place


@pytest.fixture
def place(shared: RunPlace, tmp_path: Path) -> RunPlace:
    """The shared tasks, and nothing measured."""
    shared.work, shared.read = Work(), lambda configuration, facts: Usage()
    shared.cells = Cells(tmp_path / "cells", locks=tmp_path / "locks")
    shared.folder = tmp_path
    shared.played.ran.clear()
    shared.played.trouble = None
    return shared


def test_controls_solve_all_and_nothing(place: RunPlace) -> None:
    document = place.run(place.plan())
    assert outcomes(document) == {
        (task, label, 1): outcome
        for task in place.ids
        for label, outcome in (("oracle", "pass"), ("nop", "fail"))
    }
    assert (document["planned"], document["measured"], document["reused"], document["errors"]) == (4, 4, 0, 0)
    # Nothing is taken for granted: the base itself was put to the trial.
    assert all(place.played.ran.count(task) >= 2 for task in place.ids)
    assert {row["cost_usd"] for row in document["cells"]} == {0.0}
    assert place.work.asked == []


def test_what_is_measured_is_not_paid_for_again_unless_asked(place: RunPlace) -> None:
    plan = place.plan(BOTH)
    first = place.run(plan)
    assert (first["planned"], first["measured"]) == (8, 8)
    assert len(place.work.asked) == 4 and place.work.most <= 2
    second = place.run(plan)
    assert (second["measured"], second["reused"]) == (0, 8)
    assert second["cells"] == first["cells"]
    place.run(plan, fresh=True)
    assert len(place.work.asked) == 8


def test_another_attempt_or_model_is_all_that_is_paid_for(place: RunPlace) -> None:
    place.run(place.plan("{tools: [{tool: agent, model: a}], attempts: 1}"))
    more = place.run(place.plan("{tools: [{tool: agent, model: [a, b]}], attempts: 2}"))
    assert (more["measured"], more["reused"]) == (6, 2)


def test_a_cell_holds_all_there_is_to_see(place: RunPlace) -> None:
    document = place.run(place.plan("{tools: [{tool: agent, model: a}]}"))
    stored = place.cells.open(document["cells"][0]["key"][:12])
    ground = place.plan().grounds[stored.record.result.task]
    assert stored.read(cellfiles.PROMPT) == ground.files.prompt
    assert stored.read(cellfiles.CANDIDATE) == ground.files.reference_patch
    assert b"agent/a at attempt 1" in stored.read(cellfiles.TRANSCRIPT)
    assert json.loads(stored.read(cellfiles.GRADE))["verdict"] == "pass"
    assert stored.facts(stored.trials()[0]).exit_code == 0
    configuration = json.loads(stored.read(cellfiles.CONFIGURATION))
    assert (configuration["label"], configuration["tool"]["name"]) == ("agent/a", "agent")
    result = stored.record.result
    assert result.patch_bytes == len(ground.files.reference_patch)
    assert result.lines_added > 0 and result.files_changed > 0
    assert stored.record.run == document["run"]
    assert place.cells.find_work(result.key) is None
    recorded = place.cells.read_run(document["run"], RUN)
    assert recorded is not None
    assert [one["key"] for one in recorded["planned"]] == [row["key"] for row in document["cells"]]
    assert (place.cells.read_run(document["run"], RESULT) or {})["cells"] == document["cells"]


def test_no_measurement_is_told_kept_aside_and_tried_again(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: telling, model: a}]}")
    place.work.script = lambda cell, ground: left(ground.files.reference_patch)
    place.read = lambda configuration, facts: Usage(refused="HTTP 429", unanswered=True)
    document = place.run(plan)
    assert set(outcomes(document).values()) == {"error"}
    assert (document["measured"], document["errors"]) == (0, 2)
    assert "429" in document["cells"][0]["reason"]
    assert place.played.ran == []
    kept = place.cells.last_error(document["cells"][0]["key"])
    assert kept is not None and kept.record.result.outcome is CellOutcome.ERROR
    assert kept.read(cellfiles.CANDIDATE) == plan.grounds[kept.record.result.task].files.reference_patch
    place.read = lambda configuration, facts: Usage()
    assert place.run(plan)["measured"] == 2
    assert len(place.work.asked) == 4


def test_an_engine_that_fails_costs_no_second_run_of_the_agent(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: a}]}")
    place.played.trouble = EngineError("The engine is gone.", remedy="start it")
    document = place.run(plan)
    assert (document["errors"], len(place.work.asked)) == (2, 2)
    assert document["cells"][0]["reason"] == "The engine is gone. Start it."
    place.played.trouble = None
    again = place.run(plan)
    assert (again["measured"], len(place.work.asked)) == (2, 2)
    assert set(outcomes(again).values()) == {"pass"}
    assert again["cells"][0]["seconds"] == 1.5


def test_an_engine_that_is_gone_for_a_moment_fails_no_cell_that_had_not_begun(
    place: RunPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, asked, both = True, 0, threading.Barrier(2)

    def gone_for_a_moment(cell: Cell, ground: Ground) -> AgentFacts:
        if gone:
            if asked == 0:
                both.wait(60)
            raise EngineError("The engine is gone.")
        return left(b"")

    def leftovers() -> tuple[()]:
        nonlocal gone, asked
        asked += 1
        gone = asked < 3
        if gone:
            raise EngineError("The engine is gone.")
        return ()

    place.work.script = gone_for_a_moment
    monkeypatch.setattr(place.place.engine, "leftovers", leftovers)
    monkeypatch.setattr("berbench.stages.crew.ENGINE_ASKED_S", 0.05)
    plan = place.plan("{tools: [{tool: agent, model: [a, b]}], attempts: 3}")
    document = place.run(plan)
    assert (document["errors"], document["measured"]) == (2, 10)
    assert asked == 4  # by the first until it was back, and once by the second
    # One that does not come back is waited for once, not for each cell.
    monkeypatch.setattr("berbench.stages.crew.ENGINE_BACK_S", 0.0)
    gone, asked = True, -1000
    assert place.run(plan, fresh=True)["errors"] == 12


def test_a_time_out_counts_as_a_fail_and_tells_what_was_left(place: RunPlace) -> None:
    place.work.script = lambda cell, ground: left(
        ground.files.reference_patch, timed_out=True, exit_code=None
    )
    row = place.run(place.plan("{tools: [{tool: agent, model: a}], tasks: 8}"))["cells"][0]
    assert (row["outcome"], row["verdict"]) == ("timeout", "pass")
    assert "graded pass" in row["reason"]


@pytest.mark.parametrize(("times", "outcome"), [(1, "pass"), (9, "fail")])
def test_a_trial_that_somebody_killed_is_tried_again_once(
    place: RunPlace, monkeypatch: pytest.MonkeyPatch, times: int, outcome: str
) -> None:
    usual, killed = place.played.run, 0

    def run(trials: Sequence[Trial]) -> Sequence[Facts]:
        nonlocal killed
        killed += 1
        facts = usual(trials)
        return [replace(one, exit_code=137, reports=()) for one in facts] if killed <= times else facts

    monkeypatch.setattr(place.played, "run", run)
    document = place.run(place.plan("{tools: [{tool: agent, model: a}], tasks: 8}"))
    assert (outcomes(document)["8", "agent/a", 1], killed) == (outcome, 2)


def test_a_candidate_that_does_not_apply_is_a_fail(place: RunPlace) -> None:
    place.work.script = lambda cell, ground: left(b"--- a/no\n+++ b/no\n@@ -1 +1 @@\n-x\n+y\n")
    row = place.run(place.plan("{tools: [{tool: agent, model: a}], tasks: 8}"))["cells"][0]
    assert (row["outcome"], row["verdict"]) == ("fail", "patch-conflict")


def test_a_full_disk_stops_the_run(place: RunPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StoreError("Can't write: the disk is full.")

    monkeypatch.setattr(place.cells, "save", full)
    with pytest.raises(StoreError, match="disk is full"):
        place.run(place.plan())


def test_a_cell_that_can_not_be_read_is_told_and_measured_anew_when_asked(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: a}], tasks: 8}")
    place.run(plan)
    (place.cells.folder / "cells" / plan.cells[0].key / cellfiles.CELL).write_bytes(
        b'{"schema": "berbench.cell/9"}'
    )
    with pytest.raises(StoreError) as told:
        place.run(plan)
    assert "--fresh" in told.value.remedy
    assert place.run(plan, fresh=True, ceiling=5.0)["measured"] == 1
    assert place.run(plan)["reused"] == 1


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[" * 100_000, b'{"schema": "berbench.cell/1"}', "seconds", "key", None]
)
def test_a_damaged_cell_is_told_and_only_it_is_paid_for_again(
    place: RunPlace, damage: bytes | str | None
) -> None:
    plan = place.plan("{tools: [{tool: agent, model: a}], tasks: 8, attempts: 3}")
    place.run(plan)
    path = place.cells.folder / "cells" / plan.cells[0].key / cellfiles.CELL
    if damage is None:
        path.unlink()
        path.symlink_to("/etc/hostname")
    elif isinstance(damage, bytes):
        path.write_bytes(damage)
    else:
        path.write_text(json.dumps({**json.loads(path.read_text()), damage: "0" * 64}), encoding="ascii")
    coming = forecast(place.cells, plan, fresh=False)
    assert [cell.key for cell in coming.due] == [plan.cells[0].key]
    assert plan.cells[0].key in coming.damaged[0] and len(coming.damaged) == 1
    place.work.asked.clear()
    assert place.run(plan)["measured"] == 1 and place.work.asked == [plan.cells[0].key]
    assert place.run(plan)["reused"] == 3


def test_what_the_engine_said_last_stands_in_a_cells_error(place: RunPlace) -> None:
    def broken(cell: Cell, ground: Ground) -> AgentFacts:
        details = [*(f"line {number}" for number in range(20)), "", "npm: no such package"]
        raise EngineError("The tools could not be put in.", remedy="see the lines below", details=details)

    place.work.script = broken
    document = place.run(place.plan("{tools: [{tool: agent, model: a}], tasks: 8}"))
    [row] = document["cells"]
    assert row["reason"] == (
        "The tools could not be put in. See the lines below. "
        "line 16 | line 17 | line 18 | line 19 | npm: no such package"
    )


def test_a_disk_that_does_not_answer_is_no_reason_to_pay_again(
    place: RunPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = place.plan("{tools: [{tool: agent, model: a}], tasks: 8}")
    place.run(plan)
    place.work.asked.clear()

    def tired(path: Path, **rest: Any) -> bytes:
        raise StoreError(f"Can't read {path}: input/output error.")

    monkeypatch.setattr("berbench.store.files.read_file", tired)
    for fresh in (False, True):
        with pytest.raises(StoreError, match="input/output"):
            place.run(plan, fresh=fresh)
    assert not place.work.asked


def test_records_of_runs_that_are_damaged_keep_no_fresh_run_from_starting(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: a}], tasks: 8}")
    run = place.run(plan)["run"]
    for name in (RESULT, RUN):
        (place.cells.folder / "runs" / run / name).write_bytes(b"{")
    (place.cells.folder / "runs" / "notes.txt").write_bytes(b"no run of ours")
    assert place.run(plan, fresh=True)["measured"] == 1
    assert "notes.txt" not in place.cells.runs()


def test_two_runs_at_once_pay_once_for_each_cell(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: [a, b]}], attempts: 3}")
    first, second = place, place.reopened()

    def slow(cell: Cell, ground: Ground) -> AgentFacts:
        time.sleep(0.02)
        return left(ground.files.reference_patch)

    first.work.script = second.work.script = slow
    with ThreadPoolExecutor(2) as pool:
        found = [future.result() for future in [pool.submit(one.run, plan) for one in (first, second)]]
    asked = [*first.work.asked, *second.work.asked]
    assert sorted(asked) == sorted(cell.key for cell in plan.cells)
    assert first.work.asked and second.work.asked
    assert sum(document["measured"] for document in found) == 12
    assert [document["measured"] + document["reused"] for document in found] == [12, 12]
    assert found[0]["cells"] == found[1]["cells"]


def test_both_runs_may_ask_for_fresh_measurements_and_pay_once(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: a}], attempts: 2}")
    place.run(plan)
    second = place.reopened()
    started = threading.Barrier(2)

    def meet(cell: Cell, ground: Ground) -> AgentFacts:
        if len(place.work.asked) + len(second.work.asked) <= 4:
            time.sleep(0.01)
        return left(b"")

    place.work = Work(meet)
    second.work = Work(meet)

    def fresh(one: RunPlace) -> object:
        started.wait()
        return one.run(plan, fresh=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(fresh, (place, second)))
    # Each cell once, but for those that one run ended before the other had begun.
    assert 4 <= len(place.work.asked) + len(second.work.asked) <= 8
    assert set(outcomes(place.run(plan)).values()) == {"fail"}


# What stops a run

EVENTS = frozenset({"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"})


def _killed_at(step: int, place: RunPlace) -> bool:
    """A run in a child that is killed at its `step`-th touch of the results; False when it got through."""

    def work() -> None:
        left_ = step
        folder = os.fsencode(place.folder)

        def watch(event: str, args: tuple[object, ...]) -> None:
            nonlocal left_
            at = args[0] if event in EVENTS else None
            if isinstance(at, (str, bytes, os.PathLike)) and os.fsencode(at).startswith(folder):
                left_ -= 1
                if left_ == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        own = place.reopened()
        try:
            own.run(own.plan(BOTH))
        finally:
            own.place.history.close()

    code = ended(in_child(work))
    assert code in (0, -signal.SIGKILL)
    _tidy()
    return code != 0


def _tidy() -> None:
    """Remove the temporary folders of a child that was killed, as the next command does."""
    for orphan in machine.orphans():
        machine.remove(orphan)


def test_a_run_that_is_killed_and_run_again_equals_one_that_was_not(place: RunPlace, tmp_path: Path) -> None:
    place.folder = tmp_path / "killed"
    place.cells = Cells(place.folder, locks=tmp_path / "locks")
    chance = random.Random(4)
    killed = sum(_killed_at(chance.randint(1, 130), place) for _ in range(6))
    assert killed >= 5
    place.cells.sweep()
    for key in place.cells.measured():
        assert place.cells.find(key) is not None, "half a cell is no cell"
    resumed = place.run(place.plan(BOTH))
    assert 0 < resumed["measured"] < 8
    assert not [path for path in place.folder.rglob(".*") if path.name.startswith((".new.", ".old."))]
    place.cells = Cells(tmp_path / "whole", locks=tmp_path / "locks")
    whole = place.run(place.plan(BOTH))
    assert whole["measured"] == 8
    told = ("seconds", "verify_seconds")
    assert [_without(row, told) for row in resumed["cells"]] == [
        _without(row, told) for row in whole["cells"]
    ]


def _without(row: dict[str, object], names: tuple[str, ...]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in names}


def test_an_agents_work_outlives_a_kill_before_its_grade(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: a}], tasks: 8}")

    def dies() -> None:
        own = place.reopened()
        own.played = type(own.played)(own.played.solved)
        own.played.run = lambda trials: os._exit(9)  # type: ignore[method-assign]
        own.run(plan)

    assert ended(in_child(dies)) == 9
    _tidy()
    assert place.cells.measured() == ()
    assert outcomes(place.run(plan)) == {("8", "agent/a", 1): "pass"}
    assert place.work.asked == []


def test_ctrl_c_ends_what_runs_and_keeps_what_was_measured(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: [a, b]}], attempts: 2}")
    stopped = threading.Event()

    def third_hangs(cell: Cell, ground: Ground) -> AgentFacts:
        if cell.key in place.work.asked[2:]:
            if cell.key == place.work.asked[2]:
                os.kill(os.getpid(), signal.SIGINT)
            assert stopped.wait(10)
        return left(b"")

    place.work.script = third_hangs
    engine = place.place.engine
    usual = engine.interrupt
    engine.interrupt = stopped.set  # type: ignore[method-assign]
    try:
        with pytest.raises(KeyboardInterrupt):
            place.run(plan)
    finally:
        engine.interrupt = usual  # type: ignore[method-assign]
    measured = len(place.cells.measured())
    assert 2 <= measured < 8
    run = place.cells.find_run("latest")
    assert place.cells.read_run(run, RESULT) is None
    with pytest.raises(UsageError, match="no run that came to its end"):
        place.cells.find_run("latest", ended=True)
    place.work.script = None
    assert place.run(plan)["reused"] == measured


def test_a_stop_before_all_workers_are_there_begins_nothing(
    place: RunPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread whose start is interrupted is one that its pool does not know, so it must have nothing to do."""
    usual, given = ThreadPoolExecutor.submit, []

    def second_is_too_late(pool: ThreadPoolExecutor, work: object) -> object:
        if given:
            time.sleep(0.3)  # time enough for the first to begin a cell
            raise KeyboardInterrupt
        given.append(usual(pool, work))  # type: ignore[arg-type, var-annotated]
        return given[0]

    monkeypatch.setattr(ThreadPoolExecutor, "submit", second_is_too_late)
    with pytest.raises(KeyboardInterrupt):
        place.run(place.plan("{tools: [{tool: agent, model: a}], attempts: 2}"))
    assert place.work.asked == []


def test_what_fails_while_a_run_is_being_stopped_is_no_try(place: RunPlace) -> None:
    second = threading.Event()

    def first_stops_the_run(cell: Cell, ground: Ground) -> AgentFacts:
        if cell.key == place.work.asked[0]:
            assert second.wait(10)
            raise StoreError("Can't write: the disk is full.")
        second.set()
        time.sleep(0.6)
        raise EngineError("The engine is gone.")

    place.work.script = first_stops_the_run
    with pytest.raises(StoreError):
        place.run(place.plan("{tools: [{tool: agent, model: a}]}"))
    assert not (place.cells.folder / "errors").exists()


# Measuring anew


def _stopped_after(place: RunPlace, count: int, plan: Plan, **wishes: Any) -> None:
    """A run that is stopped when so many agents have worked."""
    asked = len(place.work.asked)

    def works(cell: Cell, ground: Ground) -> AgentFacts:
        if len(place.work.asked) - asked > count:
            raise StoreError("Can't write: the disk is full.")
        return left(b"")

    place.work.script = works
    with pytest.raises(StoreError):
        place.run(plan, concurrency=1, **wishes)
    place.work.script = None


def test_a_fresh_run_that_was_stopped_is_taken_up(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: [a, b]}]}")
    place.run(plan)
    _stopped_after(place, 1, plan, fresh=True)
    coming = forecast(place.cells, plan, fresh=True)
    assert (coming.reused, len(coming.due), len(coming.takes_up)) == (1, 3, 1)
    _stopped_after(place, 1, plan, fresh=True)
    assert len(forecast(place.cells, plan, fresh=True).takes_up) == 2
    place.work.asked.clear()
    document = place.run(plan, fresh=True)
    assert (document["measured"], document["reused"], len(place.work.asked)) == (2, 2, 2)
    recorded = place.cells.read_run(document["run"]) or {}
    assert len(recorded["takes_up"]) == 2
    # What came to its end is not taken up: the next one measures all anew.
    assert len(forecast(place.cells, plan, fresh=True).due) == 4
    assert place.run(plan, fresh=True)["measured"] == 4


def test_a_stopped_run_that_was_not_fresh_is_no_reason_to_take_older_cells(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: [a, b]}]}")
    _stopped_after(place, 2, plan)
    assert forecast(place.cells, plan, fresh=True).reused == 0
    assert place.run(plan, fresh=True)["measured"] == 4


def test_a_clock_that_goes_back_makes_no_old_cell_a_fresh_one(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: a}]}")
    first = place.run(plan, now=lambda: datetime(2100, 1, 1, tzinfo=UTC))
    assert {cell.record.result.finished_at for cell in map(place.cells.open, _keys(first))} == {
        datetime(2100, 1, 1, tzinfo=UTC)
    }
    assert place.run(plan, fresh=True)["measured"] == 2


def _keys(document: Mapping[str, Any]) -> list[str]:
    return [row["key"] for row in document["cells"]]


def test_a_cell_goes_by_the_name_that_its_configuration_has_today(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: a}], tasks: 8}")
    place.run(plan)
    kept = place.cells.folder / "cells" / plan.cells[0].key / cellfiles.CELL
    kept.write_bytes(kept.read_bytes().replace(b'"agent/a"', b'"flow,build=agent/a"'))
    assert outcomes(place.run(plan)) == {("8", "agent/a", 1): "pass"}


# The ceiling of cost


def _slowly(cell: Cell, ground: Ground) -> AgentFacts:
    time.sleep(0.2)
    return left(b"")


def _costs(place: RunPlace, cost: float | None) -> None:
    place.read = lambda configuration, facts: Usage(cost_usd=cost)


def test_no_cell_starts_that_could_exceed_the_ceiling(place: RunPlace) -> None:
    _costs(place, 0.4)
    heard = Heard()
    plan = place.plan("{tools: [{tool: agent, model: a}, {tool: nop}], attempts: 4}")
    document = place.run(plan, ceiling=1.0, concurrency=4, shown=heard)
    assert document["cost_usd"] == pytest.approx(0.8)
    assert (document["not_started"], len(heard.dropped)) == (6, 6)
    # Controls cost nothing, so they are measured whatever is left.
    assert [row["label"] for row in document["cells"]].count("nop") == 8
    # Nothing was known of the first, so it ran alone.
    assert place.work.most == 1
    # What one costs is known to the next run: two of them fit at once.
    place.work.script = _slowly
    assert place.run(plan, ceiling=1.0)["cost_usd"] == pytest.approx(0.8)
    assert place.work.most == 2


def test_a_guess_lets_cells_run_at_once_before_a_cost_is_known(place: RunPlace) -> None:
    _costs(place, 0.2)
    place.work.script = _slowly
    plan = place.plan("{tools: [{tool: agent, model: a}], attempts: 2, cell_cost_usd: 0.5}")
    document = place.run(plan, ceiling=1.0, concurrency=4)
    assert place.work.most == 2
    assert (document["not_started"], document["cost_usd"]) == (0, pytest.approx(0.8))


def test_a_cost_that_is_not_told_counts_as_its_reserve(place: RunPlace) -> None:
    _costs(place, None)
    plan = place.plan("{tools: [{tool: agent, model: a}], attempts: 2, cell_cost_usd: 0.5}")
    document = place.run(plan, ceiling=1.2)
    assert (document["measured"], document["not_started"]) == (2, 2)
    assert (document["cost_usd"], document["cost_untold"]) == (0.0, 2)
    assert {row["cost_usd"] for row in document["cells"]} == {None}


def test_work_that_is_paid_for_is_graded_whatever_is_left_of_the_ceiling(place: RunPlace) -> None:
    _costs(place, 0.4)
    plan = place.plan("{tools: [{tool: agent, model: a}]}")
    place.played.trouble = EngineError("The engine is gone.")
    assert place.run(plan)["cost_usd"] == pytest.approx(0.8)
    place.played.trouble = None
    document = place.run(plan, ceiling=0.1)
    assert (document["measured"], document["not_started"], document["cost_usd"]) == (2, 0, 0.0)
    assert {row["cost_usd"] for row in document["cells"]} == {0.4}


def test_work_that_can_not_be_read_is_done_anew(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: a}], tasks: 8}")
    key = plan.cells[0].key
    for spoilt in ({cellfiles.AGENT: b'{"schema": "berbench.agent/9"}'}, {cellfiles.AGENT: b"{}"}):
        place.cells.save_work(key, spoilt)
        assert place.run(plan, fresh=True)["measured"] == 1
        assert place.cells.find_work(key) is None
    assert place.work.asked == [key, key]


# Tasks, order, gates


def test_stale_tasks_are_skipped_by_name_with_what_changed(place: RunPlace) -> None:
    task = place.ids[1]
    folder = place.place.project.folder(task)
    prompt = (folder / "prompt.md").read_bytes()
    (folder / "prompt.md").write_bytes(prompt + b"More.\n")
    try:
        plan = place.plan()
        document = place.run(plan, gates=Gates(stale=True))
    finally:
        (folder / "prompt.md").write_bytes(prompt)
    [skipped] = document["skipped"]
    assert (skipped["task"], skipped["state"], skipped["changed"]) == (task, "stale", ["prompt"])
    assert document["gates"] == [f"--fail-on-stale: 1 task was skipped: {task}"]
    assert {row["task"] for row in document["cells"]} == {place.ids[0]}


def test_the_seed_decides_the_order_and_nothing_else(place: RunPlace) -> None:
    one, same, other = (place.plan(BOTH[:-1] + f", seed: {seed}}}") for seed in (1, 1, 2))
    assert one.cells == same.cells
    assert one.cells != other.cells
    assert {cell.key for cell in one.cells} == {cell.key for cell in other.cells}
    fewer = place.plan(BOTH[:-1] + ", seed: 1, tasks: 8}")
    assert [cell for cell in one.cells if cell.task == "8"] == list(fewer.cells)


def test_tasks_are_narrowed_and_misspelt_ones_are_told(place: RunPlace) -> None:
    plan = place.plan(narrowing=Narrowing(tasks=("8",)))
    assert {cell.task for cell in plan.cells} == {"8"}
    with pytest.raises(UsageError, match="no task '88'"):
        place.plan(narrowing=Narrowing(tasks=("88",)))
    with pytest.raises(UsageError, match="the tag 'slow'"):
        place.plan(narrowing=Narrowing(tags=("slow",)))


def test_a_lower_rate_than_before_trips_the_gate(place: RunPlace) -> None:
    plan = place.plan("{tools: [{tool: agent, model: a}]}")
    before = place.run(plan, gates=Gates(least=1.0))
    assert before["gates"] == []
    place.work.script = lambda cell, ground: left(b"" if cell.task == "8" else ground.files.reference_patch)
    found = place.run(plan, fresh=True, gates=Gates(least=0.8, against=earlier(place.cells, "latest")))
    assert found["gates"] == [
        "--min-pass-rate: agent/a passes 50% of 2 tasks, and 80% was asked for",
        f"--no-regression-against: agent/a passes 50% of 2 common tasks, and 100% in {before['run']}: worse on 8",
    ]


def test_what_is_due_is_told_without_any_work(place: RunPlace) -> None:
    plan = place.plan(BOTH)
    assert len(forecast(place.cells, plan, fresh=False).due) == 8
    place.run(place.plan())
    coming = forecast(place.cells, plan, fresh=False)
    assert (coming.reused, len(coming.due)) == (4, 4)
    assert len(forecast(place.cells, plan, fresh=True).due) == 8
