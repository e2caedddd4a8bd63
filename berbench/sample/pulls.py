"""The pull requests of the sample project, each with what validating it must say, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from berbench.model.trial import VerdictName

Files = dict[str, str]
Edit = Callable[[Files], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One commit of a pull request's branch."""

    message: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Pull:
    """A change with tests and implementation. `number` is None for a direct push.

    `lesson` says what the case shows. `hasty_line` is what a careless reviewer adds to the drafted prompt.
    """

    number: int | None
    title: str
    author: str
    branch: str
    steps: tuple[Step, ...]
    expected: VerdictName
    lesson: str
    issue: int | None = None
    hasty_line: str = ""


def put(path: str, text: str) -> Edit:
    """Write a new file."""

    def edit(files: Files) -> None:
        assert path not in files, path
        files[path] = text

    return edit


def drop(path: str) -> Edit:
    """Delete a file."""

    def edit(files: Files) -> None:
        del files[path]

    return edit


def swap(path: str, old: str, new: str) -> Edit:
    """Replace the one occurrence of `old`."""

    def edit(files: Files) -> None:
        assert files[path].count(old) == 1, (path, old)
        files[path] = files[path].replace(old, new)

    return edit


def add(path: str, text: str) -> Edit:
    """Append a test or a paragraph after two blank lines."""

    def edit(files: Files) -> None:
        files[path] += "\n\n" + text

    return edit


ADA = "Ada Marsh <ada@tally.example>"
BO = "Bo Lind <bo@tally.example>"
CY = "Cy Roth <cy@tally.example>"

WORDS, LINES, INIT = "tally/words.py", "tally/lines.py", "tally/__init__.py"
TEST_WORDS, TEST_LINES = "tests/test_words.py", "tests/test_lines.py"

APOSTROPHES = Pull(
    2,
    "Keep apostrophes inside words",
    ADA,
    "keep-apostrophes",
    (
        Step(
            "Show that don't is taken apart",
            (
                add(
                    TEST_WORDS,
                    "def test_an_apostrophe_does_not_end_a_word():\n"
                    '    assert words("Don\'t, she said: \'no\'") == ["don\'t", "she", "said", "no"]\n',
                ),
            ),
        ),
        Step(
            "Let an apostrophe join two letters",
            (swap(WORDS, r'r"[^\W\d_]+"', '''r"[^\\W\\d_]+(?:['’][^\\W\\d_]+)*"'''),),
        ),
    ),
    VerdictName.VALIDATED,
    "a bug, its fix and a test that shows it",
    issue=1,
)

LAST_LINE = Pull(
    4,
    "Do not count a line after the last newline",
    BO,
    "last-line",
    (
        Step(
            "Do not count a line after the last newline\n\nFixes #3",
            (
                swap(LINES, 'len(text.split("\\n"))', "len(text.splitlines())"),
                add(
                    TEST_LINES,
                    "def test_a_final_newline_begins_no_line():\n"
                    '    assert line_count("one\\ntwo\\n") == 2\n'
                    '    assert line_count("") == 0\n',
                ),
            ),
        ),
    ),
    VerdictName.VALIDATED,
    "landed as one squashed commit",
    issue=3,
)

TIES = Pull(
    6,
    "Sort equally frequent words",
    CY,
    "ties",
    (
        Step(
            "Count words in one place\n\nPart of #5.",
            (
                swap(
                    WORDS,
                    "def top(text, n=3):\n",
                    'def counts(text):\n    """How often each word occurs."""\n'
                    "    return Counter(words(text))\n\n\n"
                    "def top(text, n=3):\n",
                ),
                swap(
                    WORDS, "return Counter(words(text)).most_common(n)", "return counts(text).most_common(n)"
                ),
            ),
        ),
        Step(
            "Sort equally frequent words\n\nCloses #5.",
            (
                swap(
                    WORDS,
                    "return counts(text).most_common(n)",
                    "return sorted(counts(text).items(), key=lambda item: (-item[1], item[0]))[:n]",
                ),
                swap("README.md", "[('to', 2), ('be', 2)]", "[('be', 2), ('to', 2)]"),
                add(
                    TEST_WORDS,
                    "def test_ties_are_sorted():\n"
                    '    assert top("b a c b a", 3) == [("a", 2), ("b", 2), ("c", 1)]\n',
                ),
            ),
        ),
    ),
    VerdictName.VALIDATED,
    "landed as a rebased series: the base is the parent of its first commit",
    issue=5,
)

STOP_WORDS = Pull(
    8,
    "Leave words out of top()",
    ADA,
    "stop-words",
    (
        Step(
            "Leave words out of top()",
            (
                swap(WORDS, "def top(text, n=3):", "def top(text, n=3, ignore=()):"),
                swap(WORDS, "The n most frequent words,", "The n most frequent words but the ignored ones,"),
                swap(
                    WORDS,
                    "return sorted(counts(text).items(),",
                    "found = [item for item in counts(text).items() if item[0] not in ignore]\n"
                    "    return sorted(found,",
                ),
                add(
                    TEST_WORDS,
                    "def test_ignored_words_are_not_counted():\n"
                    '    assert top("the cat and the hat", 1, ignore={"the"}) == [("and", 1)]\n',
                ),
            ),
        ),
    ),
    VerdictName.VALIDATED,
    "a feature: the hidden test calls what only the reference adds",
    issue=7,
)

LONGEST = Pull(
    10,
    "Prefer the first of the longest words",
    BO,
    "longest-word",
    (
        Step(
            "Prefer the first of the longest words",
            (
                swap(
                    WORDS,
                    'return max(words(text), key=len, default="")',
                    'best = ""\n    for word in words(text):\n        if len(word) > len(best):\n'
                    "            best = word\n    return best",
                ),
                add(
                    TEST_WORDS,
                    'def test_the_first_of_the_longest_words():\n    assert longest("pin nip") == "pin"\n',
                ),
            ),
        ),
    ),
    VerdictName.BASE_PASSES,
    "it was right before: the test passes without the change",
    issue=9,
)

COLUMNS = Pull(
    12,
    "Measure columns of wide characters",
    CY,
    "columns",
    (
        Step(
            "Measure columns of wide characters",
            (
                swap("pyproject.toml", "dependencies = []", 'dependencies = ["wcwidth"]'),
                put(
                    "tally/columns.py",
                    '"""Columns that a text takes on a terminal."""\n\nfrom wcwidth import wcswidth\n\n\n'
                    'def columns(line):\n    """How many columns a line takes."""\n'
                    "    return wcswidth(line)\n",
                ),
                put(
                    "tests/test_columns.py",
                    "from tally.columns import columns\n\n\ndef test_a_wide_character_takes_two_columns():\n"
                    '    assert columns("日本") == 4\n',
                ),
            ),
        ),
    ),
    VerdictName.REFERENCE_FAILS,
    "the image lacks a package that the change needs",
    issue=11,
)
