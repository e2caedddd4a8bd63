"""The first files of the sample project: `tally`, a small library that measures texts."""

from __future__ import annotations

README = """\
# tally

Words, lines and lengths of a text.

    >>> from tally import top
    >>> top("to be or not to be", 2)
    [('to', 2), ('be', 2)]
"""

PYPROJECT = """\
[project]
name = "tally"
version = "0.1.0"
description = "Words, lines and lengths of a text"
requires-python = ">=3.9"
dependencies = []

[tool.pytest.ini_options]
testpaths = ["tests"]
"""

# A trial has no network, and this image holds Python and pytest: more than that a task can't use.
DOCKERFILE = """\
ARG BASE_IMAGE=berbench/base
FROM ${BASE_IMAGE}
WORKDIR /src
COPY . .
"""

INIT = '''\
"""Words, lines and lengths of a text."""

from tally.lines import line_count
from tally.words import average_length, longest, top, words

__all__ = ["average_length", "line_count", "longest", "top", "words"]
'''

WORDS = '''\
"""Words of a text."""

import re
from collections import Counter

WORD = re.compile(r"[^\\W\\d_]+")


def words(text):
    """The words of a text, in lower case and in order."""
    return [match.group().lower() for match in WORD.finditer(text)]


def top(text, n=3):
    """The n most frequent words, with how often they occur."""
    return Counter(words(text)).most_common(n)


def longest(text):
    """The longest word; the first one where several are equally long."""
    return max(words(text), key=len, default="")


def average_length(text):
    """Letters per word."""
    found = words(text)
    return sum(len(word) for word in found) / len(found)
'''

LINES = '''\
"""Lines of a text."""


def line_count(text):
    """How many lines a text has."""
    return len(text.split("\\n"))
'''

TEST_WORDS = """\
from tally import average_length, longest, top, words


def test_words_are_lower_case():
    assert words("To be, or NOT to be") == ["to", "be", "or", "not", "to", "be"]


def test_top_counts():
    assert top("a rose is a rose is a rose", 1) == [("a", 3)]


def test_longest():
    assert longest("never odd or even") == "never"


def test_average_length():
    assert average_length("ab abcd") == 3
"""

TEST_LINES = """\
from tally import line_count


def test_lines_are_counted():
    assert line_count("one\\ntwo\\nthree") == 3
"""

FIRST_FILES = {
    "README.md": README,
    "pyproject.toml": PYPROJECT,
    "requirements-dev.txt": "pytest==8.1.1\n",
    "Dockerfile.berbench": DOCKERFILE,
    "tally/__init__.py": INIT,
    "tally/words.py": WORDS,
    "tally/lines.py": LINES,
    "tests/test_words.py": TEST_WORDS,
    "tests/test_lines.py": TEST_LINES,
}
