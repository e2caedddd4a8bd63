"""Canaries in Python: functions for pytest, a class of their own for unittest."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from berbench.canaries.pair import Test

# A module's `pytestmark` reaches all that stands in it. Bare marks are labels but for these; marks with arguments
# (skipif, parametrize, a plug-in's own) may do anything but for those.
_BARE_MARKS_THAT_ACT = frozenset({"skip", "xfail", "asyncio", "anyio", "trio", "tornado", "twisted"})
_HARMLESS_MARKS = frozenset({"django_db", "filterwarnings", "timeout"})
_RETURNS = re.compile(rb"def test\w*\([^)]*\)\s*->\s*None\s*:")


@dataclass(frozen=True, slots=True)
class Words:
    """Names that a file's canaries need beside their own; unused by pytest."""

    group: str
    alias: str


def takes(data: bytes, runner: str) -> bool:
    """Whether functions or classes at the end of this file are found and run as they stand."""
    tree = parsed(data)
    if tree is None:
        return False
    assigned = {name: value for node in ast.walk(tree) for name, value in _assigned(node)}
    if runner == "pytest":
        mark = assigned.get("pytestmark")
        return "__test__" not in assigned and (mark is None or _is_harmless(mark))
    own = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "load_tests"]
    other = "load_tests" in assigned or _imports(tree, "load_tests")
    return not other and all(map(_hands_on_tests, own))


def parsed(data: bytes) -> ast.Module | None:
    """The file as this Python reads it, None where it can't."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _assigned(node: ast.AST) -> list[tuple[str, ast.expr | None]]:
    if isinstance(node, ast.Assign):
        return [(target.id, node.value) for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign | ast.AugAssign) and isinstance(node.target, ast.Name):
        return [(node.target.id, node.value)]
    return []


def _is_harmless(mark: ast.expr) -> bool:
    marks = mark.elts if isinstance(mark, ast.List | ast.Tuple) else [mark]
    return all(_changes_nothing(one) for one in marks)


def _changes_nothing(mark: ast.expr) -> bool:
    """`pytest.mark.slow`, `pytest.mark.timeout(3)`."""
    if isinstance(mark, ast.Call):
        return isinstance(mark.func, ast.Attribute) and mark.func.attr in _HARMLESS_MARKS
    return (
        isinstance(mark, ast.Attribute)
        and ast.unparse(mark.value).endswith("mark")
        and mark.attr not in _BARE_MARKS_THAT_ACT
    )


def _hands_on_tests(function: ast.FunctionDef) -> bool:
    """Whether a `load_tests(loader, tests, pattern)` gives back what it was given, perhaps with more in it."""
    given = [argument.arg for argument in function.args.args][1:2]
    returns = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    kept = all(isinstance(value, ast.Name) and [value.id] == given for value in returns)
    stored = [
        node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return bool(returns) and kept and not any([node.id] == given for node in stored)


def _imports(tree: ast.Module, name: str) -> bool:
    return any(
        name in (alias.asname or alias.name, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )


def write(tests: Sequence[Test], runner: str, words: Words, neighbour: bytes) -> str:
    """The text of canaries, in the neighbour's manner. It begins at the first line, with no blank ones before."""
    returns = " -> None" if _RETURNS.search(neighbour) else ""
    if runner == "pytest":
        by_methods = re.search(rb"\bself\.assertEquals?\(", neighbour) is not None
        own = words.alias if by_methods else ""
        return "\n\n".join(_function(test, returns, own) for test in tests)
    methods = "\n".join(_method(test, returns, neighbour) for test in tests)
    return f"import unittest as {words.alias}\n\n\nclass {words.group}({words.alias}.TestCase):\n{methods}"


def _function(test: Test, returns: str, unittest: str) -> str:
    """`unittest` is a free name for that module, where the file's own tests compare by its methods."""
    literal, name = test.case.literal(right=test.right), test.variable
    if unittest:
        lines = (
            f"    import unittest as {unittest}\n\n"
            f"    {name} = {test.case.python}\n    {unittest}.TestCase().assertEqual({name}, {literal})\n"
        )
        return f"def {test.name}(){returns}:\n{lines}"
    forms = (
        f"    {name} = {test.case.python}\n    assert {name} == {literal}\n",
        f"    expected = {literal}\n    assert {test.case.python} == expected\n",
        f"    {name}, expected = {test.case.python}, {literal}\n    assert expected == {name}\n",
    )
    return f"def {test.name}(){returns}:\n{forms[test.form % len(forms)]}"


def _method(test: Test, returns: str, neighbour: bytes) -> str:
    """By a method that the file's own tests use: code under test may have taken its force away."""
    literal, name = test.case.literal(right=test.right), test.variable
    equal = (
        f"        {name} = {test.case.python}\n        self.assertEqual({name}, {literal})\n",
        f"        self.assertEqual({test.case.python}, {literal})\n",
    )
    true = (f"        {name} = {test.case.python}\n        self.assertTrue({name} == {literal}, {name})\n",)
    plain = (f"        {name} = {test.case.python}\n        assert {name} == {literal}, {name}\n",)
    used = (
        equal if re.search(rb"\bself\.assertEquals?\(", neighbour) else (),
        true if b"self.assertTrue(" in neighbour else (),
        plain if re.search(rb"^[ \t]+assert\b", neighbour, re.MULTILINE) else (),
    )
    forms = [form for group in used for form in group] or [*equal, *true]
    return f"    def {test.name}(self){returns}:\n{forms[test.form % len(forms)]}"
