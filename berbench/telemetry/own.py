"""`usage-json`: what a program of one's own tells in a file, one JSON object with any of these keys.

`input_tokens`, `cached_tokens` (part of the input), `output_tokens`, `cost_usd`, `turns`, `final_message`, `refused`
(why it ended early), `unanswered` (true when that was for want of the provider's answer).
"""

from __future__ import annotations

from berbench.model.cells import Usage
from berbench.telemetry.endings import reason
from berbench.telemetry.said import at, count, money, parsed, text


def usage_json(data: bytes) -> Usage:
    """Keys that are missing or of another type are unknown."""
    found = parsed(data)
    refused = text(found, "refused")
    return Usage(
        input_tokens=count(found, "input_tokens"),
        cached_tokens=count(found, "cached_tokens"),
        output_tokens=count(found, "output_tokens"),
        cost_usd=money(found, "cost_usd"),
        turns=count(found, "turns"),
        final_message=text(found, "final_message"),
        refused=reason(refused) if refused else "",
        unanswered=bool(refused) and at(found, "unanswered") is True,
    )
