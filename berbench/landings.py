"""Which commit landed which pull request, from a stream of commits, newest first.

Every commit gets a colour from its children before it is met. MAIN is the first-parent line, SIDE the line of
a merged maintenance branch (or of a main branch merged into a branch that then became main): both hold
landings. INSIDE is the interior of a pull request's merge: its commits belong to that pull request, and only
a merge with a pull request's form is a landing there. What is held in memory is the frontier of the walk, and
for each pull request met a few words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum

from berbench.chores import merges_branch, original_of, picked_from, unfit
from berbench.errors import LandingError
from berbench.mentions import Mention, closing_issues, form_of, mentioned_issues
from berbench.model.changes import Change, Commit, LandedBy, Landing, NotLanding
from berbench.reverts import Reverts

__all__ = [
    "NO_PULL_REQUEST",
    "Mention",
    "closing_issues",
    "form_of",
    "landing_of",
    "may_land",
    "mentioned_issues",
    "prove",
    "read_landings",
]

NO_PULL_REQUEST = "no pull request named"  # direct pushes and plain merges; NotLanding.pr is None


class Colour(IntEnum):
    """What a commit's children say of it; the highest wins."""

    INSIDE = 0
    SIDE = 1
    MAIN = 2


@dataclass(slots=True)
class _Held:
    """A landing that is not told yet: a series that may grow, or a merge whose interior may link issues."""

    commit: Commit
    mention: Mention
    colour: Colour
    commits: list[Commit]
    issues: dict[int, None] = field(default_factory=dict)
    open: int = 0  # frontier commits that are coloured as this merge's interior


def read_landings(commits: Iterable[Commit], *, slug: str = "") -> Iterator[Landing | NotLanding]:
    """Landings, and what looked like one, from a walk (children before parents, newest first).

    `slug` is the repository's own place on its forge, where known: it tells a long-lived branch from a fork's
    branch of that name, and other repositories' issues from this one's. A landing's `changes` are those of
    its commits, empty if the walk had none; only commits that `may_land` need theirs.
    """
    return _Reader(slug).read(commits)


def may_land(commit: Commit) -> bool:
    """Whether `read_landings` looks at the commit's changes: those of any other it can do without."""
    return form_of(commit) is not None


