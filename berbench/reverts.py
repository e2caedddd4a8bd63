"""What reverts say they took back. Met before what they revert, since the walk is newest first."""

from __future__ import annotations

import re
from collections.abc import Iterable

from berbench.mentions import Mention, form_of
from berbench.model.changes import Commit, Landing

# A revert of a revert brings the change back: it is no revert.
_REVERT = re.compile(
    r"^revert(?:s|ed|ing)?\b(?!\W*(?:revert|reland|reapply))|^back(?:s|ing|ed)? ?out\b", re.I
)
_QUOTED = re.compile(r'^revert(?:s|ed)?:? "(?P<title>.+)"', re.I)
_CONVENTIONAL = re.compile(r"^revert(?:\([^)]*\))?: (?P<title>.+)", re.I)
_SHA = re.compile(r"\brevert(?:s|ed|ing)?:? (?:commit )?\W?(?P<sha>[0-9a-f]{7,64})\b", re.I)
_NUMBER = re.compile(
    r"\brevert(?:s|ed|ing)?:? (?:PR |pull request |[\w.-]+(?:/[\w.-]+)+)?[#!](?P<pr>\d{1,10})(?!\d)", re.I
)
_BRANCH = re.compile(r"^revert-(?P<pr>\d{1,10})-")
_TAIL = re.compile(r"\((?:#|!)(?P<pr>\d{1,10})\)$")


def is_revert(commit: Commit, mention: Mention | None) -> bool:
    """Whether the commit, by its own title, takes an earlier change back."""
    return _REVERT.match(mention.title if mention else commit.subject) is not None


class Reverts:
    """What has been taken back so far: commits by id, pull requests by number, else changes by title."""

    def __init__(self) -> None:
        self._shas: dict[str, str] = {}  # first seven digits → the id as written
        self._words: dict[str, str] = {}  # the id as written → who reverts it
        self._prs: dict[int, str] = {}
        self._titles: dict[str, str] = {}

    def note(self, commit: Commit, mention: Mention | None, *, whole: bool) -> None:
        """Remember what this commit reverts. `whole` is false inside a pull request: only ids count."""
        title = mention.title if mention else commit.subject
        if "evert" not in commit.body and "evert" not in title:
            return
        by = f"#{mention.pr}" if mention else commit.sha[:12]
        named = False
        for found in _SHA.finditer(commit.body):
            self._words[found["sha"].lower()] = by
            self._shas[found["sha"].lower()[:7]] = found["sha"].lower()
            named = True
        if not whole or not is_revert(commit, mention):
            return
        numbers = [int(found["pr"]) for found in _NUMBER.finditer(commit.body)]
        numbers += [int(found["pr"]) for found in _NUMBER.finditer(title)]
        if mention and (branch := _BRANCH.match(mention.source_branch)):
            numbers.append(int(branch["pr"]))
        quoted = _QUOTED.match(title) or _CONVENTIONAL.match(title)
        if quoted and (tail := _TAIL.search(quoted["title"])):
            numbers.append(int(tail["pr"]))
        for number in numbers:
            self._prs[number] = by
        if quoted and not numbers and not named:
            self._titles[_TAIL.sub("", quoted["title"]).rstrip()] = by

    def of(self, landing: Landing) -> str:
        """Why the landing no longer stands, "" when it does."""
        for sha in landing.commits:
            word = self._shas.get(sha[:7], "")
            if word and sha.startswith(word):
                return f"reverted later by {self._words[word]}"
        by = self._prs.get(landing.pr or 0) or self._titles.get(landing.title)
        return f"reverted later by {by}" if by else ""


def reverted(later: Iterable[Commit], landing: Landing) -> str:
    """Why a landing no longer stands after the later commits, "" when it does."""
    reverts = Reverts()
    for commit in later:
        reverts.note(commit, form_of(commit), whole=True)
    return reverts.of(landing)
