"""Canaries in JavaScript and TypeScript, in the manner of the file they go into or stand beside.

They call what the file itself calls: a global, or a function imported from the runner. Where neither can be told
for sure, they import the runner's function themselves, and where that can't be done either, none is planted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from berbench.canaries.compare import VALUE, WANTED, Comparison, by_library, by_matchers, import_line
from berbench.canaries.pair import Test
from berbench.canaries.scanner import Binding, bindings, calls, code_of, has_only, is_bound, is_module

_MODULES = {"jest": "@jest/globals", "vitest": "vitest", "mocha": "mocha", "node": "node:test"}
_TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts")


@dataclass(frozen=True, slots=True)
class Style:
    """How a file writes its tests. `call` is its test function, `comparison` None where it compares in no known way."""

    call: str
    head: str  # what a file of its own begins with
    tail: str  # what a file of its own ends with
    own_import: str  # what must stand before canaries inside the file, "" when `call` is at hand
    comparison: Comparison | None
    quote: str
    indent: str
    end: str  # ";" or ""
    only: bool  # the file picks single tests out
    inside: bool  # whether canaries may stand in it


def read(path: str, data: bytes, runner: str, alias: str) -> Style | None:
    """The style of a test file; None where tests beside it can't be written for sure. `alias` is a free name."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if "\0" in text:
        return None
    code = code_of(text)
    if code is None:
        return _unread(path, text, runner)
    bound = bindings(text, code)
    esm = is_module(path, code)
    function = _from_runner(bound, runner) or _global(code, runner)
    expect = _expect(code, bound, runner)
    comparison = by_matchers(code, expect) if expect else by_library(code, bound)
    if function is None:
        style = _imported(path, code, text, runner, alias)
        return _comparing(style, None if expect else comparison) if style else None
    call, binding = function
    needed = [binding] if binding else []
    needed += [one for one in bound if expect and one.local == expect and one.module == _MODULES[runner]][:1]
    style = _plain(path, code, text, esm, has_head=bool(needed))
    head = style.head + (_import_line(needed, runner, style) if needed else "")
    return _comparing(replace(style, call=call, head=head), comparison)


def _comparing(style: Style, comparison: Comparison | None) -> Style:
    """The style with what its file compares by; a file of its own imports that first."""
    head = style.head
    if comparison and comparison.binding:
        imports = "require(" in head or "import " in head
        line = import_line(comparison.binding, style.quote, style.end)
        head = f"{head[:-1] if imports else head}{line}\n"
    return replace(style, head=head, comparison=comparison)


def _plain(path: str, code: str, text: str, esm: bool | None, *, has_head: bool) -> Style:
    """All but the functions. A TypeScript file without imports would be no module."""
    module = path.endswith(_TYPESCRIPT) and esm is True and not has_head
    semicolon = ";" if len(re.findall(r";[ \t]*$", code, re.MULTILINE)) * 4 > code.count("\n") else ""
    indent = re.search(r"^([ \t]+)\S", code, re.MULTILINE)
    return Style(
        call="",
        head=_strict(text),
        tail=f"\nexport {{}}{semicolon}\n" if module else "",
        own_import="",
        comparison=None,
        quote='"' if code.count('"') > code.count("'") else "'",
        indent=indent[1][:4] if indent else "  ",
        end=semicolon,
        only=has_only(code),
        inside=re.search(r"(?<![\w$])hasAssertions\b", code) is None,
    )


def _unread(path: str, text: str, runner: str) -> Style | None:
    """A file that could not be read through: beside it, what needs no knowledge of it."""
    if runner not in ("jest", "vitest"):
        return None
    head = "import { test } from 'vitest';\n\n" if runner == "vitest" else ""
    style = _plain(path, "", "", True, has_head=runner == "vitest")
    return replace(style, call="test", head=head, end=";", only=has_only(text), inside=False)


def _strict(text: str) -> str:
    found = re.match(r"""\s*(['"])use strict\1(;?)""", text)
    return f"{found[1]}use strict{found[1]}{found[2]}\n\n" if found else ""


