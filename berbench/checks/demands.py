"""What the hidden tests demand and the reference alone brings: names, texts, flags and files. Pure.

Only what both sides hold counts: a name that no test uses is nobody's to guess, and a text that only the tests
hold is input. What the prompt says is left out here; what the base tree holds is looked up by whoever asks.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields

from berbench.checks.names import lines_of, literals_of, new_names, prompt_of
from berbench.checks.patches import Patches, is_prose, read_patches
from berbench.model.task import TaskFiles

_FLAG = re.compile(r"(?<![\w-])--[A-Za-z][\w-]+")
_FILE = re.compile(r"[\w@.+-]*(?:/[\w@.+-]+)*[\w@+-]\.[A-Za-z][A-Za-z0-9]{0,9}")
_WORD = re.compile(r"[A-Za-z][\w.:-]{2,79}")
# Parts of a text that are filled in when it is used: {name}, %s, ${name}.
_FILLED = re.compile(r"\$?\{[^{}]*\}|%[-+ #0-9.]*[sdrifxg]")
_SPOKEN = re.compile(r"(?<!\S)[^\W\d_]{2,}")  # a word, not a piece of code between commas
_LEAST = 8  # characters of a part of a message that make it no accident


@dataclass(frozen=True, slots=True)
class Demands:
    """What an agent could only guess, each sorted."""

    names: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(len(getattr(self, kind.name)) for kind in fields(self))

    @property
    def literals(self) -> tuple[str, ...]:
        """All but the names: what is looked up as it stands, not as a whole word."""
        return (*self.texts, *self.flags, *self.files)

    def without(self, known_names: frozenset[str], known_literals: frozenset[str]) -> Demands:
        """What is left when the base tree is known to hold these."""
        return Demands(
            tuple(name for name in self.names if name not in known_names),
            *(
                tuple(text for text in kind if text not in known_literals)
                for kind in (self.texts, self.flags, self.files)
            ),
        )


def demands_of(files: TaskFiles) -> Demands:
    """What the tests need and the prompt does not say. What the base tree holds is still among it."""
    patches, _ = read_patches(files)
    prompt = prompt_of(files)
    tests = [file for file in patches.tests if not is_prose(file.path)]
    asked = set(literals_of(lines_of(tests, "+"))) - set(literals_of(lines_of(tests, " -")))
    brought = set(literals_of(lines_of(patches.reference, "+")))
    brought -= set(literals_of(lines_of(patches.reference, " -")))
    flags = _flags(lines_of(tests, "+")) & _flags(lines_of(patches.reference, "+"))
    named = set(_files(asked, brought, patches))
    texts = set(_texts(asked, brought)) - named
    names = new_names(patches, prompt)
    return Demands(
        tuple(sorted(names)),
        tuple(
            sorted(text for text in texts if text not in prompt and text not in names and text not in flags)
        ),
        tuple(sorted(flag for flag in flags if flag not in prompt)),
        tuple(sorted(name for name in named if name not in prompt)),
    )


def _flags(lines: Iterator[str]) -> set[str]:
    return {flag for line in lines for flag in _FLAG.findall(line)}


def _files(asked: set[str], brought: set[str], patches: Patches) -> Iterator[str]:
    """Names of files that the tests write down, and that the reference writes down too or adds."""
    added = {file.path for file in patches.reference if file.is_new}
    added |= {posixpath.basename(path) for path in added}
    for text in asked:
        if _FILE.fullmatch(text) and (text in added or text in brought):
            yield text


def _texts(asked: set[str], brought: set[str]) -> Iterator[str]:
    """Messages and keys: the same on both sides, or the part of one that the other holds."""
    parts = {part.strip() for text in brought for part in _FILLED.split(text)}
    parts = {part for part in parts if _is_message(part)}
    for text in asked:
        same = text in brought and (_is_message(text) or _WORD.fullmatch(text))
        if same or (_is_message(text) and any(text in whole for whole in brought)):
            yield text
        else:
            yield from (part for part in parts if part in text)


def _is_message(text: str) -> bool:
    return len(text) >= _LEAST and len(_SPOKEN.findall(text)) > 1
