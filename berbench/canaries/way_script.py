"""jest, vitest, mocha and Node's own runner: files, patterns of paths, patterns of titles, and bail flags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from posixpath import basename, dirname, join
from typing import ClassVar

from berbench.canaries.arguments import Argument, Arguments, Edit, below, globbed, names, plain_path, read
from berbench.canaries.ways import Planted, Reach
from berbench.evidence.names import is_test_file
from berbench.runners.node_scripts import RULES
from berbench.runners.recognise import Found
from berbench.runners.shell import quote

# Arrays of yargs: they take every word up to the next flag. Those of `--testPathPattern` are patterns like words.
_JEST_ARRAYS = names(
    """
    --coverageReporters --reporters --projects --selectProjects --ignoreProjects --setupFiles --setupFilesAfterEnv
    --testPathIgnorePatterns --testMatch --roots --moduleFileExtensions --coveragePathIgnorePatterns
    --watchPathIgnorePatterns --modulePathIgnorePatterns --transformIgnorePatterns --snapshotSerializers
    """
)
_JEST_PATTERNS = ("--testPathPattern", "--testPathPatterns")
_REPEATS = re.compile(r"[*+{]")
# A repeated group, and what a later Python may take for an operation on sets.
_DOUBTFUL = re.compile(r"\)[*+{]|\[[^\]]*(?:\[|--|&&|~~|\|\|)")


class _Script:
    """What the four have in common. `refused` are flags by which tests can't be chosen for sure."""

    runner: ClassVar[str]
    refused: ClassVar[str]
    filters: ClassVar[tuple[str, ...]]

    def read(self, found: Found) -> Arguments | None:
        """None when a flag chooses tests in a way that can't be widened."""
        arguments = self._parse(found)
        filters = arguments.named(*self.filters)
        unsure = any(not word.plain for word in (*arguments.words, *filters))
        return None if unsure or arguments.has(self.refused) else arguments

    def reach(self, arguments: Arguments, path: str) -> Reach | None:
        """By words, or by the runner's own search below the folder."""
        if path.startswith("../"):
            return None
        if not arguments.words:
            return Reach() if is_test_file(path) else None
        found = [reach for word in arguments.words if (reach := self._by_word(arguments, word, path))]
        return next((reach for reach in found if reach.word is None), found[-1] if found else None)

    def finds(self, arguments: Arguments, path: str, neighbour: str) -> bool:
        """As the search or the glob that found its neighbour does."""
        globs = [word for word in arguments.words if globbed(word.first, neighbour, by_runner=True)]
        return all(globbed(word.first, path, by_runner=True) for word in globs)

    def edits(self, arguments: Arguments, planted: Sequence[Planted]) -> list[Edit] | None:
        """Words beside those that name files, wider patterns of titles, and no end at the first failure."""
        titles = [name for one in planted for name in one.names]
        filters = [flag for flag in arguments.named(*self.filters) if flag.value]
        widened = self._widened(filters, titles)
        if widened is None:
            return None
        return [*self._named(arguments, planted), *widened, *self._unbailed(arguments)]

    def _parse(self, found: Found) -> Arguments:
        return read(found, RULES[self.runner].values)

    def _by_word(self, arguments: Arguments, word: Argument, path: str) -> Reach | None:
        """A file by name, or a folder or glob that finds it."""
        text = plain_path(word.first.text)
        if text == path:
            return Reach(word)
        return Reach() if below(path, text) or globbed(word.first, path, by_runner=True) else None

    def _named(self, arguments: Arguments, planted: Sequence[Planted]) -> list[Edit]:
        edits = []
        for one in planted:
            if one.beside and one.reach.word:
                named = one.reach.word.first.text
                edits.append(one.reach.word.followed_by([join(dirname(named), basename(one.path))]))
        return edits

    def _widened(self, filters: Sequence[Argument], titles: Sequence[str]) -> list[Edit] | None:
        """One regular expression gets more alternatives; of several it is not known which counts."""
        if len(filters) > 1:
            return None
        return [
            flag.becomes(f"{flag.name} {quote('|'.join((flag.value or '', *titles)))}") for flag in filters
        ]

    def _unbailed(self, arguments: Arguments) -> list[Edit]:
        return []


class Jest(_Script):
    """Words are patterns of paths, unless `--runTestsByPath` is given."""

    runner = "jest"
    filters = ("-t", "--testNamePattern")
    refused = (
        r"-o|--onlyChanged|--changedSince|--changedFilesWithAncestor|--lastCommit|--findRelatedTests|-f|--onlyFailures"
        r"|--shard|--listTests|--watch.*|--showConfig|--init|--filter|--testRegex|-[a-zA-Z]{2,}"
    )

    def _parse(self, found: Found) -> Arguments:
        values = RULES["jest"].values - _JEST_ARRAYS - set(_JEST_PATTERNS)
        arguments = read(found, values, greedy=_JEST_ARRAYS)
        glued = tuple(flag for flag in arguments.named(*_JEST_PATTERNS) if flag.value)
        return Arguments(found, arguments.flags, (*arguments.words, *glued))

    def _by_word(self, arguments: Arguments, word: Argument, path: str) -> Reach | None:
        text = word.value or word.first.text
        if arguments.named("--runTestsByPath"):
            return Reach(word) if plain_path(text) == path else None
        return Reach(word) if _finds(text.removeprefix("./"), f"/{path}") else None

    def finds(self, arguments: Arguments, path: str, neighbour: str) -> bool:
        """By its name."""
        return True

    def _named(self, arguments: Arguments, planted: Sequence[Planted]) -> list[Edit]:
        by_path = bool(arguments.named("--runTestsByPath"))
        return [
            one.reach.word.followed_by(
                [one.path if by_path else re.sub(r"([\[\](){}+*?^$|\\])", r"\\\1", one.path)]
            )
            for one in planted
            if one.beside and one.reach.word
        ]

    def _unbailed(self, arguments: Arguments) -> list[Edit]:
        own = arguments.named("--bail", "-b")
        at = arguments.found.insert_at
        return [flag.becomes("--bail=0") for flag in own] or [Edit(at, at, " --bail=0")]


