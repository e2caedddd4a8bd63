"""Random choices that one seed decides: names of tests and files that read like a person's own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from berbench.canaries.words import ADJECTIVES, MOMENTS, NOUNS, RELATIONS, VERBS

Words = tuple[str, ...]
_T = TypeVar("_T")


@dataclass
class Choices:
    """`seen` is all text that a new name may not occur in; names handed out are added to it."""

    seed: str
    seen: list[str]
    names: list[str] = field(default_factory=list)

    def number(self, label: str, below: int) -> int:
        """The same label gives the same number, whatever was asked before."""
        digest = hashlib.sha256(f"{self.seed}\0{label}".encode("utf-8", "surrogateescape")).digest()
        return int.from_bytes(digest[:16], "big") % below

    def pick(self, label: str, options: Sequence[_T]) -> _T:
        """One of the options."""
        return options[self.number(label, len(options))]

    def name(self, label: str, shape: Callable[[Words], str]) -> str:
        """A test's name of about 2^41, as `shape` writes its words; no part of any text or name, nor they of it."""
        return self._new(label, shape, self._sentence)

    def short(self, label: str, shape: Callable[[Words], str]) -> str:
        """A name of two words, for a file, a class or an import."""
        return self._new(label, shape, self.words)

    def _new(self, label: str, shape: Callable[[Words], str], draw: Callable[[str], Words]) -> str:
        attempt = 0
        while True:
            name = shape(draw(f"{label}\0{attempt}"))
            low = name.lower()
            clash = any(low in other or other in low for other in self.names)
            if not clash and not any(low in text for text in self.seen):
                self.names.append(low)
                return name
            attempt += 1

    def words(self, label: str) -> Words:
        """Two words, which may be in use."""
        return (self.pick(f"{label}.a", ADJECTIVES), self.pick(f"{label}.n", NOUNS))

    def _sentence(self, label: str) -> Words:
        parts = (
            self.pick(f"{label}.verb", VERBS),
            self.pick(f"{label}.a1", ADJECTIVES),
            self.pick(f"{label}.n1", NOUNS),
            self.pick(f"{label}.of", RELATIONS),
            self.pick(f"{label}.a2", ADJECTIVES),
            self.pick(f"{label}.n2", NOUNS),
            self.pick(f"{label}.when", MOMENTS),
        )
        return tuple(" ".join(parts).split())


def snake(words: Words) -> str:
    """`keeps_nested_labels`."""
    return "_".join(words)


def camel(words: Words) -> str:
    """`KeepsNestedLabels`."""
    return "".join(word.capitalize() for word in words)


def title(words: Words) -> str:
    """`keeps nested labels`."""
    return " ".join(words)
