"""Twins: hidden tests once more, with another expected value, so that they must fail whatever the code does.

An ordinary canary asks the code under test nothing. So it can't see a result that claims to be equal to anything, nor
outcomes that are turned for those tests alone that call the candidate. A twin makes the same calls as its original,
and expects a value that nobody could know.

Only for Python, whose tests can be read for sure: plain functions and methods without decorators, that end in a
comparison and have nothing before it that could leave early. All that the original does, its twin does too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from berbench.canaries.choices import Choices
from berbench.canaries.python import parsed
from berbench.canaries.words import NOUNS

_EARLY = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)
_ENDS = frozenset({"skip", "skipTest", "xfail", "fail", "exit", "importorskip", "skipif"})


@dataclass(frozen=True, slots=True)
class Place:
    """A test function and the literal in it that a twin has otherwise."""

    function: ast.FunctionDef
    literal: ast.expr
    value: object


def places(data: bytes, runner: str) -> tuple[Place, ...]:
    """Tests of a file that can have a twin."""
    tree = parsed(data)
    if (
        tree is None or b"\f" in data or b"\r" in data or not _is_utf8(data)
    ):  # lines are counted otherwise there
        return ()
    found = []
    for function in _tests(tree, runner):
        compared = _compared(function)
        if compared is not None:
            found.append(Place(function, *compared))
    return tuple(found)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not data.startswith(b"\xef\xbb\xbf") and b"coding" not in b"\n".join(data.split(b"\n")[:2])


def _tests(tree: ast.Module, runner: str) -> Iterator[ast.FunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and runner == "pytest" and _is_plain(node, own=0):
            yield node
        if isinstance(node, ast.ClassDef) and not node.decorator_list:
            yield from (
                one for one in node.body if isinstance(one, ast.FunctionDef) and _is_plain(one, own=1)
            )


def _is_plain(function: ast.FunctionDef, *, own: int) -> bool:
    """`own`: how many arguments it has anyway. Fixtures may multiply a test."""
    arguments = function.args
    more = arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg
    named = function.name.startswith("test_")
    return named and not function.decorator_list and not more and len(arguments.args) == own


def _compared(function: ast.FunctionDef) -> tuple[ast.expr, object] | None:
    """The literal of the comparison at the end, if that is always come to."""
    *before, last = function.body
    sides = _sides(last)
    return None if sides is None or any(map(_may_leave, before)) else _literal(*sides)


def _may_leave(statement: ast.stmt) -> bool:
    for node in ast.walk(statement):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if isinstance(node, _EARLY) or name in _ENDS:
            return True
    return False


def _sides(statement: ast.stmt) -> tuple[ast.expr, ast.expr] | None:
    """Both sides of `assert a == b` and of `self.assertEqual(a, b)`."""
    match statement:
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
            return left, right
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id="self"), attr="assertEqual"), args=[left, right, *_]
            )
        ):
            return left, right
    return None


def _literal(left: ast.expr, right: ast.expr) -> tuple[ast.expr, object] | None:
    for computed, literal in ((left, right), (right, left)):
        value = _value(literal)
        if value is not None and _value(computed) is None and _asks(computed):
            return literal, value
    return None


def _value(node: ast.expr) -> object:
    """What a literal stands for, None where it is none, or one of few possible values."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    known = isinstance(value, int | float | str | bytes | list | tuple | dict) and not isinstance(value, bool)
    return value if known else None


def _asks(node: ast.expr) -> bool:
    return any(isinstance(one, ast.Call | ast.Name) for one in ast.walk(node))


def write(data: bytes, place: Place, name: str, choices: Choices, *, failing: bool) -> bytes:
    """The file with a twin of that name right behind its original; without `failing` it is a mere copy."""
    lines = data.decode("utf-8").split("\n")
    function = place.function
    assert function.end_lineno is not None
    copied = [line.encode() for line in lines[function.lineno - 1 : function.end_lineno]]
    if failing:
        _replace(copied, place, function.lineno, _other(place.value, choices, name).encode())
    copied[0] = copied[0].replace(f"def {function.name}".encode(), f"def {name}".encode(), 1)
    blank = [""] * (1 if function.col_offset else 2)
    twin = [line.decode() for line in copied]
    return "\n".join((*lines[: function.end_lineno], *blank, *twin, *lines[function.end_lineno :])).encode()


def _replace(lines: list[bytes], place: Place, first: int, text: bytes) -> None:
    literal = place.literal
    assert literal.end_lineno is not None and literal.end_col_offset is not None
    start, end = literal.lineno - first, literal.end_lineno - first
    rest = lines[end][literal.end_col_offset :]
    lines[start] = lines[start][: literal.col_offset] + text + rest
    del lines[start + 1 : end + 1]


def _other(value: object, choices: Choices, label: str) -> str:
    """A literal of the same type that no code could give, but by chance in millions."""
    number = choices.number(f"{label}.twin", 9_000_000_000) + 1_000_000_000
    word = "-".join(choices.pick(f"{label}.twin{n}", NOUNS) for n in range(5))
    match value:
        case int():
            return str(number)
        case float():
            return f"{number}.5"
        case str():
            return repr(word)
        case bytes():
            return repr(word.encode())
        case list():
            return f"[{number}]" if all(isinstance(one, int | float) for one in value) else f"[{word!r}]"
        case tuple():
            return f"({word!r}, {number})"
    return f"{{{word!r}: {number}}}"
