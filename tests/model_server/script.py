"""What a scripted model does: one turn after the other, in every conversation anew.

A script is chosen by the first part of a request's path: with `http://host:8000/edit` as the base address the
scenario is `edit`. Which turn it is follows from the conversation itself (how many tool calls were answered), so a
request that is sent twice gets the same answer twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha1
from typing import Any

# What every answer says it used; a run of n answers used n times as much.
INPUT, CACHED, OUTPUT = 1000, 600, 50


@dataclass(frozen=True)
class Say:
    """A message that ends the conversation."""

    text: str


@dataclass(frozen=True)
class Run:
    """A call of the client's shell tool."""

    command: str
    text: str = ""  # said before it


@dataclass(frozen=True)
class Write:
    """A call of the client's tool that writes files, or of its shell where it has none."""

    path: str
    content: str


@dataclass(frozen=True)
class Refuse:
    """The model declines, in the way its API tells that."""

    text: str


@dataclass(frozen=True)
class Fail:
    """The API answers with an error, every time it is asked."""

    status: int
    kind: str
    message: str
    retry_after: str = ""


@dataclass(frozen=True)
class Hang:
    """The connection stays open and silent."""

    seconds: float = 600.0


@dataclass(frozen=True)
class Cut:
    """The answer begins and then the connection is closed."""

    text: str


Turn = Say | Run | Write | Refuse | Fail | Hang | Cut
KINDS: dict[str, type[Any]] = {
    "say": Say, "run": Run, "write": Write, "refuse": Refuse, "fail": Fail, "hang": Hang, "cut": Cut
}  # fmt: skip
LONG_TEXT = 200_000  # characters
# As long, and no line twice: some clients stop a model that repeats itself.
PROSE = "".join(f"{sha1(b'%d' % number).hexdigest()}\n" for number in range(LONG_TEXT // 41)) + "The end."
FORGE = "github.com"

SCRIPTS: dict[str, tuple[Turn, ...]] = {
    "edit": (
        Write("greeting.txt", "hello from the model\n"),
        Run("cat greeting.txt && echo ran >> ran.txt", text="Now I look at it."),
        Say("The greeting is written."),
    ),
    "refuse": (Refuse("I can't help with that."),),
    "error-500": (Fail(500, "server_error", "The server had an error."),),
    "error-429": (Fail(429, "rate_limit_error", "Too many requests.", retry_after="1"),),
    "error-401": (Fail(401, "authentication_error", "That key is not known here."),),
    "late-500": (Write("greeting.txt", "half\n"), Fail(500, "server_error", "The server had an error.")),
    "hang": (Write("greeting.txt", "written before the silence\n"), Hang()),
    "cut": (Cut("This answer has no"),),
    "long": (Say("0123456789abcde\n" * (LONG_TEXT // 16)),),
    "prose": (Say(PROSE),),
    "talk": (Run("echo ran >> ran.txt", text=PROSE), Say("That was long.")),
    "forge": (
        # Whatever the shell offers to reach it; the first that is there tells how it went.
        Run(
            f"curl -sS -m 20 https://{FORGE}/ > reached.txt 2> refused.txt || "
            f"git ls-remote https://{FORGE}/a/b 2>> refused.txt || true"
        ),
        Say("The forge was asked."),
    ),
}


def from_json(said: dict[str, list[dict[str, Any]]]) -> dict[str, tuple[Turn, ...]]:
    """Scripts by name from `{"name": [{"run": {"command": "ls"}}, {"say": {"text": "done"}}]}`."""
    return {
        name: tuple(KINDS[kind](**fields) for turn in turns for kind, fields in turn.items())
        for name, turns in said.items()
    }


def turn_at(script: tuple[Turn, ...], answered: int) -> Turn:
    """The turn after so many answered tool calls; the last one is repeated."""
    return script[min(answered, len(script) - 1)]
