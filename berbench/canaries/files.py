"""Paths and bytes of planted files: names that mimic a neighbour's, and text put at a file's end."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from posixpath import basename, dirname, join, splitext

from berbench.canaries.choices import Choices, Words

_SCRIPT_MARK = re.compile(r"(?:[.\-_](?:tests?|specs?|e2e|it|unit))+\.[cm]?[jt]sx?$", re.IGNORECASE)
_SCRIPT_HEAD = re.compile(r"^(?:test|spec)[.\-_]", re.IGNORECASE)


def beside(path: str, runner: str, choices: Choices, taken: Collection[str]) -> str:
    """A free path in the folder of `path`, which a runner's patterns take for a test file as they take that one."""
    make = _python if path.endswith(".py") else _go if path.endswith(".go") else _script(runner)
    attempt = 0
    while True:
        name = join(dirname(path), make(basename(path), choices.words(f"file\0{path}\0{attempt}")))
        if name not in taken:
            return name
        attempt += 1


def _python(name: str, words: Words) -> str:
    stem = "_".join(words)
    end = re.search(r"_tests?\.py$", name)
    return f"{stem}{end[0]}" if end and not name.startswith("test") else f"test_{stem}.py"


def _go(name: str, words: Words) -> str:
    return f"{'_'.join(words)}_test.go"


def _script(runner: str) -> Callable[[str, Words], str]:
    def make(name: str, words: Words) -> str:
        mark, head = _SCRIPT_MARK.search(name), _SCRIPT_HEAD.search(name)
        if mark:
            return _joined(name[: mark.start()], words) + mark[0]
        stem, extension = splitext(name)
        if stem.lower() in ("test", "tests", "spec", "specs"):
            plain = "-".join(words)
            return f"test-{plain}{extension}" if runner == "node" else f"{plain}.test{extension}"
        if head:
            return f"{head[0]}{_joined(stem[len(head[0]) :], words)}{extension}"
        return _joined(stem, words) + extension

    return make


def _joined(stem: str, words: Words) -> str:
    """The words as the neighbour joins its own."""
    if "_" in stem and "-" not in stem:
        return "_".join(words)
    if re.match(r"[A-Z]", stem):
        return "".join(word.capitalize() for word in words)
    if re.search(r"[a-z][A-Z]", stem):
        return words[0] + "".join(word.capitalize() for word in words[1:])
    return "-".join(words)


def append(data: bytes, text: str, blank_lines: int) -> bytes:
    """The file with the text after its last line, in the file's own line ends. Its own bytes stay as they are."""
    newline = b"\r\n" if data.count(b"\r\n") * 2 > data.count(b"\n") else b"\n"
    gap = b"" if data.endswith(b"\n") or not data else newline
    return data + gap + newline * blank_lines + text.encode("utf-8").replace(b"\n", newline)
