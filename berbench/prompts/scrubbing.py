"""Takes out what leads to the answer, in words that keep the sentence. Pure."""

from __future__ import annotations

import re
from functools import partial

from berbench.prompts.addresses import Page, judge_address
from berbench.prompts.leaks import Leak, Leaks, find_leaks
from berbench.prompts.markdown import Layout, read_layout

# Marks that break a reference for machines and not for people: `owner/name#<zero width>5`.
INVISIBLE = re.compile(r"(?<=[\x21-\x7e])[\u200b\u200c\u200d\u2060\ufeff\u00ad]+(?=[\x21-\x7e])")
_LINK = re.compile(
    r"\[(?P<text>[^\[\]\n]{0,500})\]\([ \t]*<?(?P<url>[^()\s<>]+)>?(?:[ \t]+[\"'][^\"'\n]{0,500}[\"'])?[ \t]*\)"
)
_ANCHOR = re.compile(
    r"<a\b[^<>]{0,500}?href=[\"']?(?P<url>[^\"'\s<>]+)[^<>]{0,500}>(?P<text>[^<]{0,500})</a>", re.IGNORECASE
)
_DEFINITION = re.compile(
    r"^[ ]{0,3}\[(?P<text>[^\]\n]{1,200})\]:[ \t]*<?(?P<url>[^\s<>]+)[^\n]*(?:\n|\Z)", re.MULTILINE
)
_AUTOLINK = re.compile(r"<(?P<url>(?:git\+)?(?:https?|ssh|git)://[^\s<>]+)>", re.IGNORECASE)

