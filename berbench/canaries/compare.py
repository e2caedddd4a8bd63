"""The functions that a script compares with: its own canaries use them too.

Code under test may replace an assertion by one that never fails (`assert.strictEqual = () => {}`). A canary that
throws by itself would fail all the same and see nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from berbench.canaries.scanner import Binding

VALUE, WANTED = "\0value", "\0wanted"  # stand for the two sides in a pattern

_NODE = frozenset({"assert", "node:assert", "assert/strict", "node:assert/strict"})
# All of them take two equal words or numbers for equal, and no others.
_EQUAL = ("strictEqual", "equal", "deepStrictEqual", "deepEqual")
_MATCHERS = ("toBe", "toEqual", "toStrictEqual")
_TO_EQUAL = ("equal", "eql", "eq", "deep.equal")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Patterns of a call, and what gives its function: a file of its own must import that as well."""

    patterns: tuple[str, ...]
    binding: Binding | None = None


def by_matchers(code: str, expect: str) -> Comparison:
    """By `expect` of jest and vitest, with the matchers that the file uses."""
    used = [name for name in _MATCHERS if re.search(rf"\.\s*{name}\s*\(", code)]
    return Comparison(tuple(f"{expect}({VALUE}).{name}({WANTED})" for name in used or _MATCHERS[:2]))


def by_library(code: str, bound: Sequence[Binding]) -> Comparison | None:
    """By Node's `assert` or by chai, the first of them that the file imports and uses."""
    for binding in bound:
        patterns = _patterns(code, binding)
        if patterns:
            return Comparison(patterns, binding)
    return None


def _patterns(code: str, binding: Binding) -> tuple[str, ...]:
    name, imported = binding.local, binding.imported
    if binding.module in _NODE:
        if imported in ("*", "default", "strict"):
            return _of_assert(code, name)
        called = imported in _EQUAL and _calls(code, name)
        return (f"{name}({VALUE}, {WANTED})",) if called else ()
    if binding.module != "chai":
        return ()
    if imported == "assert":
        return _of_assert(code, name)
    if imported == "expect" and _calls(code, name):
        return _of_expect(code, name)
    if imported in ("*", "default"):
        return _of_assert(code, f"{name}.assert") or (
            _of_expect(code, f"{name}.expect") if _calls(code, f"{name}.expect") else ()
        )
    return ()


def _of_assert(code: str, name: str) -> tuple[str, ...]:
    used = [method for method in _EQUAL if _calls(code, f"{name}.{method}")]
    if used:
        return tuple(f"{name}.{method}({VALUE}, {WANTED})" for method in used)
    truths = [truth for truth in (name, f"{name}.ok") if _calls(code, truth)]
    return tuple(f"{truth}({VALUE} === {WANTED})" for truth in truths)


def _of_expect(code: str, name: str) -> tuple[str, ...]:
    used = [chain for chain in _TO_EQUAL if re.search(rf"\.\s*{re.escape(chain)}\s*\(", code)]
    return tuple(f"{name}({VALUE}).to.{chain}({WANTED})" for chain in used or _TO_EQUAL[:1])


def _calls(code: str, name: str) -> bool:
    path = r"\s*\.\s*".join(map(re.escape, name.split(".")))
    return re.search(rf"(?<![\w$.]){path}\s*\(", code) is not None


def import_line(binding: Binding, quote: str, end: str) -> str:
    """The line by which a file of its own has the same name."""
    local, imported = binding.local, binding.imported
    module = f"{quote}{binding.module}{quote}"
    if not binding.esm:
        named = local if imported == "*" else f"{{ {_renamed(imported, local, ': ')} }}"
        return f"const {named} = require({module}){end}\n"
    if imported == "*":
        return f"import * as {local} from {module}{end}\n"
    named = local if imported == "default" else f"{{ {_renamed(imported, local, ' as ')} }}"
    return f"import {named} from {module}{end}\n"


def _renamed(imported: str, local: str, by: str) -> str:
    return local if imported == local else f"{imported}{by}{local}"
