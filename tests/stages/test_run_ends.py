"""How a run ends: the exit code of what came of it, and what killed runs left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from runplace import RunPlace, run_place

from berbench.stages.runrecord import exit_code
from berbench.store.cells import Cells


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ({}, 0),
        ({"not_started": 1}, 1),
        ({"gates": ["--fail-on-stale: 1 task was skipped"]}, 1),
        ({"errors": 1}, 3),
        ({"errors": 1, "not_started": 1, "gates": ["x"]}, 3),
    ],
)
def test_the_exit_code_says_whether_all_that_was_planned_is_measured(
    found: dict[str, Any], code: int
) -> None:
    assert exit_code({"errors": 0, "not_started": 0, "gates": [], **found}) == code


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunPlace]:
    with run_place(tmp_path_factory.mktemp("ends")) as place:
        yield place


def test_C04_a_run_takes_away_what_killed_ones_left_half_written(shared: RunPlace, tmp_path: Path) -> None:
    """Of cells that it plans and of any others, and it counts as measured in no case."""
    shared.cells = Cells(tmp_path / "cells", locks=tmp_path / "locks")
    plan = shared.plan("{tools: [{tool: nop}], tasks: 8}")
    parent = shared.cells.folder / "cells"
    keys = [plan.cells[0].key, "0" * 64]
    halves = [parent / f".new.0123456789abcdef.{key}" for key in keys]
    for half in halves:
        half.mkdir(parents=True)
        (half / "cell.json").write_text("{", encoding="ascii")
    assert shared.run(plan)["measured"] == 1
    assert not [half for half in halves if half.exists()]
    assert sorted(path.name for path in parent.iterdir()) == [keys[0]]
