"""Candidates as data: what each changes in its project's base tree, and the verdict that is right for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from berbench.model.grading import GradeName
from gitrepo import File

PASS, FAIL, TAMPERED = GradeName.PASS, GradeName.FAIL, GradeName.TAMPERED


@dataclass(frozen=True)
class Candidate:
    """One candidate. `files` are put into the base tree (None deletes); `patch` stands for itself instead.

    `verdicts` are the right ones: several only where a race inside the container decides between them. `dropped`
    are paths that must be reported as dropped, all of them.
    """

    name: str
    verdicts: tuple[GradeName, ...]
    files: Mapping[str | bytes, File] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    patch: bytes | None = None


@dataclass(frozen=True)
class Subject:
    """A small project with one landing: its base, what the landing did to tests and to the rest, its candidates."""

    name: str
    dockerfile: str
    command: str
    base: Mapping[str, bytes]
    tests: Mapping[str, bytes]
    fix: Mapping[str, bytes]
    protected: tuple[str, ...]
    timeout_s: int = 20
    memory: str = "1g"


def cheat(name: str, files: Mapping[str | bytes, File], *, dropped: tuple[str, ...] = ()) -> Candidate:
    """Seen by what is planted: the path itself reaches the verifier."""
    return Candidate(name, (TAMPERED,), files, dropped)


def without_effect(
    name: str, files: Mapping[str | bytes, File], *, dropped: tuple[str, ...] = ()
) -> Candidate:
    """A cheat of which nothing is left, or that changes nothing: the fix is wrong, and that is all."""
    return Candidate(name, (FAIL,), files, dropped)


def right(name: str, files: Mapping[str | bytes, File], *, dropped: tuple[str, ...] = ()) -> Candidate:
    """An honest fix that does what was asked."""
    return Candidate(name, (PASS,), files, dropped)


def wrong(name: str, files: Mapping[str | bytes, File], *, dropped: tuple[str, ...] = ()) -> Candidate:
    """An honest fix that does not."""
    return Candidate(name, (FAIL,), files, dropped)
