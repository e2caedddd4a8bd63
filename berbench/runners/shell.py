"""Reads a POSIX shell line far enough to know its simple commands and where each word stands.

Only what can be told for sure is told: loops, conditions, functions, here-documents and broken quotes give
`sure=False`, and then nothing may be inserted into the text. Words keep their offsets, so flags can be added
without re-quoting what a person wrote.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

_KEYWORDS = frozenset(
    [
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "{",
        "}",
        "!",
        "function",
        "[[",
        "select",
    ]
)
_OPERATORS = ("&&", "||", ";;", "|&", ";", "|", "&", "(", ")", "\n")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_REDIRECTION = re.compile(r"(?:\d*|&)(?:>>|>\||>&|<&|<>|>|<)")


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `text` is without quotes; expansions in it are left as written and make it not `plain`."""

    raw: str
    text: str
    start: int
    end: int
    plain: bool

    @property
    def is_assignment(self) -> bool:
        return _ASSIGNMENT.match(self.raw) is not None


@dataclass(frozen=True, slots=True)
class Simple:
    """A simple command: its words (assignments first, redirections left out) and the operator after it."""

    words: tuple[Word, ...]
    after: str  # && || ; | & newline ) or "" at the end

    @property
    def assignments(self) -> int:
        """How many leading words are assignments."""
        for index, word in enumerate(self.words):
            if not word.is_assignment:
                return index
        return len(self.words)


@dataclass(frozen=True, slots=True)
class Line:
    """A whole command line."""

    text: str
    commands: tuple[Simple, ...]
    sure: bool


class _Unsure(Exception):
    """The text holds shell grammar that is not read here."""


def parse(text: str) -> Line:
    """The simple commands of a shell line, in order."""
    try:
        commands = tuple(_commands(text))
    except _Unsure:
        return Line(text, (), False)
    sure = not any(c.words and c.words[c.assignments :] and _starts_grammar(c) for c in commands)
    return Line(text, commands, sure)


def insert(text: str, edits: Sequence[tuple[int, str]]) -> str:
    """The text with each string put in at its offset; offsets are those of the unchanged text."""
    for offset, addition in sorted(edits, key=lambda edit: edit[0], reverse=True):
        text = text[:offset] + addition + text[offset:]
    return text


def quote(word: str) -> str:
    """A word as the shell must be given it."""
    return shlex.quote(word)


def quote_path(path: str) -> str:
    """A path as a word that no program takes for an option."""
    return quote(f"./{path}" if path.startswith("-") else path)


def _starts_grammar(command: Simple) -> bool:
    first = command.words[command.assignments]
    return first.raw in _KEYWORDS or (not first.plain and first.raw.startswith(("$", "`")))


def _commands(text: str) -> list[Simple]:
    commands: list[Simple] = []
    words: list[Word] = []
    position = 0
    while position < len(text):
        char = text[position]
        if char in " \t\r" or text.startswith("\\\n", position):
            position += 2 if char == "\\" else 1
        elif char == "#":
            position = _line_end(text, position)
        elif text.startswith("<<", position):
            raise _Unsure("here-document")
        elif redirection := _REDIRECTION.match(text, position):
            position = _skip_target(text, redirection)
        elif operator := next((o for o in _OPERATORS if text.startswith(o, position)), ""):
            if words:
                commands.append(Simple(tuple(words), operator))
                words = []
            elif commands and operator not in "\n(":
                commands[-1] = Simple(commands[-1].words, commands[-1].after + operator)
            position += len(operator)
        else:
            word = _word(text, position)
            words.append(word)
            position = word.end
    if words:
        commands.append(Simple(tuple(words), ""))
    return commands


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _skip_target(text: str, redirection: re.Match[str]) -> int:
    position = redirection.end()
    while position < len(text) and text[position] in " \t":
        position += 1
    if position == len(text):
        raise _Unsure("redirection without a target")
    return _word(text, position).end


def _word(text: str, start: int) -> Word:
    out: list[str] = []
    plain = True
    position = start
    while position < len(text) and text[position] not in " \t\r\n;&|()<>":
        char = text[position]
        if char == "'":
            end = _find(text, "'", position + 1)
            out.append(text[position + 1 : end])
            position = end + 1
        elif char == '"':
            end, piece, piece_plain = _double_quoted(text, position + 1)
            out.append(piece)
            plain = plain and piece_plain
            position = end + 1
        elif char == "\\":
            if position + 1 == len(text):
                raise _Unsure("a backslash with nothing behind it, which would take in what is put there")
            out.append("" if text[position + 1 : position + 2] == "\n" else text[position + 1 : position + 2])
            position += 2
        elif char in "$`":
            end = _expansion_end(text, position)
            out.append(text[position:end])
            plain = False
            position = end
        else:
            out.append(char)
            position += 1
    if position == start:
        raise _Unsure("operator where a word should be")
    return Word(text[start:position], "".join(out), start, position, plain)


def _find(text: str, what: str, position: int) -> int:
    found = text.find(what, position)
    if found < 0:
        raise _Unsure("quote without an end")
    return found


def _double_quoted(text: str, position: int) -> tuple[int, str, bool]:
    out: list[str] = []
    plain = True
    while position < len(text) and text[position] != '"':
        if text[position] == "\\" and text[position + 1 : position + 2] in ('"', "\\", "$", "`", "\n"):
            out.append(text[position + 1].replace("\n", ""))
            position += 2
        elif text[position] in "$`":
            end = _expansion_end(text, position)
            out.append(text[position:end])
            plain = False
            position = end
        else:
            out.append(text[position])
            position += 1
    if position >= len(text):
        raise _Unsure("quote without an end")
    return position, "".join(out), plain


def _expansion_end(text: str, position: int) -> int:
    """End of `$name`, `${…}`, `$(…)` or a backquoted command that starts here."""
    if text[position] == "`":
        return _find(text, "`", position + 1) + 1
    opening = text[position + 1 : position + 2]
    if opening not in ("(", "{"):
        return position + 1
    closing = {"(": ")", "{": "}"}[opening]
    depth = 0
    for index in range(position + 1, len(text)):
        depth += (text[index] == opening) - (text[index] == closing)
        if depth == 0:
            return index + 1
    raise _Unsure("expansion without an end")
