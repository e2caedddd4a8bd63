"""Which side of the split a path is on: hidden tests, or the known implementation.

Patterns are globs over the whole path from the top: `*` stays within one segment, `**` crosses them, dotfiles
count, case counts. A pattern that ends in `/`, or names a folder plainly, takes all below it; one that starts
with `!` takes paths out again. So `*test*` is about names at the top, and never about `src/pkg/testing.py`.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache

from wcmatch import glob

from berbench.errors import ConfigError
from berbench.model.changes import ABSENT, GITLINK, Change, Split

LFS_POINTER = "version https://git-lfs.github.com/spec/"  # how a file begins whose content LFS keeps

_FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.CASE | glob.FORCEUNIX | glob.BRACE | glob.NEGATE
_MOST_PATTERNS = 10_000
_MAGIC = re.compile(r"[*?\[\]{}]")


def matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a path matches; with no patterns none does."""
    return _matcher(tuple(patterns))


@lru_cache(maxsize=256)
def _matcher(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    expanded = [one for pattern in patterns if pattern.strip() for one in _expand(pattern.strip())]
    if not any(not pattern.startswith("!") for pattern in expanded):
        return lambda path: False
    # One expression for all patterns: whole trees are matched, and most paths match none of many.
    try:
        translated = glob.translate(expanded, flags=_FLAGS, limit=_MOST_PATTERNS)
    except Exception as error:  # the library keeps the exception for too many alternatives to itself
        raise ConfigError(
            f"A pattern can't be used, perhaps {max(expanded, key=len)[:120]!r}: {error}.",
            remedy="Write fewer alternatives in braces, or `*`.",
        ) from error
    wanted, unwanted = (_joined(side) for side in translated)
    return lambda path: wanted.fullmatch(path) is not None and unwanted.fullmatch(path) is None


def _joined(expressions: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in expressions) or r"(?!)")


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Whether one path matches; `matcher` is the way for many."""
    return matcher(tuple(patterns))(path)


def need_patterns(patterns: Sequence[str]) -> None:
    """ConfigError when there are none: nothing would be a test, and every landing would look untested."""
    if not patterns:
        raise ConfigError(
            "harvest.test_patterns is empty, so nothing can be told to be a test.",
            remedy='set it in .ber/bench/config.yaml, e.g. ["tests/**"]',
        )


def classify(changes: Iterable[Change], patterns: Sequence[str]) -> Split:
    """Every changed path on exactly one side, in the order given."""
    is_test = matcher(patterns)
    sides: tuple[list[Change], list[Change]] = ([], [])
    for change in changes:
        sides[not is_test(change.path)].append(change)
    return Split(tests=tuple(sides[0]), reference=tuple(sides[1]))


def problems(
    split: Split, *, lfs: Set[str] = frozenset(), links: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Why the split can't make a task, a clause each (no full stop); empty when it can.

    `lfs` are paths that attributes hand to LFS, `links` the targets of new or changed symbolic links by path.
    """
    every = (*split.tests, *split.reference)
    found = []
    if not every:
        return ("it changes no file",)
    if not split.reference:
        found.append("it changes only tests: there is no implementation to find again")
    if not split.tests:
        found.append("it changes only implementation: no test could verify a solution")
    for change in every:
        if GITLINK in (change.old_mode, change.new_mode):
            found.append(f"it moves the submodule {change.path!r}, whose content is not in this repository")
        elif change.path in lfs:
            found.append(f"it changes {change.path!r}, whose content is kept in LFS, not in this repository")
    found += [
        f"the link {path!r} points out of the repository, to {target!r}"
        for path, target in (links or {}).items()
        if leaves_tree(path, target)
    ]
    found += _swaps(split)
    return tuple(found)


def leaves_tree(path: str, target: str) -> bool:
    """Whether a symbolic link at `path` points out of the tree."""
    if target.startswith("/"):
        return True
    reached = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return reached == ".." or reached.startswith("../")


def _expand(pattern: str) -> Iterable[str]:
    if pattern.endswith("/"):
        yield pattern + "**"
    elif _MAGIC.search(pattern):
        yield pattern
    else:
        yield from (pattern, pattern + "/**")


def _swaps(split: Split) -> list[str]:
    """A file on one side that takes the place of a folder of the other side, or the other way round."""
    found = []
    for one, other in ((split.tests, split.reference), (split.reference, split.tests)):
        files = {change.path for change in one}
        found += [
            f"a file and a folder trade places across the split: {above!r} and {change.path!r}"
            for change in other
            for above in _folders(change.path)
            if above in files
        ]
    return found


def _folders(path: str) -> Iterable[str]:
    return (path[:at] for at, character in enumerate(path) if character == "/")


# --- guessing -----------------------------------------------------------------------------------------------

