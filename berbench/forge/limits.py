"""Reading a forge's "not now": how long it asks to wait. Pure.

GitHub answers 403 or 429 with Retry-After (secondary limits) or X-RateLimit-Remaining: 0 and a reset time;
GitLab 429 with Retry-After or RateLimit-Reset. Both may do it with a page for people instead of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_SHORTEST_S = 1.0
_UNTOLD_S = 60.0  # what GitHub's documentation asks for when no header tells


def rate_limit_wait(status: int, headers: Mapping[str, str], body: bytes, now: float) -> float | None:
    """Seconds to wait before asking again, or None when this is no rate limit. `now` is a Unix time."""
    if status == 503 and "retry-after" in headers:
        return _after(headers["retry-after"], now)
    if status not in (403, 429):
        return None
    if "retry-after" in headers:
        return _after(headers["retry-after"], now)
    remaining = headers.get("x-ratelimit-remaining", headers.get("ratelimit-remaining"))
    reset = headers.get("x-ratelimit-reset", headers.get("ratelimit-reset"))
    if reset is not None and (remaining == "0" or status == 429):
        return _until(reset, now)
    said_so = b"rate limit" in body[:20_000].lower() or b"abuse detection" in body[:20_000].lower()
    return _UNTOLD_S if status == 429 or said_so else None


def graphql_wait(headers: Mapping[str, str], body: bytes, now: float) -> float | None:
    """The same for GraphQL, which says "not now" with status 200 and an error of type RATE_LIMITED."""
    if b"RATE_LIMITED" not in body:
        return None
    try:
        errors = json.loads(body).get("errors") or ()
        limited = any(error.get("type") == "RATE_LIMITED" for error in errors)
    except (ValueError, RecursionError, AttributeError, TypeError):
        return None
    if not limited:
        return None
    reset = headers.get("x-ratelimit-reset")
    return _UNTOLD_S if reset is None else _until(reset, now)


def _after(value: str, now: float) -> float:
    """Retry-After is a number of seconds or a date."""
    try:
        return max(_SHORTEST_S, float(int(value.strip())))
    except OverflowError:
        return _UNTOLD_S
    except ValueError:
        pass
    try:
        return max(_SHORTEST_S, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return _UNTOLD_S


def _until(value: str, now: float) -> float:
    try:
        # One second more, for the clocks of two machines never agree.
        return max(_SHORTEST_S, float(int(value.strip())) - now + 1)
    except (ValueError, OverflowError):
        return _UNTOLD_S
