"""Words on forges that are addressed to people of the project, or come from its robots: a table of patterns. Pure.

Each row is one habit of issue forms, robots or commit messages; a line or heading goes when a row fits all of it.
"""

from __future__ import annotations

import re


def _any(*rows: str, before: str = "", after: str = "") -> re.Pattern[str]:
    return re.compile(f"{before}(?:{'|'.join(rows)}){after}", re.IGNORECASE)


_FORM_SECTION = _any(
    r"code of conduct",
    r"(?:pull request |pr |issue |submission |pre-?\w* )?check ?list",
    r"before submitting.*",
    r"is there an existing issue.*",
    r"(?:are|would) you (?:willing|like|be willing|able) to.*",
    r"will(?:ing)? to (?:submit|contribute).*",
    r"do you want to (?:work|submit|fix|contribute|implement).*",
    r"(?:do|did|have) you .*search.*",
    r"contribution guidelines",
    r"validations",
    r"types? of changes?",
    r"summary by (?:coderabbit|sourcery).*",
    r"dependabot commands.*",
    r"upvote & fund",
    r"contact details",
    r"how can we (?:contact|get in touch with|reach) you.*",
    after=r"\W*",
)

_FORM_LINE = _any(
    r"a clear and concise description of .*",
    r"(?:please )?add any other context .*",
    r"if applicable, add screenshots .*",
    r"thank(?:s| you)(?: so much| a lot)? for (?:taking the time|opening|submitting|filing|contributing|reporting).*",
    r"(?:please )?(?:make sure|ensure|check) (?:that )?you(?:'ve| have)? (?:read|search|check).*",
    r"please (?:search|read|check|fill|use|complete|be sure|note that this form)\b.{0,200}"
    r"(?:template|form|guidelines?|contributing|issues?)\b.{0,100}",
    r"by submitting this (?:issue|pull request).*",
    r"\(?(?:describe|explain|tell us|write|put|paste|insert) .{0,80} here\.?\)?",
    r"<(?:describe|replace|your)\b.{0,100}>",
    r"(?:os|browser|device|version)\b.{0,20}\[e\.g\. .{0,100}\]",
    r"\d\.[ \t]+(?:(?:go to|click on|scroll down to) ['\"]\.{3,4}['\"]|see error|\[\w+ step\]|\[?and so on.{0,9})",
    r"tell us what (?:should happen|happens instead)\.?",
    r"(?:a )?(?:short|brief) description of the (?:problem|issue|bug)(?: here)?\.?",
    before=r"[ \t>*_-]*+",
    after=r"[ \t*_]*",
)

_BOT_LINE = _any(
    r"this (?:issue|pull request|pr) (?:has been|was|is being) (?:automatically|auto-).*",
    r"[🤖✨].*generated (?:with|by).*",
    r"generated (?:with|by) \[?(?:claude|copilot|codex|cursor|devin|github copilot).*",
    r"reply to this email directly.*",
    r"you are receiving this because .*",
    r"message id: <.*",
    r"on .{6,80} wrote:",
    r"/(?:label|unlabel|relabel) ~.*",
    r"/(?:un|re)?assign @.*",
    r"/(?:milestone|cc|estimate|spend|weight|due|epic|iteration) [%@&\d*].*",
    r"sent from my (?:iphone|ipad|android|phone|mobile).*",
    r"(?:(?:this )?issue (?:was |has been )?)?(?:original(?:ly)? )?(?:issue )?"
    r"(?:reported|created|opened|posted|migrated|imported) (?:on|by|from|at)"
    r" (?:code\.google\.com|google code|bitbucket|trac|gitlab|github|launchpad|sourceforge|@[\w-]+|\[?@).*",
    r"cursor bugbot (?:is|has|found|reviewed) .*",
    r"want to back this issue\?.*",
    r".*bountysource\.com.*",
    r".*polar\.sh.*",
    r"dependabot (?:will|compatibility).*",
    r"@dependabot .*",
    r"\(dependabot-automerge-.*",
    r".*this (?:comment|message|issue) was (?:created|generated|posted) by (?:an? )?\w*bot.*",
    before=r"[ \t>*_~-]*+",
)

# Words in which a sender, or a pull request's author, tells what was done about a form.
_OF_THE_FORM = _any(
    r"I|I've|I'm|I'd|my|we've|you|your|please|check|tick|select|mark|applies|apply|searched|sign\w*|reviewed?",
    r"code of conduct|contribut\w+|guidelines?|template|type of change|checklist",
    r"duplicates?|issues?|pull requests?|PRs?|MRs?|browsers?|platforms?|os",
    r"changelog|docs?|documentation|tests? (?:added|pass\w*)|added tests?|unit tests?|lint\w*",
    before=r"(?<!\w)",
    after=r"(?!\w)",
)

_TRAILER = _any(
    r"[A-Za-z]+(?:-[A-Za-z]+){0,4}-by[ \t]*:[ \t]*\S.*",
    r"(?:cc|change-id|pr-url|pull-request|merge-request|reviewed-on|backport-of|git-svn-id|cherry-picked-from"
    r"|differential[ -]revision|(?:closes|related|partial)-bug)[ \t]*:[ \t]*\S.*",
    r"\(cherry picked from commit .*\)",
)

_PAGE = r"<?https?://\S{1,300}/(?:issues|pull|pulls|merge_requests|pull-requests)/\d+\S{0,200}"
_REFERENCE = rf"(?:[\w./-]{{0,200}}[#!]\d+|gh-\d+|{_PAGE})"
_KEYWORD = (
    r"(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|references|bug|issues?|see(?: also)?"
    r"|related(?: to)?|link|part of)"
)
_CLOSING = re.compile(
    rf"[ \t>*+-]*+(?:(?:this|it)[ \t]++)?(?:(?:pr|change|commit)[ \t]++)?{_KEYWORD}[ \t]*+:?[ \t]*+{_REFERENCE}"
    rf"(?:[ \t]*+(?:(?:,|and|&|;)[ \t]*+)?(?:{_KEYWORD}[ \t]*+:?[ \t]*+)?{_REFERENCE})*+[ \t]*+[.;]?[ \t]*+",
    re.IGNORECASE,
)


def is_form_section(title: str) -> bool:
    """Whether a heading asks about the sender or the form, not about the problem."""
    return bool(_FORM_SECTION.fullmatch(title))


def speaks_of_the_form(line: str) -> bool:
    """Whether a check list's line, or the sentence before it, is about the form and its sender."""
    return bool(_OF_THE_FORM.search(line))


def is_trailer(line: str) -> bool:
    """Whether a line is a commit's trailer, or only names what it closes."""
    return bool(_TRAILER.fullmatch(line.strip()) or _CLOSING.fullmatch(line))


def is_noise(line: str) -> bool:
    """Whether a line says nothing about the problem: form text, robots' text, trailers, an unanswered question."""
    stripped = line.strip()
    if not stripped:
        return False
    answered_nothing = stripped.strip("_*").lower() == "no response"
    return (
        answered_nothing or is_trailer(line) or bool(_FORM_LINE.fullmatch(line) or _BOT_LINE.fullmatch(line))
    )
