"""Claude Code, `--output-format stream-json`: one JSON object a line, the last of type `result`."""

from __future__ import annotations

from typing import Any

from berbench.model.cells import Usage
from berbench.telemetry.endings import REFUSAL, no_answer, reason
from berbench.telemetry.said import Json, at, count, items, money, objects, text, total


def claude_stream(data: bytes) -> Usage:
    """Without a `result` (it was killed, or the output is cut) tokens and cost are unknown."""
    result: Json | None = None
    messages: set[str] = set()
    last, waiting = "", ""
    for event in objects(data):
        waiting = _retry(event)
        if event.get("type") == "result":
            result = event
        elif event.get("type") == "assistant" and event.get("parent_tool_use_id") is None:
            if at(event, "message", "model") == "<synthetic>":  # an error, worded by the tool itself
                continue
            messages.add(text(event, "message", "id"))
            last = _words(event) or last
    if result is None:
        return Usage(
            turns=len(messages) or None, final_message=last, refused=waiting, unanswered=bool(waiting)
        )
    input_tokens, cached, output = _tokens(result)
    ended, unanswered = _ending(result)
    return Usage(
        input_tokens=input_tokens,
        cached_tokens=cached,
        output_tokens=output,
        cost_usd=money(result, "total_cost_usd"),
        turns=count(result, "num_turns"),
        final_message=last if ended else text(result, "result") or last,
        refused=ended,
        unanswered=unanswered,
    )


def _retry(event: Json) -> str:
    """What kept the provider from answering, when that is what the tool tells last."""
    if event.get("subtype") != "api_retry":
        return ""
    return reason(f"no answer yet: {text(event, 'error')}", count(event, "error_status"))


def _words(event: Json) -> str:
    parts = (text(part, "text") for part in items(event, "message", "content"))
    return "\n".join(part for part in parts if part)


def _tokens(result: Json) -> tuple[int | None, int | None, int | None]:
    """Input with what was cached, cached, output: of all models, where they are told."""
    models: Any = at(result, "modelUsage")
    if isinstance(models, dict) and models:
        # Its sum holds side questions and helpers as well, and answers that were cut short.
        each = list(models.values())
        fresh = total(*(count(one, "inputTokens") for one in each))
        read = total(*(count(one, "cacheReadInputTokens") for one in each))
        made = total(*(count(one, "cacheCreationInputTokens") for one in each))
        return total(fresh, read, made), read, total(*(count(one, "outputTokens") for one in each))
    read = count(result, "usage", "cache_read_input_tokens")
    made = count(result, "usage", "cache_creation_input_tokens")
    fresh = count(result, "usage", "input_tokens")
    return total(fresh, read, made), read, count(result, "usage", "output_tokens")


def _ending(result: Json) -> tuple[str, bool]:
    """Why it ended early, and whether for want of an answer."""
    subtype = text(result, "subtype")
    if at(result, "stop_reason") == "refusal":
        return REFUSAL, False
    if subtype not in ("", "success", "error_during_execution"):
        return reason(subtype.replace("_", " ")), False  # a limit of turns or of cost
    if at(result, "is_error") is not True:
        return "", False
    status = count(result, "api_error_status")
    message = text(result, "result") or "; ".join(text(one) for one in items(result, "errors")) or subtype
    return reason(message, status), no_answer(status, message)
