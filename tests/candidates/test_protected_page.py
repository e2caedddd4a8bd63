"""The reference page says what the tables hold, and every row of them does what it is there for."""

from __future__ import annotations

from pathlib import Path

import pytest

from berbench.candidates import Commands, Protection
from berbench.candidates.partly import PARTLY
from berbench.candidates.shadows import LOADED_BY_TESTS, STANDARD
from berbench.candidates.table import TABLE, Row

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "protected.md").read_text(
    encoding="utf-8"
)


def row_line(row: Row) -> str:
    patterns = ", ".join(f"`{pattern}`" for pattern in row.patterns)
    when = ", ".join(sorted(row.programs)) or ("only in a folder that is new" if row.new_only else "always")
    return f"| {row.kind} | {patterns} | {row.why} | {when} |"


def test_the_page_holds_the_table_row_by_row() -> None:
    section = PAGE.partition("## Files that steer whole\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ") and "`" in line]
    assert lines == [row_line(row) for row in TABLE]


def test_the_page_holds_the_partly_steering_files() -> None:
    section = PAGE.partition("## Files that steer in a part\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    assert lines == [
        f"| `{one.name}` | {one.steering} | {'put back' if one.steers else 'the file is dropped'} |"
        for one in PARTLY
    ]


def examples(pattern: str) -> list[str]:
    """Paths that a pattern must match: braces taken apart, stars filled."""
    if "{" in pattern:
        head, _, rest = pattern.partition("{")
        choices, _, tail = rest.partition("}")
        return [path for choice in choices.split(",") for path in examples(head + choice + tail)]
    plain = pattern.replace("[.-]", ".").replace("**", "inner/Name.java").replace("*", "x")
    return [f"{plain.rstrip('/')}/inner/file", plain.rstrip("/")] if plain.endswith("/") else [plain]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.kind)
def test_every_pattern_of_a_row_is_protected_at_any_depth(row: Row) -> None:
    programs = frozenset(sorted(row.programs)[:1])
    protection = Protection(hidden=(), reference=(), base=("src/a",), commands=Commands(programs=programs))
    without = Protection(hidden=(), reference=(), base=("src/a",))
    for pattern in row.patterns:
        for path in examples(pattern):
            assert protection.reason(path), path
            assert protection.reason(f"deep/er/{path}"), path
            assert not protection.reason(f"src/my{path}") or pattern.startswith("*") or "/" in path, path
            assert not row.programs or not without.reason(path), path


def test_rows_for_new_folders_leave_a_project_its_own() -> None:
    mine = Protection(hidden=(), reference=(), base=("src/org/junit/Assert.java",))
    assert not mine.reason("src/org/junit/New.java")
    assert mine.reason("other/org/junit/New.java")


@pytest.mark.parametrize(
    "name", sorted({"pytest", "_pytest", "unittest", "json", "hypothesis", "coverage", "mock"})
)
def test_V04_a_module_that_hides_another_counts_where_python_would_find_it(name: str) -> None:
    assert name in LOADED_BY_TESTS | STANDARD
    base = (
        "pkg/__init__.py",
        "pkg/tests/__init__.py",
        "pkg/tests/test_a.py",
        "checks/unit/test_b.py",
        "src/app.py",
    )
    hidden = ("pkg/tests/test_a.py", "checks/unit/test_b.py")
    protection = Protection(
        hidden=hidden, reference=(), base=base, commands=Commands(folders=frozenset({"work"}))
    )
    for folder in ("", "src/", "lib/", "checks/", "checks/unit/", "work/"):
        assert protection.reason(f"{folder}{name}.py"), folder
        assert protection.reason(f"{folder}{name}/inner/x.py"), folder
        assert protection.reason(f"{folder}{name}", is_link=True), folder
    for free in (
        f"pkg/{name}.py",
        f"pkg/tests/{name}.py",
        f"else/{name}.py",
        f"src/{name}.txt",
        f"src/x{name}.py",
    ):
        assert not protection.reason(free), free


def test_a_project_that_is_the_module_itself_may_change_it() -> None:
    protection = Protection(
        hidden=(), reference=(), base=("mock/__init__.py", "src/_pytest/main.py", "types/a.d.ts")
    )
    assert not protection.reason("mock/mock.py")
    assert not protection.reason("src/_pytest/new.py")
    assert protection.reason("_pytest/new.py")
    assert protection.reason("types/__init__.py")


def test_a_package_on_the_way_counts_where_the_candidate_makes_it_none() -> None:
    base = ("pkg/__init__.py", "pkg/tests/test_a.py")
    hidden = ("pkg/tests/test_a.py",)
    kept = Protection(hidden=hidden, reference=(), base=base, candidate=(*base, "pkg/json.py"))
    lost = Protection(
        hidden=hidden, reference=(), base=base, candidate=("pkg/tests/test_a.py", "pkg/json.py")
    )
    assert (kept.reason("pkg/json.py"), bool(lost.reason("pkg/json.py"))) == ("", True)


def test_reasons_name_the_rule() -> None:
    protection = Protection(
        hidden=("tests/test_a.py",),
        reference=("tox.ini",),
        base=("tests/test_a.py",),
        protected_paths=("graders/",),
        test_patterns=("tests/**",),
        commands=Commands(files=frozenset({"run.sh"})),
    )
    found = {
        path: protection.reason(path)
        for path in (
            "tests/test_a.py",
            "tests",
            "tests/test_a.py/x",
            "tox.ini",
            "graders/x",
            "tests/b",
            "run.sh",
        )
    }
    assert found == {
        "tests/test_a.py": "is one of the hidden tests' own files",
        "tests": "stands where the hidden tests need a folder",
        "tests/test_a.py/x": "stands below a path of the hidden tests",
        "tox.ini": "",
        "graders/x": "is protected by verify.protected_paths",
        "tests/b": "is a test by harvest.test_patterns",
        "run.sh": "is named by the verify command or a set-up line",
    }
    assert (
        protection.reason("a/conftest.py") == "holds hooks and fixtures that pytest loads by itself (pytest)"
    )
