"""`task verify` as a user gives it, where no engine answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from berbench.cli.app import main
from berbench.cli.show_grade import show_grade
from berbench.model.grading import Grade, GradeName
from berbench.reports import words
from berbench.stages.verify import Verified
from freshtasks import proven_repository


def test_no_engine_is_a_verdict_of_its_own_in_the_form_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    proven_repository(tmp_path / "repository", ["7"])
    patch = tmp_path / "candidate.patch"
    patch.write_bytes(b"words\n")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    words = ["berbench", "-C", str(tmp_path / "repository"), "task", "verify", "7", "--patch", str(patch)]
    monkeypatch.setattr(sys, "argv", [*words, "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    told = json.loads(capsys.readouterr().out)
    assert ended.value.code == 3
    assert (told["schema"], told["id"], told["verdict"]) == ("berbench.verify/1", "7", "engine-error")
    assert "engine" in told["reasons"][0]


def test_a_patch_that_is_not_there_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        sys, "argv", ["berbench", "-C", str(tmp_path), "task", "verify", "7", "--patch", "nowhere"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "planted"), [(GradeName.FAIL, True), (GradeName.ENGINE_ERROR, False)])
def test_planted_tests_are_explained_where_a_log_of_tests_is_quoted(
    name: GradeName, planted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    show_grade(Verified("7", Grade(name, details=("3 failed, 4 passed",))))
    out = capsys.readouterr().out
    assert "│ 3 failed, 4 passed" in out
    assert (words.PLANTED in out) is planted
