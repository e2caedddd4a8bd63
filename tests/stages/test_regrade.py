"""Stored work under a new grade: when it is as good as new, when it is not, and what stays of the old one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from runplace import RunPlace, Work, outcomes, run_place

from berbench.errors import EngineError
from berbench.model.cells import CellResult
from berbench.model.task import TaskFiles
from berbench.model.trial import VerdictName
from berbench.reports import Report
from berbench.stages.crew import forecast
from berbench.stages.plan import fresh_grounds
from berbench.stages.regrade import (
    DAMAGED,
    Regrading,
    Wanted,
    as_run,
    document,
    exit_code,
    newest_first,
    regrade,
    wanted_of,
    worth_it,
)
from berbench.stages.report import tell_run
from berbench.stages.validate import validate_task
from berbench.store import cellfiles
from berbench.store.cells import Cells

AGENT = "{tools: [{tool: agent, model: a}], tasks: 8, attempts: 2}"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunPlace]:
    with run_place(tmp_path_factory.mktemp("regrade")) as place:
        yield place


@pytest.fixture
def place(shared: RunPlace, tmp_path: Path) -> Iterator[RunPlace]:
    """Nothing measured; whatever a test does to task 8 is taken back."""
    shared.work = Work()
    shared.cells = Cells(tmp_path / "cells", locks=tmp_path / "locks")
    folder = shared.place.project.folder("8")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    solved = dict(shared.played.solved["8"])
    yield shared
    for path, data in before.items():
        path.write_bytes(data)
    shared.played.solved["8"] = solved  # type: ignore[index]
    shared.played.trouble = None


def _again(
    place: RunPlace,
    wanted: Wanted | None = None,
    said: list[str] | None = None,
    progress: list[str] | None = None,
) -> dict[str, Any]:
    grounds = fresh_grounds(place.place.project, place.place.history)
    regrading = Regrading(place.makers().bench, place.cells, grounds)
    keys = newest_first(place.cells, place.cells.measured(), said.append if said is not None else print)
    say = print if progress is None else progress.append
    return document(list(regrade(regrading, keys, wanted=wanted, concurrency=2, say=say)))


def _edit(place: RunPlace, edit: Callable[[TaskFiles], None]) -> None:
    """Change task 8 and prove it anew."""
    edit(place.place.project.read_task("8"))
    proven = validate_task(place.place.bench_with(place.played), "8", say=lambda of, line: None)
    assert proven.verdict.name is VerdictName.VALIDATED, proven.verdict


def _another_command(place: RunPlace) -> None:
    project = place.place.project
    _edit(place, lambda files: project.update_verify_command("8", files.task.verify.command + " --color=no"))


def test_work_is_graded_as_of_today_with_no_agent_and_found_by_the_next_run(place: RunPlace) -> None:
    first = place.run(place.plan(AGENT))
    _another_command(place)
    plan = place.plan(AGENT)
    place.work.asked.clear()
    due = forecast(place.cells, plan, fresh=False).due
    assert (len(due), worth_it(place.cells, plan, due)) == (2, 2)
    progress: list[str] = []
    found = _again(place, wanted_of(plan), progress=progress)
    assert (found["graded"], found["changed"], found["kept"]) == (2, 0, 0)
    named = tuple(f"{cell.task} × {cell.configuration.label} #{cell.attempt}: " for cell in plan.cells)
    assert all(line.startswith(named) for line in progress)
    assert {line for line in progress if line.endswith(", as before")} == {
        f"{row['task']} × {row['label']} #{row['attempt']}: {row['outcome']}, as before"
        for row in found["cells"]
    }
    again = place.run(plan)
    assert (again["measured"], again["reused"], place.work.asked) == (0, 2, [])
    assert outcomes(again) == outcomes(first)
    assert {row["key"] for row in again["cells"]}.isdisjoint(row["key"] for row in first["cells"])
    old, new = (place.cells.open(document["cells"][0]["key"]) for document in (first, again))
    assert new.record.regraded_from == old.record.result.key
    assert new.record.result.fingerprint != old.record.result.fingerprint
    assert new.read(cellfiles.TRANSCRIPT) == old.read(cellfiles.TRANSCRIPT)
    # What is graded as of today already is not graded from older work again.
    assert _again(place)["kept"] == 2


def test_what_an_experiment_comes_to_under_new_grades_is_a_run_of_its_own(place: RunPlace) -> None:
    first = place.run(place.plan(AGENT))
    _another_command(place)
    plan = place.plan(AGENT)
    _again(place, wanted_of(plan))
    run = as_run(place.cells, plan, datetime.now(UTC))
    assert place.cells.find_run("latest", ended=True) == run
    project, history = place.place.project, place.place.history
    told = [tell_run(place.cells, project, history, one).report for one in (run, first["run"])]
    assert [(report.measured, report.missing) for report in told] == [(2, 0), (2, 0)]
    new, old = ({cell.key for cell in _cells(report)} for report in told)
    assert new == {cell.key for cell in plan.cells} and new.isdisjoint(old)


def _cells(report: Report) -> list[CellResult]:
    return [cell for task in report.tasks for square in task.squares.values() for cell in square.cells]


def test_stored_work_is_found_under_any_name_that_its_configuration_had(place: RunPlace) -> None:
    plan = place.plan(AGENT)
    for row in place.run(plan)["cells"]:
        kept = place.cells.folder / "cells" / row["key"] / cellfiles.CELL
        kept.write_bytes(kept.read_bytes().replace(b'"agent/a"', b'"flow,build=agent/a"'))
    assert _again(place, wanted_of(plan))["graded"] == 2


def test_what_an_agent_did_not_see_the_same_is_told_and_not_graded(place: RunPlace) -> None:
    place.run(place.plan(AGENT))
    project = place.place.project
    _edit(
        place, lambda files: project.update_prompt("8", files.prompt + b"\nAnd please be quick about it.\n")
    )
    plan = place.plan(AGENT)
    assert worth_it(place.cells, plan, plan.cells) == 0
    found = _again(place, wanted_of(plan))
    assert found["graded"] == 0
    assert {row["kept"] for row in found["cells"]} == {"the agent saw another prompt"}


def test_a_task_whose_proof_does_not_hold_grades_nothing(place: RunPlace) -> None:
    place.run(place.plan(AGENT))
    place.place.project.update_verify_command("8", "true")
    for wanted in (None, wanted_of(place.plan(AGENT))):
        found = _again(place, wanted)
        assert {row["kept"] for row in found["cells"]} == {"the task's proof does not hold today"}
        assert found["kept"] == 2
    assert _again(place, wanted_of(place.plan("{tools: [{tool: nop}], tasks: 8}")))["cells"] == []


def test_a_control_is_measured_anew_rather_than_graded_from_older_work(place: RunPlace) -> None:
    place.run(place.plan("{tools: [{tool: [oracle, nop]}], tasks: 8}"))
    _another_command(place)
    assert {row["kept"] for row in _again(place)["cells"]} == {"a control costs nothing: run it again"}


def test_a_grade_of_the_same_task_takes_the_older_ones_place_which_is_kept(place: RunPlace) -> None:
    plan = place.plan(AGENT)
    place.run(plan)
    # Now nothing solves it: a test that was lucky, or a berbench that grades more strictly.
    place.played.solved["8"] = {"tally/words.py": b"never"}  # type: ignore[index]
    found = _again(place, wanted_of(plan))
    assert (found["graded"], found["changed"]) == (2, 1)
    [row] = [row for row in found["cells"] if row["before"] != row["outcome"]]
    assert (row["before"], row["outcome"], row["key"]) == ("pass", "fail", row["from"])
    stored = place.cells.open(row["key"])
    assert json.loads(stored.read(f"{cellfiles.EARLIER}/000.json"))["outcome"] == "pass"
    _again(place)
    assert f"{cellfiles.EARLIER}/001.json" in place.cells.open(row["key"]).names()


@pytest.mark.parametrize("name", [cellfiles.CANDIDATE, cellfiles.AGENT, cellfiles.EGRESS, cellfiles.CELL])
@pytest.mark.parametrize("damage", ["gone", "text", "folder"])
def test_a_damaged_cell_is_told_and_keeps_no_other_from_being_graded(
    place: RunPlace, name: str, damage: str
) -> None:
    first = place.run(place.plan(AGENT))
    path = place.cells.folder / "cells" / first["cells"][0]["key"] / name
    path.unlink()
    if damage == "text":
        path.write_bytes(b'{"schema": "berbench.agent/1", "seconds": "x"}')
    elif damage == "folder":
        path.mkdir()
    said: list[str] = []
    document = _again(place, said=said)
    told = [row["kept"] for row in document["cells"] if row["kept"]]
    if name == cellfiles.CELL:
        assert document["graded"] == 1 and not told
        assert len(said) == (damage != "gone")
    else:
        assert document["graded"] == 1 and told == [DAMAGED]


@pytest.mark.parametrize("tool", [AGENT, "{tools: [{tool: oracle}], tasks: 8}"])
def test_a_candidate_that_lost_a_piece_is_no_failure_of_its_agent(place: RunPlace, tool: str) -> None:
    first = place.run(place.plan(tool))
    path = place.cells.folder / "cells" / first["cells"][0]["key"] / cellfiles.CANDIDATE
    whole = path.read_bytes()
    damaged = [whole[:-3], whole + b"\n"] + ([whole.replace(b"+", b"-", 1)] if tool == AGENT else [])
    for data in damaged:
        assert data != whole
        path.write_bytes(data)
        told = [row["kept"] for row in _again(place)["cells"] if row["kept"]]
        assert told == [DAMAGED]
    path.write_bytes(whole)
    assert not any(row["kept"] for row in _again(place)["cells"])


def test_an_engine_that_fails_leaves_the_older_grade(place: RunPlace) -> None:
    before = place.run(place.plan(AGENT))
    place.played.trouble = EngineError("The engine is gone.")
    found = _again(place)
    assert exit_code(found) == 3
    # The other attempt left nothing, and nothing needs no trial.
    assert [row["error"] for row in found["cells"] if row["error"]] == ["The engine is gone."]
    place.played.trouble = None
    assert outcomes(place.run(place.plan(AGENT))) == outcomes(before)
