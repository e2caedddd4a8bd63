"""The mends that can be derived: a prompt without the places found, paths protected, lines without CR. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wcmatch import glob

from berbench.checks.contract import uncovered
from berbench.checks.facts import LintFacts
from berbench.checks.patches import read_patches
from berbench.model.task import TaskFiles
from berbench.model.trial import Problem
from berbench.prompts.cleaning import normalise_lines
from berbench.prompts.markdown import read_layout
from berbench.prompts.scrubbing import scrub


@dataclass(frozen=True, slots=True)
class Fixes:
    """New values for what changes; None leaves a value alone. `done` are the codes that are mended."""

    prompt: bytes | None = None
    command: str | None = None
    protected_paths: tuple[str, ...] | None = None
    done: tuple[str, ...] = ()


def fix(files: TaskFiles, problems: Sequence[Problem], facts: LintFacts) -> Fixes:
    """The mends of the fixable ones among `problems`. Whatever changes makes an earlier validation stale."""
    codes = sorted({problem.code for problem in problems if problem.fixable})
    prompt = command = protected = None
    if any(code.startswith("prompt-") for code in codes):
        prompt = _prompt(files.prompt, codes, facts)
    if "command-crlf" in codes:
        command = " ".join(line.strip() for line in files.task.verify.command.split("\r") if line.strip())
    if "tests-unprotected" in codes:
        patches, _ = read_patches(files)
        added = tuple(glob.escape(path) for path in uncovered(files.task, patches))
        protected = (*files.task.verify.protected_paths, *added)
    return Fixes(prompt, command, protected, tuple(codes))


def _prompt(data: bytes, codes: Sequence[str], facts: LintFacts) -> bytes:
    text = normalise_lines(data.decode("utf-8"))
    if "prompt-comment" in codes:
        for start, end in reversed(read_layout(text).comments):
            text = text[:start] + text[end:]
    if set(codes) - {"prompt-comment", "prompt-crlf"}:
        text, _ = scrub(text, facts.leaks)
    return text.encode("utf-8")
