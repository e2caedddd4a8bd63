"""The folder each command of a line runs in, relative to where the line starts."""

from __future__ import annotations

import re
from posixpath import join, normpath

from berbench.runners.recognise import Found
from berbench.runners.shell import Line, Simple

# Flags by which launchers (uv, env, pnpm, yarn, …) move to another folder before they start the runner.
_MOVING = frozenset(
    ["-C", "--chdir", "--directory", "--dir", "--cwd", "--prefix", "-w", "--workspace", "--filter", "-F"]
)


def folders(line: Line) -> tuple[str | None, ...]:
    """One a command; None where it can't be told (`cd $X`, `cd /abs`, `pushd`)."""
    found: list[str | None] = []
    here: str | None = "."
    stack: list[str | None] = []
    position = 0
    for command in line.commands:
        gap = line.text[position : command.words[0].start]
        if re.search(r"['\"#`\\]", gap) and re.search(r"[()]", gap):
            return (*found, *([None] * (len(line.commands) - len(found))))
        for mark in re.findall(r"[()]", gap):
            if mark == "(":
                stack.append(here)
            else:
                here = stack.pop() if stack else None
        found.append(here)
        here = _after(command, here)
        position = command.words[-1].end
    return tuple(found)


def _after(command: Simple, here: str | None) -> str | None:
    """The folder that the command leaves the shell in."""
    words = command.words[command.assignments :]
    program = words[0].text if words else ""
    if program in ("pushd", "popd", "source", ".", "eval"):
        return None
    if program != "cd" or here is None:
        return here
    piped = "|" in command.after.replace("||", "") or "&" in command.after.replace("&&", "")
    target = words[1] if len(words) == 2 else None
    if piped or target is None or not target.plain or target.text.startswith(("-", "/", "~")):
        return None
    return normpath(join(here, target.text))


def moves(found: Found) -> bool:
    """Whether what starts the runner goes to another folder first."""
    return any(word.text.partition("=")[0] in _MOVING for word in found.command.words[: found.at])
