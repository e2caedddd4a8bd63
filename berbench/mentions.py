"""What a commit message says of pull requests and issues, in the forms of the forges.

The pull request is named by the landing form alone: a merge's fixed phrase, the trailing `(#N)` of a subject,
or a trailer with its own key. Any other number, and every number in a body, is a link to something else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from berbench.model.changes import Commit, LandedBy


@dataclass(frozen=True, slots=True)
class Mention:
    """The pull request that a commit names as its own.

    `landed_by` is what the commit alone can tell: a trailer or `(#N)` on one commit may be part of a series.
    `source` is the branch as written, with the fork's owner in front where the form gives it.
    """

    pr: int
    landed_by: LandedBy
    title: str
    source_branch: str = ""
    source_owner: str = ""


_TRAILING = re.compile(r"^(?P<title>.*?)\s*\((?:#|!|GH-|PR #?)(?P<pr>\d+)\)$")

# Subject forms; `rest` in the body's first line is the title where the subject gives none.
_SUBJECTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"Merge pull request #(?P<pr>\d+) in \S+ from (?P<branch>\S+) to \S+",  # Bitbucket Server
        r"Merge pull request #(?P<pr>\d+) from (?P<owner>[^/\s]+)/(?P<branch>\S+)",  # GitHub
        r"Merge pull request #(?P<pr>\d+) from (?P<branch>\S+)",
        r"Merge pull request '(?P<title>.*)' \(#(?P<pr>\d+)\) from (?P<branch>\S+) into \S+",  # Gitea
        r"Merged in (?P<branch>\S+) \(pull request #(?P<pr>\d+)\)",  # Bitbucket Cloud
        r"Pull request #(?P<pr>\d+): (?P<title>.+)",  # Bitbucket Server, newer
        r"Merged PR (?P<pr>\d+): (?P<title>.+)",  # Azure
        r"Auto merge of #(?P<pr>\d+) - (?P<owner>[^:\s]+):(?P<branch>[^,\s]+), r=.*",  # bors
        r"Merge #(?P<pr>\d+)",  # bors-ng
    )
)
_SEE_MERGE_REQUEST = re.compile(r"^See merge request (?:[\w./~-]*)!(?P<pr>\d+)\s*$", re.M)
_GITLAB_SUBJECT = re.compile(r"Merge branch '(?P<branch>[^']+)' into '?[^']+'?")
_MERGE_IN = re.compile(r"^Merge in \S+ from (?P<branch>\S+) to \S+", re.M)

_TRAILER = re.compile(
    r"^\(?(?:Merged from |(?:PR-URL|PR|Pull[- ]Request(?:-URL|-Id)?|Pull Request resolved|Merge[- ]Request"
    r"|Part-of|Reviewed-on):\s*)<?(?:(?:[#!]|GH-)?(?P<pr>\d+)|https?://\S+?/(?:pull|pulls|pull-requests|pullrequest|merge_requests)/"
    r"(?P<url>\d+)/?)>?\)?\s*$",
    re.M | re.I,
)

_BRANCH_MERGE = re.compile(
    r"^Merge (?:(?:remote-tracking )?branch(?:es)? '[^']+'"
    r"|(?:the )?[`'\"]?(?:main|master|stable|develop|dev|trunk|next|maint|release\S*|v?\d[\w.]*)[`'\"]?"
    r"(?: branch)? (?:in)?to \S+)",
    re.I,
)


def form_of(commit: Commit) -> Mention | None:
    """The pull request that the commit's message names as landed by it; None when it names none."""
    merge = len(commit.parents) > 1
    by = LandedBy.MERGE if merge else LandedBy.SQUASH
    for form in _SUBJECTS if commit.subject[:1] in "AMP" else ():
        if found := form.fullmatch(commit.subject):
            groups = found.groupdict()
            title = groups.get("title") or _first_line(commit.body) or groups.get("branch") or commit.subject
            branch = groups.get("branch") or _branch_in(commit.body)
            return Mention(int(found["pr"]), by, _untailed(title), branch, groups.get("owner") or "")
    if "See merge request" in commit.body and (found := _SEE_MERGE_REQUEST.search(commit.body)):
        subject = _GITLAB_SUBJECT.fullmatch(commit.subject)
        title = (_first_line(commit.body[: found.start()]) if subject else "") or commit.subject
        return Mention(int(found["pr"]), by, _untailed(title), subject["branch"] if subject else "")
    if commit.subject.endswith(")") and (found := _TRAILING.match(commit.subject)):
        return Mention(int(found["pr"]), by, found["title"])
    if (
        not merge
        and ":" in commit.body
        and (trailers := {int(one["pr"] or one["url"]) for one in _TRAILER.finditer(commit.body)})
    ):
        # Two different numbers (a backport keeps the first one's) name no single pull request.
        return Mention(trailers.pop(), LandedBy.REBASE, commit.subject) if len(trailers) == 1 else None
    return None


