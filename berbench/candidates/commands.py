"""What a task's commands name: files of the tree, the programs they run, folders they work in. Read, never run.

Scripts of package.json are opened, and shell scripts and makefiles looked through for programs, so that
`npm test` or `./ci/test.sh` are known by what they run in the end.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise

from berbench.candidates.folders import all_folders
from berbench.candidates.wordset import word_set
from berbench.runners.shell import parse

Read = Callable[[str], bytes | None]  # contents of a file of a tree, None when it holds no such file

_PACKAGE_MANAGERS = word_set("npm npx pnpm yarn bun lerna npm-run-all npm-run-all2 run-s run-p")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_SETTINGS_FLAGS = word_set("--settings --ds")
_MODULE_VARIABLES = word_set("DJANGO_SETTINGS_MODULE PYTEST_PLUGINS")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
# What compilers and linters are handed is code, the very thing a candidate may change.
_READS_CODE = re.compile(
    r"(?:.*-)?(?:cc|gcc|g\+\+|c\+\+|clang|clang\+\+)(?:-[\d.]+)?|rustc|javac|kotlinc|tsc|esbuild|swc|cython|babel|rollup"
    r"|webpack|browserify|uglifyjs|terser|microbundle|tsup|eslint|jshint|jscs|standard|semistandard|xo|tslint|prettier"
    r"|biome|flake8|pylint|pyflakes|pycodestyle|mypy|pyright|ruff|black|isort|rubocop|shellcheck"
)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*|coverage")
_TOKEN = re.compile(r"[^\s;&|()<>'\"`]+")
_SHELL_SCRIPT = re.compile(rb"#![^\n]*\b(?:ba|da|z|k|a)?sh\b")
_READ_FROM = re.compile(r"<[ \t]*([^\s;&|()<>'\"`]+)")
_NODE_LOADS = word_set("node -r --require --import --loader --experimental-loader --file ts-node tsx")
_NODE_ENDS = (".js", ".cjs", ".mjs", ".ts", "/index.js")
_LONGEST = 1 << 20  # bytes of a script that is looked through


@dataclass(frozen=True, slots=True)
class Commands:
    """What command lines name. Paths are from the top of the tree."""

    files: frozenset[str] = frozenset()  # such as are no folder in the base; some may not exist there
    programs: frozenset[str] = frozenset()  # names without their folders, and any other words
    folders: frozenset[str] = frozenset()  # changed into, or put on PYTHONPATH


def read_commands(lines: Iterable[str], base: Collection[str], read: Read) -> Commands:
    """Everything that the lines, run one by one at the top of the tree, name. `base` are the tree's paths."""
    reading = _Reading(frozenset(base), read)
    for line in lines:
        reading.line(line, "")
    reading.look_through_scripts()
    return Commands(frozenset(reading.files), frozenset(reading.programs), frozenset(reading.folders))


