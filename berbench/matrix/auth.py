"""Which of the host's variables a tool is given, and which it misses: names alone, never a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from berbench.model.tools import Auth


@dataclass(frozen=True, slots=True)
class Given:
    """The names that are handed on, and what must be set and is not: `A`, or `A or B` where one of them would do."""

    names: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def alternatives(entry: str) -> tuple[tuple[str, ...], bool]:
    """The names of an entry such as `A|B` or `A?`, and whether one of them must be set."""
    return tuple(entry.removesuffix("?").split("|")), not entry.endswith("?")


def given(auth: Auth, environ: Mapping[str, str]) -> Given:
    """What the tool gets of a host's environment. A variable that is set to nothing is not set."""
    names: list[str] = []
    missing: list[str] = []
    for entry in auth.env:
        options, needed = alternatives(entry)
        found = next((name for name in options if environ.get(name)), "")
        if found:
            names.append(found)
        elif needed:
            missing.append(" or ".join(options))
    return Given(tuple(dict.fromkeys(names)), tuple(missing))


def all_given(tools: Iterable[Auth], environ: Mapping[str, str]) -> Given:
    """The same for several tools together, as the steps of a workflow need it."""
    each = [given(auth, environ) for auth in tools]
    return Given(
        tuple(dict.fromkeys(name for one in each for name in one.names)),
        tuple(dict.fromkeys(name for one in each for name in one.missing)),
    )
