"""A cell's outcome from what its agent's container recorded, what its output tells, and the grade of its work.

What keeps an agent from working at all is no measurement of it: a model that can't be reached or refuses the key,
a tool that is not there. Those cells are `error`: they are tried again, and counted. Whatever an agent does by
itself is a measurement, its own refusal and its time-out too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from berbench.model.cells import AgentFacts, CellOutcome, Usage
from berbench.model.grading import Grade, GradeName

NO_MEASUREMENT = 75  # an agent's own exit status for "try me again later", EX_TEMPFAIL of sysexits.h
NOT_RUN = (126, 127)  # the shell's, for a program that can't be run or found
QUOTED = 300  # characters of a tool's message


@dataclass(frozen=True, slots=True)
class Ended:
    """How a cell ended: `reasons` are sentences, the deciding one first; `error` says why there is no measurement."""

    outcome: CellOutcome
    reasons: tuple[str, ...] = ()
    error: str = ""


def no_measurement(facts: AgentFacts, usage: Usage, *, told: bool) -> str:
    """Why an agent's work is no measurement, "" when it is one.

    `told` says that the tool's output is known to tell its usage: then a failing tool that used nothing never began.
    """
    if facts.setup_failed:
        return f"the tool's own set-up failed: {facts.setup_failed}"
    if facts.candidate is None:
        return "what the agent left could not be taken"
    if usage.unanswered:
        return f"the model gave no answer: {_quoted(usage.refused)}"
    if facts.timed_out or facts.out_of_memory:
        return ""
    code = facts.exit_code
    if code in NOT_RUN:
        return f"the tool could not be run (exit code {code})"
    if code is None:
        return "the agent's container was ended while it was at work"
    if code == NO_MEASUREMENT:
        return f"the agent asked to be tried again (exit code {code})"
    if code and told and not usage.refused and _nothing_used(usage):
        return f"the tool ended with exit code {code} before its model said anything"
    return ""


def _nothing_used(usage: Usage) -> bool:
    return not (usage.input_tokens or usage.output_tokens or usage.turns or usage.final_message)


def ended(facts: AgentFacts | None, usage: Usage, grade: Grade) -> Ended:
    """The outcome of a cell whose work is a measurement. `facts` are None for a control, which runs no agent."""
    if grade.name is GradeName.ENGINE_ERROR:
        return Ended(CellOutcome.ERROR, error=next(filter(None, grade.reasons), "the engine failed"))
    reasons = tuple(filter(None, grade.reasons))
    if facts is not None and facts.timed_out:
        late = f"the agent's time ran out; what it left until then is graded {grade.name}"
        return Ended(CellOutcome.TIMEOUT, (late, *reasons))
    return Ended(_OUTCOMES.get(grade.name, CellOutcome.FAIL), (*reasons, *_beside(facts, usage)))


_OUTCOMES = {
    GradeName.PASS: CellOutcome.PASS,
    GradeName.TAMPERED: CellOutcome.TAMPERED,
    GradeName.TIMEOUT: CellOutcome.TIMEOUT,
}


def _beside(facts: AgentFacts | None, usage: Usage) -> Sequence[str]:
    """What else a reader of the outcome wants to know."""
    said = []
    if usage.refused:
        said.append(f"the agent ended with: {_quoted(usage.refused)}")
    if facts is not None and facts.out_of_memory:
        said.append("the agent ran out of memory")
    if facts is not None and facts.exit_code:
        said.append(f"the agent's exit code is {facts.exit_code}")
    return said


def _quoted(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= QUOTED else line[: QUOTED - 1] + "…"