_CODE = re.compile(
    r"\.(?:py|pyi|js|jsx|ts|tsx|mjs|cjs|mts|cts|vue|go|rs|rb|java|kt|scala|cs|php|c|cc|cpp|h|hpp|swift)$"
)
_JS = ("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte")
_TEST_NAME = re.compile(
    r"^(?:test_.*\.py|.*_test\.(?:py|go|rs|cc|cpp|c|js|ts|exs|php|rb|dart)|tests?\.py|conftest\.py"
    r"|.*[.-](?:test|spec|tests)\.\w+|.*_spec\.rb|test[-_].*\.(?:js|ts|mjs|cjs|rb|c|cc|cpp)|.*\.t"
    r"|.*(?:Test|Tests|TestCase|IT|Spec|Suite)\.(?:java|kt|scala|cs|php|groovy|swift)|Test.*\.(?:java|kt))$"
)
_MANIFESTS = frozenset(
    [
        "package.json",
        "Cargo.toml",
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "go.mod",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "composer.json",
        "Gemfile",
        "CMakeLists.txt",
        "mix.exs",
        "Package.swift",
    ]
)
_SURE = ("tests", "test", "__tests__")  # at the top, or beside a manifest
_LIKELY = (*_SURE, "spec", "specs", "e2e", "t", "unittests", "integration_tests", "functional_tests")
_ALWAYS = ("__tests__", "__snapshots__", "testdata")
_HELPER = re.compile(
    r"^test_(?:utils?|helpers?|tools?|support|cases?|client|runner|base|mixins?|fixtures?|data)\.py$"
)
_FILES = (
    "**/test_*.py",
    "**/*_test.py",
    "**/conftest.py",
    "**/*_test.go",
    *(
        f"**/{stem}.{ext}"
        for stem in ("test[-_]*", "*[-_]test", "*[-_]unittest")
        for ext in ("c", "cc", "cpp")
    ),
    "**/*_spec.rb",
    "**/*_test.rb",
    "**/*_test.exs",
    *(f"**/*.{kind}.{ext}" for kind in ("test", "spec") for ext in _JS),
    "**/*.snap",
)


def guess_patterns(paths: Iterable[str]) -> tuple[str, ...]:
    """Test patterns that fit what a repository holds: only such as match something, and no product code.

    A folder called `test` inside a package may be shipped to users (as test helpers are): it is taken when
    what it holds looks like tests, or when it stands beside a manifest.
    """
    every = sorted(set(paths))
    patterns = _folder_patterns(every)
    in_folders = matcher(patterns)
    for pattern in _FILES:
        matches = matcher([pattern])
        if any(matches(path) for path in every):
            patterns.append(pattern)
    if "**/test_*.py" in patterns:
        helpers = (path for path in every if _HELPER.match(posixpath.basename(path)) and not in_folders(path))
        patterns += [f"!{path}" for path in helpers]
    return tuple(patterns)


def _folder_patterns(paths: Sequence[str]) -> list[str]:
    """Patterns of test folders: one general pattern per name where all folders of that name hold tests."""
    inside: dict[str, list[str]] = defaultdict(list)  # folder with a telling name → names of files below it
    manifests = {posixpath.dirname(path) for path in paths if posixpath.basename(path) in _MANIFESTS}
    for path in paths:
        parts = path.split("/")
        for at, part in enumerate(parts[:-1]):
            if part in _LIKELY or part in _ALWAYS or parts[max(at - 1, 0) : at + 1] == ["src", "test"]:
                inside["/".join(parts[: at + 1])].append(parts[-1])
                break
    by_name: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for folder, names in inside.items():
        by_name[posixpath.basename(folder)].append((folder, _holds_tests(folder, names, manifests)))
    patterns: list[str] = []
    for name, folders in by_name.items():
        good = [folder for folder, fits in folders if fits]
        if len(good) > 1 and len(good) == len(folders):
            patterns.append(f"**/{name}/**")
        else:
            patterns += [f"{glob.escape(folder)}/**" for folder in good]
    return patterns


def _holds_tests(folder: str, names: Sequence[str], manifests: Set[str]) -> bool:
    parent, _, name = folder.rpartition("/")
    if name in _ALWAYS or (f"/{parent}".endswith("/src") and name == "test"):
        return True
    if name in _SURE and (not parent or parent in manifests):
        return True
    code = [one for one in names if _CODE.search(one) and one not in ("__init__.py", "conftest.py")]
    tests = [one for one in names if _TEST_NAME.match(one)]
    return bool(tests) and 2 * len(tests) >= len(code)


def added_links(split: Split) -> tuple[Change, ...]:
    """Changes whose new side is a symbolic link."""
    return tuple(
        one for one in (*split.tests, *split.reference) if one.new_mode & 0o170000 == 0o120000 != ABSENT
    )
