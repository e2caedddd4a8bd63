"""One pair of canaries in a hidden test file, or in a file of its own beside it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from posixpath import splitext

from berbench.canaries import golang, python, script, twins
from berbench.canaries.choices import Choices, Words, camel, snake, title
from berbench.canaries.files import append
from berbench.canaries.pair import tests
from berbench.model.changes import SYMLINK, FileEntry

_SCRIPTS = frozenset({".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"})
_MOST_LOOKS = 4  # of a file: the messages of their originals tell less
PYTHON = frozenset({"pytest", "unittest", "django"})


@dataclass(frozen=True, slots=True)
class Pair:
    """What is written: `names` are the passing canary's, the failing one's and the twins', as far as there are any.

    `group` is a class of unittest's."""

    data: bytes
    names: tuple[str, ...]
    group: str = ""


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes for one runner. The same seed gives the same names and values with and without `failing`."""

    runner: str
    choices: Choices
    failing: bool
    again: Collection[str] | None = None  # `path::TestA.test_a` that a twin may run once more; None: any
    quick: float | None = None  # seconds; a twin that runs a test again is skipped where that took longer

    def serves(self, entry: FileEntry) -> bool:
        """Whether the file is of the runner's language, and a plain file."""
        extension = splitext(entry.path)[1]
        known = (
            extension == ".py"
            if self.runner in PYTHON
            else extension == ".go"
            if self.runner == "go"
            else extension in _SCRIPTS
        )
        return known and entry.mode != SYMLINK

    def silences(self, entry: FileEntry) -> bool:
        """Whether the file picks single tests out of all files of the run, as mocha's `.only` does."""
        style = script.read(entry.path, entry.data, "mocha", "") if self.runner == "mocha" else None
        return style is not None and style.only

    def inside(self, entry: FileEntry) -> Pair | None:
        """The file with a pair at its end, None where it can't stand there or would not run."""
        data = entry.data
        if self.runner in PYTHON:
            if not python.takes(data, self.runner):
                return None
            text, names, group = self._python(entry, f"in\0{entry.path}")
            return Pair(append(data, text, 2), names, group)
        if self.runner == "go":
            if golang.read(entry.path, data) is None or not golang.takes(data):
                return None
            text, names = self._go(f"in\0{entry.path}")
            return Pair(append(data, text, 1), names)
        style = script.read(entry.path, data, self.runner, self._alias(entry))
        if style is None or not style.inside or (style.only and self.runner in ("jest", "vitest")):
            return None
        text, names = self._script(style, f"in\0{entry.path}")
        return Pair(append(data, style.own_import + text, 1), names)

    def twins(self, entry: FileEntry, data: bytes) -> tuple[bytes, tuple[str, ...]]:
        """`data`, which begins as the file does, with twins of some of the file's tests, and the twins' names."""
        if self.runner not in PYTHON or not python.takes(entry.data, self.runner):
            return data, ()
        places = twins.places(entry.data, self.runner)
        label = f"twin\0{entry.path}"
        cheap = [
            place for place in places if self.again is None or f"{entry.path}::{place.name}" in self.again
        ]
        cheap = [place for place in cheap if self.quick is None or place.open]
        run = self.choices.pick(f"{label}.of", cheap) if cheap else None
        looks = [place for place in places if place.alone and place is not run]
        looks.sort(key=lambda place: self.choices.number(f"{label}.{place.name}", 1 << 64))
        names = []
        # From the end, so that the places before stay where they are.
        for place in sorted([*looks[:_MOST_LOOKS], *([run] if run else [])], key=_line, reverse=True):
            own = f"{label}.{place.name}"
            # One that looks has to run after its original, and unittest sorts by name.
            begins = "test" if place is run else place.function.name
            names.append(self.choices.name(own, partial(_beginning, begins)))
            kept = self.choices.short(f"{own}.kept", snake)
            if place is run and self.quick is not None:
                data = twins.run_again_if_quick(
                    data, place, names[-1], self.choices, kept, self.quick, failing=self.failing
                )
            elif place is run:
                data = twins.run_again(data, place, names[-1], self.choices, failing=self.failing)
            else:
                data = twins.look_again(data, place, names[-1], self.choices, kept, failing=self.failing)
        return data, tuple(names)

    def beside(self, entry: FileEntry, path: str) -> Pair | None:
        """A file for `path` with a pair, in the manner of its neighbour."""
        label = f"by\0{path}"
        if self.runner in PYTHON:
            text, names, group = self._python(entry, label)
            return Pair(text.encode("utf-8"), names, group)
        if self.runner == "go":
            package = golang.read(entry.path, entry.data)
            if package is None:
                return None
            text, names = self._go(label)
            return Pair((golang.head(*package) + text).encode("utf-8"), names)
        style = script.read(entry.path, entry.data, self.runner, self._alias(entry))
        if style is None:
            return None
        text, names = self._script(style, label)
        return Pair((style.head + text + style.tail).encode("utf-8"), names)

    def _alias(self, entry: FileEntry) -> str:
        words = self.choices.words(f"alias\0{entry.path}")
        return words[0] + words[1].capitalize()

    def _names(self, label: str, shape: Callable[[Words], str]) -> tuple[str, str]:
        return self.choices.name(f"{label}.pass", shape), self.choices.name(f"{label}.fail", shape)

    def _python(self, entry: FileEntry, label: str) -> tuple[str, tuple[str, str], str]:
        names = self._names(label, lambda words: f"test_{snake(words)}")
        group = self.choices.short(f"{label}.group", lambda words: f"Test{camel(words)}")
        own = python.Words(group, self.choices.short(f"{label}.alias", snake))
        both = tests(self.choices, label, names, failing=self.failing)
        return python.write(both, self.runner, own, entry.data), names, group

    def _go(self, label: str) -> tuple[str, tuple[str, str]]:
        names = self._names(label, lambda words: f"Test{camel(words)}")
        return golang.write(tests(self.choices, label, names, failing=self.failing)), names

    def _script(self, style: script.Style, label: str) -> tuple[str, tuple[str, str]]:
        names = self._names(label, title)
        return script.write(tests(self.choices, label, names, failing=self.failing), style), names


def _beginning(first: str, words: Words) -> str:
    return f"{first}_{snake(words)}"


def _line(place: twins.Place) -> int:
    return place.function.lineno
