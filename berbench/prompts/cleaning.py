"""Takes from an issue's text what is addressed to people of the project: comments, forms, check lists, bots. Pure.

Code is set aside first and comes back byte for byte.
"""

from __future__ import annotations

import re

from berbench.prompts.markdown import read_layout
from berbench.prompts.noise import is_form_section, is_noise, speaks_of_the_form

_SET_ASIDE = re.compile("\ue000(\\d+)\ue001")
_IMAGE = re.compile(
    r"!\[(?P<alt>[^\[\]\n]{0,500})\](?:\([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500})?\)|\[[^\[\]\n]{0,200}\])"
)
_IMAGE_TAG = re.compile(r"<img\b(?P<inside>[^<>]{0,4000})/?>", re.IGNORECASE)
_ALT = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_IMAGE_LINK = re.compile(r"\[(?P<alt>\[image: [^\[\]\n]{0,500}\])\]\([^()\n]{0,2000}\)")
_DULL_ALT = re.compile(
    r"(?:image|img|screenshot|screen shot|screen recording|capture|picture|pasted image)?"
    r"[\s\d._:-]*(?:at)?[\s\d._:-]*(?:am|pm)?(?:\.\w{3,4})?",
    re.IGNORECASE,
)
_SUMMARY = re.compile(r"<summary\b[^<>\n]{0,200}>([^<>\n*]{0,200})</summary>", re.IGNORECASE)
_WRAPPERS = re.compile(
    r"</?(?:details|summary|picture|source|center|div|p|br)\b[^<>\n]{0,500}>[ \t]*", re.IGNORECASE
)

_CHECK = re.compile(r"(?P<indent>[ \t>]*)(?:[-*+]|\d{1,3}[.)])[ \t]+\[[ xX✓✔]?\](?:[ \t]|$)")
_HEADING = re.compile(
    r"[ ]{0,3}(?P<marks>#{1,6})[ \t].*|(?:\*\*[^*\n]{1,120}\*\*:?|__[^_\n]{1,120}__:?)[ \t]*+"
)
_EMPTY_ANSWER = re.compile(
    r"[ \t>*_`.-]*+(?:steps to reproduce(?: (?:the|this) (?:behaviou?r|bug|issue|problem))?:?"
    r"|no response|n/?a|none|nothing|not applicable|\d{1,2}[.)])?[ \t*_`.-]*+",
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
    lines = [line for line in lines if not is_noise(line)]
    lines = _without_empty_sections(_without_form_sections(lines))
    while lines and re.fullmatch(r"[ \t]*+(?:-{3,}+[ \t]*+)?", lines[-1]):
        lines.pop()
    joined = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip(" \t") for line in lines)).strip("\n")
    return _SET_ASIDE.sub(lambda m: aside[int(m[1])], joined).strip("\n"), checks


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
    """Check lists go with their wrapped continuations, but those that say what the program must do stay as lists."""
    kept: list[str] = []
    dropped, at = 0, 0
    while at < len(lines):
        if not _CHECK.match(lines[at]):
            kept.append(lines[at])
            at += 1
            continue
        end = _list_end(lines, at)
        checks = sum(1 for line in lines[at:end] if _CHECK.match(line))
        if _tells_requirements(kept, lines[at:end]):
            kept += [_CHECK.sub(_bullet, line) for line in lines[at:end]]
        else:
            dropped += checks
        at = end
    return kept, dropped


def _list_end(lines: list[str], at: int) -> int:
    """The line behind a check list: its items, what is indented below them, and blank lines between."""
    indent, end = 0, at
    for place in range(at, len(lines)):
        line = lines[place]
        if match := _CHECK.match(line):
            indent, end = len(match["indent"]), place + 1
        elif line.strip():
            inner = len(line) - len(line.lstrip(" \t"))
            if inner <= indent or re.match(r"[ \t]*[-*+][ \t]", line):
                break
            end = place + 1
    return end


def _tells_requirements(before: list[str], items: list[str]) -> bool:
    """Whether a sentence with a colon leads to the list, and no item speaks of the sender or the form."""
    lead = next((line.strip() for line in reversed(before) if line.strip()), "")
    if not lead.endswith(":") or _level(lead) or speaks_of_the_form(lead):
        return False
    return not any(speaks_of_the_form(line) for line in items)


def _bullet(match: re.Match[str]) -> str:
    return f"{match['indent']}- "


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
            leaving, answered = is_form_section(line.strip(" #*_:")), False
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
