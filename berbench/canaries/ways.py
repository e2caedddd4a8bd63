"""What every runner's way has in common: how a command reaches a file, and what was planted where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from berbench.canaries.arguments import Argument, Arguments, Edit
from berbench.runners.recognise import Found


@dataclass(frozen=True, slots=True)
class Reach:
    """How a command comes to a test file. `word` names it, so a file beside it must be named as well.

    Without a word a folder, a pattern or the runner's own search finds it, and `finds` may find files beside it.
    `part`: the word names single tests or classes in it.
    """

    word: Argument | None = None
    part: bool = False


@dataclass(frozen=True, slots=True)
class Planted:
    """Canaries in one file. `path` is relative to the command's folder, `group` a class of unittest's."""

    path: str
    neighbour: str  # the hidden file they stand in or beside, relative as well
    reach: Reach
    names: tuple[str, ...]
    group: str
    beside: bool


class Way(Protocol):
    """One runner's arguments. What is unsure in them gives None, and then the command carries no canary."""

    def read(self, found: Found) -> Arguments | None:
        """None when a flag chooses tests in a way that can't be widened."""

    def reach(self, arguments: Arguments, path: str) -> Reach | None:
        """How the arguments select a file, None when they don't or it can't be told. `path` is relative."""

    def finds(self, arguments: Arguments, path: str, neighbour: str) -> bool:
        """Whether a new file beside one that no word names is found as that one is."""

    def edits(self, arguments: Arguments, planted: Sequence[Planted]) -> list[Edit] | None:
        """What selects the canaries and lets the run go on after them; None when a filter can't be widened."""
