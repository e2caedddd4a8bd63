"""What `berbench task validate` asks of a validation: its options, and the settings where they say nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from said import give

from berbench.cli.wiring import Workplace
from berbench.stages import validate as stage
from berbench.stages.lessening import Wishes
from freshtasks import proven_repository
from taskfiles import unprove

Asked = tuple[Sequence[str], int, Wishes]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """Keeps what a validation is asked for; no engine is there, and none is needed."""
    found: list[Asked] = []

    def keep(bench: object, ids: Sequence[str], *, jobs: int, wishes: Wishes, say: object) -> Iterator[Any]:
        found.append((ids, jobs, wishes))
        return iter(())

    monkeypatch.setattr(stage, "validate", keep)
    monkeypatch.setattr(Workplace, "bench", lambda self, jobs: None)
    return found


@pytest.mark.parametrize(
    ("words", "jobs", "narrowing", "quarantining", "repeat", "clock"),
    [
        ((), 1, False, False, 3, ""),
        (("--narrow",), 1, True, False, 3, ""),
        (("--quarantine-flaky", "--repeat", "5"), 1, False, True, 5, ""),
        (("--clock", "+400d", "--repeat", "1", "-j", "4"), 4, False, False, 1, "+400d"),
    ],
)
def test_options_stand_above_the_settings(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    asked: list[Asked],
    words: tuple[str, ...],
    jobs: int,
    narrowing: bool,
    quarantining: bool,
    repeat: int,
    clock: str,
) -> None:
    root = tmp_path / "repository"
    proven_repository(root, ["7"])
    config = root / ".ber" / "bench" / "config.yaml"
    text = config.read_text(encoding="utf-8")
    assert text.count("repeat: 1") == 1
    config.write_text(text.replace("repeat: 1", "repeat: 3"), encoding="utf-8")
    give(root, ("task", "validate", "7", *words), capsys, monkeypatch)
    [(ids, at_once, wishes)] = asked
    assert (tuple(ids), at_once) == (("7",), jobs)
    assert (wishes.narrowing, wishes.quarantining) == (narrowing, quarantining)
    assert (wishes.luck.repeat, wishes.luck.seed) == (repeat, None)
    assert wishes.luck.clock == clock


def test_a_seed_asks_for_another_order_and_shuffle_draws_one(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    asked: list[Asked],
) -> None:
    root = tmp_path / "repository"
    proven_repository(root, ["7"])
    for words in (("--seed", "7"), ("--shuffle",), ("--shuffle",)):
        give(root, ("task", "validate", "--all", *words), capsys, monkeypatch)
    seeds = [wishes.luck.seed for _, _, wishes in asked]
    assert seeds[0] == 7 and None not in seeds and len(set(seeds)) == 3


def test_an_old_proof_is_renewed_and_a_young_one_is_not(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    asked: list[Asked],
) -> None:
    root = tmp_path / "repository"
    project = proven_repository(root, ["7", "8"])  # proven on 2 January 2026
    unprove(project, "8")
    for words in (("--max-age", "1d"), ("--max-age", "40000d"), ("--stale-only",)):
        give(root, ("task", "validate", *words), capsys, monkeypatch)
    assert [tuple(ids) for ids, _, _ in asked] == [("7", "8"), ("8",), ("8",)]