def is_branch_merge(text: str) -> bool:
    """Whether a subject or title says that a whole branch is merged, as `Merge branch '8.1.x'` does."""
    return _BRANCH_MERGE.match(text) is not None


def _first_line(text: str) -> str:
    """The first line that says anything and is no trailer or bot's note."""
    lines = (line.strip() for line in text.split("\n"))
    return next(
        (line for line in lines if line and not re.match(r"(?:Merge in |See merge request)", line)), ""
    )


def _untailed(title: str) -> str:
    found = _TRAILING.match(title)
    return found["title"] if found and found["title"] else title


def _branch_in(body: str) -> str:
    found = _MERGE_IN.search(body)
    return found["branch"] if found else ""


# --- issues -------------------------------------------------------------------------------------------------

_HIDDEN = re.compile(r"<!--.*?-->|^```.*?^```|^~~~.*?^~~~", re.S | re.M)
_REFERENCE = (
    r"(?:https?://[^\s/]+/(?P<path{n}>[\w.-]+(?:/[\w.-]+)+?)(?:/-)?/issues/(?P<url{n}>\d+)"
    r"|(?P<slug{n}>[\w.-]+(?:/[\w.-]+)+)#(?P<far{n}>\d+)"
    r"|(?<![\w/#&])(?:#|GH-)(?P<near{n}>\d+))(?![\w])"
)
_KEYWORD = r"\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)\b"
_ONE = re.compile(_REFERENCE.format(n=""), re.I)
_CLOSING = re.compile(
    rf"{_KEYWORD}:?\s+(?:issues?\s+)?(?P<list>{_REFERENCE.format(n='1')}"
    rf"(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*){_REFERENCE.format(n='2')})*)",
    re.I,
)


def closing_issues(text: str, slug: str = "") -> tuple[int, ...]:
    """Issues that the text closes by keyword, in order, each once.

    `slug` is this repository's `owner/name` or GitLab path: references to any other repository are left out
    then. Text in HTML comments and code blocks says nothing.
    """
    if "#" not in text and "/issues/" not in text and "GH-" not in text:
        return ()
    text = _HIDDEN.sub(" ", text)
    found = (number for one in _CLOSING.finditer(text) for number in _numbers(one["list"], slug))
    return tuple(dict.fromkeys(found))


def mentioned_issues(text: str, slug: str = "") -> tuple[int, ...]:
    """Issues or pull requests that the text only mentions: those it closes are left out."""
    closed = set(closing_issues(text, slug))
    found = (number for number in _numbers(_HIDDEN.sub(" ", text), slug) if number not in closed)
    return tuple(dict.fromkeys(found))


def _numbers(text: str, slug: str) -> list[int]:
    numbers = []
    for one in _ONE.finditer(text):
        place = one["path"] or one["slug"] or ""
        if place and slug and place.casefold() != slug.casefold():
            continue
        numbers.append(int(one["url"] or one["far"] or one["near"]))
    return [number for number in numbers if number]
