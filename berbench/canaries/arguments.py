"""A runner's arguments with their places in the command, and edits of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import normpath

from berbench.runners.recognise import Found
from berbench.runners.shell import Word, quote


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` in place of what stands between the offsets; equal offsets insert."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Argument:
    """A flag with its value, or a word by itself (`name` is "" then)."""

    name: str
    value: str | None
    first: Word
    last: Word

    @property
    def plain(self) -> bool:
        """Whether no expansion of the shell's decides what it is."""
        return self.first.plain and self.last.plain

    def becomes(self, text: str) -> Edit:
        """Another text in its place."""
        return Edit(self.first.start, self.last.end, text)

    def followed_by(self, words: Sequence[str]) -> Edit:
        """More words right after it."""
        return Edit(self.last.end, self.last.end, "".join(f" {quote(word)}" for word in words))


@dataclass(frozen=True, slots=True)
class Arguments:
    """All arguments of one runner in a command."""

    found: Found
    flags: tuple[Argument, ...]
    words: tuple[Argument, ...]

    def named(self, *names: str) -> list[Argument]:
        """The flags of these names, as often as they are given."""
        return [flag for flag in self.flags if flag.name in names]

    def has(self, pattern: str) -> bool:
        """Whether a flag's whole name matches."""
        return any(re.fullmatch(pattern, flag.name) for flag in self.flags)

    @property
    def end(self) -> int:
        """Offset after the last argument, or before a `--`."""
        for word in self.found.command.words[self.found.at + 1 :]:
            if word.text in ("--", "-args", "--args"):
                return word.start - 1
        return self.found.command.words[-1].end


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def read(
    found: Found, values: Collection[str], *, optional: Collection[str] = (), greedy: Collection[str] = ()
) -> Arguments:
    """Flags and words. `values` take the next word when none is glued on by `=`; `optional` do if it looks like one,
    and `greedy` take all words up to the next flag. One-letter `values` may be glued on themselves: `-kexpr`.
    """
    flags: list[Argument] = []
    words: list[Argument] = []
    rest = list(found.command.words[found.at + 1 :])
    only_words = False
    while rest:
        word = rest.pop(0)
        if only_words or not word.text.startswith("-") or word.text == "-":
            words.append(Argument("", None, word, word))
        elif word.text == "--":
            only_words = True
        else:
            flag = _flag(word, rest, values, optional)
            while word.text in greedy and rest and not rest[0].text.startswith("-"):
                flag = Argument(flag.name, flag.value or rest[0].text, word, rest.pop(0))
            flags.append(flag)
    return Arguments(found, tuple(flags), tuple(words))


def _flag(word: Word, rest: list[Word], values: Collection[str], optional: Collection[str]) -> Argument:
    name, glued, value = word.text.partition("=")
    if name in values or name in optional:
        if glued:
            return Argument(name, value, word, word)
        if rest and (name in values or re.fullmatch(r"\d+|auto|on|off", rest[0].text)):
            last = rest.pop(0)
            return Argument(name, last.text, word, last)
    elif not word.text.startswith("--") and word.text[:2] in values:
        return Argument(word.text[:2], word.text[2:], word, word)
    return Argument(name, value if glued else None, word, word)


def rewrite(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made; insertions at one place stay in their order."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    for edit in reversed(ordered):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def plain_path(word: str) -> str:
    """`./a/` → `a`; "." for the folder itself."""
    return normpath(word)


def below(path: str, folder: str) -> bool:
    """Whether a relative path lies in that folder or deeper."""
    return (folder == "." and not path.startswith("../")) or path.startswith(f"{folder}/")


def globbed(word: Word, path: str, *, by_runner: bool) -> bool:
    """Whether a glob finds the path: the shell's own when it is unquoted, else the runner's where it has globs."""
    pattern = word.text.removeprefix("./")
    if not re.search(r"[*?\[]", pattern) or "{" in pattern or "(" in pattern:
        return False
    if word.raw == word.text:
        return _segments(pattern.split("/"), path.split("/"))
    return by_runner and _deep(pattern.split("/"), path.split("/"))


def _segments(patterns: list[str], parts: list[str]) -> bool:
    return len(patterns) == len(parts) and all(map(fnmatchcase, parts, patterns))


def _deep(patterns: list[str], parts: list[str]) -> bool:
    if not patterns or not parts:
        return not patterns and not parts
    if patterns[0] == "**":
        return _deep(patterns[1:], parts) or _deep(patterns, parts[1:])
    return fnmatchcase(parts[0], patterns[0]) and _deep(patterns[1:], parts[1:])
