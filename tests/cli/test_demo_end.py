"""How the demo ends: a table of verdicts, and why the engine failed, once."""

from __future__ import annotations

import pytest

from berbench.cli.demonstration import _conclude, _Demonstrated
from berbench.model.changes import LandedBy
from berbench.model.trial import Verdict, VerdictName
from berbench.sample import SamplePR
from berbench.stages.validate import Validated


@pytest.mark.parametrize(
    ("verdict", "code", "times"),
    [(VerdictName.VALIDATED, 0, 0), (VerdictName.BASE_PASSES, 1, 0), (VerdictName.ENGINE_ERROR, 3, 1)],
)
def test_an_engine_that_fails_is_told_once_with_what_helps(
    verdict: VerdictName, code: int, times: int, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks, outcomes = [], {}
    for number in (2, 4):
        pull = SamplePR(number, "Words", LandedBy.MERGE, "a merge", "f" * 40, VerdictName.VALIDATED, "a bug")
        tasks.append(_Demonstrated(pull, str(number), 0, 0))
        outcomes[str(number)] = Validated(
            str(number), Verdict(verdict, "Why.", details=("dial tcp: no host",))
        )
    assert _conclude(tasks, outcomes, base_image="own/base", seconds=1) == code
    out = capsys.readouterr().out
    assert out.count("dial tcp: no host") == times
    assert out.count("The sample builds on own/base. `make base` makes berbench/base") == times