def _from_runner(bound: Sequence[Binding], runner: str) -> tuple[str, Binding] | None:
    """A test function that the file has from its runner, and the name it has there."""
    names = ("test", "it", "specify") + (("default",) if runner == "node" else ())
    for binding in bound:
        if binding.module == _MODULES[runner] and binding.imported in names:
            return binding.local, binding
    for binding in bound:  # `const test = require('node:test')` is the function itself
        if runner == "node" and binding.module == "node:test" and binding.imported == "*" and not binding.esm:
            return binding.local, binding
    return None


def _global(code: str, runner: str) -> tuple[str, None] | None:
    """A global test function that is there for sure: the one the file calls most, if it does not bind it itself.

    jest has both, whatever a file does; vitest has them where a file's outermost calls need them; mocha's depend on
    its interface, which is BDD unless the file speaks TDD.
    """
    free = [name for name in ("test", "it") if not is_bound(code, name)]
    free.sort(key=lambda name: -calls(code, name))
    outer = ("test", "it", "describe")
    if runner == "jest" and free:
        return free[0], None
    if (
        runner == "vitest"
        and free
        and any(calls(code, n, outermost=True) and not is_bound(code, n) for n in outer)
    ):
        return free[0], None
    if runner != "mocha":
        return None
    if calls(code, "suite") and not is_bound(code, "suite"):
        return ("test", None) if "test" in free and calls(code, "test") else None
    return ("it" if "it" in free else "specify"), None


def _expect(code: str, bound: Sequence[Binding], runner: str) -> str:
    """`expect` of jest and vitest, where the file uses it and has it from nowhere else."""
    if runner not in ("jest", "vitest") or not calls(code, "expect"):
        return ""
    ours = any(one.local == "expect" == one.imported and one.module == _MODULES[runner] for one in bound)
    return "expect" if ours or not is_bound(code, "expect") else ""


def _import_line(needed: Sequence[Binding], runner: str, style: Style) -> str:
    """One line for all; the default export of Node's runner is its `test`."""
    names = []
    for binding in sorted(needed, key=lambda one: one.local):
        imported = "test" if binding.imported in ("default", "*") else binding.imported
        renamed = f" as {binding.local}" if needed[0].esm else f": {binding.local}"
        names.append(imported if imported == binding.local else imported + renamed)
    module = f"{style.quote}{_MODULES[runner]}{style.quote}"
    if needed[0].esm:
        return f"import {{ {', '.join(names)} }} from {module}{style.end}\n\n"
    return f"const {{ {', '.join(names)} }} = require({module}){style.end}\n\n"


def _imported(path: str, code: str, text: str, runner: str, alias: str) -> Style | None:
    """The runner's function by an import of our own; mocha's global names depend on its interface."""
    esm = is_module(path, code)
    if runner == "mocha" or esm is None or (runner == "vitest" and not esm):
        return None
    style = _plain(path, code, text, esm, has_head=True)
    line = _import_line([Binding(alias, "test", _MODULES[runner], esm)], runner, style)
    return replace(style, call=alias, head=style.head + line, own_import=line)


def write(tests: Sequence[Test], style: Style) -> str:
    """The text of canaries. It begins at the first line, with no blank ones before."""
    return "\n".join(_call(test, style) for test in tests)


def _call(test: Test, style: Style) -> str:
    quote, end, indent = style.quote, style.end, style.indent
    literal, name = test.case.literal(right=test.right, quote=quote), test.variable
    value = test.case.script if quote == '"' else test.case.script.replace('"', quote)
    if style.comparison:
        patterns = style.comparison.patterns
        call = patterns[test.form % len(patterns)].replace(VALUE, name).replace(WANTED, literal)
        lines = [f"const {name} = {value}{end}", f"{call}{end}"]
    else:
        said = (f"unexpected {name}: ", f"wrong {name} ", f"{name} was ")[test.form % 3]
        lines = [
            f"const {name} = {value}{end}",
            f"if ({name} !== {literal}) {{",
            f"{indent}throw new Error({quote}{said}{quote} + {name}){end}",
            "}",
        ]
    body = "\n".join(f"{indent}{line}" for line in lines)
    return f"{style.call}({quote}{test.name}{quote}, () => {{\n{body}\n}}){end}\n"
