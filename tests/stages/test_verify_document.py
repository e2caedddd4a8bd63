"""What `task verify --json` prints, and its exit code: 0 for a pass alone."""

from __future__ import annotations

import pytest

from berbench.model.grading import Dropped, Grade, GradeName
from berbench.model.trial import Evidence, Facts, Outcome, TestResult
from berbench.stages.verify import Verified, document, exit_code
from berbench.verdicts import Trialed


def test_the_document_has_the_promised_shape() -> None:
    grade = Grade(
        GradeName.FAIL,
        ("one test that must pass does not", ""),
        tests=(TestResult("t::a", Outcome.PASSED), TestResult("t::b", Outcome.FAILED)),
        missing=("t::c",),
        dropped=(Dropped("conftest.py", "holds hooks"),),
        details=("1 failed",),
    )
    trials = {"candidate": Trialed(Facts("candidate", 1, image="sha256:1"), Evidence())}
    found = document(Verified("7", grade, trials, seconds=1.234))
    assert found["schema"] == "berbench.verify/1"
    assert (found["id"], found["verdict"]) == ("7", "fail")
    assert found["dropped_paths"] == [{"path": "conftest.py", "reason": "holds hooks"}]
    assert found["tests"] == [
        {"id": "t::a", "outcome": "passed"},
        {"id": "t::b", "outcome": "failed"},
        {"id": "t::c", "outcome": "missing"},
    ]
    assert found["reasons"] == ["one test that must pass does not"]
    assert found["trials"]["candidate"]["exit_code"] == 1


def test_verdicts_are_those_that_are_promised() -> None:
    assert {name.value for name in GradeName} == {
        "pass", "fail", "tampered", "inconsistent", "no-tests-ran", "timeout", "out-of-memory", "patch-conflict",
        "engine-error",
    }  # fmt: skip


@pytest.mark.parametrize("name", GradeName)
def test_the_exit_code_is_0_for_a_pass_alone(name: GradeName) -> None:
    wanted = {GradeName.PASS: 0, GradeName.ENGINE_ERROR: 3}.get(name, 1)
    assert exit_code(Verified("7", Grade(name))) == wanted
