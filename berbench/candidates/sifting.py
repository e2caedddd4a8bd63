"""Sorts a candidate's changes into what is kept, what is put right, and what is dropped. Pure.

Dropping is no accusation: an honest candidate may well write tests or touch a runner's settings. It is only that
these are the base's and the hidden tests' to decide.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from berbench.candidates.commands import Read
from berbench.candidates.folders import folders
from berbench.candidates.links import destination
from berbench.candidates.partly import compare, partly_steering
from berbench.candidates.protection import Protection
from berbench.model.changes import ABSENT, GITLINK, SYMLINK, Change
from berbench.model.grading import Dropped

_TYPE = 0o170000
_MOST_BEHIND_LINKS = 10_000  # paths looked at behind all new links of a candidate


@dataclass(frozen=True, slots=True)
class Sifted:
    """`kept` changes go in as they are, but for those in `rewritten`, whose new bytes are given by path.

    `dropped` names every path that is not kept whole, in order.
    """

    kept: tuple[Change, ...]
    rewritten: Mapping[str, bytes]
    dropped: tuple[Dropped, ...]


@dataclass(frozen=True, slots=True)
class Sides:
    """The two trees of a candidate's changes: contents, and the candidate's links and paths."""

    old: Read
    new: Read
    links: Mapping[str, str]  # path → target of every link in the candidate's tree
    paths: Sequence[str]  # all paths of the candidate's tree, sorted


def sift(
    changes: Sequence[Change], protection: Protection, sides: Sides, reference: Sequence[Change]
) -> Sifted:
    """Sort the changes from the base to a candidate's tree. `reference` are the reference's own changes."""
    given = {change.path: (change.new_mode, change.new_id) for change in reference}
    behind = _BehindLinks(protection, sides)
    kept: list[Change] = []
    reasons: dict[str, str] = {}
    notes: dict[str, str] = {}
    rewritten: dict[str, bytes] = {}
    for change in changes:
        path = change.path
        reason = protection.reason(path, is_link=_kind(change.new_mode) == SYMLINK)
        if not reason and given.get(path) != (change.new_mode, change.new_id):
            reason = _unfit(change, behind)
        if not reason and path not in given and (kind := partly_steering(path)):
            outcome = (
                "is no plain file"
                if _kind(change.new_mode) == SYMLINK
                else compare(kind, sides.old(path), _new_side(change, sides))
            )
            if isinstance(outcome, str):
                reason = outcome
            elif outcome.data is not None:
                rewritten[path], notes[path] = outcome.data, outcome.note
        if reason:
            reasons[path] = reason
        else:
            kept.append(change)
    reasons |= _in_the_way(kept, [change for change in changes if change.path in reasons])
    return Sifted(
        tuple(change for change in kept if change.path not in reasons),
        {path: data for path, data in rewritten.items() if path not in reasons},
        tuple(Dropped(path, reason) for path, reason in sorted((notes | reasons).items())),
    )


def _kind(mode: int) -> int:
    return mode & _TYPE


def _new_side(change: Change, sides: Sides) -> bytes | None:
    return None if change.new_mode == ABSENT else sides.new(change.path)


def _unfit(change: Change, behind: _BehindLinks) -> str:
    """Why a change can't go into a container as what it is."""
    if GITLINK in (_kind(change.old_mode), _kind(change.new_mode)):
        return "is a submodule, whose content is in no patch"
    if _kind(change.new_mode) == SYMLINK:
        return behind.reason(change.path)
    return ""


class _BehindLinks:
    """What becomes reachable under other names through a candidate's new links."""

    def __init__(self, protection: Protection, sides: Sides) -> None:
        self._protection = protection
        self._sides = sides
        self._looked_at = 0

    def reason(self, path: str) -> str:
        """Why a new link is dropped: it leaves the tree, or leads to or through what is protected."""
        target = destination(path, self._sides.links.get(path, ""), self._sides.links)
        if target is None:
            return "is a link that leaves the tree, or leads nowhere"
        if not target or path == target or path.startswith(target + "/"):
            return "is a link to a folder above itself"
        for inner, name in self._names(path, target):
            self._looked_at += 1
            if self._looked_at > _MOST_BEHIND_LINKS:
                return "is one of many links to many files"
            if self._protection.reason(inner):
                return f"is a link to {target!r}, where {inner!r} is protected"
            if self._protection.reason(name):
                return f"is a link by which {inner!r} would pass for {name!r}"
        return ""

    def _names(self, path: str, target: str) -> Iterator[tuple[str, str]]:
        """(real path, path through the link) of the target and of all below it."""
        yield target, path
        below = target + "/"
        paths = self._sides.paths
        for index in range(bisect_left(paths, below), len(paths)):
            if not paths[index].startswith(below):
                return
            yield paths[index], path + paths[index][len(target) :]


def _in_the_way(kept: Sequence[Change], dropped: Sequence[Change]) -> dict[str, str]:
    """Kept files for which there is no room: a file of the base stays after all, above or below them."""
    stays = {change.path for change in dropped if change.old_mode != ABSENT}
    stays_above = {folder: path for path in stays for folder in folders(path)}
    reasons = {}
    for change in kept:
        if change.new_mode == ABSENT:
            continue
        above = next((folder for folder in folders(change.path) if folder in stays), "")
        if other := above or stays_above.get(change.path, ""):
            reasons[change.path] = f"has no room beside {other!r}, which stays as in the base"
    return reasons
