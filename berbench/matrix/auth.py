"""Which of the host's variables a tool is given, and which it misses: names alone, never a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from berbench.model.tools import Auth


@dataclass(frozen=True, slots=True)
class Given:
    """The names that are handed on, and what must be set and is not: `A`, or `A or B` where one of them would do.

    `unset` are names that may be set and are not.
    """

    names: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()


def alternatives(entry: str) -> tuple[tuple[str, ...], bool]:
    """The names of an entry such as `A|B` or `A?`, and whether one of them must be set."""
    return tuple(entry.removesuffix("?").split("|")), not entry.endswith("?")


def given(auth: Auth, environ: Mapping[str, str]) -> Given:
    """What the tool gets of a host's environment. A variable that is set to nothing is not set."""
    names: list[str] = []
    missing: list[str] = []
    unset: list[str] = []
    for entry in auth.env:
        options, needed = alternatives(entry)
        found = next((name for name in options if environ.get(name)), "")
        if found:
            names.append(found)
        else:
            (missing if needed else unset).append(" or ".join(options))
    return Given(tuple(dict.fromkeys(names)), tuple(missing), tuple(unset))
