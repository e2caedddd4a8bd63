"""Files that steer a test runner in a part: where that part is the base's own, the rest is the candidate's.

A file that can't be read, or gives a key twice (readers differ on which one counts), is not kept. JSON can be put
together again exactly, so there the base's steering part goes back into what the candidate wrote; in other formats
the file is dropped whole. docs/reference/protected.md shows `PARTLY`; a test compares them.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from berbench.candidates.mentions import mentions
from berbench.candidates.settings import Unreadable, cargo, go_mod, pyproject, setup_cfg

REST_KEPT = "the rest is kept"  # how the note of a file ends of which only a part was dropped


@dataclass(frozen=True, slots=True)
class Partly:
    """One kind of file. `part` gives what steers, {} for none; it raises Unreadable."""

    name: str
    steering: str  # for people
    part: Callable[[bytes], dict[str, Any]]
    steers: Callable[[str], bool] | None = None  # of a JSON object: whether a key steers, and can be put back


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a partly steering file: `data` None says all, as the candidate has it."""

    data: bytes | None = None
    note: str = ""  # what was put back


def _json(name: str, steering: str, keys: str) -> Partly:
    expression = re.compile(keys)

    def steers(key: str) -> bool:
        return expression.fullmatch(key) is not None

    return Partly(name, steering, lambda data: _steering_part(_object(data), steers), steers)


PARTLY: tuple[Partly, ...] = (
    Partly(
        "pyproject.toml",
        "`build-system`, `dependency-groups`, entry points, and every `tool` table that is not known to be harmless",
        pyproject,
    ),
    Partly("setup.cfg", "entry points, and every section that is not known to be harmless", setup_cfg),
    _json(
        "package.json",
        "`scripts`, development dependencies, overrides, workspaces, and the settings of runners and transforms",
        r"scripts|(?:jest|mocha|vitest|ava|tap|nyc|c8|karma|jasmine|qunit|cypress|playwright)(?:-.*)?|babel|swc|ts-node"
        r"|devDependencies|overrides|resolutions|pnpm|workspaces|packageManager|volta|config|nx|wireit|bun"
        r"|trustedDependencies|dependenciesMeta|installConfig|_moduleAliases",
    ),
    _json(
        "deno.json",
        "all but `name`, `version`, `license`, `exports`, `fmt`, `lint` and `publish`",
        r"(?!(?:name|version|license|exports|fmt|lint|publish)$)(?s:.*)",
    ),
    _json(
        "composer.json",
        "`scripts`, development requirements and autoloading, repositories, `config`, `extra`",
        r"scripts(?:-.*)?|require-dev|autoload-dev|repositories|config|extra",
    ),
    Partly(
        "Cargo.toml",
        "tests, benches, profiles, development dependencies, `patch`, `replace`, and whether a target is tested",
        cargo,
    ),
    Partly("go.mod", "`replace`, `toolchain`, `godebug`, `tool`, `exclude`, `ignore`", go_mod),
)

_BY_NAME = {one.name: one for one in PARTLY}


def partly_steering(path: str) -> Partly | None:
    """The kind of a partly steering file, None for any other."""
    return _BY_NAME.get(posixpath.basename(path))


def compare(kind: Partly, old: bytes | None, new: bytes | None) -> Kept | str:
    """What is kept of a change from `old` to `new` (None: no such file), or why nothing is: a clause on the file."""
    try:
        before = {} if old is None else kind.part(old)
        after = {} if new is None else kind.part(new)
        changed = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        if not changed:
            return Kept()
        what = ", ".join(changed)
        if new is not None and kind.steers and all(map(kind.steers, changed)):
            data = _put_back(kind.steers, old, new)
            if data is not None:
                return Kept(data, f"{what}: put back as in the base; {REST_KEPT}")
    except Unreadable as error:
        return f"can't be read for sure ({error}), and a part of it steers the tests"
    except RecursionError:
        return "is nested too deep to be read, and a part of it steers the tests"
    return f"steers the tests by {what}"


# --- JSON ---------------------------------------------------------------------------------------------------


def _object(data: bytes) -> dict[str, Any]:
    """A JSON object as strict readers take it."""
    try:
        document = json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=_once,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise Unreadable("no JSON") from error
    if not isinstance(document, dict):
        raise Unreadable("no JSON object")
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key twice")
    return document


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number out of range")
    return number


def _steering_part(document: dict[str, Any], steers: Callable[[str], bool]) -> dict[str, Any]:
    """The steering keys; and of the rest, where it puts something in a runner's place."""
    part = {key: _shape(value) for key, value in document.items() if steers(key)}
    rest = {key: value for key, value in document.items() if not steers(key)}
    return part | dict.fromkeys(mentions(rest), True)


def _shape(value: Any) -> str:
    """Equal for equal JSON: Python holds 1, 1.0 and true for the same, and the order of keys for nothing."""
    return json.dumps(value)


def _put_back(steers: Callable[[str], bool], old: bytes | None, new: bytes) -> bytes | None:
    """The new document with the old one's steering keys, where they stood; None when nothing else differs."""
    before = {} if old is None else _object(old)
    after = {key: value for key, value in _object(new).items() if not steers(key) or key in before}
    merged = after | {key: value for key, value in before.items() if steers(key)}
    if {key: _shape(value) for key, value in merged.items()} == {
        key: _shape(value) for key, value in before.items()
    }:
        return None
    indent = re.match(rb"(?:\xef\xbb\xbf)?\s*\{\r?\n([ \t]+)", new)
    text = json.dumps(merged, indent=indent[1].decode() if indent else None)
    return text.encode("ascii") + b"\n"
