"""Files that the base's own runner settings name as to be loaded with the tests: set-up files, environments, plug-ins.

Settings are read as text and never run, so only what stands there literally is found; a file that is computed, or
that a set-up file loads in its turn, is not.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator

from berbench.candidates.commands import Read, modules_named

_JAVASCRIPT = re.compile(
    r"(?s:(?:.*/)?(?:jest[.-]config[^/]*|vitest\.(?:config|workspace)[^/]*|vite\.config[^/]*|\.mocharc[^/]*|package\.json))"
)
_PYTHON = re.compile(
    r"(?s:(?:.*/)?(?:conftest\.py|\.?pytest\.(?:ini|toml)|tox\.ini|setup\.cfg|pyproject\.toml))"
)
_PHP = re.compile(r"(?s:(?:.*/)?phpunit(?:\.dist)?\.xml[^/]*)")

_LOADS = re.compile(
    r"""\b(?:setupFiles(?:AfterEnv)?|globalSetup|globalTeardown|testEnvironment|environment|testRunner|runner|resolver"""
    r"""|reporters?|transform|snapshotSerializers|preset|require|file)["']?[ \t]*[:=]\s*"""
    r"""(\[[^\]]{0,2000}\]|\{[^}]{0,2000}\}|"[^"\n]*"|'[^'\n]*'|(?:[ \t]*-[ \t]*[^\n]+\n?){1,50}|[^\s,;]+)"""
)
_QUOTED = re.compile(r"""["'`]([^"'`\n]+)["'`]""")
_ITEM = re.compile(r"^[ \t]*-[ \t]*([^\s#]+)", re.MULTILINE)
_PLUGINS = re.compile(r"\bpytest_plugins\s*(?::[^=\n]*)?=\s*(\[[^\]]{0,5000}\]|\([^)]{0,5000}\)|[^\n]*)")
_ADDOPTS = re.compile(r"\baddopts[\"']?\s*=\s*((?:[^\n]*)(?:\n[ \t]+[^\n]*)*)")
_BOOTSTRAP = re.compile(r"""\bbootstrap\s*=\s*["']([^"'\n]+)["']""")
_ENDS = ("", ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx", "/index.js", "/index.ts")
_LONGEST = 1 << 18  # characters of a settings file that are read


def settings_in(base: Iterable[str]) -> list[str]:
    """The files of a tree that `read_loads` reads."""
    kinds = (_JAVASCRIPT, _PYTHON, _PHP)
    outside = (path for path in base if "node_modules/" not in path)
    return [path for path in outside if any(kind.fullmatch(path) for kind in kinds)]


def read_loads(base: Collection[str], read: Read) -> frozenset[str]:
    """Files of the base that its settings name. `base` are all its paths."""
    found: set[str] = set()
    for path in settings_in(base):
        text = (read(path) or b"").decode("utf-8", "replace")[:_LONGEST]
        folder, name_of_file = posixpath.split(path)
        if name_of_file == "package.json":
            text = _runners_part(text)
        if _JAVASCRIPT.fullmatch(path):
            found |= {
                place + end for name in _loaded(text) for place in _places(folder, name) for end in _ENDS
            }
        elif _PHP.fullmatch(path):
            found |= {place for name in _BOOTSTRAP.findall(text) for place in _places(folder, name)}
        else:
            stems = (name.replace(".", "/") for name in _plugins(text))
            found |= {
                place + end
                for stem in stems
                for top in (folder, "", "src")
                for place in _places(top, stem)
                for end in (".py", "/__init__.py")
            }
    return frozenset(found & set(base))


def _runners_part(text: str) -> str:
    """What runners read of package.json: elsewhere in it, `require` and `file` mean the product."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    part = document if isinstance(document, dict) else {}
    return json.dumps({key: part[key] for key in ("jest", "mocha", "ava", "tap", "nyc", "c8") if key in part})


def _loaded(text: str) -> Iterator[str]:
    for value in _LOADS.findall(text):
        names = _QUOTED.findall(value) or _ITEM.findall(value) or [value]
        yield from (re.sub(r"^<rootDir>/", "./", name.strip()) for name in names)


def _plugins(text: str) -> Iterator[str]:
    for value in _PLUGINS.findall(text):
        yield from _QUOTED.findall(value)
    for value in _ADDOPTS.findall(text):
        yield from modules_named(["pytest", *re.sub(r"[\"',\[\]]", " ", value).split()])


def _places(folder: str, name: str) -> Iterator[str]:
    """A name as a path, beside the settings or from the top."""
    for start in {folder, ""}:
        path = posixpath.normpath(posixpath.join(start, name))
        if path != "." and not path.startswith(("..", "/")):
            yield path
