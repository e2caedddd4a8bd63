"""What `task show` and `task list` tell, and that nothing beside the task keeps it from telling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sampleplace import NOW, SamplePlace

from berbench.cli.show_tasks import show_list, show_task
from berbench.model.trial import Verdict, VerdictName
from berbench.stages.show import document as show_document
from berbench.stages.show import overview
from berbench.stages.standing import document as list_document
from berbench.stages.standing import stand
from berbench.stages.validate import validate_task

GOOD = "Leave words out of top()"


@pytest.fixture(autouse=True)
def wide_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """No sentence is broken in two."""
    monkeypatch.setenv("COLUMNS", "200")


def test_a_spoilt_record_hides_neither_the_task_nor_an_older_record(place: SamplePlace) -> None:
    created = place.create(place.sample.pull_requests[0])
    verdict = Verdict(VerdictName.BASE_PASSES, "the base trial passes")
    older = place.data.save_validation(created.id, NOW, verdict, {})
    newer = place.data.save_validation(created.id, NOW.replace(year=NOW.year + 1), verdict, {})
    (newer / "verdict.json").write_text("{")
    view = overview(place.project, place.history, place.data, created.id)
    assert view.last is not None
    assert (view.last.verdict, view.last.logs) == (verdict, older)
    (older / "verdict.json").unlink()
    view = overview(place.project, place.history, place.data, created.id)
    assert view.last is None


def _with_command(place: SamplePlace, command: str) -> str:
    task_id = place.create(place.pull(GOOD)).id
    place.project.update_verify_command(task_id, command)
    return task_id


def _leaking(place: SamplePlace) -> str:
    task_id = place.create(place.pull(GOOD)).id
    landing = place.pull(GOOD).landing_commit
    place.project.update_prompt(task_id, f"# Leave words out\n\nMake it as in {landing}.\n".encode())
    return task_id


def _conflicting(place: SamplePlace) -> str:
    created = place.create(place.pull(GOOD))
    patch = created.folder / "reference.patch"
    patch.write_bytes(patch.read_bytes().replace(b"\n-", b"\n-x", 1))
    return created.id


@pytest.mark.parametrize(
    ("make", "verdict"),
    [
        (lambda place: _with_command(place, "true"), "base-passes"),
        (lambda place: _with_command(place, ""), "invalid-task"),
        (_leaking, "prompt-leaks"),
        (_conflicting, "patch-conflict"),
    ],
)
def test_what_refused_a_task_last_is_told_by_list_and_show(
    place: SamplePlace,
    capsys: pytest.CaptureFixture[str],
    make: Callable[[SamplePlace], str],
    verdict: str,
) -> None:
    task_id = make(place)
    assert _row(place, task_id)["last_verdict"] == ""
    outcome = validate_task(place.bench, task_id, say=lambda task, line: None)
    assert outcome.verdict.name == verdict
    row = _row(place, task_id)
    assert row["state"] == "unvalidated"
    assert (row["last_verdict"], row["last_reason"]) == (verdict, outcome.verdict.reason)
    assert row["last_outdated"] is False
    shown = show_document(overview(place.project, place.history, place.data, task_id))
    assert (shown["last_verdict"], shown["logs"]) == (verdict, str(outcome.logs))
    capsys.readouterr()
    show_list(stand(place.project, place.history, [task_id], place.data))
    out = capsys.readouterr().out
    assert f"last validation here: {verdict}" in out and "never proven" not in out


def test_a_refusal_of_another_text_is_told_as_such(
    place: SamplePlace, capsys: pytest.CaptureFixture[str]
) -> None:
    task_id = _leaking(place)
    validate_task(place.quick, task_id, say=lambda task, line: None)
    place.project.update_prompt(task_id, b"# Leave words out\n\nSome words should not count in top().\n")
    assert _row(place, task_id)["last_outdated"] is True
    show_list(stand(place.project, place.history, [task_id], place.data))
    show_task(overview(place.project, place.history, place.data, task_id))
    assert capsys.readouterr().out.count("(the task has changed since)") == 2


def test_a_proof_is_not_told_twice(place: SamplePlace, capsys: pytest.CaptureFixture[str]) -> None:
    task_id = place.create(place.pull(GOOD)).id
    validate_task(place.quick, task_id, say=lambda task, line: None)
    row = _row(place, task_id)
    assert (row["state"], row["last_verdict"], row["last_outdated"]) == ("fresh", "validated", False)
    show_list(stand(place.project, place.history, [task_id], place.data))
    assert "last validation" not in capsys.readouterr().out


def test_a_task_whose_base_is_not_here_is_broken_and_says_how_to_get_it(place: SamplePlace) -> None:
    created = place.create(place.pull(GOOD))
    path = created.folder / "task.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(created.files.task.source.base_commit, "1" * 40), encoding="utf-8")
    row = _row(place, created.id)
    assert row["state"] == "broken"
    assert "the base commit 111111111111 is not in this repository" in str(row["reason"])
    assert "git fetch --unshallow" in str(row["reason"])


def _row(place: SamplePlace, task_id: str) -> dict[str, Any]:
    rows: Any = list_document(stand(place.project, place.history, [task_id], place.data))["tasks"]
    (row,) = rows
    return dict(row)
