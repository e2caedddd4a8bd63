"""JavaScript and TypeScript as far as needed: which characters are code, what is imported, what is bound.

A scanner, not a parser. What it can't tell for sure it says, and then nothing is put into the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_OPENING = re.compile(r"['\"`/]")
_VALUE_AFTER = frozenset("(,=:[!&|?{;+-*%<>~^")
_VALUE_AFTER_WORDS = re.compile(
    r"(?:^|[^\w$.])(?:return|typeof|case|in|of|new|delete|void|throw|do|else|yield|await)$"
)
# What may stand in a string of a line, or in a regular expression: a backslash takes what is behind it.
_STRING = {quote: re.compile(rf"(?:[^{quote}\\\n]|\\[\s\S])*+") for quote in "'\""}
_REGEX = re.compile(r"/(?:[^/\[\\\n]|\\[\s\S]|\[(?:[^\]\\\n]|\\[\s\S]){0,1000}+\]){1,1000}+/")
_FROM = re.compile(r"(?<![\w$.])import\b(?!\s*\(|\s+type\b)((?:(?!\bimport\b)[^;'\"`])*?)\bfrom\s*['\"]")
_REQUIRE = re.compile(  # at the top of the file's scope
    r"^(?:const|let|var)\s+([\w$]+|\{[^{}]*\})\s*=\s*require\s*\(\s*['\"]", re.MULTILINE
)
_NAMED = re.compile(r"^(?:type\s+)?([\w$]+)(?:\s+as\s+|\s*:\s*)?([\w$]*)$")


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that a module gave: `imported` is its name there, "default" or "*"."""

    local: str
    imported: str
    module: str
    esm: bool  # by import, else by require


def code_of(text: str) -> str | None:
    """The text with what is no code made blank, quotes kept; None when a template or comment has no end."""
    try:
        return _blanked(text)
    except RecursionError:  # templates within templates
        return None


def _blanked(text: str) -> str | None:
    out = list(text)
    scan = _Scan(text)
    seen, last = 0, -1  # how far it is read, and the last character of code before that
    found = _OPENING.search(text)
    while found:
        at = found.start()
        last = _last_code(out, at, seen, last)
        end = scan.end_of(at, _wants_value(out, last))
        if end is None:
            return None
        quoted = text[at] in "'\"`"
        for index in range(at + quoted, end - quoted):
            if out[index] != "\n":
                out[index] = " "
        if quoted and end > at:
            last = end - 1
        seen = max(end, at)
        found = _OPENING.search(text, max(end, at + 1))
    return "".join(out)


def _last_code(before: Sequence[str], at: int, seen: int, last: int) -> int:
    """Where the last character before `at` is that is no blank: after `seen`, or else `last`."""
    index = at - 1
    while index >= seen and before[index] in " \t\r\n":
        index -= 1
    return index if index >= seen else last


def _wants_value(before: Sequence[str], last: int) -> bool:
    """Whether a slash begins a regular expression: after an operator or a keyword, not after a value."""
    if last < 0 or before[last] in _VALUE_AFTER:
        return True
    return _VALUE_AFTER_WORDS.search("".join(before[max(0, last - 11) : last + 1])) is not None


