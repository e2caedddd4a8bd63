"""mini-swe-agent, the trajectory that `--output` names: one JSON document with every answer of the model's.

Every answer is counted, also one without a call, which the trajectory keeps beside the message that complains of it.
"""

from __future__ import annotations

from typing import Any

from berbench.model.cells import Usage
from berbench.telemetry.endings import REFUSAL, no_answer, reason
from berbench.telemetry.said import at, count, items, money, parsed, text, total

_OWN_ENDS = ("", "Submitted", "LimitsExceeded", "TimeExceeded", "UserInterruption", "RepeatedFormatError")


def mini_trajectory(data: bytes) -> Usage:
    """A file that was cut is unknown as a whole."""
    found = parsed(data)
    if not found:
        return Usage()
    messages = items(found, "messages")
    answers = [answer for message in messages if (answer := at(message, "extra", "response"))]
    usages = [at(answer, "usage") for answer in answers]
    info = at(found, "info")
    calls = count(info, "model_stats", "api_calls")
    # An answer that the trajectory does not hold has used tokens that nobody knows.
    whole = calls is None or calls == len(answers)
    refused, unanswered = _ending(info, answers, text(messages, -1, "extra", "exception_str"))
    return Usage(
        input_tokens=_sum(usages, "prompt_tokens") if whole else None,
        cached_tokens=_sum(usages, "prompt_tokens_details", "cached_tokens") if whole else None,
        output_tokens=_sum(usages, "completion_tokens") if whole else None,
        cost_usd=_cost(info, usages),
        turns=len(answers) if calls is None else calls,
        final_message=text(info, "submission") or _last_words(messages),
        refused=refused,
        unanswered=unanswered,
    )


def _sum(usages: list[Any], *path: str) -> int | None:
    return total(*(count(usage, *path) for usage in usages))


def _cost(info: Any, usages: list[Any]) -> float | None:
    """It tells 0 for a model whose price it doesn't know."""
    told = money(info, "model_stats", "instance_cost")
    return told if told or not usages else None


def _ending(info: Any, answers: list[Any], raised: str) -> tuple[str, bool]:
    status = text(info, "exit_status")
    if status == "Submitted":
        return "", False
    if answers and at(answers[-1], "choices", 0, "finish_reason") == "content_filter":
        return REFUSAL, False
    if status in _OWN_ENDS:
        return (reason(status) if status else ""), False
    # Any other name is that of the exception that ended it.
    message = f"{status}: {raised}".rstrip(": ")
    return reason(message), no_answer(None, message)


def _last_words(messages: list[Any]) -> str:
    said = (text(one, "content") for one in reversed(messages) if at(one, "role") == "assistant")
    return next(filter(None, said), "")
