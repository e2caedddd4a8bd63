"""The house rules as tests: floors, doors, thinking modules, sizes, names, docstrings, documented verbs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "berbench"

# Rooms from the ground up. A room imports itself and the rooms of rows below its own, never sideways or up.
# Within a floor the rows are steps: what is used by its neighbours stands lower.
ROWS: tuple[tuple[int, frozenset[str]], ...] = (
    (0, frozenset({"errors"})),
    (0, frozenset({"model"})),
    (1, frozenset({"diffs", "documents", "emit", "masking", "mentions", "stats", "telemetry"})),
    (1, frozenset({"reverts", "split", "evidence", "fingerprint", "ranking", "schemas"})),
    (1, frozenset({"chores"})),
    (1, frozenset({"landings", "runners", "diagnosis"})),
    (1, frozenset({"canaries"})),
    (1, frozenset({"candidates", "prompts", "environments", "verdicts", "matrix", "assertions"})),
    (1, frozenset({"checks", "reports"})),
    (1, frozenset({"strength"})),
    (2, frozenset({"mutators", "process", "yamlio"})),
    (2, frozenset({"yamledit"})),
    (2, frozenset({"config", "history", "forge", "engine"})),
    (2, frozenset({"agents"})),
    (2, frozenset({"store"})),
    (2, frozenset({"experiments"})),
    (3, frozenset({"sample"})),
    (3, frozenset({"stages"})),
    (4, frozenset({"cli"})),
    (4, frozenset({"__main__"})),
)
ROW_OF = {room: row for row, (_, rooms) in enumerate(ROWS) for room in rooms}
FLOOR_OF = {room: floor for floor, rooms in ROWS for room in rooms}

# Each outside thing has one door: one module of this room, and no other, imports it.
DOORS = {
    "docker": "engine",
    "git": "history",
    "httpx": "forge",
    "subprocess": "process",
    "yaml": "yamlio",
    "unidiff": "diffs",
    "universalmutator": "mutators",
}

# What a thinking module can't import or call. `os` is let in for the functions that turn names into bytes.
OUTSIDE = frozenset(
    {"asyncio", "ctypes", "fcntl", "glob", "http", "multiprocessing", "pathlib", "platform", "random"}
    | {"requests", "secrets", "select", "shutil", "signal", "socket", "subprocess", "sys", "tempfile"}
    | {"threading", "time", "urllib.request", "uuid"}
)
CALLS = frozenset({"open", "print", "input", "exec", "eval", "breakpoint"})
CLOCKS = frozenset({"now", "utcnow", "today"})
OS_FUNCTIONS = frozenset({"fsencode", "fsdecode"})

# Files that run inside containers, on whatever is there: no part of the house.
INSIDE_CONTAINERS = ("berbench/runners/kit/", "berbench/environments/kit/", "berbench/engine/kit/")

BANNED_NAMES = frozenset({"utils", "util", "helpers", "helper", "misc", "manager", "common"})
LONGEST_FILE = 330
LONGEST_FUNCTION = 70


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _modules() -> list[Path]:
    found = sorted(PACKAGE.rglob("*.py"))
    return [path for path in found if not _name(path).startswith(INSIDE_CONTAINERS)]


MODULES = _modules()
THINKING = [path for path in MODULES if FLOOR_OF.get(_room(path), 9) <= 1]


def _list(found: list[str]) -> str:
    return "\n".join(["", *found])


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_tree(path)))


@cache
def _imports(path: Path) -> tuple[tuple[int, str], ...]:
    """(line, dotted name) of every import, wherever it stands; `from a import b` gives `a.b`."""
    return tuple(_found_imports(path))


def _found_imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{_name(path)}:{node.lineno}: relative import"
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"


def _is(name: str, module: str) -> bool:
    return name == module or name.startswith(module + ".")


def test_every_room_has_a_floor() -> None:
    rooms = {_room(path) for path in MODULES} - {"__init__"}
    assert sorted(rooms - ROW_OF.keys()) == [], "give the new room a row in tests/test_house.py"


def test_imports_go_down_only() -> None:
    wrong = []
    for path in MODULES:
        own = ROW_OF.get(_room(path), -1)
        for line, name in _imports(path):
            target = name.split(".")[1] if name.startswith("berbench.") else ""
            if target in ROW_OF and target != _room(path) and ROW_OF[target] >= own:
                wrong.append(f"{_name(path)}:{line}: {_room(path)} imports {target}")
    assert not wrong, _list(wrong)


@pytest.mark.parametrize(("module", "room"), DOORS.items(), ids=DOORS)
def test_each_outside_thing_has_one_door(module: str, room: str) -> None:
    importers = {path for path in MODULES for _, name in _imports(path) if _is(name, module)}
    assert [_room(path) for path in importers] == [room], sorted(map(_name, importers))


def test_thinking_modules_touch_nothing_outside() -> None:
    wrong = [f"{_name(path)}:{what}" for path in THINKING for what in _reaches_outside(path)]
    assert not wrong, _list(wrong)


def _reaches_outside(path: Path) -> Iterator[str]:
    for line, name in _imports(path):
        let_in = name == "os" or name.removeprefix("os.") in OS_FUNCTIONS
        if any(_is(name, module) for module in OUTSIDE) or (_is(name, "os") and not let_in):
            yield f"{line}: import {name}"
    for node in _nodes(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            yield f"{node.lineno}: {node.func.id}()"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner, name = node.value.id, node.attr
            if (owner == "os" and name not in OS_FUNCTIONS) or (
                owner in ("datetime", "date") and name in CLOCKS
            ):
                yield f"{node.lineno}: {owner}.{name}"


def test_files_and_functions_stay_short() -> None:
    long = []
    for path in MODULES:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > LONGEST_FILE:
            long.append(f"{_name(path)}: {lines} lines")
        for node in _nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    long.append(f"{_name(path)}: {node.name}: {lines} lines")
    assert not long, _list(long)


def test_names_say_what_a_module_holds() -> None:
    for path in MODULES:
        parts = {part.removesuffix(".py") for part in path.relative_to(PACKAGE).parts}
        assert not parts & BANNED_NAMES, _name(path)


def test_public_names_are_documented() -> None:
    missing = [what for path in MODULES for what in _undocumented(_tree(path), _name(path))]
    assert not missing, _list(missing)


def _undocumented(node: ast.Module | ast.ClassDef, where: str) -> Iterator[str]:
    if ast.get_docstring(node) is None and node.body:
        yield where
    for child in node.body:
        if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
            yield from _undocumented(child, f"{where}: {child.name}")
        elif (
            isinstance(child, ast.FunctionDef)
            and _wants_docstring(child)
            and ast.get_docstring(child) is None
        ):
            yield f"{where}: {child.name}"


def _wants_docstring(function: ast.FunctionDef) -> bool:
    """A property's name and type may say it all; an overload says nothing new."""
    marks = {mark.id for mark in function.decorator_list if isinstance(mark, ast.Name)}
    return not function.name.startswith("_") and not marks & {"overload", "property"}


