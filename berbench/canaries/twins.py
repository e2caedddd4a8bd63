"""Twins: hidden tests once more, with another expected value, so that they must fail whatever the code does.

An ordinary canary asks the code under test nothing. So it can't see a result that claims to be equal to anything, nor
outcomes that are turned for those tests alone that call the candidate. There are two kinds of twins:

- One that runs again makes the same calls as its original, and expects a value that nobody could know. It costs what
  its original costs.
- One that looks again makes no call: its original keeps the value that it compares, and the twin compares that value
  with another one. It costs nothing. Where its original did not come so far before it, it fails as well.

Only for Python, whose tests can be read for sure: plain functions and methods without decorators, that end in a
comparison and have nothing before it that could leave early. All that the original does, its twin does too.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from berbench.canaries.choices import Choices
from berbench.canaries.python import parsed
from berbench.canaries.words import NOUNS
from berbench.model.changes import FileEntry
from berbench.model.trial import TestResult

_MOST_AGAIN = 3  # of a file, one of which is picked
_SHARE = 0.1  # of a run, for all twins that run again
_UNNOTICED_S = 0.05

_EARLY = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)
_ENDS = frozenset({"skip", "skipTest", "xfail", "fail", "exit", "importorskip", "skipif"})


@dataclass(frozen=True, slots=True)
class Place:
    """A test function, and both sides of the comparison at its end. `value` is what `literal` stands for."""

    function: ast.FunctionDef
    owner: str  # the class that a method stands in, or ""
    computed: ast.expr
    literal: ast.expr
    value: object
    alone: bool  # whether a statement can be written right above the comparison
    open: bool  # whether one can be written above all others

    @property
    def name(self) -> str:
        """`test_a`, `TestA.test_a`."""
        return f"{self.owner}.{self.function.name}" if self.owner else self.function.name

    @property
    def keeper(self) -> str:
        """Where the test writes what its twin reads."""
        return "type(self)" if self.owner else self.function.name

    @property
    def home(self) -> str:
        """Where its twin reads that."""
        return "self" if self.owner else self.function.name


def places(data: bytes, runner: str) -> tuple[Place, ...]:
    """Tests of a file that can have a twin."""
    tree = parsed(data)
    if (
        tree is None or b"\f" in data or b"\r" in data or not _is_utf8(data)
    ):  # lines are counted otherwise there
        return ()
    lines = data.split(b"\n")
    found = []
    for owner, function in _tests(tree, runner):
        compared = _compared(function)
        if compared is not None:
            alone, is_open = (_is_alone(function.body[at], lines) for at in (-1, 0))
            found.append(Place(function, owner, *compared, alone=alone, open=is_open))
    return tuple(found)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not data.startswith(b"\xef\xbb\xbf") and b"coding" not in b"\n".join(data.split(b"\n")[:2])


def _is_alone(last: ast.stmt, lines: list[bytes]) -> bool:
    """Whether a statement begins its line, which continues none."""
    continues = last.lineno > 1 and lines[last.lineno - 2].rstrip().endswith(b"\\")
    return not lines[last.lineno - 1][: last.col_offset].strip() and not continues


def _tests(tree: ast.Module, runner: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and runner == "pytest" and _is_plain(node, own=0):
            yield "", node
        if isinstance(node, ast.ClassDef) and not node.decorator_list:
            yield from (
                (node.name, one)
                for one in node.body
                if isinstance(one, ast.FunctionDef) and _is_plain(one, own=1)
            )


def _is_plain(function: ast.FunctionDef, *, own: int) -> bool:
    """`own`: how many arguments it has anyway. Fixtures may multiply a test."""
    arguments = function.args
    more = arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg
    named = function.name.startswith("test_")
    return named and not function.decorator_list and not more and len(arguments.args) == own


def _compared(function: ast.FunctionDef) -> tuple[ast.expr, ast.expr, object] | None:
    """The comparison at the end, if that is always come to: what is computed, the literal, its value."""
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


def _literal(left: ast.expr, right: ast.expr) -> tuple[ast.expr, ast.expr, object] | None:
    for computed, literal in ((left, right), (right, left)):
        value = _value(literal)
        if value is not None and _value(computed) is None and _asks(computed):
            return computed, literal, value
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


def affordable(
    hidden: Mapping[str, FileEntry], results: Sequence[TestResult], runner: str, seconds: float
) -> tuple[str, ...]:
    """`path::TestA.test_a` of the cheapest tests of each file that can be run again, by what each took in a run of
    so many seconds. All files' twins together take a tenth of it at most, or what nobody notices."""
    found = {path: places(entry.data, runner) for path, entry in hidden.items() if path.endswith(".py")}
    found = {path: own for path, own in found.items() if own}
    limit = max(_UNNOTICED_S, _SHARE * seconds / max(1, len(found)))
    cheap = []
    for path, own in found.items():
        ran = [result for result in results if result.file == path]
        costs = sorted((_cost(place.name, ran), place.name) for place in own)
        cheap += [f"{path}::{name}" for cost, name in costs[:_MOST_AGAIN] if cost <= limit]
    return tuple(cheap)


