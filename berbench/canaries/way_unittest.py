"""unittest and Django's runners: dotted labels, paths, discovery; `-k` is widened, fail-fast flags are taken out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import basename, dirname, join, normpath

from berbench.canaries.arguments import Argument, Arguments, Edit, below, names, plain_path, read
from berbench.canaries.ways import Planted, Reach
from berbench.runners.recognise import Found

_UNITTEST_VALUES = names("-k -s -p -t --start-directory --pattern --top-level-directory --durations")
_DJANGO_VALUES = names(
    """
    -k -p -t -v --pattern --top-level-directory --settings --pythonpath --verbosity --testrunner --tag --exclude-tag
    --bisect --pair --selenium
    """
)
_DJANGO_OPTIONAL = frozenset({"--parallel", "--shuffle", "-j"})
_REFUSED = r"--tag|--pdb|--bisect|--pair|--start-at|--start-after|--list-tests|-h|--help"
_FAIL_FAST = re.compile(r"-f|--failfast|-[vqcb]*f[vqcb]*")


@dataclass(frozen=True, slots=True)
class _Search:
    """What discovery looks at: names below a folder."""

    folder: str
    pattern: str


class Unittest:
    """The way of unittest, and of Django with `django`."""

    def __init__(self, *, django: bool = False) -> None:
        self.django = django

    def read(self, found: Found) -> Arguments | None:
        """None when a flag chooses tests in a way that can't be widened."""
        values, optional = (_DJANGO_VALUES, _DJANGO_OPTIONAL) if self.django else (_UNITTEST_VALUES, ())
        arguments = read(found, values, optional=optional)
        if any(word.text == "setup.py" for word in found.command.words[: found.at + 1]):
            return None
        unsure = any(not word.plain for word in (*arguments.words, *arguments.flags))
        return None if unsure or arguments.has(_REFUSED) else arguments

    def reach(self, arguments: Arguments, path: str) -> Reach | None:
        """By discovery, by a path, or by a dotted label of its module or something in it."""
        if not path.endswith(".py") or path.startswith("../") or basename(path) == "__init__.py":
            return None
        searches = self._searches(arguments)
        if any(_found(search, path) for search in searches):
            return Reach()
        part = None
        for word in self._labels(arguments):
            label = word.first.text
            if _is_path(label):
                if plain_path(label) == path:
                    return Reach(word)
            elif label == _module(path):
                return Reach(word)
            elif label.startswith(f"{_module(path)}."):
                part = word
        return Reach(part, part=True) if part else None

    def finds(self, arguments: Arguments, path: str, neighbour: str) -> bool:
        """By the pattern of the searches that found its neighbour."""
        return all(_found(one, path) for one in self._searches(arguments) if _found(one, neighbour))

    def edits(self, arguments: Arguments, planted: Sequence[Planted]) -> list[Edit] | None:
        """Labels beside those named, more `-k`, and no end at the first failure."""
        edits = [edit for one in planted if (edit := _named(one))]
        fail_fast = [flag for flag in arguments.flags if _FAIL_FAST.fullmatch(flag.name)]
        edits += [flag.becomes(_without_f(flag.name)) for flag in fail_fast]
        patterns = arguments.named("-k")
        if patterns:
            edits.append(
                patterns[-1].followed_by([w for one in planted for n in one.names for w in ("-k", n)])
            )
        return edits

    def _labels(self, arguments: Arguments) -> tuple[Argument, ...]:
        return () if self._discovers(arguments) else arguments.words

    def _discovers(self, arguments: Arguments) -> bool:
        return not self.django and arguments.words[:1] != () and arguments.words[0].first.text == "discover"

    def _searches(self, arguments: Arguments) -> list[_Search]:
        if self.django:
            pattern = _last(arguments, "test*.py", "-p", "--pattern")
            labels = [word.first.text for word in arguments.words]
            folders = [
                normpath(label) if "/" in label or label == "." else label.replace(".", "/")
                for label in labels
            ]
            return [_Search(folder, pattern) for folder in folders or ["."]]
        if not self._discovers(arguments):
            return [] if arguments.words else [_Search(".", "test*.py")]
        words = [word.first.text for word in arguments.words[1:]]
        folder = _last(arguments, words[0] if words else ".", "-s", "--start-directory")
        pattern = _last(arguments, words[1] if len(words) > 1 else "test*.py", "-p", "--pattern")
        if "/" not in folder and folder.strip(".") and "." in folder:
            folder = folder.replace(".", "/")  # a package's dotted name
        return [_Search(normpath(folder), pattern)]


def _without_f(flag: str) -> str:
    """`-vf` → `-v`; "" for what says nothing else."""
    kept = "" if flag.startswith("--") else flag.replace("f", "")
    return "" if kept == "-" else kept


def _last(arguments: Arguments, default: str, *names: str) -> str:
    flags = arguments.named(*names)
    return (flags[-1].value or "") if flags else default


def _found(search: _Search, path: str) -> bool:
    return below(path, search.folder) and fnmatchcase(basename(path), search.pattern)


def _is_path(label: str) -> bool:
    return label.endswith(".py")


def _module(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _named(planted: Planted) -> Edit | None:
    word = planted.reach.word
    if word is None:
        return None
    if planted.beside and _is_path(word.first.text):
        return word.followed_by([join(dirname(word.first.text), basename(planted.path))])
    if planted.beside:
        return word.followed_by([_module(planted.path)])
    return word.followed_by([f"{_module(planted.path)}.{planted.group}"]) if planted.reach.part else None
