"""What makes a command run in other circumstances, and how variables reach what it starts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from berbench.runners.recognise import Found
from berbench.runners.shell import quote

_DEAF_PYTHON = re.compile(r"-[a-zA-Z]*[EI][a-zA-Z]*")


@dataclass(frozen=True, slots=True)
class Altered:
    """Lines before the command, insertions into it (offset and text), files of the kit."""

    before: tuple[str, ...] = ()
    edits: tuple[tuple[int, str], ...] = ()
    kit: tuple[str, ...] = ()


def extended(found: Sequence[Found], additions: Mapping[str, str]) -> tuple[tuple[int, str], ...]:
    """Insertions that extend the variables which the command sets itself: name → what to append."""
    return tuple(
        (word.end, quote(addition))
        for one in found
        for word in one.command.words[: one.at]
        for name, addition in additions.items()
        if word.raw.startswith(f"{name}=")
    )


def is_deaf(found: Found) -> bool:
    """Whether the runner's Python is started with -E or -I, and so hears no variable of its own."""
    return any(_DEAF_PYTHON.fullmatch(word.text) for word in found.command.words[: found.at])
