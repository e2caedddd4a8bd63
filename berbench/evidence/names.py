"""Test names and the files behind them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from posixpath import basename, dirname, splitext

# Parts of a name that differ from run to run: addresses, temporary paths, durations, times, long random ids.
_UNSTABLE = re.compile(
    r"""
    0x[0-9a-fA-F]{6,}
    | (?:/private)?/(?:tmp|var/folders|var/tmp|dev/shm)/\S+
    | pytest-of-\w+
    | \(\s*\d+(?:\.\d+)?\s*m?s\s*\)
    | \b\d+\.\d{2,}\s*m?s\b
    | \b\d{4}-\d\d-\d\d[T ]\d\d:\d\d
    | \b\d\d:\d\d:\d\d\b
    | \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b
    """,
    re.VERBOSE,
)
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d(?!\d)")
_TIME = re.compile(r"(?<!\d)([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(?!\d)")
_A_DAY = timedelta(days=1)
_AROUND = timedelta(hours=1)  # a trial may be long, and the report is written at its end
_SCRIPT = frozenset({".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"})
_JVM = frozenset({".java", ".kt", ".groovy", ".scala"})


def unstable(test_id: str) -> bool:
    """Whether a name holds a part that differs from run to run, so that two trials can't be matched by it."""
    return _UNSTABLE.search(test_id) is not None


def tells_now(test_id: str, at: datetime, within: timedelta = _AROUND) -> bool:
    """Whether a name holds the day or the time of day that it was at `at`: two runs in one second share it."""
    for found in _DAY.finditer(test_id):
        if found[0] in {(at + shift).strftime("%Y-%m-%d") for shift in (-_A_DAY, timedelta(), _A_DAY)}:
            return True
    for found in _TIME.finditer(test_id):
        hours, minutes, seconds = int(found[1]), int(found[2]), int(found[3] or 0)
        told = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        apart = abs(told - timedelta(hours=at.hour, minutes=at.minute, seconds=at.second))
        if min(apart, _A_DAY - apart) <= within:
            return True
    return False


def is_test_file(path: str) -> bool:
    """Whether a path looks like a file of tests by the habits of its language, not a helper or data."""
    name = basename(path)
    stem, extension = splitext(name)
    folders = dirname(path).split("/")
    if extension == ".py":
        named = stem.startswith("test") or stem.endswith(("_test", "_tests", "_spec"))
        return (named and name != "testing.py") or name == "tests.py"
    if extension in _SCRIPT:
        if re.search(r"[.\-_](?:test|spec|e2e|it)$", stem) or stem in ("test", "tests", "spec"):
            return True
        return "__tests__" in folders and not {"__mocks__", "__fixtures__", "fixtures"} & set(folders)
    if extension == ".go":
        return stem.endswith("_test")
    if extension == ".rs":
        return "tests" in folders or stem in ("tests", "test") or stem.endswith(("_test", "_tests"))
    if extension in _JVM:
        return re.search(r"(?:Tests?|TestCase|IT|Spec)$|^Test[A-Z]", stem) is not None
    if extension == ".php":
        return stem.endswith("Test")
    return extension == ".rb" and stem.endswith(("_spec", "_test"))


def is_script(path: str) -> bool:
    """Whether a word is the name of a JavaScript or TypeScript file."""
    return splitext(path)[1] in _SCRIPT


def names_file(seen: str, path: str) -> bool:
    """Whether a result's file means this repository path.

    Reports name files relative to a package's folder, by absolute path, by class name without extension (Java)
    or by import path (Go), so the shorter of the two must end the longer, at a folder's boundary.
    """
    seen = seen.removeprefix("./")
    if path.endswith(".go") and not seen.endswith(".go"):
        folder = dirname(path)
        return folder == "" or _ends(seen, folder) or _ends(folder, seen)
    if splitext(path)[1] in _JVM and splitext(basename(seen))[1] not in _JVM:
        return _ends(splitext(path)[0], seen)
    if path.endswith(".rs"):  # a test target is a file, or a folder of modules
        target = seen.removesuffix(".rs").removesuffix("/main")
        if f"/{target}/" in f"/{path}":
            return True
    return _ends(path, seen) or _ends(seen, path)


def beside(seen: str, path: str) -> bool:
    """Whether a result's file lies near this path of a helper or data: below its folder, or below one that holds it."""
    folder = dirname(seen) if splitext(seen)[1] else seen  # Go and Java name packages and classes
    above = dirname(path)
    while above:
        if f"/{above}/" in f"/{folder}/":
            return True
        above = dirname(above)
    return "/" not in path


def _ends(longer: str, shorter: str) -> bool:
    return longer == shorter or (shorter != "" and longer.endswith(f"/{shorter}"))
