"""opencode, `run --format json`: one JSON object a line; each step of the model ends with what it used."""

from __future__ import annotations

from berbench.model.cells import Usage
from berbench.telemetry.endings import REFUSAL, no_answer, reason
from berbench.telemetry.said import Json, at, count, money, objects, text, total


def opencode_jsonl(data: bytes) -> Usage:
    """Tokens are the sum of the finished steps: unknown when one did not finish."""
    steps: list[Json] = []
    begun = 0
    last, failed = "", ""
    status: int | None = None
    for event in objects(data):
        kind = event.get("type")
        if kind == "step_start":
            begun += 1
            failed = ""
        elif kind == "step_finish":
            steps.append(event)
        elif kind == "text":
            last = text(event, "part", "text") or last
        elif kind == "error":
            status = count(event, "error", "data", "statusCode")
            failed = text(event, "error", "data", "message") or text(event, "error", "name") or "an error"
    known = steps if len(steps) >= begun else []
    if failed and text(steps, -1, "part", "reason") == "content-filter":
        failed = REFUSAL
    return Usage(
        input_tokens=total(*(_input(step) for step in known)),
        cached_tokens=total(*(count(step, "part", "tokens", "cache", "read") for step in known)),
        output_tokens=total(*(_output(step) for step in known)),
        cost_usd=_cost(known),
        turns=begun or None,
        final_message=last,
        refused=reason(failed, status) if failed else "",
        unanswered=failed not in ("", REFUSAL) and no_answer(status, failed),
    )


def _input(step: Json) -> int | None:
    tokens = at(step, "part", "tokens")
    return total(
        count(tokens, "input"), count(tokens, "cache", "read") or 0, count(tokens, "cache", "write") or 0
    )


def _output(step: Json) -> int | None:
    tokens = at(step, "part", "tokens")
    return total(count(tokens, "output"), count(tokens, "reasoning") or 0)


def _cost(steps: list[Json]) -> float | None:
    """It tells 0 for a model whose price it doesn't know."""
    parts = [money(step, "part", "cost") for step in steps]
    known = [part for part in parts if part is not None]
    return sum(known) or None if len(known) == len(parts) else None
