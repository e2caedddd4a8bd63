"""Why a run ended early: the model refused, or its provider gave no answer. The two are not the same.

A refusal is what the model does with a task, and measures it. An outage, a limit of requests or a wrong key measures
nothing.
"""

from __future__ import annotations

import re

from berbench.telemetry.said import REASON, clean

# The model's own words are in the last message; here they could be taken for an error of the provider's.
REFUSAL = "the model refused"

# 400, 413 and 422 are answers to what the agent asked, such as for too long a prompt.
_NO_ANSWER = frozenset({401, 402, 403, 404, 407, 408, 409, 425, 429})
_STATUS = re.compile(r"(?:status|code|error)\W{0,12}(?:code\W{0,3})?([45]\d\d)(?!\d)", re.IGNORECASE)
_OWN_AFFAIR = re.compile(
    r"context[ _-]?(?:window|length)|too[ _]long|too[ _]many[ _](?:input[ _])?tokens"
    r"|max(?:imum)?[ _]?(?:turn|step|token)|usage policy"
    r"|content[ _]?(?:policy|filter|management)|safety|flagged|cost limit|budget",
    re.IGNORECASE,
)


def no_answer(status: int | None, message: str) -> bool:
    """Whether an error is the provider's, by its HTTP status or else by its message.

    Tools end with an error when the model or the way to it fails; what they tell of an agent that went too far (a
    prompt that outgrew the model, a limit of turns) is its own affair.
    """
    status = status or status_in(message)
    if status is not None:
        return status in _NO_ANSWER or status >= 500
    return not _OWN_AFFAIR.search(message)


def status_in(message: str) -> int | None:
    """The HTTP status that a message names."""
    found = _STATUS.search(message)
    return int(found[1]) if found else None


def reason(message: str, status: int | None = None) -> str:
    """An error in one line, with its status where the message has none."""
    line = " ".join(clean(message, REASON).split()) or "an error without a message"
    return line if status is None or str(status) in line else f"{line} (status {status})"
