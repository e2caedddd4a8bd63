"""Names and texts that the hidden tests ask for and nothing tells an agent of. Pure.

A name counts when the tests' new lines use it, the reference brings it, the base has it nowhere and the prompt
does not say it: whoever solves the task would have to guess it.
"""

from __future__ import annotations

import builtins
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from berbench.checks.facts import LintFacts
from berbench.checks.patches import TESTS, Patches, is_prose, listed, read_patches
from berbench.diffs import PatchFile
from berbench.model.task import TaskFiles
from berbench.model.trial import Problem

_NAME = re.compile(r"(?<![\w$])[A-Za-z_$][\w$]{2,79}")
_STRING = re.compile(r"\"([^\"\\\n]{1,300})\"|'([^'\\\n]{1,300})'|`([^`\\\n]{1,300})`")
_COMMENT = re.compile(r"[ \t]*(?:#|//|\*|/\*)")
# A plain word may be prose in a docstring; it is a name where code defines or passes it.
_PLAIN = re.compile(r"[a-z]+|[A-Z][a-z]+")
_DEFINED = re.compile(
    r"(?:\b(?:def|class|func|fn|function|const|let|var|type|interface|struct|enum|import|trait|module)[ \t]+"
    r"(?:\([^()\n]{0,80}\)[ \t]*)?([A-Za-z]+)\b|(?<![\w$])([A-Za-z]+)(?:=(?!=)|[ \t]+:?=[ \t]|[ \t]*:[ \t]*[A-Za-z\[]))"
)
# Errors that the language itself brings: a test may expect one that the base never raised.
_STANDARD = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
) | {"RangeError", "ReferenceError", "URIError", "EvalError"}
_TESTISH = re.compile(r"test|Test|spec|Spec|fixture|mock", re.ASCII)


def names_in_question(files: TaskFiles) -> frozenset[str]:
    """Names to look up in the base tree as whole words, for `LintFacts.names_at_base`."""
    patches, _ = read_patches(files)
    return frozenset(new_names(patches, prompt_of(files)))


def check_names(files: TaskFiles, patches: Patches, facts: LintFacts) -> Iterator[Problem]:
    """Names and texts left unspecified; names only when they were looked up at base."""
    prompt = prompt_of(files)
    if facts.names_at_base is not None:
        unspecified = sorted(new_names(patches, prompt) - facts.names_at_base)
        if unspecified:
            yield Problem(
                "unspecified-name",
                TESTS,
                f"unspecified name: the hidden tests use {listed(unspecified, 8)}, which the base lacks and the prompt "
                "does not say; name it in prompt.md, or the task rewards guessing",
                "warning",
            )
    texts = sorted(_new_strings(patches, prompt), key=len, reverse=True)
    if texts:
        quoted = [f'"{text[:60]}"' for text in texts]
        yield Problem(
            "unspecified-text",
            TESTS,
            f"the hidden tests expect the exact text {listed(quoted, 4)}, which only the reference holds; "
            "say it in prompt.md, or the task rewards guessing",
            "warning",
        )


def new_names(patches: Patches, prompt: str) -> set[str]:
    """Names that the hidden tests' new lines use, the reference brings, and the prompt does not say."""
    code = [file for file in patches.reference if not is_prose(file.path)]
    modules = _new_modules(code)
    defined = {
        name for line in lines_of(code, "+") for found in _DEFINED.findall(line) for name in found
    } | modules
    brought = {
        name for name in _names(lines_of(code, "+")) if name in defined or not _PLAIN.fullmatch(name)
    } | modules
    brought -= set(_names(lines_of(code, " -")))
    tests = [file for file in patches.tests if not is_prose(file.path)]
    used = set(_names(lines_of(tests, "+"))) - set(_names(lines_of(tests, " -")))
    return {name for name in (used & brought) - _STANDARD if name not in prompt and not _TESTISH.match(name)}


def _new_strings(patches: Patches, prompt: str) -> set[str]:
    brought = set(_strings(lines_of(patches.reference, "+")))
    brought -= set(_strings(lines_of(patches.reference, " -")))
    used = set(_strings(lines_of(patches.tests, "+")))
    return {text for text in used & brought if text not in prompt}


def _new_modules(files: Sequence[PatchFile]) -> set[str]:
    """Files that the reference adds are imported by their names."""
    stems = (posixpath.splitext(posixpath.basename(file.path))[0] for file in files if file.is_new)
    return {stem for stem in stems if _NAME.fullmatch(stem) and not stem.startswith("__")}


def lines_of(files: Iterable[PatchFile], signs: str) -> Iterator[str]:
    """Lines of these signs, without them."""
    for file in files:
        for hunk in file.hunks:
            yield from (line[1:] for line in hunk.lines if line[:1] and line[0] in signs)


def _names(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if not _COMMENT.match(line):
            # A word inside a text is no name that code would have to have.
            yield from _NAME.findall(_STRING.sub('""', line))


def literals_of(lines: Iterable[str]) -> Iterator[str]:
    """Quoted texts that begin and end in one line, outside comments."""
    for line in lines:
        if not _COMMENT.match(line):
            for match in _STRING.finditer(line):
                yield next(group for group in match.groups() if group)


def _strings(lines: Iterable[str]) -> Iterator[str]:
    return (text for text in literals_of(lines) if len(text) >= 12 and len(text.split()) > 1)


def prompt_of(files: TaskFiles) -> str:
    """The prompt, to look for words in."""
    return files.prompt.decode("utf-8", "replace")
