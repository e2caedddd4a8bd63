"""Checks of prompt.md: does it state a problem, and does it keep the answer's place to itself. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from berbench.checks.facts import LintFacts
from berbench.checks.patches import Patches
from berbench.diffs import PatchFile
from berbench.model.task import TaskFiles
from berbench.model.trial import Problem
from berbench.prompts.cleaning import normalise_lines
from berbench.prompts.leaks import find_leaks
from berbench.prompts.markdown import read_layout
from berbench.prompts.scrubbing import INVISIBLE
from berbench.prompts.writing import message_text

_FEW_WORDS = 12
_DISTINCT_CHARACTERS = 28
_PATCH = re.compile(
    r"^[ \t>]*(?:diff --git |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|```(?:diff|patch)\b)", re.MULTILINE
)
_CODE_LIKE = re.compile(r"[(){}\[\]=;.<>]")


def check_prompt(files: TaskFiles, patches: Patches, facts: LintFacts) -> Iterator[Problem]:
    """What is wrong with the text that an agent sees."""
    name = files.task.prompt.file
    try:
        text = files.prompt.decode("utf-8")
    except UnicodeDecodeError as cause:
        line = files.prompt[: cause.start].count(b"\n") + 1
        yield Problem("prompt-encoding", f"{name}:{line}", "the text is no UTF-8; save it as UTF-8")
        return
    if "\r" in text or text.startswith("\ufeff"):
        yield Problem(
            "prompt-crlf",
            name,
            "lines end in CR LF, or a byte order mark stands first; save it with LF, or run lint --fix",
            "warning",
            fixable=True,
        )
    text = normalise_lines(text)
    if not text.strip():
        yield Problem("prompt-empty", name, "it is empty; write what the hidden tests ask for")
        return
    if len(text.split()) < _FEW_WORDS:
        yield Problem(
            "prompt-short", name, "it says hardly anything; write what the hidden tests ask for", "warning"
        )
    yield from _hidden_text(name, text)
    yield from _places(name, text, facts)
    yield from _told_answer(name, text, patches, facts)


def _hidden_text(name: str, text: str) -> Iterator[Problem]:
    for start, _ in read_layout(text).comments:
        where = f"{name}:{_line(text, start)}"
        message = "an HTML comment stands here, and an agent reads it; take it out, or run lint --fix"
        yield Problem("prompt-comment", where, message, "warning", fixable=True)


def _places(name: str, text: str, facts: LintFacts) -> Iterator[Problem]:
    # Marks nobody sees must hide no reference; they never span lines, so line numbers stay right.
    text = INVISIBLE.sub("", text)
    for leak in find_leaks(text, facts.leaks):
        found = " ".join(text[leak.start : leak.end].split())[:100]
        fixable = leak.code != "prompt-number"
        remedy = "take it out, or run lint --fix" if fixable else "see whether it is meant, and take it out"
        if not leak.sure:
            remedy = f"it may lead to the answer: {remedy}"
        message = f"`{found}` {leak.reason}; {remedy}"
        severity = "error" if leak.sure else "warning"
        yield Problem(leak.code, f"{name}:{_line(text, leak.start)}", message, severity, fixable)


def _told_answer(name: str, text: str, patches: Patches, facts: LintFacts) -> Iterator[Problem]:
    if facts.landing_message and _same_words(text, message_text(facts.landing_message)):
        yield Problem(
            "prompt-landing-message",
            name,
            "it is the landing's own message, which tends to tell the answer; state the problem alone",
            "warning",
        )
    if patch := _PATCH.search(text):
        yield Problem(
            "prompt-holds-patch",
            f"{name}:{_line(text, patch.start())}",
            "a patch stands here, and a proposed fix tells the answer; see whether it is one, and take it out",
            "warning",
        )
    lines = {" ".join(line.split()): number for number, line in enumerate(text.split("\n"), 1)}
    quoted = sorted(lines[line] for line in _distinctive(patches.reference) if line in lines)
    if quoted:
        more = f" and {len(quoted) - 1} more lines" if len(quoted) > 1 else ""
        yield Problem(
            "prompt-quotes-answer",
            f"{name}:{quoted[0]}",
            f"this line{more} stands in reference.patch as new code; take the solution out",
            "warning",
        )


def _same_words(one: str, other: str) -> bool:
    """Whether two texts are nearly the same, whatever their marks."""
    first, second = (set(re.findall(r"\w{2,}", text.lower())) for text in (one, other))
    return bool(second) and len(first & second) >= 0.85 * max(len(first), len(second))


def _distinctive(reference: tuple[PatchFile, ...]) -> set[str]:
    """Added code lines that nobody writes by chance, and that the old code didn't hold."""
    added: set[str] = set()
    old: set[str] = set()
    for file in reference:
        for hunk in file.hunks:
            added.update(" ".join(line.split()) for line in hunk.added)
            old.update(" ".join(line[1:].split()) for line in hunk.lines if line[:1] in (" ", "-"))
    return {
        line
        for line in added - old
        if len(line) >= _DISTINCT_CHARACTERS
        and _CODE_LIKE.search(line)
        and not line.startswith(("#", "//", "*"))
    }


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