def _finds(pattern: str, path: str) -> bool:
    """Whether a pattern of a command's finds a path. One that could take for ever, or that Python may mean otherwise
    than JavaScript, finds none: the path is then not known to be reached."""
    if len(pattern) > 500 or len(_REPEATS.findall(pattern)) > 4 or _DOUBTFUL.search(pattern):
        return False
    try:
        return re.search(pattern, path, re.IGNORECASE) is not None
    except (re.error, OverflowError, RecursionError):
        return False


class Vitest(_Script):
    """Words are parts of paths. A bail flag is younger than many projects, so only one that is there is changed."""

    runner = "vitest"
    filters = ("-t", "--testNamePattern")
    refused = r"--changed|--shard|--related|--typecheck.*|--mergeReports|--list|--standalone|-[a-zA-Z]{2,}"

    def read(self, found: Found) -> Arguments | None:
        """None for subcommands that run no tests or choose them by what imports them, and for lines of files."""
        arguments = super().read(found)
        if arguments is None or not arguments.words:
            return arguments
        words = arguments.words
        if words[0].first is found.command.words[found.at + 1] and words[0].first.text in _VITEST_COMMANDS:
            if words[0].first.text not in ("run", "watch", "dev"):
                return None
            words = words[1:]
        if any(re.search(r":\d+$", word.first.text) for word in words):
            return None
        return Arguments(found, arguments.flags, words)

    def _by_word(self, arguments: Arguments, word: Argument, path: str) -> Reach | None:
        part = word.first.text.removeprefix("./").lower()
        return Reach(word) if part in path.lower() else None

    def finds(self, arguments: Arguments, path: str, neighbour: str) -> bool:
        """By its name."""
        return True

    def _named(self, arguments: Arguments, planted: Sequence[Planted]) -> list[Edit]:
        return [
            one.reach.word.followed_by([_beside_part(one.reach.word.first.text, one)])
            for one in planted
            if one.beside and one.reach.word
        ]

    def _unbailed(self, arguments: Arguments) -> list[Edit]:
        return [flag.becomes("--bail=0") for flag in arguments.named("--bail")]


class Mocha(_Script):
    """Words are files, folders and globs; without any, settings that are not read here may name the files."""

    runner = "mocha"
    filters = ("-g", "--grep", "-f", "--fgrep")
    refused = (
        r"--spec|-i|--invert|--delay|--dry-run|--allow-uncaught|-A|-w|--watch|--list-.*|-[a-zA-Z]{2,}|--opts"
    )

    def read(self, found: Found) -> Arguments | None:
        """None also for interfaces that know no test functions."""
        arguments = super().read(found)
        if arguments is None or any(f.value in ("exports", "qunit") for f in arguments.named("-u", "--ui")):
            return None
        return arguments

    def _by_word(self, arguments: Arguments, word: Argument, path: str) -> Reach | None:
        reach = super()._by_word(arguments, word, path)
        text = plain_path(word.first.text)
        deep = below(path, text) and (dirname(path) or ".") != text
        return None if reach and deep and not arguments.named("--recursive") else reach

    def finds(self, arguments: Arguments, path: str, neighbour: str) -> bool:
        """Where a word leads to it."""
        return bool(arguments.words) and super().finds(arguments, path, neighbour)

    def _widened(self, filters: Sequence[Argument], titles: Sequence[str]) -> list[Edit] | None:
        if len(filters) > 1:
            return None
        return [flag.becomes(f"--grep {quote(_grep(flag, titles))}") for flag in filters]

    def _unbailed(self, arguments: Arguments) -> list[Edit]:
        own = arguments.named("--bail", "-b", "--no-bail")
        at = arguments.found.insert_at
        return [flag.becomes("--no-bail") for flag in own] or [Edit(at, at, " --no-bail")]


class Node(_Script):
    """Words are files, folders and globs. A name pattern may be given many times."""

    runner = "node"
    filters = ("--test-name-pattern",)
    refused = (
        r"--test-only|--test-shard|--test-skip-pattern|--watch.*|--test-rerun-failures|--test-global-setup"
    )

    def _widened(self, filters: Sequence[Argument], titles: Sequence[str]) -> list[Edit] | None:
        return [
            flag.followed_by([f"--test-name-pattern={title}" for title in titles]) for flag in filters[-1:]
        ]


_VITEST_COMMANDS = frozenset({"run", "watch", "dev", "related", "bench", "list", "init", "typecheck"})


def _beside_part(word: str, planted: Planted) -> str:
    """The word's own form of the path where it ends in the neighbour's name, so that `--root` counts for both."""
    if basename(word) == basename(planted.neighbour):
        return join(dirname(word), basename(planted.path))
    return planted.path


def _grep(flag: Argument, titles: Sequence[str]) -> str:
    """`/expr/i`, an expression, or for `--fgrep` plain text; with the titles as more alternatives."""
    value = flag.value or ""
    if flag.name in ("-f", "--fgrep"):
        value = re.sub(r"([\\^$.*+?()\[\]{}|/-])", r"\\\1", value)
    written = re.fullmatch(r"/(.*)/([gimyu]{0,4})", value)
    if written and flag.name in ("-g", "--grep"):
        return f"/{'|'.join((written[1], *titles))}/{written[2]}"
    return "|".join((value, *titles))
