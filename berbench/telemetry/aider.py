"""aider: a line for people after every answer,
`Tokens: 5.2k sent, 1.1k cache hit, 210 received. Cost: $0.02 message, $0.03 session.`

Its numbers are rounded by itself, thousands to two digits. The cost of the session is told with every answer.
"""

from __future__ import annotations

import re

from berbench.model.cells import Usage
from berbench.telemetry.endings import no_answer, reason
from berbench.telemetry.said import MOST, clean, total

_NUMBER = r"([\d.,]+)\s?([kM]?)"
_SENT = re.compile(rf"{_NUMBER} sent")
_HIT = re.compile(rf"{_NUMBER} cache hit")
_RECEIVED = re.compile(rf"{_NUMBER} received")
_COST = re.compile(r"\$([\d.,]+) session")
_ERROR = re.compile(r"^(litellm\.\w+(?:Error|Exception)\b.*)", re.MULTILINE)
_OWN_LINE = re.compile(
    r"^(?:Tokens|Main model|Weak model|Git repo|Repo-map): .*$|^Added .* to the chat.*$", re.M
)
_TIMES = {"": 1, "k": 1_000, "M": 1_000_000}
_LONGEST = 1_000  # characters of a line that tells tokens


def aider_log(data: bytes) -> Usage:
    """A log without such a line tells nothing."""
    words = data.decode("utf-8", "replace").replace("\r", "\n")
    lines = [line for line in words.split("\n") if line.startswith("Tokens: ") and len(line) < _LONGEST]
    costs = [found[1] for line in lines if (found := _COST.search(line))]
    error = _last_error(words)
    sent = total(*(_count(_SENT, line) for line in lines))
    hits = [_count(_HIT, line) for line in lines]
    return Usage(
        input_tokens=sent,
        # It knows the hits of some providers, and says nothing of the others'.
        cached_tokens=None if sent is None or not any(hits) else sum(hit or 0 for hit in hits),
        output_tokens=total(*(_count(_RECEIVED, line) for line in lines)),
        cost_usd=_amount(costs[-1]) if costs else None,
        turns=len(lines) or None,
        final_message=_said_last(words),
        refused=reason(error) if error else "",
        unanswered=bool(error) and no_answer(None, error),
    )


def _count(pattern: re.Pattern[str], line: str) -> int | None:
    found = pattern.search(line)
    amount = _amount(found[1]) if found else None
    return None if found is None or amount is None else round(amount * _TIMES[found[2]])


def _amount(digits: str) -> float | None:
    try:
        found = float(digits.replace(",", "").rstrip("."))
    except ValueError:
        return None
    return found if found < MOST / max(_TIMES.values()) else None


def _last_error(words: str) -> str:
    """An error of the provider's that no answer followed."""
    errors = list(_ERROR.finditer(words))
    return errors[-1][1] if errors and "\nTokens: " not in words[errors[-1].end() :] else ""


def _said_last(words: str) -> str:
    """What stands before the last line that tells tokens, back to a line of aider's own."""
    before, found, _ = words.rpartition("\nTokens: ")
    own = list(_OWN_LINE.finditer(before))
    return clean(before[own[-1].end() :] if own else before) if found else ""
