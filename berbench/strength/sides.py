"""The prompt's sentences and the hidden tests' checks, side by side for a person to tie together. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from berbench.diffs import PatchFile
from berbench.prompts.markdown import read_layout

_END = re.compile(r"(?<=[.!?:])[)\"'`*_]*\s+(?=[\"'`(*_]*[A-Z0-9])")
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+")
_HEADING = re.compile(r"\s*#{1,6}\s+")
_TEST = re.compile(
    r"\s*(?:async\s+)?def\s+(?P<def>test\w*)"
    r"|func\s+(?P<go>(?:Test|Fuzz|Example)\w*)"
    r"|\s*(?:it|test|specify)(?:\.\w+)*\s*\(\s*(?P<quote>['\"`])(?P<it>.+?)(?P=quote)"
    r"|\s*(?:it|test|specify)\s+(?P<q2>['\"])(?P<rb>.+?)(?P=q2)\s+do\b"
    r"|\s*(?:(?:public|private|internal|async|suspend)\s+)*(?:void|fun|fn|function)\s+(?P<other>\w*[Tt]est\w*|\w+)\s*\("
)
_ASSERT = re.compile(
    r"\bassert|\bexpect\s*\(|\brequire\.\w+\(|\bt\.(?:Error|Fatal|equal|is|deepEqual|ok)|\braises\b|\bshould\b",
    re.IGNORECASE,
)
_PARTS_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Checked:
    """A hidden test, new or changed: its file, its name ("" above the first), and its new lines that assert."""

    file: str
    name: str
    asserts: tuple[str, ...] = ()


def sentences(prompt: str) -> tuple[str, ...]:
    """What the prompt says, a sentence or list item each, a heading or a code block as one; comments left out."""
    layout = read_layout(prompt)
    hidden = [*layout.blocks, *layout.comments]
    found: list[str] = []
    at = 0
    for start, end in sorted(hidden):
        found += _prose(prompt[at:start])
        if (start, end) in layout.blocks:
            found.append(prompt[start:end].strip("\n")[:_PARTS_SHOWN])
        at = max(at, end)
    return tuple(found + _prose(prompt[at:]))


def _prose(text: str) -> list[str]:
    found: list[str] = []
    paragraph: list[str] = []

    def finish() -> None:
        found.extend(part.strip() for part in _END.split(" ".join(paragraph)) if part and part.strip())
        paragraph.clear()

    for line in text.split("\n"):
        heading = _HEADING.match(line)
        if not line.strip() or heading:
            finish()
            found.extend([line[heading.end() :].strip()] if heading else [])
        elif bullet := _BULLET.match(line):
            finish()
            paragraph.append(line[bullet.end() :].strip())
        else:
            paragraph.append(line.strip())
    finish()
    return found


def checked(files: Sequence[PatchFile]) -> tuple[Checked, ...]:
    """The tests that tests.patch adds or changes, in its order."""
    return tuple(one for file in files for one in _of_file(file))


def _of_file(file: PatchFile) -> Iterator[Checked]:
    for hunk in file.hunks:
        name, asserts, touched = _name_in(hunk.heading), list[str](), False
        decorating = False  # from a decorator on, lines belong to the test that follows
        for line in hunk.lines:
            if line[:1] not in (" ", "+"):
                touched = touched or line[:1] == "-"
                continue
            begun = _name_in(line[1:])
            if begun:
                if touched and (name or asserts):
                    yield Checked(file.path, name, tuple(asserts))
                name, asserts, touched, decorating = begun, [], False, False
            decorating = decorating or line[1:].lstrip().startswith(("@", "#["))
            if line[0] == "+" and line[1:].strip() and not decorating:
                touched = True
                if _ASSERT.search(line) and not begun:
                    asserts.append(line[1:].strip())
        if touched and (name or asserts):
            yield Checked(file.path, name, tuple(asserts))


def _name_in(line: str) -> str:
    found = _TEST.match(line)
    if found is None:
        return ""
    return next(found[group] for group in ("def", "go", "it", "rb", "other") if found[group])
