"""What ranking believes: which changes make tasks, which can't, and that every rank has its reasons."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from berbench.model.changes import ABSENT, REGULAR, Change, LandedBy, Landing, LineCount, Split
from berbench.ranking import Ranked, Rejected, rank
from berbench.ranking.kinds import Kind, kind_of
from berbench.ranking.signs import read_signs
from berbench.ranking.titles import housekeeping, tells_a_fix

Edit = tuple[str, str, str]  # path, deleted lines, added lines

CODE, TEST = "src/tally/words.py", "tests/test_words.py"
FIX: Edit = (CODE, "    return text.split()\n", "    return text.lower().split()\n")
NEW_TEST: Edit = (TEST, "", 'def test_lower():\n    assert words("A") == ["a"]\n')


def change(path: str) -> Change:
    return Change(path, REGULAR, REGULAR, "1" * 40, "2" * 40)


def patch_of(*edits: Edit) -> bytes:
    parts = []
    for path, deleted, added in edits:
        parts.append(
            f"diff --git a/{path} b/{path}\nindex 1..2 100644\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n"
        )
        parts += [f"-{line}\n" for line in deleted.splitlines()] + [
            f"+{line}\n" for line in added.splitlines()
        ]
    return "".join(parts).encode()


def judged(
    *edits: Edit, title: str = "Lower-case words", linked: bool = True, age: float = 0
) -> Ranked | Rejected:
    changes = [change(path) for path, _, _ in edits]
    lines = [LineCount(path, len(new.splitlines()), len(old.splitlines())) for path, old, new in edits]
    tests = tuple(c for c in changes if c.path.startswith("tests/"))
    split = Split(tests, tuple(c for c in changes if c not in tests))
    when = datetime(2024, 5, 1, tzinfo=UTC)
    landing = Landing(5, LandedBy.SQUASH, "a" * 40, "b" * 40, title, title, when, ("a" * 40,))
    return rank(landing, split, lines, linked, patch_of(*edits), age_years=age)


def score(*edits: Edit, title: str = "Lower-case words", linked: bool = True, age: float = 0) -> float:
    found = judged(*edits, title=title, linked=linked, age=age)
    assert isinstance(found, Ranked), found
    assert 0 <= found.score <= 100
    assert found.reasons
    return found.score


def refusal(*edits: Edit) -> str:
    found = judged(*edits)
    assert isinstance(found, Rejected), found
    return found.reason


def test_a_small_fix_with_a_new_test_ranks_high() -> None:
    found = judged(FIX, NEW_TEST, title="Fix case of words")
    assert isinstance(found, Ranked)
    assert found.score >= 75
    assert "1 new test" in found.reasons
    assert any(reason.startswith("small: 1 implementation file, 2 lines") for reason in found.reasons)


def test_a_linked_issue_counts() -> None:
    assert score(FIX, NEW_TEST, linked=True) > score(FIX, NEW_TEST, linked=False)


def test_a_large_change_ranks_below_a_small_one() -> None:
    large: Edit = (CODE, "", "".join(f"    step_{n} = run({n})\n" for n in range(600)))
    assert score(large, NEW_TEST) < score(FIX, NEW_TEST) - 20


def test_many_modules_rank_below_one() -> None:
    wide = [
        (f"src/m{n}/a.py", "    a = 1\n    b = 2\n" * 5, f"    c = {n}\n    d = 3\n" * 5) for n in range(8)
    ]
    assert score(*wide, NEW_TEST) < score(FIX, NEW_TEST) - 15


def test_a_sweep_of_many_files_is_told_as_one() -> None:
    sweep = [(f"src/tally/m{n}.py", "    old_call()\n", f"    new_call({n})\n") for n in range(12)]
    found = judged(*sweep, NEW_TEST)
    assert isinstance(found, Ranked)
    assert "a sweep: a few lines in each of many files" in found.reasons
    assert found.score <= score(FIX, NEW_TEST) - 20


@pytest.mark.parametrize(
    "path", ["package-lock.json", "web/dist/app.js", "src/_vendor/six.py", "api/v1_pb2.py"]
)
def test_lock_files_and_generated_code_cost_points(path: str) -> None:
    assert score(FIX, NEW_TEST, (path, "old\n", "new\n")) <= score(FIX, NEW_TEST) - 10


@pytest.mark.parametrize(
    "title",
    [
        "Refactor the tokenizer",
        "Rename Counter to Tally",
        "Add type hints to words",
        "Use ruff to lint and format",
        "Remove all deprecated code",
        "Add more tests for words()",
        "Speed up counting",
        "Release 2.0",
        "Modernise string formatting",
        "Run CI on Windows",
        "Fix typos in docstrings",
    ],
)
def test_housekeeping_ranks_below_a_fix(title: str) -> None:
    assert score(FIX, NEW_TEST, title=title) <= score(FIX, NEW_TEST, title="Fix the case of words") - 10


@pytest.mark.parametrize("system", ["Windows", "macOS", "PowerShell"])
def test_what_is_special_to_another_system_ranks_below(system: str) -> None:
    title = f"Fix the case of words on {system}"
    assert score(FIX, NEW_TEST, title=title) <= score(FIX, NEW_TEST, title="Fix the case of words") - 20


def test_names_that_only_the_change_defines_foresee_a_failure_at_base() -> None:
    feature: Edit = (CODE, "", "def sentences(text):\n    return text.split('.')\n")
    test: Edit = (TEST, "", "def test_sentences():\n    assert sentences('a. b') == ['a', ' b']\n")
    found = judged(feature, test)
    assert isinstance(found, Ranked)
    assert "the tests use what only the change defines: sentences" in found.reasons
    assert score(feature, test, title="Refactor") > score(FIX, NEW_TEST, title="Refactor") + 20


def test_a_keyword_that_only_the_change_takes_is_seen() -> None:
    edit: Edit = (CODE, "def top(text):\n", "def top(text, ignore=()):\n")
    test: Edit = (TEST, "", "def test_top():\n    assert top('a b', ignore={'a'})\n")
    assert read_signs(patch_of(edit, test), {TEST}).fresh_names == ("ignore",)


@pytest.mark.parametrize(
    "line",
    [
        "def __reduce__(self) -> tuple[type[Counter], int]:",
        "class Sorted(Counter, metaclass=Counter):",
        "def top(text, kind=Counter, other: Counter = None):",
        "const sorted = require(Counter, Counter)",
    ],
)
def test_names_that_a_definition_borrows_are_not_its_own(line: str) -> None:
    edit: Edit = (CODE, "", f"{line}\n    return 1\n")
    test: Edit = (TEST, "", "def test_top():\n    assert Counter('a b') == 1\n")
    assert read_signs(patch_of(edit, test), {TEST}).fresh_names == ()


def test_a_name_that_a_hunk_stands_in_is_not_new() -> None:
    edit: Edit = (CODE, "", "Counter = made(Counter)\n")
    test: Edit = (TEST, "", "def test_top():\n    assert Counter('a b') == 1\n")
    patch = patch_of(edit, test)
    assert read_signs(patch, {TEST}).fresh_names == ("Counter",)
    inside = patch.replace(b"@@ -1 +1 @@", b"@@ -1 +1 @@ class Counter(dict):", 1)
    assert read_signs(inside, {TEST}).fresh_names == ()


def test_what_variables_and_parameters_define_is_seen() -> None:
    edit: Edit = (
        CODE,
        "",
        "const { first, second = 2 } = made(third)\nfunction run(quickly, slowly = 1) {\n",
    )
    test: Edit = (
        TEST,
        "",
        "def test_top():\n    assert first(1, second(2), third(3), quickly=1, slowly=2)\n",
    )
    assert set(read_signs(patch_of(edit, test), {TEST}).fresh_names) == {
        "first",
        "second",
        "quickly",
        "slowly",
    }


def test_one_line_is_not_counted_as_lines() -> None:
    found = judged((CODE, "", "    text = text.lower()\n"), (TEST, "", '    ("A", "a"),\n'))
    assert isinstance(found, Ranked)
    assert "small: 1 implementation file, 1 line" in found.reasons
    assert any(reason.startswith("1 new line in tests") for reason in found.reasons)


def test_words_of_documentation_are_no_names() -> None:
    edit: Edit = (
        CODE,
        "",
        '    """Splits at: whatever comes, with every word: kept as it is."""\n    call(text)\n',
    )
    test: Edit = (TEST, "", "def test_top():\n    assert top.word(every=1).comes()\n")
    assert read_signs(patch_of(edit, test), {TEST}).fresh_names == ()


def test_an_old_landing_is_said_to_be_old() -> None:
    assert score(FIX, NEW_TEST, age=8) < score(FIX, NEW_TEST, age=1)


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        (
            [("docs/words.md", "a\n", "b\n"), NEW_TEST],
            "no implementation code is changed, only documentation",
        ),
        (
            [("tox.ini", "a\n", "b\n"), NEW_TEST],
            "no implementation code is changed, only CI and tool settings",
        ),
        ([FIX, ("tests/data/words.json", "1\n", "2\n")], "no test is changed, only data that tests read"),
        ([FIX, (TEST, "def test_old():\n    assert 1\n", "")], "tests gain no line"),
        ([FIX, (TEST, "import a\n", "import b\n")], "tests are only moved, or import other names"),
        (
            [(CODE, "def top(text, n):\n", "def top(text: str, n: int) -> list[str]:\n"), NEW_TEST],
            "the implementation is only reformatted, moved or annotated",
        ),
        (
            [(CODE, "call(a, b, c)\n", "call(\n    a,\n    b,\n    c,\n)\n"), NEW_TEST],
            "the implementation is only reformatted, moved or annotated",
        ),
        (
            [(CODE, "", "# why this is right\nimport typing as t\n"), NEW_TEST],
            "the implementation gains only comments, imports or annotations",
        ),
        (
            [(CODE, "", "@t.overload\ndef bar(\n    n: int,\n) -> Bar[int]: ...\n"), NEW_TEST],
            "the implementation gains only comments, imports or annotations",
        ),
    ],
)
def test_what_can_be_no_task_is_rejected_with_its_reason(edits: list[Edit], reason: str) -> None:
    assert refusal(*edits) == reason


def test_tests_that_only_move_are_no_new_tests() -> None:
    body = "def test_a():\n    assert words('a')\n"
    moved = [("tests/test_old.py", body, ""), ("tests/test_new.py", "", body)]
    assert refusal(FIX, *moved) == "tests are only moved, or import other names"


def test_rows_of_a_table_are_tests_without_a_name() -> None:
    rows: Edit = (TEST, "", '        ("a=b", {"a": "b"}),\n')
    rewritten: Edit = (TEST, "    answer = words(text, 1)\n", "    answer = words(text, 2)\n")
    assert score(FIX, NEW_TEST) > score(FIX, rows) > score(FIX, rewritten)


def test_new_data_is_a_test_where_tests_read_what_is_there() -> None:
    page = Change("tests/specs/new.md", ABSENT, REGULAR, "0" * 40, "2" * 40)
    split = Split((page,), (change(CODE),))
    when = datetime(2024, 5, 1, tzinfo=UTC)
    landing = Landing(5, LandedBy.SQUASH, "a" * 40, "b" * 40, "Fix it", "", when, ("a" * 40,))
    patch = patch_of(FIX, ("tests/specs/new.md", "", "# A\n"))
    found = rank(landing, split, [LineCount(page.path, 1, 0), LineCount(CODE, 1, 1)], True, patch)
    assert isinstance(found, Ranked)
    assert "no new test by name, but 1 new file that tests read" in found.reasons


def test_parentheses_that_move_may_be_a_fix() -> None:
    mended: Edit = (CODE, "    pools = tuple(each * times)\n", "    pools = tuple(each) * times\n")
    found = judged(mended, NEW_TEST)
    assert isinstance(found, Ranked)
    assert any("parentheses alone" in reason for reason in found.reasons)
    assert found.score < score(FIX, NEW_TEST)


def test_a_guard_that_goes_is_a_change_though_its_inside_only_moves() -> None:
    guard: Edit = (
        CODE,
        "    try:\n        return text.split()\n    except ValueError:\n        raise TooLong() from None\n",
        "    return text.split()\n",
    )
    found = judged(guard, NEW_TEST)
    assert isinstance(found, Ranked)
    assert "the implementation only loses lines" in found.reasons


def test_words_of_all_code_are_no_names_that_a_change_brings() -> None:
    edit: Edit = (CODE, "", "def top(args, error):\n    self.string = args\n    self.ceiling = error\n")
    test: Edit = (TEST, "", "def test_top():\n    assert top.string(args=1).error(top.ceiling)\n")
    assert read_signs(patch_of(edit, test), {TEST}).fresh_names == ("ceiling",)


def test_deleted_test_files_alone_are_rejected() -> None:
    gone = Change(TEST, REGULAR, ABSENT, "1" * 40, "0" * 40)
    split = Split((gone,), (change(CODE),))
    when = datetime(2024, 5, 1, tzinfo=UTC)
    landing = Landing(5, LandedBy.SQUASH, "a" * 40, "b" * 40, "Drop it", "", when, ("a" * 40,))
    assert rank(landing, split, [LineCount(TEST, 0, 9)], True) == Rejected("tests are only deleted")


def test_without_the_text_counts_alone_give_a_rank() -> None:
    split = Split((change(TEST),), (change(CODE),))
    when = datetime(2024, 5, 1, tzinfo=UTC)
    landing = Landing(5, LandedBy.SQUASH, "a" * 40, "b" * 40, "Fix it", "", when, ("a" * 40,))
    lines = [LineCount(TEST, 9, 0), LineCount(CODE, 3, None)]
    assert isinstance(rank(landing, split, lines, True), Ranked)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/click/core.py", Kind.CODE),
        ("lib/commands/build.js", Kind.CODE),
        ("templates/page.html", Kind.CODE),
        ("CHANGES.rst", Kind.DOCS),
        ("docs/conf.py", Kind.DOCS),
        ("yarn.lock", Kind.LOCK),
        ("go.sum", Kind.LOCK),
        (".github/workflows/test.yaml", Kind.CI),
        ("noxfile.py", Kind.CI),
        ("setup.py", Kind.MANIFEST),
        ("requirements/dev.in", Kind.MANIFEST),
        ("typings/index.d.ts", Kind.TYPES),
        ("more_itertools/more.pyi", Kind.TYPES),
        ("third_party/zlib/inflate.c", Kind.GENERATED),
    ],
)
def test_kinds_of_paths(path: str, kind: Kind) -> None:
    assert kind_of(path) is kind


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("Refactor pager stream handling", "a refactoring"),
        ("use ruff lint and format", "lint or formatting"),
        ("Support chained commands", ""),
        ("Fix crash on an empty file", ""),
        ("Move the default into its decorator", "a move or rename"),
        ("add tests", "tests alone"),
    ],
)
def test_titles(title: str, label: str) -> None:
    assert housekeeping(title) == label


def test_titles_that_name_a_behaviour() -> None:
    assert tells_a_fix("Do not count empty lines")
    assert not tells_a_fix("Update the changelog")


def test_other_languages_have_tests_too() -> None:
    js = "test('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n"
    go = 'func TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Error("no")\n\t}\n}\n'
    rust = "    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n"
    for path, text in (("test/add.test.js", js), ("add_test.go", go), ("tests/add.rs", rust)):
        signs = read_signs(patch_of((path, "", text)), {path})
        assert signs.cases == 1, path
        assert signs.checks >= 1, path
