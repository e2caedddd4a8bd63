"""What `berbench run` asks of a run: its options, and the experiment's own settings where they say nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from said import give

from berbench.stages import run as stage
from berbench.stages.plan import Plan
from berbench.stages.run import Wishes
from freshtasks import proven_repository

EXPERIMENT = """\
schema: berbench.experiment/1
tools: [{tool: nop}]
concurrency: 7
max_cost_usd: 2.5
cell_timeout_s: 41
seed: 3
"""
NONE = {"planned": 0, "measured": 0, "reused": 0, "errors": 0, "not_started": 0, "skipped": [], "gates": []}


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ((), (7, False, 2.5, False, None)),
        (("--max-cost", "0"), (7, False, 0.0, False, None)),  # a ceiling of nothing is no lack of one
        (
            ("--max-cost", "9", "-j", "3", "--fresh", "--fail-on-stale", "--min-pass-rate", "80%"),
            (3, True, 9.0, True, 0.8),
        ),
    ],
)
def test_options_stand_above_the_experiments_settings(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    wanted: tuple[object, ...],
) -> None:
    root = tmp_path / "repository"
    proven_repository(root, ["7"])
    path = root / ".ber" / "bench" / "experiments" / "smoke.yaml"
    path.parent.mkdir()
    path.write_text(EXPERIMENT, encoding="utf-8")
    asked: list[tuple[Plan, Wishes]] = []

    def keep(cells: Any, plan: Plan, coming: Any, wishes: Wishes, **more: Any) -> dict[str, Any]:
        asked.append((plan, wishes))
        return {
            **NONE,
            "schema": "berbench.run/1",
            "run": "r",
            "cells": [],
            "cost_usd": 0.0,
            "cost_untold": 0,
        }

    monkeypatch.setattr(stage, "run", keep)
    assert give(root, ("run", "smoke", "--json", *words), capsys, monkeypatch).code == 0
    [(plan, wishes)] = asked
    found = (wishes.concurrency, wishes.fresh, wishes.ceiling, wishes.gates.stale, wishes.gates.least)
    assert found == wanted
    assert {ground.timeout_s for ground in plan.grounds.values()} == {41}
