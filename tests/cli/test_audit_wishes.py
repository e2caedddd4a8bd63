"""What `berbench task audit` asks of an audit, and what it makes of the scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from said import give

from berbench.cli.wiring import Workplace
from berbench.stages import audit as stage
from berbench.stages.auditplan import Wanted
from freshtasks import proven_repository

Asked = tuple[tuple[str, ...], Wanted, float | None]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("7",), (("7",), Wanted(0, 0, 2), None)),
        (("7", "8", "--mutants", "20", "--seed", "3", "-j", "4"), (("7", "8"), Wanted(20, 3, 4), None)),
        (("--all", "--min-score", "0.7"), (("7", "8"), Wanted(0, 0, 2), 0.7)),
    ],
)
def test_options_reach_the_audit(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    wanted: Asked,
) -> None:
    proven_repository(tmp_path / "repository", ["7", "8"])
    asked: list[tuple[tuple[str, ...], Wanted]] = []
    least: list[float | None] = []

    def keep(bench: object, ids: Sequence[str], what: Wanted, say: object) -> Iterator[Any]:
        asked.append((tuple(ids), what))
        return iter(())

    def code(outcomes: object, *, min_score: float | None) -> int:
        least.append(min_score)
        return 1

    monkeypatch.setattr(stage, "audit", keep)
    monkeypatch.setattr(stage, "exit_code", code)
    monkeypatch.setattr(Workplace, "bench", lambda self, jobs: None)
    said = give(tmp_path / "repository", ("task", "audit", *words, "--json"), capsys, monkeypatch)
    assert said.code == 1 and said.document["schema"] == "berbench.audit/1"
    assert (*asked[0], least[0]) == wanted
