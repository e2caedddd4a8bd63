"""What a candidate wrote, and hidden test files as they are given canaries."""

from __future__ import annotations

import ast
import warnings

from berbench.canaries import plant
from berbench.candidates.commands import read_commands
from berbench.candidates.loads import read_loads
from berbench.candidates.partly import PARTLY, Kept, compare
from berbench.candidates.settings import Unreadable
from berbench.model.changes import REGULAR, FileEntry
from berbench.runners.shell import parse

_CUT = b"\n%%%%\n"
_BASE = ("Makefile", "package.json", "run.sh", "a/b.py", "tests/test_a.py", "conftest.py")
_SETTINGS = ("jest.config.js", "package.json", "conftest.py", "pytest.ini", "phpunit.xml", "a/b.py", "b.js")
_PATHS = {
    "pytest": "tests/test_a.py",
    "unittest": "tests/test_a.py",
    "go": "a/b_test.go",
    "jest": "test/a.test.js",
    "vitest": "test/a.test.ts",
    "mocha": "test/a.js",
    "node": "test/a.test.mjs",
}
_COMMANDS = (
    "pytest tests/test_a.py",
    "python -m unittest tests.test_a",
    "go test ./a",
    "npx jest test/a.test.js",
    "npx vitest run test/a.test.ts",
    "npx mocha test/a.js",
    "node --test test/a.test.mjs",
)


def check_candidates(data: bytes) -> None:
    """Where a part of a file is put back, it is the base's part again; what can't be read is not kept."""
    old, _, new = data[: 1 << 15].partition(_CUT)
    for kind in PARTLY:
        kept = compare(kind, old, new)
        if not isinstance(kept, Kept):
            continue
        result = new if kept.data is None else kept.data
        try:
            before = kind.part(old)
        except Unreadable:
            raise AssertionError(f"{kind.name}: kept, though the base's can't be read") from None
        assert kind.part(result) == before, f"{kind.name}: another part steers"
        compare(kind, None, new)
        compare(kind, old, None)
    assert read_loads(_SETTINGS, lambda path: new) <= set(_SETTINGS)
    read_commands(
        [old.decode("utf-8", "surrogateescape")], _BASE, lambda path: new if path in _BASE else None
    )


def check_canaries(data: bytes) -> None:
    """What is planted leaves the hidden test's own bytes where they were, and Python stays Python."""
    command, _, test = data[: 1 << 14].partition(_CUT)  # it is read a dozen times
    line = command.decode("utf-8", "surrogateescape")
    for path, usual in zip(_PATHS.values(), _COMMANDS, strict=True):
        for asked in (usual, line):
            made = plant(asked, {path: FileEntry(path, REGULAR, test)}, seed="0123456789abcdef" * 4)
            if made is None:
                continue
            assert parse(made.command).sure
            assert len({canary.name for canary in made.canaries}) == len(made.canaries)
            for entry in made.writes:
                if entry.path == path:
                    assert entry.data.startswith(test.rstrip()[:1]) and len(entry.data) > len(test)
                if entry.path.endswith(".py"):
                    _parses(entry.data)


def _parses(data: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(data)
