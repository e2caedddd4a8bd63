"""Takes from an issue's text what is addressed to people of the project: comments, forms, check lists, bots. Pure.

Code is set aside first and comes back byte for byte.
"""

from __future__ import annotations

import re

from berbench.prompts.markdown import read_layout

_SET_ASIDE = re.compile("\ue000(\\d+)\ue001")
_IMAGE = re.compile(
    r"!\[(?P<alt>[^\[\]\n]{0,500})\](?:\([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500})?\)|\[[^\[\]\n]{0,200}\])"
)
_IMAGE_TAG = re.compile(r"<img\b(?P<inside>[^<>]{0,4000})/?>", re.IGNORECASE)
_ALT = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_IMAGE_LINK = re.compile(r"\[(?P<alt>\[image: [^\[\]\n]{0,500}\])\]\([^()\n]{0,2000}\)")
_DULL_ALT = re.compile(
    r"(?:image|img|screenshot|screen shot|screen recording|capture|picture|pasted image)?[\s\d._:-]*(?:at)?[\s\d._:-]*(?:am|pm)?(?:\.\w{3,4})?",
    re.IGNORECASE,
)
_SUMMARY = re.compile(r"<summary\b[^<>\n]{0,200}>([^<>\n*]{0,200})</summary>", re.IGNORECASE)
_WRAPPERS = re.compile(
    r"</?(?:details|summary|picture|source|center|div|p|br)\b[^<>\n]{0,500}>[ \t]*", re.IGNORECASE
)

_CHECK = re.compile(r"(?P<indent>[ \t>]*)(?:[-*+]|\d{1,3}[.)])[ \t]+\[[ xX✓✔]?\](?:[ \t]|$)")
_HEADING = re.compile(
    r"[ ]{0,3}(?P<marks>#{1,6})[ \t]+(?P<text>.*?)[ \t#]*$|(?P<bold>\*\*[^*\n]{1,120}\*\*:?|__[^_\n]{1,120}__:?)[ \t]*$"
)
_EMPTY_ANSWER = re.compile(
    r"[ \t>*_`-]*(?:no response|n/?a|none|nothing|not applicable|-+|\.+)?[ \t*_`.-]*", re.IGNORECASE
)
_FORM_SECTION = re.compile(
    r"(?:code of conduct|(?:pull request |pr |issue |submission |pre-?\w* )?check ?list|before submitting.*|prerequisites? check.*"
    r"|is there an existing issue.*|(?:are|would) you (?:willing|like|be willing|able).*|will(?:ing)? to (?:submit|contribute).*"
    r"|(?:do|did) you .*search.*|have you .*search.*|contribution guidelines|terms|validations|types? of changes?"
    r"|summary by (?:coderabbit|sourcery).*|dependabot commands.*|upvote & fund)\W*",
    re.IGNORECASE,
)
_FORM_LINE = re.compile(
    r"[ \t>*_]*(?:a clear and concise description of .*|(?:please )?add any other context .*|if applicable, add screenshots .*"
    r"|thank(?:s| you)(?: so much| a lot)? for (?:taking the time|opening|submitting|filing|your contribution|contributing|reporting).*"
    r"|(?:please )?(?:make sure|ensure|check) (?:that )?you(?:'ve| have)? (?:read|search|check).*"
    r"|please (?:search|read|check|fill|provide|describe|use|complete|answer|include|do not|don't|be sure|note that this form)\b.{0,200}"
    r"(?:template|form|below|guidelines?|contributing|issues?|before)\b.{0,100}"
    r"|by submitting this (?:issue|pull request).*|\(?(?:describe|explain|tell us|write|put|paste|insert) .{0,80} here\.?\)?"
    r"|<(?:!--)? ?(?:describe|replace|your).{0,100}>)[ \t*_]*",
    re.IGNORECASE,
)
_BOT_LINE = re.compile(
    r"[ \t>*_~-]*(?:this (?:issue|pull request|pr) (?:has been|was|is being) (?:automatically|auto-).*"
    r"|[🤖✨][^\n]*generated (?:with|by).*|generated (?:with|by) \[?(?:claude|copilot|codex|cursor|devin|github copilot).*"
    r"|sent from my (?:iphone|ipad|android|phone|mobile).*|(?:original(?:ly)? )?(?:issue )?(?:reported|created|opened|posted|migrated|imported)"
    r" (?:on|by|from|at) (?:code\.google\.com|google code|bitbucket|trac|gitlab|github|launchpad|sourceforge|@[\w-]+|\[?@).*"
    r"|want to back this issue\?.*|.*bountysource\.com.*|.*polar\.sh.*|dependabot (?:will|compatibility).*|@dependabot .*"
    r"|\(dependabot-automerge-.*|we use polar\.sh.*|.*this (?:comment|message|issue) was (?:created|generated|posted) by (?:an? )?\w*bot.*)",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"(?:[A-Z][A-Za-z]*(?:-[A-Za-z]+)*-by|cc|change-id|pr-url|pull-request|merge-request|reviewed-on|backport-of|git-svn-id"
    r"|cherry-picked-from|differential[ -]revision|(?:closes|related|partial)-bug)[ \t]*:[ \t]*\S.*"
    r"|\(cherry picked from commit .*\)",
    re.IGNORECASE,
)
_REFERENCE = r"(?:[\w./-]{0,200}[#!]\d+|gh-\d+|<?https?://\S+)"
_CLOSING = re.compile(
    r"[ \t>*+-]*(?:(?:this|it)[ \t]+)?(?:(?:pr|change|commit)[ \t]+)?(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|references|bug|issues?"
    r"|see(?: also)?|related(?: to)?|link|part of)[ \t]*:?[ \t]*"
    rf"{_REFERENCE}(?:[ \t]*(?:,|and|&|;)?[ \t]*(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?)?[ \t]*:?[ \t]*{_REFERENCE})*[ \t]*[.;]?[ \t]*",
    re.IGNORECASE,
)