@dataclass(slots=True)
class _Reading:
    """What was found so far."""

    base: frozenset[str]
    read: Read
    files: set[str] = field(default_factory=set)
    programs: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    spoken_of: set[str] = field(default_factory=set)  # folders that are words: `make -C lib`
    seen: set[tuple[str, str]] = field(default_factory=set)
    above: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.above = all_folders(self.base)

    def line(self, text: str, folder: str) -> None:
        """One line, run in a folder."""
        if (text, folder) in self.seen or len(self.seen) > 500:
            return
        self.seen.add((text, folder))
        for words in _simple_commands(text):
            folder = self._command(words, folder)
        for source in _READ_FROM.findall(text):
            self._name(source, folder)

    def _command(self, words: Sequence[str], folder: str) -> str:
        """A simple command; the folder that the next one runs in."""
        self.programs.update(posixpath.basename(word) for word in words)
        program = next((posixpath.basename(word) for word in words if not _assigned(word)[0]), "")
        if program in ("cd", "pushd") and len(words) > 1:
            folder = _inside(folder, words[-1]) or ""
            self.folders.add(folder)
            return folder
        is_code = _READS_CODE.fullmatch(program) is not None or (program == "go" and "run" not in words)
        for word in words:
            self._word(word, folder, is_code)
        for module in modules_named(words):
            self._module(module, folder)
        for before, word in pairwise(words):
            if posixpath.basename(before) in _NODE_LOADS:
                for path in {_inside(folder, word), _inside("", word)} - {None}:
                    self.files.update(self.base.intersection(f"{path}{end}" for end in _NODE_ENDS))
        if self.programs & _PACKAGE_MANAGERS & {posixpath.basename(word) for word in words}:
            self._scripts(words, folder)
        return folder

    def _word(self, word: str, folder: str, is_code: bool) -> None:
        if any(character in word for character in " \t\n"):
            self.line(word, folder)  # `sh -c "…"`, `NODE_OPTIONS="--require ./x.js"`
            return
        name, value = _assigned(word)
        if name == "PYTHONPATH":
            self.folders.update(_inside(folder, part) or "" for part in value.split(":"))
        if is_code:
            return
        # `--config=x`, `-cx.ini`, `A=x`, `x.py::test`, `x_spec.rb:12`
        flag = word.startswith("-")
        pieces = {word, value, word.partition("=")[2] if flag else "", word[2:] if flag else ""}
        for piece in pieces | {word.partition(":")[0]}:
            self._name(piece, folder)

    def _name(self, word: str, folder: str) -> None:
        """Takes a word for a file where it can be one."""
        if word.startswith("/"):  # where the image has the tree is not known
            parts = word.strip("/").split("/")
            ends = ("/".join(parts[at:]) for at in range(len(parts)))
            self.files.update([end for end in ends if end in self.base][:1])
            return
        for path in {_inside(folder, word), _inside("", word)}:
            known = path in self.base or ("/" in word or "." in word)
            if path in self.above:
                self.spoken_of.add(path)
            elif path and known:
                self.files.add(path)

    def _module(self, word: str, folder: str) -> None:
        for name in word.split(","):
            if _MODULE.fullmatch(name):
                stem = name.replace(".", "/")
                for place in ("", "src", folder, *self.folders):
                    self.files.update(
                        path for end in (".py", "/__main__.py") if (path := _inside(place, stem + end))
                    )

    def _scripts(self, words: Sequence[str], folder: str) -> None:
        """The scripts of package.json that a package manager is told to run, and those around them."""
        texts = {"test" if word in ("t", "tst") else word for word in words}
        places = {folder, "", *(_inside(folder, word) or "" for word in words if not word.startswith("-"))}
        for place in places:
            manifest = _inside(place, "package.json")
            if manifest is None or manifest not in self.base:
                continue
            scripts = _scripts_of(self.read(manifest))
            called = {name for name in scripts for text in texts if text == name or fnmatchcase(name, text)}
            for name in called:
                for part in (f"pre{name}", name, f"post{name}"):
                    if part in scripts:
                        self.line(scripts[part], place)

    def look_through_scripts(self) -> None:
        """Adds the words of shell scripts and makefiles to the programs."""
        files = set(self.files & self.base)
        if self.programs & {"make", "gmake"}:
            places = {"", *self.folders, *self.spoken_of}
            files |= {posixpath.join(place, name) for place in places for name in _MAKEFILES} & self.base
        for path in files:
            is_makefile = posixpath.basename(path) in _MAKEFILES
            extension = posixpath.splitext(path)[1]
            if not is_makefile and extension not in ("", ".sh", ".bash"):
                continue
            data = (self.read(path) or b"")[:_LONGEST]
            if is_makefile or extension or _SHELL_SCRIPT.match(data):
                words = _TOKEN.findall(data.decode("utf-8", "replace"))
                self.programs.update(posixpath.basename(word) for word in words)


def _simple_commands(text: str) -> Iterator[list[str]]:
    """Words of each simple command; of a text that is not read for sure, all its words as one."""
    line = parse(text)
    if not line.sure:
        yield _TOKEN.findall(text)
        return
    for command in line.commands:
        yield [word.text for word in command.words]


def modules_named(words: Sequence[str]) -> Iterator[str]:
    """Modules that a simple command names: what `python -m` runs, pytest's plug-ins, Django's settings."""
    is_pytest = any(posixpath.basename(word) in ("pytest", "py.test") for word in words)
    python = next(
        (at for at, word in enumerate(words) if _PYTHON.fullmatch(posixpath.basename(word))), len(words)
    )
    run = next((at for at in range(python, len(words)) if re.fullmatch(r"-\w*m", words[at])), len(words))
    for at, (before, word) in enumerate(zip(("", *words), words, strict=False)):
        flag, _, value = word.partition("=")
        if at == run + 1 or (is_pytest and before == "-p") or before in _SETTINGS_FLAGS:
            yield word
        elif (is_pytest and re.fullmatch(r"-p\w.*", word)) or (at > python and re.fullmatch(r"-m\w.*", word)):
            yield word[2:]
        elif flag in _SETTINGS_FLAGS | _MODULE_VARIABLES:
            yield value


def _assigned(word: str) -> tuple[str, str]:
    """(name, value) of an assignment, else two empty texts."""
    found = re.fullmatch(r"([A-Za-z_]\w*)\+?=(.*)", word, re.DOTALL)
    return (found[1], found[2]) if found else ("", "")


def _inside(folder: str, word: str) -> str | None:
    """A word as a path of the tree when it is used in a folder; None when it leads out or nowhere."""
    path = posixpath.normpath(posixpath.join(folder, word)) if word else "."
    return None if path == "." or path.startswith(("..", "/")) else path


def _scripts_of(data: bytes | None) -> dict[str, str]:
    try:
        document = json.loads((data or b"").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    scripts = document.get("scripts") if isinstance(document, dict) else None
    return (
        {name: text for name, text in scripts.items() if isinstance(text, str)}
        if isinstance(scripts, dict)
        else {}
    )
