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


_TRAILING = re.compile(r"\((?:#|!|GH-|PR #?)(?P<pr>\d{1,10})\)$")

# Subject forms; `rest` in the body's first line is the title where the subject gives none.
_SUBJECTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"Merge pull request #(?P<pr>\d{1,10}) in \S+ from (?P<branch>\S+) to \S+",  # Bitbucket Server
        r"Merge pull request #(?P<pr>\d{1,10}) from (?P<owner>[^/\s]+)/(?P<branch>\S+)",  # GitHub
        r"Merge pull request #(?P<pr>\d{1,10}) from (?P<branch>\S+)",
        r"Merge pull request '(?P<title>.*)' \(#(?P<pr>\d{1,10})\) from (?P<branch>\S+) into \S+",  # Gitea
        r"Merged in (?P<branch>\S+) \(pull request #(?P<pr>\d{1,10})\)",  # Bitbucket Cloud
        r"Pull request #(?P<pr>\d{1,10}): (?P<title>.+)",  # Bitbucket Server, newer
        r"Merged PR (?P<pr>\d{1,10}): (?P<title>.+)",  # Azure
        r"Auto merge of #(?P<pr>\d{1,10}) - (?P<owner>[^:\s]+):(?P<branch>[^,\s]+), r=.*",  # bors
        r"Merge #(?P<pr>\d{1,10})",  # bors-ng
    )
)
_SEE_MERGE_REQUEST = re.compile(r"^See merge request (?:[\w./~-]*)!(?P<pr>\d{1,10})\s*$", re.M)
_GITLAB_SUBJECT = re.compile(r"Merge branch '(?P<branch>[^']+)' into '?[^']+'?")
_MERGE_IN = re.compile(r"^Merge in \S+ from (?P<branch>\S+) to \S+", re.M)

_TRAILER = re.compile(
    r"^\(?(?:Merged from |(?:PR-URL|PR|Pull[- ]Request(?:-URL|-Id)?|Pull Request resolved|Merge[- ]Request"
    r"|Part-of|Reviewed-on):\s*)<?(?:(?:[#!]|GH-)?(?P<pr>\d{1,10})|https?://\S+?/(?:pull|pulls|pull-requests|pullrequest|merge_requests)/"
    r"(?P<url>\d{1,10})/?)>?\)?\s*$",
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
    if commit.subject.endswith(")") and (found := _TRAILING.search(commit.subject)):
        return Mention(int(found["pr"]), by, commit.subject[: found.start()].rstrip())
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
    found = _TRAILING.search(title)
    return (title[: found.start()].rstrip() if found else "") or title


def _branch_in(body: str) -> str:
    found = _MERGE_IN.search(body)
    return found["branch"] if found else ""


# --- issues -------------------------------------------------------------------------------------------------

_HIDING = re.compile(r"<!--|-->|^```|^~~~", re.M)
# A path's parts are told apart by what stands before them, and bounded: else long words take for ever.
_PATH = r"[\w.-]{1,100}+(?:/[\w.-]{1,100}+){1,20}"
_REFERENCE = (
    r"(?:https?://[^\s/]+/(?P<path{n}>PATH?)(?:/-)?/issues/(?P<url{n}>\d{1,10})"
    r"|(?<![\w.-])(?P<slug{n}>PATH)#(?P<far{n}>\d{1,10})"
    r"|(?<![\w/#&])(?:#|GH-)(?P<near{n}>\d{1,10}))(?![\w])"
)


def _reference(n: str) -> str:
    return _REFERENCE.replace("PATH", _PATH).replace("{n}", n)


_KEYWORD = r"\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)\b"
_ONE = re.compile(_reference(""), re.I)
_CLOSING = re.compile(
    rf"{_KEYWORD}:?\s+(?:issues?\s+)?(?P<list>{_reference('1')}"
    rf"(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*){_reference('2')})*)",
    re.I,
)


def closing_issues(text: str, slug: str = "") -> tuple[int, ...]:
    """Issues that the text closes by keyword, in order, each once.

    `slug` is this repository's `owner/name` or GitLab path: references to any other repository are left out
    then. Text in HTML comments and code blocks says nothing.
    """
    if "#" not in text and "/issues/" not in text and "GH-" not in text:
        return ()
    text = _visible(text)
    found = (number for one in _CLOSING.finditer(text) for number in _numbers(one["list"], slug))
    return tuple(dict.fromkeys(found))


def mentioned_issues(text: str, slug: str = "") -> tuple[int, ...]:
    """Issues or pull requests that the text only mentions: those it closes are left out."""
    closed = set(closing_issues(text, slug))
    found = (number for number in _numbers(_visible(text), slug) if number not in closed)
    return tuple(dict.fromkeys(found))


def _visible(text: str) -> str:
    """The text without HTML comments and code blocks, as far as they are closed."""
    marks = list(_HIDING.finditer(text))
    last = {mark[0]: mark.start() for mark in marks}
    shown, at, closing = [], 0, ""
    for mark in marks:
        if closing:
            if mark[0] == closing:
                at, closing = mark.end(), ""
        elif mark[0] != "-->" and last.get(end := "-->" if mark[0] == "<!--" else mark[0], -1) > mark.start():
            shown.append(text[at : mark.start()])
            closing = end
    return " ".join([*shown, text[at:]])


def _numbers(text: str, slug: str) -> list[int]:
    numbers = []
    for one in _ONE.finditer(text):
        place = one["path"] or one["slug"] or ""
        if place and slug and place.casefold() != slug.casefold():
            continue
        numbers.append(int(one["url"] or one["far"] or one["near"]))
    return [number for number in numbers if number]