class _Reader:
    """The state of one walk."""

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self._colours: dict[str, tuple[Colour, _Held | None]] = {}
        self._series: dict[str, list[_Held]] = {}  # by the commit that could continue them
        self._reverts = Reverts()
        self._landed: dict[int, str] = {}  # pull request → landing, each once
        self._changes: dict[int, str] = {}  # hash of a landing's changes → landing
        self._picked: dict[str, bool] = {}  # commits that others were picked from → met yet
        self._waiting: dict[str | int, list[Landing]] = {}  # copies, by the original commit or pull request
        self._complete: list[_Held] = []  # merges whose whole interior was read
        self._started = False

    def read(self, commits: Iterable[Commit]) -> Iterator[Landing | NotLanding]:
        for commit in commits:
            default = Colour.SIDE if self._started else Colour.MAIN
            self._started = True
            colour, owner = self._colours.pop(commit.sha, (default, None))
            if commit.sha in self._picked:
                self._picked[commit.sha] = True
                yield from self._copies(commit.sha, commit.sha)
            yield from self._take(commit, colour, owner)
            if owner is not None:
                self._leave(owner)
            while self._complete:
                yield from self._tell(self._complete.pop(0))
        for held in self._all_held():
            yield from self._tell(held)
        for waiting in list(self._waiting.values()):
            yield from waiting

    def _take(self, commit: Commit, colour: Colour, owner: _Held | None) -> Iterator[Landing | NotLanding]:
        """One commit in its colour: continue or end a series, colour the parents, hold or tell a landing."""
        candidates = self._series.pop(commit.sha, [])  # several where lines fork from this commit
        mention = form_of(commit)
        self._reverts.note(commit, mention, whole=colour is not Colour.INSIDE)
        if owner is not None:
            owner.issues.update(dict.fromkeys(closing_issues(_message(commit), self._slug)))
        single = len(commit.parents) <= 1
        series = next((held for held in candidates if mention and held.mention.pr == mention.pr), None)
        for held in candidates:
            if held is not series or not single:
                yield from self._tell(held)
        if series and single:
            series.commits.append(commit)
            self._colour(commit, colour, owner, None)
            self._continue(series, commit)
            return
        if colour is Colour.INSIDE and (single or mention is None):
            self._colour(commit, colour, owner, owner)
            return
        if mention is None:
            self._colour(commit, colour, owner, None)
            kind = "a merge, " if len(commit.parents) > 1 else ""
            yield NotLanding(None, commit.sha, f"{kind}{NO_PULL_REQUEST}")
            return
        held = _Held(commit, mention, colour, [commit])
        if picked := picked_from(commit.body):
            self._picked.setdefault(picked, False)
        if single:
            self._colour(commit, colour, owner, None)
            self._continue(held, commit)
        elif merges_branch(mention, self._slug):
            self._colour(commit, colour, owner, None)
            yield NotLanding(mention.pr, commit.sha, "merges a long-lived branch, not one change")
        else:
            self._colour(commit, colour, owner, held)
            if held.open == 0:
                yield from self._tell(held)

    def _colour(self, commit: Commit, colour: Colour, owner: _Held | None, inside: _Held | None) -> None:
        """Pass colours on: the first parent keeps the line, others are `inside`'s interior or a side line."""
        for at, parent in enumerate(commit.parents):
            new: tuple[Colour, _Held | None] = (colour, owner) if at == 0 else (Colour.SIDE, None)
            if at > 0 and inside is not None:
                new = (Colour.INSIDE, inside)
            old = self._colours.get(parent)
            if old and old[0] >= new[0]:
                continue
            if new[1]:
                new[1].open += 1
            if old and old[1]:
                self._leave(old[1])
            self._colours[parent] = new

    def _leave(self, held: _Held) -> None:
        """One commit fewer may be in a merge's interior: it was read, or turned out to be the main line's."""
        held.open -= 1
        if held.open == 0:
            self._complete.append(held)

    def _continue(self, held: _Held, commit: Commit) -> None:
        following = commit.parents[0] if commit.parents else f"end of {commit.sha}"
        self._series.setdefault(following, []).append(held)

    def _all_held(self) -> list[_Held]:
        open_merges = {id(held): held for _, held in self._colours.values() if held}
        series = [held for candidates in self._series.values() for held in candidates]
        return [*series, *open_merges.values()]

    def _tell(self, held: _Held) -> Iterator[Landing | NotLanding]:
        """The verdict on a landing that is complete."""
        landing = _landing(held, self._slug)
        reason = unfit(held.commit, held.mention, landing) or self._reverts.of(landing)
        if not reason and held.mention.pr in self._landed:
            reason = f"landed twice: {self._landed[held.mention.pr][:12]} names #{held.mention.pr} too"
        key = hash(tuple(sorted((one.path, one.old_id, one.new_id) for one in landing.changes)))
        if not reason and landing.changes and key in self._changes:
            reason = f"the same change as {self._changes[key][:12]}"
        if reason:
            yield NotLanding(landing.pr, landing.commit, reason)
            return
        self._landed[held.mention.pr] = landing.commit
        self._changes[key] = landing.commit
        original = original_of(landing)
        if isinstance(original, int) and original in self._landed:
            yield _copy(landing, original, self._landed[original])
        elif isinstance(original, str) and self._picked.get(original):
            yield _copy(landing, original, original)
        elif original:
            self._waiting.setdefault(original, []).append(landing)
        else:
            yield landing
        yield from self._copies(held.mention.pr, landing.commit)

    def _copies(self, original: str | int, commit: str) -> Iterator[NotLanding]:
        for landing in self._waiting.pop(original, ()):
            yield _copy(landing, original, commit)


