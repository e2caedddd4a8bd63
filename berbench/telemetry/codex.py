"""Codex, `codex exec --json`: one JSON object a line."""

from __future__ import annotations

from berbench.model.cells import Usage
from berbench.telemetry.endings import no_answer, reason
from berbench.telemetry.said import Json, at, count, objects, text, total


def codex_jsonl(data: bytes) -> Usage:
    """Tokens are told when a turn is completed; one that failed or was cut off has told none.

    A refusal of the model's is a completed turn like any other, often without a message. How often the model was
    asked is not told: what Codex calls a turn is the whole run.
    """
    done: list[Json] = []
    last, failed = "", ""
    for event in objects(data):
        kind = event.get("type")
        if kind == "turn.completed":
            done.append(event)
        if kind == "turn.failed":
            failed = text(event, "error", "message") or failed or "the turn failed"
        elif kind == "error":
            failed = text(event, "message") or "an error"
        else:
            failed = ""  # it went on after an error
        if kind == "item.completed" and at(event, "item", "type") == "agent_message":
            last = text(event, "item", "text") or last
    known = [] if failed else done
    return Usage(
        input_tokens=total(*(count(turn, "usage", "input_tokens") for turn in known)),
        cached_tokens=total(*(count(turn, "usage", "cached_input_tokens") for turn in known)),
        output_tokens=total(*(count(turn, "usage", "output_tokens") for turn in known)),
        final_message=last,
        refused=reason(failed) if failed else "",
        unanswered=bool(failed) and no_answer(None, failed),
    )
