"""What names a pull request and is still no task: bumps, releases, reverts, whole branches, copies of a change."""

from __future__ import annotations

import re

from berbench.mentions import Mention, is_branch_merge, mentioned_issues
from berbench.model.changes import Commit, Landing
from berbench.reverts import is_revert

_BOT_AUTHOR = re.compile(r"\[bot\] <|^(?:dependabot|renovate|pyup|greenkeeper|snyk)\b|^pre-commit-ci", re.I)
_BOT_BRANCH = re.compile(
    r"^(?:dependabot|renovate|greenkeeper|snyk|depfu|pyup|scala-steward)[/-]|^pre-commit-ci-"
)
_BUMP = re.compile(r"^(?:\w+(?:\([^)]*\))?!?: )?bump (?:the )?\S+(?: group)?.* from \S+ to \S+", re.I)
_RELEASE = re.compile(
    r"^(?:\w+(?:\([^)]*\))?!?: )?(?:(?:prepare|bump|new|cut|tag)\b[ \w]*?)?"
    r"(?:(?:release|releasing|version)\b[ \w]*? )?v?\d+\.\d+(?:\.\w+)*\S*(?: release)?\.?$",
    re.I,
)
_LONGEST_RELEASE = 200
_BACKPORT = re.compile(r"\b(?:back-?port|cherry[- ]?pick)(?:s|ed|ing|of|:|\b)", re.I)
_PICKED_FROM = re.compile(r"^\(cherry picked from commit ([0-9a-f]{40,64})\)", re.M)
_LONG_LIVED = re.compile(
    r"^(?:main|master|trunk|develop|dev|stable|next|staging|maint\S*|release\S*|v?\d+(?:\.\d+)*(?:\.x|\.X)?)$"
)


def unfit(commit: Commit, mention: Mention, landing: Landing) -> str:
    """Why a commit that names a pull request can't be a task for what it is, "" when it can."""
    if len(commit.parents) > 2:
        return f"an octopus merge of {len(commit.parents) - 1} branches"
    if not landing.base:
        return "a root commit, with no state before it"
    if is_revert(commit, mention):
        return "reverts an earlier change"
    if (
        _BOT_AUTHOR.search(landing.author)
        or _BOT_BRANCH.match(mention.source_branch)
        or _BUMP.match(mention.title)
    ):
        return "a dependency bump or a bot's change"
    if len(mention.title) < _LONGEST_RELEASE and _RELEASE.match(mention.title):
        return "a release commit"
    if len(commit.parents) == 1 and is_branch_merge(mention.title):
        return "merges a branch, squashed"
    return ""


def merges_branch(mention: Mention, slug: str) -> bool:
    """Whether a merge brings a whole long-lived branch. A fork's branch may be called `main` too: its owner tells."""
    own = bool(slug) and mention.source_owner.casefold() == slug.partition("/")[0].casefold()
    long_lived = own and _LONG_LIVED.match(mention.source_branch) is not None
    return long_lived or is_branch_merge(mention.title)


def picked_from(body: str) -> str:
    """The commit that a message says it was cherry-picked from, "" when it says nothing."""
    found = _PICKED_FROM.search(body)
    return found[1] if found else ""


def original_of(landing: Landing) -> str | int | None:
    """The commit or pull request that the landing says it copies."""
    if picked := picked_from(landing.message):
        return picked
    if _BACKPORT.search(landing.title) and (numbers := mentioned_issues(landing.title)):
        return numbers[0]
    return None
