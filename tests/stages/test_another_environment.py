"""Where a proof was made is noted in the task, and nothing is measured where it says nothing."""

from __future__ import annotations

import pytest
from sampleplace import SamplePlace

from berbench.cli.show_tasks import show_task
from berbench.fingerprint import seal
from berbench.model.grading import GradeName
from berbench.model.task import Validation
from berbench.stages.show import overview
from berbench.stages.validate import validate_task
from berbench.stages.verify import exit_code, verify

GOOD = "Leave words out of top()"


def _proof(place: SamplePlace, task_id: str) -> Validation:
    proof = place.project.read_task(task_id).task.validation
    assert proof is not None
    return proof


def _proven(place: SamplePlace) -> str:
    task_id = place.create(place.pull(GOOD)).id
    validate_task(place.quick, task_id, say=lambda task, line: None)
    return task_id


def _made_elsewhere(place: SamplePlace, task_id: str, **changes: str) -> None:
    """As if another engine had made the proof."""
    unsealed = _proof(place, task_id).model_copy(update={**changes, "seal": ""})
    place.project.write_validation(task_id, unsealed.model_copy(update={"seal": seal(unsealed)}))


def test_D14_whom_the_tests_ran_as_is_noted_in_the_task(
    place: SamplePlace, capsys: pytest.CaptureFixture[str]
) -> None:
    task_id = _proven(place)
    proof = _proof(place, task_id)
    assert (proof.user, proof.platform) == ("root", place.engine.info().platform)
    show_task(overview(place.project, place.history, place.data, task_id))
    assert f"as root on {proof.platform}" in capsys.readouterr().out
    dockerfile = place.sample.root / "Dockerfile.berbench"
    dockerfile.write_text(dockerfile.read_text() + "USER tester\n")
    validate_task(place.quick, task_id, say=lambda task, line: None)
    assert _proof(place, task_id).user == "tester"


def test_D13_C05_nothing_is_graded_on_another_platform(place: SamplePlace) -> None:
    task_id = _proven(place)
    patch = (place.project.folder(task_id) / "reference.patch").read_bytes()
    said: list[str] = []
    assert verify(place.quick, task_id, patch, said.append).grade.name is not GradeName.ENGINE_ERROR
    assert not any("drift" in line for line in said)

    _made_elsewhere(place, task_id, image="sha256:0123456789abcdef")
    assert verify(place.quick, task_id, patch, said.append).grade.name is not GradeName.ENGINE_ERROR
    assert any("drift: the proof was made on image 0123456789ab" in line for line in said)

    _made_elsewhere(place, task_id, platform="linux/of-another-kind")
    refused = verify(place.quick, task_id, patch, said.append)
    assert refused.grade.name is GradeName.ENGINE_ERROR and exit_code(refused) == 3
    assert "its proof is of linux/of-another-kind" in refused.grade.reasons[0]
    assert "berbench task validate" in refused.grade.reasons[1]
    assert not refused.trials