class _Scan:
    """Where what is no code ends in a text. A quote that has no partner on its line is looked for once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._alone = {"'": -1, '"': -1}  # up to where such a quote is known to have no partner

    def end_of(self, at: int, wants_value: bool) -> int | None:
        """Where the string, template, comment or regular expression that begins here ends; `at` when it is code.
        None when it has no end."""
        text, char = self._text, self._text[at]
        if char in "'\"":
            return self._line_end(at, char)
        if char == "`":
            return self._template_end(at)
        if text.startswith("//", at):
            end = text.find("\n", at)
            return len(text) if end < 0 else end
        if text.startswith("/*", at):
            end = text.find("*/", at + 2)
            return None if end < 0 else end + 2
        found = _REGEX.match(text, at) if char == "/" and wants_value else None
        return found.end() if found else at

    def _line_end(self, at: int, quote: str) -> int:
        """A quote with no partner on its line is taken for text, as it stands in JSX."""
        if at < self._alone[quote]:
            return at
        inside = _STRING[quote].match(self._text, at + 1)
        assert inside is not None  # it may be empty
        if self._text.startswith(quote, inside.end()):
            return inside.end() + 1
        self._alone[quote] = inside.end()
        return at

    def _template_end(self, at: int) -> int | None:
        text, index = self._text, at + 1
        while index < len(text):
            if text[index] == "`":
                return index + 1
            if text.startswith("${", index):
                inner = self._expression_end(index + 2)
                if inner is None:
                    return None
                index = inner
            else:
                index += 2 if text[index] == "\\" else 1
        return None

    def _expression_end(self, at: int) -> int | None:
        text, depth = self._text, 1
        while at < len(text):
            char, end = text[at], at
            if char in "'\"`/":
                wants_value = char == "/" and _wants_value(text, _last_code(text, at, 0, -1))
                found = self.end_of(at, wants_value)
                if found is None:
                    return None
                end = found
            if end > at:
                at = end
                continue
            depth += (char == "{") - (char == "}")
            at += 1
            if depth == 0:
                return at
        return None


def bindings(text: str, code: str) -> tuple[Binding, ...]:
    """Names bound by `import … from` and by `… = require()`. `code` is `code_of(text)`."""
    found: list[Binding] = []
    for pattern, esm in ((_FROM, True), (_REQUIRE, False)):
        for match in pattern.finditer(code):
            quote = code[match.end() - 1]
            module = text[match.end() : text.find(quote, match.end())]
            found += [Binding(local, name, module, esm) for local, name in _clause(match[1], esm)]
    return tuple(found)


def _clause(clause: str, esm: bool) -> list[tuple[str, str]]:
    """(local name, name in its module) of `a, { b as c }`, `* as d` or `{ e: f }`."""
    names: list[tuple[str, str]] = []
    braces = re.search(r"\{([^{}]*)\}", clause)
    for item in braces[1].split(",") if braces else ():
        named = _NAMED.match(item.strip())
        if named:
            names.append((named[2] or named[1], named[1]))
    outside = re.sub(r"\{[^{}]*\}", "", clause).replace(",", " ").split()
    if "*" in outside:
        names.append((outside[-1], "*"))
    elif outside:
        names.append((outside[0], "default" if esm else "*"))
    return names


def is_bound(code: str, name: str) -> bool:
    """Whether the file gives the name a meaning of its own, anywhere in it."""
    word = re.escape(name)
    declared = rf"(?<![\w$.])(?:const|let|var|function\s*\*?|class)\s+{word}(?![\w$])"
    unpacked = rf"(?<![\w$.])(?:const|let|var|import)\s+(?:[\w$]+\s*,\s*)?[{{\[][^{{}}\[\]]*(?<![\w$.]){word}(?![\w$])"
    imported = rf"(?<![\w$.])import\s+(?:\*\s*as\s+)?{word}(?![\w$])"
    return any(re.search(pattern, code) for pattern in (declared, unpacked, imported))


def calls(code: str, name: str, *, outermost: bool = False) -> int:
    """How often the file calls a function of that name: `test(`, `test.each(`; `outermost` counts lines' beginnings."""
    before = "^" if outermost else r"(?<![\w$.])"
    return len(re.findall(rf"{before}{re.escape(name)}\s*(?:\.\s*\w+\s*)*[(`]", code, re.MULTILINE))


def has_only(code: str) -> bool:
    """Whether single tests of the file are picked out, so that others do not run."""
    return re.search(r"\.\s*only\b|(?<![\w$.])(?:fit|fdescribe|fcontext)\s*\(", code) is not None


def is_module(path: str, code: str) -> bool | None:
    """True for an ECMAScript module, False for CommonJS, None when it can't be told."""
    extension = path.rsplit(".", 1)[-1]
    if extension in ("mjs", "mts"):
        return True
    if extension in ("cjs", "cts"):
        return False
    if re.search(r"^[^\S\n]*+(?:import\s*(?:[\w$*{]|['\"])|export\s+(?:\{|\*|[a-z]))", code, re.MULTILINE):
        return True
    if re.search(r"(?<![\w$.])(?:require\s*\(|module\.exports|exports\.)", code):
        return False
    return None
