"""go test: packages by path, files, and `-run`, which gets the canaries as first alternative."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from posixpath import basename, dirname, join, normpath

from berbench.canaries.arguments import Arguments, Edit, names, plain_path, read
from berbench.canaries.ways import Planted, Reach
from berbench.runners.recognise import Found
from berbench.runners.shell import quote

_VALUES = names(
    """
    -run -bench -count -cpu -timeout -tags -coverprofile -covermode -coverpkg -parallel -o -exec -skip -fuzz -fuzztime
    -fuzzminimizetime -ldflags -gcflags -asmflags -mod -modfile -p -shuffle -vet -benchtime -blockprofile
    -blockprofilerate -cpuprofile -memprofile -memprofilerate -mutexprofile -mutexprofilefraction -outputdir -trace
    -overlay -pkgdir -installsuffix -buildmode -compiler -toolexec -list -pgo -C
    """
)
_REFUSED = r"-c|-n|-list|-skip|-fuzz|-C|-test\..*|-i|-modfile|-overlay"


class Go:
    """The way of `go test`."""

    def read(self, found: Found) -> Arguments | None:
        """None when a flag chooses tests in a way that can't be widened."""
        arguments = read(_up_to_args(found), _VALUES | {f"-{name}" for name in _VALUES})
        flags = tuple(replace(flag, name=re.sub(r"^--", "-", flag.name)) for flag in arguments.flags)
        arguments = replace(arguments, flags=flags)
        unsure = any(not word.plain for word in (*arguments.words, *arguments.named("-run")))
        return None if unsure or arguments.has(_REFUSED) else arguments

    def reach(self, arguments: Arguments, path: str) -> Reach | None:
        """By its package, which import paths name too: of those it is not known where they lie."""
        if not path.endswith("_test.go"):
            return None
        folder = dirname(path) or "."
        if not arguments.words:
            return Reach() if folder == "." else None
        for word in arguments.words:
            text = word.first.text
            if text.endswith(".go"):
                if plain_path(text) == path:
                    return Reach(word)
            elif _is_path(text) and _holds(text, folder):
                return Reach()
        return None

    def finds(self, arguments: Arguments, path: str, neighbour: str) -> bool:
        """Every test file of a package is built."""
        return True

    def edits(self, arguments: Arguments, planted: Sequence[Planted]) -> list[Edit] | None:
        """Files beside those named, a wider `-run`, and no end at the first failure."""
        edits = [
            one.reach.word.followed_by([join(dirname(one.reach.word.first.text), basename(one.path))])
            for one in planted
            if one.beside and one.reach.word
        ]
        own = "|".join(name for one in planted for name in one.names)
        run = [flag for flag in arguments.named("-run")[-1:] if flag.value]
        edits += [flag.becomes(f"-run {quote(f'^({own})$|{flag.value}')}") for flag in run]
        edits += [flag.becomes("-failfast=false") for flag in arguments.named("-failfast")]
        return edits


def _up_to_args(found: Found) -> Found:
    """Words after `-args` are the tests' own."""
    words = found.command.words
    for index, word in enumerate(words):
        if index > found.at and word.text in ("-args", "--args"):
            return replace(found, command=replace(found.command, words=words[:index]))
    return found


def _is_path(word: str) -> bool:
    return word in (".", "..") or word.startswith(("./", "../"))


def _holds(word: str, folder: str) -> bool:
    """Whether a pattern names a folder's package: `./a`, `./a/...`."""
    if not word.endswith("/..."):
        return normpath(word) == folder
    above = normpath(word.removesuffix("..."))
    inner = folder if above == "." else folder.removeprefix(above).lstrip("/")
    hidden = any(part.startswith((".", "_")) or part in ("testdata", "vendor") for part in inner.split("/"))
    inside = above == "." and not folder.startswith("..")
    return (folder == above or inside or folder.startswith(f"{above}/")) and (folder == above or not hidden)