# What is left of a sentence that only pointed somewhere, in the words that stand in for references.
_KEYWORDS = (
    r"(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|implement(?:s|ed)?|see(?: also)?|refs?|references|part of"
    r"|relates? to|related to|follow[- ]?up (?:to|of|on))"
)
_NOTHING = r"(?:(?:another|an earlier|a) (?:issue|change|commit|discussion)|other (?:issues|changes)|this repository)"
_ONE = rf"(?:{_KEYWORDS}[ \t]*+:?[ \t]*+)?{_NOTHING}"
_ONLY_REFERENCES = re.compile(
    rf"^[ \t>*+-]*+{_ONE}(?:[ \t]*+(?:(?:,|and|or|&)[ \t]*+)?{_ONE})*+[ \t]*+[.;,]?[ \t]*+$\n?",
    re.IGNORECASE | re.MULTILINE,
)
_LEADING = re.compile(
    rf"^(?P<lead>[ \t>*+-]*+(?:\#{{1,6}} )?){_ONE}[ \t]*+(?::|[—–-]{{1,2}})[ \t]++(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_LEADING_SENTENCE = re.compile(
    rf"^(?P<lead>[ \t>*+-]*+){_KEYWORDS}[ \t]*+:?[ \t]*+{_NOTHING}[.;][ \t]++(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_IN_PARENTHESES = re.compile(rf"[ \t]?[(\[]{_ONE}[)\]]", re.IGNORECASE)
_CLAUSE = re.compile(
    rf",?[ \t](?:closing|fixing|resolving|addressing) {_NOTHING}(?=[ \t]*+(?:[.;)]|$))",
    re.IGNORECASE | re.MULTILINE,
)
_REPEATED = re.compile(
    r"\banother (issue|change)(?:(?:[ \t]*+[,&]|[ \t]++and|[ \t]++or)[ \t]++(?:and[ \t]++)?another \1)+",
    re.IGNORECASE,
)
_TIDYING = (
    (_ONLY_REFERENCES, ""),
    (_LEADING, r"\g<lead>"),
    (_LEADING_SENTENCE, r"\g<lead>"),
    (_IN_PARENTHESES, ""),
    (_CLAUSE, ""),
    (_REPEATED, r"other \1s"),
)
_SENTENCE_START = re.compile(r"(?:^|\n|[.!?][ \t]+)[ \t>*+-]*$")


def scrub(text: str, leaks: Leaks) -> tuple[str, tuple[str, ...]]:
    """The text with nothing left that `find_leaks` is sure of, and what was taken out, one line a place."""
    removed: list[str] = []
    text = INVISIBLE.sub("", text)
    text = _unlink(text, leaks, removed)
    # Taking one place out, or tidying up behind it, may lay another one bare: look again until nothing is left.
    for _ in range(3):
        text = _replace_all(text, leaks, removed)
        tidied = _tidy(text) if removed else text
        if not any(leak.sure for leak in find_leaks(tidied, leaks)):
            return tidied, tuple(removed)
        text = tidied
    return _without_lines(_replace_all(text, leaks, removed), leaks, removed), tuple(removed)


def _without_lines(text: str, leaks: Leaks, removed: list[str]) -> str:
    """What no replacing brings to an end, hundreds of references in one word, say, goes with its lines."""
    for _ in range(10):
        starts = {text.rfind("\n", 0, leak.start) + 1 for leak in find_leaks(text, leaks) if leak.sure}
        if not starts:
            return text
        removed.append(f"{len(starts)} lines full of references")
        lines, at = [], 0
        for line in text.split("\n"):
            if at not in starts:
                lines.append(line)
            at += len(line) + 1
        text = "\n".join(lines)
    return ""


def _replace_all(text: str, leaks: Leaks, removed: list[str]) -> str:
    for _ in range(10):
        layout = read_layout(text)
        found = [leak for leak in find_leaks(text, leaks, layout) if leak.code != "prompt-number"]
        if not found:
            break
        text = _replace(text, found, layout, removed)
    return text


def _unlink(text: str, leaks: Leaks, removed: list[str]) -> str:
    """Links whose address leads there become their text; definitions of such addresses go."""
    layout = read_layout(text)

    def leads_there(match: re.Match[str]) -> bool:
        if layout.in_code(match.start()):
            return False
        page = judge_address(match["url"], leaks.repository, leaks.numbers, leaks.commits)
        if page is not Page.NONE:
            removed.append(f"{match['url']} {page.value}")
        return page is not Page.NONE

    gone: set[str] = set()

    def forget(match: re.Match[str]) -> str:
        if not leads_there(match):
            return match[0]
        gone.add(match["text"].lower())
        return ""

    def keep_text(match: re.Match[str]) -> str:
        return match["text"].strip() if leads_there(match) else match[0]

    def instead(match: re.Match[str]) -> str:
        if not leads_there(match):
            return match[0]
        page = judge_address(match["url"], leaks.repository, leaks.numbers, leaks.commits)
        return page.instead(match["url"])

    for pattern, change in (
        (_DEFINITION, forget),
        (_LINK, keep_text),
        (_ANCHOR, keep_text),
        (_AUTOLINK, instead),
    ):
        text = pattern.sub(change, text)
        layout = read_layout(text)
    return _drop_references(text, gone)


def _drop_references(text: str, gone: set[str]) -> str:
    """`[text][ref]` and `[ref]` of definitions that are gone become plain text."""
    if not gone:
        return text

    def plain(match: re.Match[str]) -> str:
        name = (match["ref"] or match["text"]).lower()
        return match["text"] if name in gone else match[0]

    return re.sub(r"\[(?P<text>[^\[\]\n]{1,200})\](?:\[(?P<ref>[^\[\]\n]{0,200})\])?", plain, text)


def _replace(text: str, found: list[Leak], layout: Layout, removed: list[str]) -> str:
    pieces: list[str] = []
    at = 0
    for leak in found:
        shown = " ".join(text[leak.start : leak.end].split())[:120]
        removed.append(f"{shown} {leak.reason}")
        pieces.append(text[at : leak.start])
        instead = "<removed>" if layout.in_code(leak.start) else leak.instead
        before = "".join(pieces[-2:])[-80:]
        if (
            instead
            and instead[0].islower()
            and _SENTENCE_START.search(before)
            and not layout.in_code(leak.start)
        ):
            instead = (
                instead[0].upper() + instead[1:] if "/" not in instead and "." not in instead else instead
            )
        pieces.append(instead)
        at = leak.end
    pieces.append(text[at:])
    return "".join(pieces)


def _tidy(text: str) -> str:
    """Sentences that only pointed somewhere go; code is left as it is."""
    for pattern, template in _TIDYING:
        layout = read_layout(text)
        text = pattern.sub(partial(_outside_code, layout, template), text)
    return text


def _outside_code(layout: Layout, template: str, match: re.Match[str]) -> str:
    return match[0] if layout.in_code(match.start()) else match.expand(template)
