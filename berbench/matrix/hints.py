"""Complaints about what people wrote: one sentence, the nearest name that there is, the others as details."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from berbench.errors import ConfigError

_MANY = 12  # more known names than that help nobody


def shown(text: str) -> str:
    """At most 80 characters of what a person wrote, on one line."""
    line = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return repr(line if len(line) <= 80 else line[:77] + "…")


def hint(name: str, known: Collection[str]) -> str:
    """` (did you mean x?)`, or the known names where none is near and they are few."""
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    if near:
        return f" (did you mean {near[0]}?)"
    return f" (there are {', '.join(known)})" if 0 < len(known) <= _MANY else ""


def refused(where: str, problems: Sequence[str], remedy: str) -> ConfigError:
    """The error that tells the first problem, and the others as details."""
    return ConfigError(f"{where}: {problems[0]}.", remedy=remedy, details=tuple(problems[1:]))
