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
