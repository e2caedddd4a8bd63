"""Writes `prompt.md`: which text it comes from, its form, and what a reviewer must know about it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from berbench.model.changes import Issue, PullRequest
from berbench.prompts.cleaning import clean, normalise_lines
from berbench.prompts.leaks import Leaks
from berbench.prompts.noise import is_trailer
from berbench.prompts.scrubbing import scrub

SOURCES = ("issue", "pr_description", "commit_message")

_LANDING_SUBJECT = re.compile(
    r"Merge pull request #\d+ (?:from|in) .*|Merge branch .*|Merge remote-tracking .*|Merge tag .*"
    r"|Merged in .* \(pull request #\d+\)|Merge topic .*",
    re.IGNORECASE,
)
_NUMBERED_SUBJECT = re.compile(r"(?:Pull request #\d+|Merged PR \d+):[ \t]*(?P<title>.*)", re.IGNORECASE)
_NUMBERS = re.compile(
    r"\((?:[#!]\d+|GH-\d+|see [#!]\d+|closes? [#!]\d+|fix(?:es)? [#!]\d+)(?:,[ \t]*[#!]\d+)*\)", re.IGNORECASE
)
_SEE_MERGE_REQUEST = re.compile(
    r"See merge request .*|\* commit '[0-9a-f]{7,64}':.*|\(cherry picked .*\)", re.IGNORECASE
)


# What git writes below a merge that had conflicts.
_CONFLICTS = re.compile(r"^(?:# ?)?Conflicts:[ \t]*\n(?:(?:#[ \t]*|[ \t]+)\S[^\n]*\n?)*", re.MULTILINE)


_LONGEST_TITLE = 90


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt to review. `source` is where it came from in the end, `removed` what was taken out and why."""

    text: str
    warnings: tuple[str, ...] = ()
    source: str = ""
    removed: tuple[str, ...] = ()


def write_prompt(
    issues: Sequence[Issue],
    pull_request: PullRequest | None,
    commit_message: str,
    source: str,
    context: Leaks,
) -> Draft:
    """The prompt from the first source that says something: the one asked for, then those that tell more.

    `source` is `issue`, `pr_description` or `commit_message`. An empty text means that no source held any words.
    """
    warnings: list[str] = []
    for kind in SOURCES[SOURCES.index(source) :]:
        text = _from(kind, issues, pull_request, commit_message, warnings)
        if text.strip():
            break
    else:
        return Draft("", (*warnings, "no source holds a problem statement; write prompt.md by hand"))
    if kind != source:
        missing = "no issue's text is known" if source == "issue" else "the pull request has no description"
        warnings.append(
            f"{missing}, so the prompt comes from the {_NAMES[kind]}; --issue-file gives a better one"
        )
    if kind != "issue":
        warnings.append(
            f"the {_NAMES[kind]} tends to tell the answer; rewrite prompt.md so that it states the problem alone"
        )
    text, removed = scrub(text, context)
    text = re.sub(r"\n{3,}", "\n\n", text) if removed and "```" not in text and "~~~" not in text else text
    return Draft(f"{text.strip()}\n", tuple(warnings), kind, removed)


_NAMES = {
    "issue": "issue",
    "pr_description": "pull request's description",
    "commit_message": "landing's message",
}


def _from(
    kind: str, issues: Sequence[Issue], pull_request: PullRequest | None, message: str, warnings: list[str]
) -> str:
    if kind == "issue":
        return "\n\n".join(filter(None, (_issue(issue, warnings) for issue in issues)))
    if kind == "pr_description":
        return (
            ""
            if pull_request is None
            else _titled(pull_request.title, pull_request.body, "the description", warnings)
        )
    return message_text(message)


def _issue(issue: Issue, warnings: list[str]) -> str:
    if issue.is_pull_request:
        warnings.append(f"number {issue.number} is a pull request and was left out of the prompt")
        return ""
    if issue.author_is_bot:
        warnings.append(f"issue {issue.number} was written by a bot; see whether it states the problem")
    return _titled(issue.title, issue.body, f"issue {issue.number}", warnings)


def _titled(title: str, body: str, name: str, warnings: list[str]) -> str:
    text, checks = clean(body)
    if checks:
        warnings.append(
            f"{checks} check-list lines of {name} were left out; see whether they hold requirements"
        )
    title = _without_numbers(" ".join(normalise_lines(title).split()))
    if not title:
        return text
    # Some bodies open with their own title.
    first, _, rest = text.partition("\n")
    if first.lstrip("# ").strip().lower() == title.lower():
        text = rest.strip("\n")
    return f"# {title}\n\n{text}" if text else f"# {title}"


def _without_numbers(title: str) -> str:
    """A title without the numbers in parentheses that stand at its end."""
    while title.endswith(")") and _NUMBERS.fullmatch(title, start := title.rfind("(")):
        title = title[:start].rstrip(" \t")
    return title


def title_of(prompt: bytes) -> str:
    """What a prompt is about: its first line that says anything, without the marks of a heading; "" for none."""
    lines = prompt.decode("utf-8", "replace").splitlines()
    said = next((line for line in map(_unmarked, lines) if line), "")
    return said if len(said) <= _LONGEST_TITLE else said[: _LONGEST_TITLE - 1].rstrip() + "…"


def _unmarked(line: str) -> str:
    return line.strip().lstrip("#").strip()


def message_text(message: str) -> str:
    """A landing's message as a text: a subject that only names the pull request gives way to the line below."""
    lines = [
        line
        for line in _CONFLICTS.sub("", normalise_lines(message)).split("\n")
        if not _SEE_MERGE_REQUEST.fullmatch(line.strip())
    ]
    while lines and (not lines[0].strip() or _LANDING_SUBJECT.fullmatch(lines[0].strip())):
        lines.pop(0)
    if not lines:
        return ""
    subject = lines[0].strip()
    if numbered := _NUMBERED_SUBJECT.fullmatch(subject):
        subject = numbered["title"]
    subject = _without_numbers(subject)
    body, _ = clean("\n".join(line for line in lines[1:] if not is_trailer(line)))
    return "\n\n".join(filter(None, (f"# {subject}" if subject else "", body)))