def _cost(name: str, results: Sequence[TestResult]) -> float:
    """Seconds of the test; of the longest, where methods of several classes have its name."""
    own = [result for result in results if result.id.replace("::", ".").endswith(f".{name}")]
    return max((math.inf if one.seconds is None else one.seconds for one in own), default=math.inf)


def run_again(data: bytes, place: Place, name: str, choices: Choices, *, failing: bool) -> bytes:
    """The file with a twin of that name right behind its original; without `failing` it is a mere copy."""
    lines = data.split(b"\n")
    function = place.function
    assert function.end_lineno is not None
    copied = _copy(lines, place, name, choices, failing=failing)
    return _behind(lines, function.end_lineno, place, copied)


def run_again_if_quick(
    data: bytes, place: Place, name: str, choices: Choices, kept: str, seconds: float, *, failing: bool
) -> bytes:
    """The same, where it is not known what the test takes: the twin is skipped when its original took longer.

    For places that are `open`. Where the original has not begun before it, the twin fails."""
    lines = data.split(b"\n")
    function, first = place.function, place.function.body[0]
    assert function.end_lineno is not None
    copied = _copy(lines, place, name, choices, failing=failing)
    indent = lines[first.lineno - 1][: first.col_offset]
    clock = "__import__('time').perf_counter()"
    asks = f"if {clock} - {place.home}.{kept} > {seconds}:"
    skips = indent + b"    raise __import__('unittest').SkipTest('its original takes its time')"
    at = first.lineno - function.lineno
    copied[at:at] = [indent + asks.encode(), skips] if failing else []
    lines[first.lineno - 1 : first.lineno - 1] = [indent + f"{place.keeper}.{kept} = {clock}".encode()]
    return _behind(lines, function.end_lineno + 1, place, copied)


def _copy(lines: list[bytes], place: Place, name: str, choices: Choices, *, failing: bool) -> list[bytes]:
    function = place.function
    copied = lines[function.lineno - 1 : function.end_lineno]
    if failing:
        _cut(copied, function.lineno, place.literal, _other(place.value, choices, name).encode())
    copied[0] = copied[0].replace(f"def {function.name}".encode(), f"def {name}".encode(), 1)
    return copied


def look_again(data: bytes, place: Place, name: str, choices: Choices, kept: str, *, failing: bool) -> bytes:
    """The file with a twin that looks at the value that its original computed, and keeps under the name `kept`.

    For places that are `alone`. Without `failing` the original is left as it is, and its twin asks nothing."""
    lines = data.split(b"\n")
    function, last = place.function, place.function.body[-1]
    assert function.end_lineno is not None
    end, indent = function.end_lineno, lines[last.lineno - 1][: last.col_offset]
    sides = [ast.unparse(place.literal)] * 2
    if failing:
        computed = _cut(lines, 1, place.computed, kept.encode())
        # A list, since a class makes methods of some values that are kept in it.
        keeps = [
            kept.encode() + b" = (" + b"\n".join(computed) + b")",
            f"{place.keeper}.{kept} = [{kept}]".encode(),
        ]
        lines[last.lineno - 1 : last.lineno - 1] = [indent + line for line in keeps]
        end += len(keeps) - (len(computed) - 1)
        sides = [f"{place.home}.{kept}[0]", _other(place.value, choices, name)]
    if _stands_before(place.literal, place.computed):
        sides.reverse()
    asks = f"self.assertEqual({sides[0]}, {sides[1]})"
    if isinstance(last, ast.Assert):
        asks = f"assert {sides[0]} == {sides[1]}"
    head = lines[function.lineno - 1][: function.col_offset]
    twin = [head + f"def {name}({'self' if place.owner else ''}):".encode(), indent + asks.encode()]
    return _behind(lines, end, place, twin)


def _behind(lines: list[bytes], end: int, place: Place, twin: list[bytes]) -> bytes:
    return b"\n".join((*lines[:end], *[b""] * (1 if place.owner else 2), *twin, *lines[end:]))


def _stands_before(one: ast.expr, other: ast.expr) -> bool:
    return (one.lineno, one.col_offset) < (other.lineno, other.col_offset)


def _cut(lines: list[bytes], first: int, node: ast.expr, text: bytes) -> list[bytes]:
    """Puts the text where the expression stands, and returns the lines of that. `first` is the first line's number."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    start, end = node.lineno - first, node.end_lineno - first
    old = lines[start : end + 1]
    rest = old[-1][node.end_col_offset :]
    old[-1] = old[-1][: node.end_col_offset]
    old[0] = old[0][node.col_offset :]
    lines[start : end + 1] = [lines[start][: node.col_offset] + text + rest]
    return old


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
