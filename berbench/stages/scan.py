"""`task scan`: merged pull requests of local history, ranked by how good a task each would make.

One pass over the history; what changes in the landings that it finds is compared meanwhile. The forge is asked at
the end, and only for what local history does not tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from berbench.errors import ForgeError, NotOnForge
from berbench.forge.door import Forge
from berbench.history.comparison import Comparison
from berbench.history.door import History
from berbench.landings import may_land, read_landings
from berbench.model.changes import LandedBy, Landing, LineCount, NotLanding, Repository, Split
from berbench.ranking import Ranked, Rejected, Size, measure, rank
from berbench.split import classify, need_patterns
from berbench.stages.unfit import obstacle, ruled_out

SCHEMA = "berbench.scan/1"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A landing that would make a task, with its sides' sizes."""

    landing: Landing
    issues: tuple[int, ...]
    tests: Size
    reference: Size
    score: float
    reasons: tuple[str, ...]

    @property
    def pr(self) -> int | None:
        """The pull request's number."""
        return self.landing.pr

    @property
    def title(self) -> str:
        """The pull request's title, or the landing's subject."""
        return self.landing.title

    @property
    def landing_commit(self) -> str:
        """Full id of the landing commit."""
        return self.landing.commit


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What a scan found.

    `considered` counts landings that were looked at, candidates and rejected ones. `unnamed` counts commits
    that name no pull request, `unlinked` candidates known to have no issue, `not_fetched` those for which
    the forge could not be asked. `forms` counts the landings that were looked at by the way they landed.
    """

    repository: str
    head: str
    considered: int
    candidates: tuple[Candidate, ...]
    rejected: tuple[NotLanding, ...]
    unnamed: int = 0
    unlinked: int = 0
    not_fetched: int = 0
    notes: tuple[str, ...] = ()
    forms: Mapping[LandedBy, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Shortlisted:
    landing: Landing
    split: Split
    lines: tuple[LineCount, ...] = ()
    patch: bytes = b""
    reasons: tuple[str, ...] = ()  # what the forge could not tell


@dataclass(slots=True)
class _Harvest:
    """What one pass over the history yields."""

    shortlist: list[_Shortlisted] = field(default_factory=list)
    rejected: list[NotLanding] = field(default_factory=list)
    unnamed: int = 0  # commits that name no pull request: there may be very many
    newest_unnamed: str = ""
    forms: Counter[LandedBy] = field(default_factory=Counter)


def scan(
    history: History,
    *,
    patterns: Sequence[str],
    main: str,
    limit: int = 50,
    since: str = "",
    max_reference_files: int | None = None,
    forge: Forge | None = None,
    repository: Repository | None = None,
    say: Say = lambda line: None,
) -> ScanReport:
    """Rank the newest `limit` landings of `main` that change both sides.

    `since` is a date that git understands. A forge that fails costs no result: `notes` tell of it. Errors are
    those of the history door.
    """
    head = history.resolve(main)
    need_patterns(patterns)
    say(f"reading the history of {main}")
    if history.is_shallow():
        say(
            "the clone is shallow: landings below its depth are not seen; `git fetch --unshallow` completes it"
        )
    slug = repository.slug if repository else ""
    with history.comparing() as comparison:
        walk = history.walk(head, since=since, wanted=may_land)
        try:
            landings = read_landings(walk, slug=slug)
            harvest = _walk(landings, patterns, limit, max_reference_files, comparison)
        finally:
            if isinstance(walk, Generator):
                walk.close()  # ends the git process where the limit was met before the history's end
        say(f"reading the changes of {len(harvest.shortlist)} of them")
        shortlist = (  # no list: each is ranked while git compares for the next
            replace(item, lines=lines, patch=patch)
            for item, (lines, patch) in zip(harvest.shortlist, comparison.answers(), strict=True)
        )
        newest = history.commit(head).committed_at
        ranked, hopeless = _rank(shortlist, newest)
    notes: list[str] = []
    refused: list[NotLanding] = []
    if forge is not None:
        # The best first: should the forge stop answering, what is missing is missed least.
        ranked.sort(key=lambda item: -item.rank.score)
        asked, refused = _ask(forge, [item.what for item in ranked], notes, say)
        ranked = _again(ranked, asked, newest)
    candidates = [_candidate(item) for item in ranked]
    rejected = [*harvest.rejected, *refused, *hopeless, *_summary(harvest.unnamed, harvest.newest_unnamed)]
    return ScanReport(
        repository=slug or history.root.name,
        head=head,
        considered=len(harvest.shortlist) + len(harvest.rejected),
        candidates=tuple(sorted(candidates, key=lambda found: -found.score)),
        rejected=tuple(rejected),
        unnamed=harvest.unnamed,
        unlinked=sum(1 for found in candidates if not found.issues and not _unknown(found.reasons)),
        not_fetched=sum(1 for found in candidates if _unknown(found.reasons)),
        notes=tuple(notes),
        forms=harvest.forms,
    )


def document(report: ScanReport) -> dict[str, object]:
    """The report as `--json` prints it."""
    return {
        "schema": SCHEMA,
        "repository": report.repository,
        "head": report.head,
        "considered": report.considered,
        "candidates": [_candidate_document(found) for found in report.candidates],
        "rejected": [{"pr": r.pr, "commit": r.commit, "reason": r.reason} for r in report.rejected],
    }


def _candidate_document(found: Candidate) -> dict[str, object]:
    landing = found.landing
    return {
        "pr": landing.pr,
        "title": landing.title,
        "landing_commit": landing.commit,
        "base_commit": landing.base,
        "landed_by": landing.landed_by.value,
        "merged_at": landing.merged_at.isoformat(),
        "issues": list(found.issues),
        "tests": _size_document(found.tests),
        "reference": _size_document(found.reference),
        "score": found.score,
        "reasons": list(found.reasons),
    }


def _size_document(size: Size) -> dict[str, int]:
    return {"files": size.files, "added": size.added, "deleted": size.deleted}


def _walk(
    landings: Iterable[Landing | NotLanding],
    patterns: Sequence[str],
    limit: int,
    max_files: int | None,
    comparison: Comparison,
) -> _Harvest:
    """Collect until `limit` landings with both sides are found, and ask for the lines of each at once."""
    harvest = _Harvest()
    for found in landings:
        if isinstance(found, NotLanding):
            if found.pr is not None:
                harvest.rejected.append(found)
            else:
                harvest.unnamed += 1
                harvest.newest_unnamed = harvest.newest_unnamed or found.commit
            continue
        harvest.forms[found.landed_by] += 1
        split = classify(found.changes, patterns)
        reason = ruled_out(split, max_files)
        if reason:
            harvest.rejected.append(NotLanding(found.pr, found.commit, reason))
            continue
        harvest.shortlist.append(_Shortlisted(found, split))
        comparison.ask(found.base, found.commit)
        if len(harvest.shortlist) == limit:
            break
    return harvest


NOT_FETCHED = "the forge was not asked for its issue"


def _unknown(reasons: Sequence[str]) -> bool:
    return NOT_FETCHED in reasons


def _ask(
    forge: Forge, shortlist: Sequence[_Shortlisted], notes: list[str], say: Say
) -> tuple[list[_Shortlisted], list[NotLanding]]:
    """Fill in linked issues that local messages don't name. A forge that refuses once is not asked again."""
    asked: list[_Shortlisted] = []
    refused: list[NotLanding] = []
    stopped = False
    for item in shortlist:
        landing = item.landing
        if landing.pr is None or landing.issues:
            asked.append(item)
            continue
        if stopped:
            asked.append(replace(item, reasons=(NOT_FETCHED,)))
            continue
        say(f"asking the forge for pull request {landing.pr}")
        try:
            pull = forge.pull_request(landing.pr)
        except NotOnForge:
            refused.append(
                NotLanding(landing.pr, landing.commit, "the forge knows no pull request of this number")
            )
        except ForgeError as error:
            stopped = True
            why = "; ".join(filter(None, (error.message.rstrip("."), error.remedy)))
            notes.append(f"The forge was asked no further: {why}")
            asked.append(replace(item, reasons=(NOT_FETCHED,)))
        else:
            title = pull.title or landing.title
            asked.append(replace(item, landing=replace(landing, issues=pull.closes, title=title)))
    return asked, refused