def test_only_the_cli_prints() -> None:
    wrong = []
    for path in (path for path in MODULES if FLOOR_OF.get(_room(path)) != 4):
        wrong += [f"{_name(path)}:{line}" for line in _prints(path)]
    assert not wrong, _list(wrong)


def _prints(path: Path) -> Iterator[int]:
    yield from (line for line, name in _imports(path) if _is(name, "typer") or _is(name, "rich"))
    for node in _nodes(path):
        called = isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
        named = isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr")
        stream = named and ast.unparse(node) in ("sys.stdout", "sys.stderr")
        if called or stream:
            yield node.lineno


def test_every_verb_is_documented() -> None:
    from typer.main import get_command

    from berbench.cli.app import app

    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    verbs = dict(_verbs("berbench", get_command(app)))
    assert len(verbs) > 5
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert [verb for verb in verbs if f"## `{verb}`" not in headings] == []
    sections = {section.split("`")[1]: section for section in page.split("\n## ")[1:]}
    assert sorted(sections.keys() - verbs.keys()) == []
    undocumented = [
        f"{verb} {option}"
        for verb, options in verbs.items()
        for option in options
        if f"`{option}" not in sections[verb]
    ]
    assert undocumented == []


def _verbs(name: str, command: object) -> Iterator[tuple[str, list[str]]]:
    """Every leaf verb with its long options."""
    children: dict[str, object] = getattr(command, "commands", {})
    for child_name, child in children.items():
        yield from _verbs(f"{name} {child_name}", child)
    if not children:
        options = [option for param in command.params for option in param.opts]  # type: ignore[attr-defined]
        yield name, [option for option in options if option.startswith("--") and option != "--help"]
