"""Where a settings document puts something in a runner's place: its name, with what is no plain version.

`"jest": "file:./mine"` among dependencies, `"pytest @ ./mine"`, or a script named `pytest`, takes the runner's place
as soon as a set-up line installs it. `"jest": "^29"` is the runner itself, and no mention.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from berbench.candidates.shadows import LOADED_BY_TESTS
from berbench.candidates.wordset import word_set
from berbench.runners.recognise import PROGRAMS

_PACKAGES = word_set(
    """
    @jest/core @jest/globals @jest/expect jest-cli jest-circus jest-jasmine2 jest-runner expect babel-jest
    ts-jest @swc/jest @babel/core @vitest/runner @vitest/expect vite vite-node chai sinon should power-assert
    assert supertest ts-node tsx esbuild-register c8 nyc karma jasmine jasmine-core tap-parser uvu libtap
    tapjs qunitjs proxyquire rewire nock jsdom happy-dom @testing-library/jest-dom unittest python python3
    node npm npx yarn pnpm phpunit/phpunit pestphp/pest mockery/mockery
    """
)
_NAMES = LOADED_BY_TESTS | _PACKAGES | PROGRAMS.keys()
_LEADING = re.compile(r"\s*(@?[\w.-]+(?:/[\w.-]+)?)\s*(?:\[[^\]]*\]\s*)?")
_VERSION = re.compile(r"\s*(?:[\^~<>=!(]|v?\d|[*x]\s*$|latest$|next$|$)(?!.*[:/])", re.DOTALL)
_SHOWN = 200  # characters of a place; a document may be nested without end
_NAMING = frozenset(["name", "include"])


def mentions(document: Any) -> Iterator[str]:
    """Places, with what stands there, where a runner's name is given something else to mean."""
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        where, value = waiting.pop()
        if isinstance(value, dict):
            for key, inner in value.items():
                named = key in _NAMING and isinstance(inner, str) and _is_runner(inner)
                if named or (where and _is_runner(key) and not _is_version(inner)):
                    yield f"{where}.{key} = {inner!r}".lstrip(".")
                waiting.append((f"{where}.{key}".lstrip(".")[-_SHOWN:], inner))
        elif isinstance(value, list):
            waiting += [(where, inner) for inner in value]
        elif isinstance(value, str):
            found = _LEADING.match(value)
            if found and _is_runner(found[1]) and value[found.end() :].lstrip().startswith("@"):
                yield f"{where} = {value!r}"


def _is_version(value: Any) -> bool:
    if isinstance(value, dict):  # poetry: {version = "^8", extras = […]}
        return not value.keys() & {"path", "url", "git", "file"}
    return isinstance(value, str) and _VERSION.match(value) is not None


def _is_runner(text: str) -> bool:
    name = text.strip().lower()
    return name in _NAMES or name.replace("-", "_") in _NAMES
