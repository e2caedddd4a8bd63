"""What hangs on a runner's exit status in a line of several commands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from berbench.canaries.arguments import Edit
from berbench.runners.recognise import Found
from berbench.runners.shell import Line

_STOPS_AT_FAILURE = re.compile(r"(?:^|[\s;&|(])set\s+-(?:\w*e|o\s+errexit)|(?:ba|da|z)?sh\s+-\w*e")


def is_apart(line: Line, calls: Sequence[Found]) -> bool:
    """Whether more commands, or an operator, follow the first of the runner's commands."""
    first = _place(line, calls[0])
    return first < len(line.commands) - 1 or line.commands[first].after.strip(");\n") != ""


def can_fail(line: Line, calls: Sequence[Found]) -> bool:
    """Whether planted failures leave it known which of the runner's commands run."""
    commands = line.commands[_place(line, calls[0]) :]
    background = any("&" in command.after.replace("&&", "").replace("|&", "|") for command in commands)
    until_last = line.commands[_place(line, calls[0]) : _place(line, calls[-1])]
    by_failure = any("||" in command.after for command in until_last)
    return (
        not background
        and not by_failure
        and not (is_apart(line, calls) and _STOPS_AT_FAILURE.search(line.text))
    )


def unchained(line: Line, calls: Sequence[Found]) -> list[Edit] | None:
    """`;` for `&&` after the runner's commands but the last, so that all of them run though canaries fail in each."""
    edits = []
    for index in [_place(line, call) for call in calls[:-1]]:
        start, end = line.commands[index].words[-1].end, line.commands[index + 1].words[0].start
        gap = line.text[start:end]
        if "&&" not in gap:
            continue
        if gap.count("&&") > 1 or re.search(r"['\"#`\\]", gap):
            return None
        at = start + gap.index("&&")
        edits.append(Edit(at, at + 2, ";"))
    return edits


def _place(line: Line, call: Found) -> int:
    return next(index for index, command in enumerate(line.commands) if command is call.command)