@dataclass(frozen=True, slots=True)
class _Scored:
    what: _Shortlisted
    rank: Ranked


def _rank(shortlist: Iterable[_Shortlisted], newest: datetime) -> tuple[list[_Scored], list[NotLanding]]:
    ranked: list[_Scored] = []
    rejected: list[NotLanding] = []
    for item in shortlist:
        landing = item.landing
        if reason := obstacle(item.split, item.patch):
            rejected.append(NotLanding(landing.pr, landing.commit, reason))
            continue
        age = (newest - landing.merged_at).days / 365.25
        found = rank(landing, item.split, item.lines, bool(landing.issues), item.patch, age_years=age)
        match found:
            case Rejected(reason):
                rejected.append(NotLanding(landing.pr, landing.commit, reason))
            case Ranked():
                ranked.append(_Scored(item, found))
    return ranked, rejected


def _again(ranked: Sequence[_Scored], asked: Iterable[_Shortlisted], newest: datetime) -> list[_Scored]:
    """Rank anew what the forge told something of."""
    before = {item.what.landing.commit: item for item in ranked}
    result = []
    for item in asked:
        known = before[item.landing.commit]
        if item.landing is known.what.landing:
            result.append(_Scored(item, known.rank))
        else:
            result += _rank([item], newest)[0]
    return result


def _candidate(item: _Scored) -> Candidate:
    landing, split = item.what.landing, item.what.split
    tests = measure([change.path for change in split.tests], item.what.lines)
    reference = measure([change.path for change in split.reference], item.what.lines)
    reasons = (*item.rank.reasons, *item.what.reasons)
    return Candidate(landing, landing.issues, tests, reference, item.rank.score, reasons)


def _summary(count: int, newest: str) -> list[NotLanding]:
    """One row for all commits that can't be tied to a pull request; never an invented number."""
    if not count:
        return []
    said = "1 commit names" if count == 1 else f"{count} commits name"
    reason = f"{said} no pull request (this is the newest); `task create --commit` can take one"
    return [NotLanding(None, newest, reason)]
