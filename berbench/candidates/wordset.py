"""Long lists of names, written as text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(text.split())
