"""How a cell ends: what is a measurement of the agent and what is none, and what each grade counts as."""

from __future__ import annotations

from typing import Any

import pytest

from berbench.model.cells import AgentFacts, CellOutcome, Usage
from berbench.model.grading import Grade, GradeName
from berbench.verdicts.outcome import QUOTED, ended, no_measurement

SPOKE = Usage(input_tokens=10, output_tokens=1, turns=1)
REFUSES = Usage(refused="the model refused")
CUT = Usage(refused="HTTP 429: rate limit", unanswered=True)


def _facts(**more: Any) -> AgentFacts:
    return AgentFacts(**{"exit_code": 0, "seconds": 2.0, "candidate": b"patch", **more})


@pytest.mark.parametrize(
    ("facts", "usage", "why"),
    [
        (_facts(), CUT, "the model gave no answer: HTTP 429: rate limit"),
        (_facts(timed_out=True, exit_code=None), CUT, "gave no answer"),
        (_facts(setup_failed="pip install x"), Usage(), "set-up failed: pip install x"),
        (_facts(candidate=None), SPOKE, "could not be taken"),
        (_facts(exit_code=127), Usage(), "could not be run (exit code 127)"),
        (_facts(exit_code=126), SPOKE, "could not be run (exit code 126)"),
        (_facts(exit_code=None), SPOKE, "was ended"),
        (_facts(exit_code=75), SPOKE, "asked to be tried again"),
        (_facts(exit_code=1), Usage(), "exit code 1 before its model said anything"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_keeps_an_agent_from_working_is_no_measurement(
    facts: AgentFacts, usage: Usage, why: str
) -> None:
    assert why in no_measurement(facts, usage, told=True)


@pytest.mark.parametrize(
    ("facts", "usage"),
    [
        (_facts(), Usage()),
        (_facts(exit_code=1), SPOKE),
        (_facts(exit_code=1), REFUSES),
        (_facts(exit_code=1), Usage(final_message="I give up.")),
        (_facts(timed_out=True, exit_code=None), Usage()),
        (_facts(timed_out=True, exit_code=137), Usage()),
        (_facts(out_of_memory=True, exit_code=137), Usage()),
        (_facts(exit_code=137), SPOKE),  # by its own hand: its container was still there
        (_facts(candidate=b""), SPOKE),
    ],
)
def test_what_an_agent_does_by_itself_is_a_measurement(facts: AgentFacts, usage: Usage) -> None:
    assert no_measurement(facts, usage, told=True) == ""


def test_a_tool_that_never_tells_its_usage_may_end_with_any_code() -> None:
    assert no_measurement(_facts(exit_code=1), Usage(), told=False) == ""
    assert no_measurement(_facts(exit_code=75), Usage(), told=False) != ""


@pytest.mark.parametrize("name", GradeName)
def test_every_grade_is_an_outcome_and_only_a_pass_passes(name: GradeName) -> None:
    outcome = ended(_facts(), SPOKE, Grade(name, ("because",))).outcome
    special = {
        GradeName.PASS: CellOutcome.PASS,
        GradeName.TAMPERED: CellOutcome.TAMPERED,
        GradeName.TIMEOUT: CellOutcome.TIMEOUT,
        GradeName.ENGINE_ERROR: CellOutcome.ERROR,
    }
    assert outcome is special.get(name, CellOutcome.FAIL)


def test_an_agent_out_of_time_is_a_timeout_whatever_it_left() -> None:
    late = _facts(timed_out=True, exit_code=None)
    for name in set(GradeName) - {GradeName.ENGINE_ERROR}:
        how = ended(late, SPOKE, Grade(name, ("because",)))
        assert how.outcome is CellOutcome.TIMEOUT
        assert how.reasons == (
            f"the agent's time ran out; what it left until then is graded {name}",
            "because",
        )
    assert ended(late, SPOKE, Grade(GradeName.ENGINE_ERROR, ("gone",))).error == "gone"


def test_what_else_a_reader_wants_to_know_stands_beside_the_reason() -> None:
    how = ended(_facts(exit_code=3, out_of_memory=True), REFUSES, Grade(GradeName.FAIL, ("no", "")))
    assert how.reasons == (
        "no",
        "the agent ended with: the model refused",
        "the agent ran out of memory",
        "the agent's exit code is 3",
    )
    long = Usage(refused="word " * 500)
    assert len(ended(_facts(), long, Grade(GradeName.FAIL)).reasons[0]) < QUOTED + 30


def test_a_control_needs_no_facts() -> None:
    assert ended(None, Usage(), Grade(GradeName.PASS, ("all",))).reasons == ("all",)