def landing_of(commits: list[Commit], mention: Mention | None, *, slug: str = "") -> Landing:
    """A landing of given commits (newest first), its base being the first parent of the oldest."""
    newest, oldest = commits[0], commits[-1]
    by = mention.landed_by if mention else LandedBy.COMMIT
    if mention and len(newest.parents) == 1:
        by = LandedBy.REBASE if len(commits) > 1 else LandedBy.SQUASH
    texts = [_message(commit) for commit in commits]
    issues = dict.fromkeys(number for text in texts for number in closing_issues(text, slug))
    return Landing(
        pr=mention.pr if mention else None,
        landed_by=by,
        commit=newest.sha,
        base=oldest.parents[0] if oldest.parents else "",
        title=mention.title if mention else newest.subject,
        message="\n\n".join(reversed(texts)),
        merged_at=newest.committed_at,
        commits=tuple(commit.sha for commit in commits),
        issues=tuple(issues),
        source_branch=mention.source_branch if mention else "",
        author=newest.author,
        changes=_composed(commits),
    )


def prove(pr: int, found: Iterable[Landing | NotLanding], *, elsewhere: Iterable[Commit] = ()) -> Landing:
    """The one landing of a pull request among what `read_landings` told of the main branch.

    LandingError, with the plausible commits and the remedy, when there is none or more than one. `elsewhere`
    are commits of other branches that name the pull request.
    """
    own = [one for one in found if one.pr == pr]
    landings = [one for one in own if isinstance(one, Landing)]
    if len(own) == 1 and landings:
        return landings[0]
    remedy = f"If one of them is right, name it: `berbench task create {pr} --commit <SHA>`."
    details = tuple(
        f"{one.commit[:12]}  {one.title}" if isinstance(one, Landing) else f"{one.commit[:12]}  {one.reason}"
        for one in own
    )
    if len(own) == 1 and isinstance(own[0], NotLanding):
        raise LandingError(
            f"Pull request #{pr} can't be a task: {own[0].commit[:12]} {own[0].reason}.",
            remedy="Choose another pull request.",
            details=details,
        )
    if own:
        raise LandingError(
            f"Pull request #{pr} is named by {len(own)} commits.", remedy=remedy, details=details
        )
    others = tuple(f"{commit.sha[:12]}  {commit.subject}" for commit in elsewhere)
    if others:
        raise LandingError(
            f"Pull request #{pr} landed on another branch, not on the main branch.",
            remedy="Set `main_branch:` in .ber/bench/config.yaml to it, or choose another pull request.",
            details=others,
        )
    raise LandingError(
        f"No commit of the main branch names pull request #{pr}.",
        remedy=f"Fetch the main branch; if its commits don't name pull requests, name the commit: "
        f"`berbench task create {pr} --commit <SHA>`.",
    )


def _landing(held: _Held, slug: str) -> Landing:
    landing = landing_of(held.commits, held.mention, slug=slug)
    if not held.issues and held.mention.pr not in landing.issues:
        return landing
    issues = dict.fromkeys([*landing.issues, *held.issues])
    issues.pop(held.mention.pr, None)
    return replace(landing, issues=tuple(issues))


def _copy(landing: Landing, original: str | int, commit: str) -> NotLanding:
    name = f"#{original}, which landed as {commit[:12]}" if isinstance(original, int) else original[:12]
    return NotLanding(landing.pr, landing.commit, f"a backport or cherry-pick of {name}")


def _composed(commits: list[Commit]) -> tuple[Change, ...]:
    """Changes of a series as one: before the oldest to after the newest; what came to nothing is left out."""
    if len(commits) == 1:
        return commits[0].changes
    merged: dict[str, Change] = {}
    for commit in reversed(commits):
        for change in commit.changes:
            first = merged.get(change.path, change)
            merged[change.path] = replace(change, old_mode=first.old_mode, old_id=first.old_id)
    kept = (one for one in merged.values() if (one.old_mode, one.old_id) != (one.new_mode, one.new_id))
    return tuple(sorted(kept, key=lambda change: change.path))


def _message(commit: Commit) -> str:
    return f"{commit.subject}\n\n{commit.body}" if commit.body else commit.subject
