"""What a reviewer is shown of a proof: how the base failed, and whether planted tests will watch candidates."""

from __future__ import annotations

from pathlib import Path

import pytest
from said import give

from berbench.fingerprint import seal
from berbench.model.task import Control
from freshtasks import proven_repository

COLLECTION, UNWATCHED = "the base fails before its tests", "no planted tests will watch candidates: too odd"


@pytest.mark.parametrize("failure", ["tests", "collection"])
@pytest.mark.parametrize("reason", ["", "too odd"])
def test_how_the_base_failed_is_shown_at_review(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    failure: str,
    reason: str,
) -> None:
    project = proven_repository(tmp_path / "repository", ["7"])
    block = project.read_task("7").task.validation
    assert block is not None
    block = block.model_copy(update={"base_failure": failure, "control": Control(reason=reason)})
    project.write_validation("7", block.model_copy(update={"seal": seal(block)}))
    said = give(tmp_path / "repository", ("task", "show", "7"), capsys, monkeypatch)
    assert said.code == 0 and "Task 7: fresh" in said.out
    assert (COLLECTION in said.out) == (failure == "collection")
    assert (UNWATCHED in said.out) == bool(reason)


def test_of_many_tests_it_is_said_how_many_are_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = proven_repository(tmp_path / "repository", ["7"])
    block = project.read_task("7").task.validation
    assert block is not None
    for count, told in ((20, ""), (41, "… and 21 more in task.yaml")):
        names = tuple(f"tests/test_x.py::test_{number:02}" for number in range(count))
        block = block.model_copy(update={"fail_to_pass": names})
        project.write_validation("7", block.model_copy(update={"seal": seal(block)}))
        said = give(tmp_path / "repository", ("task", "show", "7"), capsys, monkeypatch)
        assert "test_19" in said.out and "test_20" not in said.out
        assert told in said.out and ("more in task.yaml" in said.out) == bool(told)


@pytest.mark.parametrize(
    ("words", "told"), [("--stale-only", "every task is fresh."), ("--max-age 9999d", "proven within 9999d.")]
)
def test_nothing_that_is_due_is_said_and_needs_no_engine(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    told: str,
) -> None:
    proven_repository(tmp_path / "repository", ["7"])
    said = give(tmp_path / "repository", ("task", "validate", *words.split()), capsys, monkeypatch)
    assert said.code == 0 and told in said.out
