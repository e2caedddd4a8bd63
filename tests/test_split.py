"""Which side of the split a path is on, and which patterns fit a repository."""

from __future__ import annotations

import pytest

from berbench.model.changes import GITLINK, Change, Split
from berbench.split import classify, guess_patterns, leaves_tree, matches, problems


def change(path: str, old: int = 0o100644, new: int = 0o100644) -> Change:
    return Change(path, old, new, "1" * 40, "2" * 40)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("tests/**", "tests/a/b.py", True),
        ("tests/**", "src/tests/a.py", False),
        ("tests/", "tests/.hidden/x", True),
        ("tests", "tests/x.py", True),
        ("tests", "tests_extra/x.py", False),
        ("**/test_*.py", "test_a.py", True),
        ("**/test_*.py", "a/b/test_a.py", True),
        ("**/test_*.py", "a/b/TEST_a.py", False),
        ("test_*.py", "a/test_a.py", False),
        ("*test*", "latest.py", True),
        ("*test*", "src/pkg/testing.py", False),
        ("**/*.{test,spec}.ts", "a/b.spec.ts", True),
        ("tests/**", "tests/a\nb\udcff", True),
        ("tests/[ab].py", "tests/a.py", True),
        ("tests/test_*", "tests/test_x/deep.py", False),
        ("tests/", "tests/a/b.py", True),
        ("tests/", "tests", False),
        ("src/tests", "src/tests/a.py", True),
    ],
)
def test_P34_patterns_are_anchored_globs_over_segments(pattern: str, path: str, fits: bool) -> None:
    assert matches(path, (pattern,)) is fits


def test_exclusions_take_paths_out_again() -> None:
    patterns = ("tests/**", "!tests/support/**")
    assert matches("tests/a.py", patterns) and not matches("tests/support/a.py", patterns)
    assert not matches("a.py", ("!tests/**",)) and not matches("a.py", ())


def test_every_change_is_on_one_side() -> None:
    changes = [change("tests/a"), change("b"), change("tests/c")]
    split = classify(changes, ["tests/**"])
    assert [one.path for one in split.tests] == ["tests/a", "tests/c"]
    assert [one.path for one in split.reference] == ["b"]


def test_problems_name_what_can_not_be_a_task() -> None:
    tests, code = (change("tests/a"),), (change("b"),)
    assert problems(Split(tests, code)) == ()
    assert "only tests" in problems(Split(tests, ()))[0]
    assert "only implementation" in problems(Split((), code))[0]
    assert "no file" in problems(Split((), ()))[0]
    assert "LFS" in problems(Split(tests, code), lfs={"b"})[0]


def test_P20_submodule_changes_are_refused_by_name() -> None:
    [reason] = problems(Split((change("tests/a"),), (change("vendor/x", GITLINK, GITLINK),)))
    assert "submodule 'vendor/x'" in reason


def test_P19_links_out_of_the_tree_are_refused() -> None:
    split = Split((change("tests/l", 0, 0o120000),), (change("b"),))
    assert "points out" in problems(split, links={"tests/l": "../../etc/passwd"})[0]
    assert problems(split, links={"tests/l": "../b"}) == ()
    assert leaves_tree("a", "/etc/passwd") and leaves_tree("a", "..") and not leaves_tree("a/b", "../c")


def test_places_traded_across_the_split_are_refused() -> None:
    reasons = problems(Split((change("lib/tests/a", 0, 0o100644),), (change("lib", 0o100644, 0),)))
    assert "trade places" in reasons[0] and "'lib'" in reasons[0]


@pytest.mark.parametrize(
    ("paths", "patterns"),
    [
        (["src/p/a.py", "tests/test_a.py", "tests/data/x.bin"], ("tests/**", "**/test_*.py")),
        (["p/a.py", "p/tests/test_a.py", "p/tests/x.json"], ("p/tests/**", "**/test_*.py")),
        (["a.go", "a_test.go", "x/testdata/in"], ("x/testdata/**", "**/*_test.go")),
        (["lib/a.js", "test/a.js", "package.json"], ("test/**",)),
        (
            ["src/a.ts", "src/a.test.ts", "src/__snapshots__/a.snap"],
            ("src/__snapshots__/**", "**/*.test.ts", "**/*.snap"),
        ),
        (["src/main/java/A.java", "src/test/java/ATest.java"], ("src/test/**",)),
        (["lib/a.rb", "spec/a_spec.rb"], ("spec/**", "**/*_spec.rb")),
        (["lib/A.pm", "t/basic.t"], ("t/**",)),
        (
            ["crates/a/Cargo.toml", "crates/a/tests/it.rs", "crates/b/Cargo.toml", "crates/b/tests/x.rs"],
            ("**/tests/**",),
        ),
        (["a.py", "spec/openapi.yaml"], ()),
    ],
)
def test_patterns_are_guessed_from_what_is_there(paths: list[str], patterns: tuple[str, ...]) -> None:
    assert guess_patterns(paths) == patterns


def test_P34_shipped_test_helpers_are_no_tests() -> None:
    paths = [
        "django/test/client.py",
        "django/test/runner.py",
        "django/test/__init__.py",
        "src/pkg/testing.py",
    ]
    paths += ["src/latest.py", "src/pkg/test_utils.py", "tests/test_client.py", "tests/test_utils.py"]
    split = classify([change(path) for path in paths], guess_patterns(paths))
    assert [one.path for one in split.tests] == ["tests/test_client.py", "tests/test_utils.py"]
