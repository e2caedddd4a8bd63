"""Where code and comments stand in Markdown as forges read it. Pure, linear in the text's length.

Only what matters here is read: fences, indented blocks, inline code and HTML comments. Lines end at "\\n" alone,
so a form feed or U+2028 inside a line stays what it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

Span = tuple[int, int]

_FAR = 1 << 62

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)")
_CLOSE = re.compile(r"[ \t>]*(?P<fence>`{3,}|~{3,})[ \t]*")
_INDENTED = re.compile(r"(?: {4}|\t)[ \t]*\S")
_LIST_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_TICKS = re.compile(r"`+")
_TICKS_OR_COMMENT = re.compile(r"`+|<!--")


@dataclass(frozen=True, slots=True)
class Layout:
    """Code blocks (whole lines), inline code, and HTML comments of a text, each in order, as offsets."""

    blocks: tuple[Span, ...]
    inline: tuple[Span, ...]
    comments: tuple[Span, ...]

    def in_code(self, at: int) -> bool:
        """Whether an offset lies in a code block or inline code."""
        return _inside(self.blocks, at) or _inside(self.inline, at)

    def in_block(self, at: int) -> bool:
        """Whether an offset lies in a code block."""
        return _inside(self.blocks, at)


def _inside(spans: tuple[Span, ...], at: int) -> bool:
    index = bisect_right(spans, (at, _FAR)) - 1
    return index >= 0 and spans[index][0] <= at < spans[index][1]


def read_layout(text: str) -> Layout:
    """The layout of a text."""
    return _Reader(text).read()


class _Reader:
    """One pass over the lines. A comment that never ends hides the rest only where it starts a line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._blocks: list[Span] = []
        self._inline: list[Span] = []
        self._comments: list[Span] = []
        self._last_comment_end = text.rfind("-->")

    def read(self) -> Layout:
        at, text = 0, self._text
        after_blank, in_list = True, False
        while at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            fence = _FENCE.fullmatch(text, at, end)
            if fence and not (fence["fence"][0] == "`" and "`" in fence["info"]):
                at = self._fence(at, end, fence["fence"])
                after_blank = False
                continue
            blank = not text[at:end].strip()
            if not blank and after_blank and not in_list and _INDENTED.match(text, at, end):
                at = self._indented(at)
                continue
            if not blank:
                in_list = bool(_LIST_ITEM.match(text, at, end)) or (in_list and text[at] in " \t")
            after_blank = blank
            at = self._prose_line(at, end)
        return Layout(tuple(self._blocks), tuple(self._inline), tuple(self._comments))

    def _fence(self, at: int, end: int, fence: str) -> int:
        """From an opening fence to behind its closing line, or to the end of the text."""
        text, line = self._text, end + 1
        while line < len(text):
            stop = text.find("\n", line)
            stop = len(text) if stop < 0 else stop
            close = _CLOSE.fullmatch(text, line, stop)
            line = stop + 1
            if close and close["fence"][0] == fence[0] and len(close["fence"]) >= len(fence):
                break
        line = min(line, len(text))
        self._blocks.append((at, line))
        return line

    def _indented(self, at: int) -> int:
        """An indented block: to the first line that is neither indented nor blank; blank ends don't count."""
        text, line, last = self._text, at, at
        while line < len(text):
            stop = text.find("\n", line)
            stop = len(text) if stop < 0 else stop
            if _INDENTED.match(text, line, stop):
                last = min(stop + 1, len(text))
            elif text[line:stop].strip():
                break
            line = stop + 1
        self._blocks.append((at, last))
        return last

    def _prose_line(self, at: int, end: int) -> int:
        """Inline code and comments of one line; returns where the next line starts."""
        text, start = self._text, at
        words = end - len(text[at:end].lstrip(" \t>"))
        ticks_ahead = _last_runs(text[at:end]) if "`" in text[at:end] else {}
        while match := _TICKS_OR_COMMENT.search(text, at, end):
            run = match[0]
            if run == "<!--":
                stop = text.find("-->", match.end() - 2) if self._last_comment_end >= match.end() - 2 else -1
                if stop < 0 and words < match.start():
                    at = match.end()
                    continue
                stop = len(text) if stop < 0 else stop + 3
                self._comments.append((match.start(), stop))
                at = stop
                if stop > end:
                    end = text.find("\n", stop)
                    end = len(text) if end < 0 else end
                    return self._prose_line(stop, end) if stop < end else min(end + 1, len(text))
                continue
            at = match.end()
            # Only a run of the same length, later on this line, closes inline code.
            if start + ticks_ahead.get(len(run), -1) > match.start():
                at = self._close_inline(match.start(), at, end, run)
        return end + 1

    def _close_inline(self, opened: int, at: int, end: int, run: str) -> int:
        for close in _TICKS.finditer(self._text, at, end):
            if close[0] == run:
                self._inline.append((opened, close.end()))
                return close.end()
        return at


def _last_runs(line: str) -> dict[int, int]:
    """Length of a run of back-ticks → offset of the last such run."""
    return {len(run[0]): run.start() for run in re.finditer("`+", line)}
