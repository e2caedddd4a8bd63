"""Gemini CLI, `--output-format json`: one JSON document at the end of its output."""

from __future__ import annotations

from typing import Any

from berbench.model.cells import Usage
from berbench.telemetry.endings import no_answer, reason
from berbench.telemetry.said import Json, at, beginning, count, text, total

TRIED = 100  # objects that are looked at from the end


def gemini_json(data: bytes) -> Usage:
    """What stands around the document (warnings) is passed over; a document that was cut is unknown."""
    found = _document(data)
    told: Any = at(found, "stats", "models")
    models = list(told.values()) if isinstance(told, dict) else []
    message = text(found, "error", "message")
    status = count(found, "error", "code")
    if status is not None and not 400 <= status < 600:
        status = None  # it may be an exit code of its own
    failed = at(found, "error") is not None
    return Usage(
        input_tokens=total(*(count(one, "tokens", "prompt") for one in models)),
        cached_tokens=total(*(count(one, "tokens", "cached") for one in models)),
        output_tokens=total(*(_output(one) for one in models)),
        turns=total(*(count(one, "api", "totalRequests") for one in models)),
        final_message=text(found, "response"),
        refused=reason(message, status) if failed else "",
        unanswered=failed and no_answer(status, message),
    )


def _document(data: bytes) -> Json:
    """The last object that begins in the first column and is whole."""
    words = data.decode("utf-8", "replace")
    words = "\n" + words
    start = len(words)
    for _ in range(TRIED):
        start = words.rfind("\n{", 0, start)
        if start < 0:
            break
        if found := beginning(words, start + 1):
            return found
    return {}


def _output(model: Any) -> int | None:
    """Thoughts are paid for like what is said."""
    return total(count(model, "tokens", "candidates"), count(model, "tokens", "thoughts") or 0)