def normalise_lines(text: str) -> str:
    """Lines end at "\\n"; no byte order mark and no NUL. Other characters, form feeds among them, stay."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def clean(text: str) -> tuple[str, int]:
    """An issue's or description's own text, and how many check-list lines were dropped from it."""
    prose, aside = _set_code_aside(normalise_lines(text))
    prose = _images(prose)
    prose = _SUMMARY.sub(lambda match: f"\n\n**{match[1].strip()}**\n\n" if match[1].strip() else "\n", prose)
    prose = _WRAPPERS.sub(lambda match: "\n" if match[0].lower().startswith("<br") else "", prose)
    lines, checks = _without_check_lists(prose.split("\n"))
    lines = [line for line in lines if not _is_noise(line)]
    lines = _without_empty_sections(_without_form_sections(lines))
    joined = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip(" \t") for line in lines)).strip("\n")
    return _SET_ASIDE.sub(lambda m: aside[int(m[1])], joined).strip("\n"), checks


def is_trailer(line: str) -> bool:
    """Whether a line is a commit's trailer, or only names what it closes."""
    return bool(_TRAILER.fullmatch(line.strip()) or _CLOSING.fullmatch(line))


def _set_code_aside(text: str) -> tuple[str, list[str]]:
    """Comments are dropped, code becomes a mark each; a block keeps the line it stands on."""
    text = text.replace("\ue000", "").replace("\ue001", "")
    layout = read_layout(text)
    spans = sorted(
        [(span, "comment") for span in layout.comments]
        + [(span, "block") for span in layout.blocks]
        + [(span, "inline") for span in layout.inline]
    )
    pieces: list[str] = []
    aside: list[str] = []
    at = 0
    for (start, end), kind in spans:
        pieces.append(text[at:start])
        at = end
        if kind == "comment":
            continue
        code = text[start:end]
        ends_line = kind == "block" and code.endswith("\n")
        pieces.append(f"\ue000{len(aside)}\ue001" + ("\n" if ends_line else ""))
        aside.append(code[:-1] if ends_line else code)
    pieces.append(text[at:])
    return "".join(pieces), aside


def _images(prose: str) -> str:
    def shown(alt: str) -> str:
        alt = " ".join(alt.split())
        return "" if _DULL_ALT.fullmatch(alt) else f"[image: {alt}]"

    def of_tag(match: re.Match[str]) -> str:
        alt = _ALT.search(match["inside"])
        return shown(next((group for group in alt.groups() if group), "")) if alt else ""

    prose = _IMAGE.sub(lambda match: shown(match["alt"]), prose)
    prose = _IMAGE_TAG.sub(of_tag, prose)
    prose = re.sub(r"\[[ \t]*\]\([^()\n]{0,2000}\)", "", prose)
    prose = _IMAGE_LINK.sub(lambda match: match["alt"], prose)
    return re.sub(r"^[ \t]+(?=\[image: )", "", prose, flags=re.MULTILINE)


def _without_check_lists(lines: list[str]) -> tuple[list[str], int]:
    """Check-list lines and their wrapped continuations go."""
    kept: list[str] = []
    dropped, inside = 0, -1
    for line in lines:
        if match := _CHECK.match(line):
            dropped += 1
            inside = len(match["indent"])
            continue
        indent = len(line) - len(line.lstrip(" \t"))
        if inside >= 0 and line.strip() and indent > inside and not re.match(r"[ \t]*[-*+][ \t]", line):
            continue
        inside = -1
        kept.append(line)
    return kept, dropped


def _is_noise(line: str) -> bool:
    stripped = line.strip()
    if not stripped:
        return False
    return bool(
        is_trailer(line)
        or _FORM_LINE.fullmatch(line)
        or _BOT_LINE.fullmatch(line)
        or stripped.strip("_*") == "No response"
    )


def _level(line: str) -> int:
    """1–6 for a heading, 7 for a line in bold, 0 for no heading."""
    match = _HEADING.fullmatch(line)
    return 0 if match is None else len(match["marks"]) if match["marks"] else 7


def _without_form_sections(lines: list[str]) -> list[str]:
    """Headings that ask about the sender, such as a code of conduct, go with the first answer below them."""
    kept: list[str] = []
    leaving = answered = False
    for line in lines:
        if _level(line):
            leaving, answered = bool(_FORM_SECTION.fullmatch(line.strip(" #*_:"))), False
        elif leaving and answered and not line.strip():
            leaving = False
        if not leaving:
            kept.append(line)
        elif line.strip() and not _level(line):
            answered = True
    return kept


def _without_empty_sections(lines: list[str]) -> list[str]:
    """Headings with nothing below them go, from the innermost outwards; so do answers like "N/A"."""
    kept: list[str] = []
    below = 1  # level of the heading that follows next; 0 when words follow
    pending: list[str] = []
    for line in reversed(lines):
        level = _level(line)
        if level and below and below <= level:
            pending = []
        elif level:
            kept += [*pending, line]
            pending, below = [], level
        elif _EMPTY_ANSWER.fullmatch(line) and below:
            # Words that say nothing count only where the section says nothing else.
            pending.append(line)
        else:
            kept += [*pending, line]
            pending, below = [], 0
    if not below:
        kept += pending
    return list(reversed(kept))
