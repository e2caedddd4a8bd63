"""Placeholders in a tool's texts: `{prompt_file}` and its like, and nothing else between braces."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches

IN_TOOLS = ("prompt", "prompt_file", "model", "effort", "workdir", "home")
IN_STEPS = ("prompt", "workdir", "handover")
IN_INSTALL = ("version",)
ARGS = "{args}"  # an argument of its own: where what is chosen goes

# Arguments hold JSON, shell functions and `${VARIABLES}`: only a lone word in braces can be meant as a placeholder.
_WORD = re.compile(r"(?<![$\\])\{([a-z_]+)\}")


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with each known placeholder replaced; what was put in is not looked at again."""
    return _WORD.sub(lambda found: values.get(found[1], found[0]), text)


def fill_shell(text: str, values: Mapping[str, str]) -> str:
    """The same for a line of shell: what is put in is quoted."""
    return fill(text, {name: shlex.quote(value) for name, value in values.items()})


def named_in(texts: Iterable[str]) -> frozenset[str]:
    """The words in braces."""
    return frozenset(word for text in texts for word in _WORD.findall(text))


def slips(text: str, known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Words in braces that look like slips of the pen, each with the placeholder that was likely meant."""
    for word in sorted(named_in([text]) - set(known)):
        for near in get_close_matches(word, known, n=1, cutoff=0.8):
            yield word, near
