"""Command lines are read as the shell reads them, or not at all."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berbench.runners.shell import insert, parse, quote_path


def words(line: str) -> list[list[str]]:
    parsed = parse(line)
    assert parsed.sure, line
    return [[word.text for word in command.words] for command in parsed.commands]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pytest a b", [["pytest", "a", "b"]]),
        ("cd 'a b' && pytest \"x y\"", [["cd", "a b"], ["pytest", "x y"]]),
        ("A=1 B='x y' pytest", [["A=1", "B=x y", "pytest"]]),
        ("a;b\nc & d || e | f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        (
            "(cd a && go test ./x) && (cd b && go test)",
            [["cd", "a"], ["go", "test", "./x"], ["cd", "b"], ["go", "test"]],
        ),
        ("pytest a 2>&1 >out.txt </dev/null", [["pytest", "a"]]),
        ("pytest a &>out", [["pytest", "a"]]),
        ("pytest a # not b\npytest c", [["pytest", "a"], ["pytest", "c"]]),
        ("pytest \\\n  a", [["pytest", "a"]]),
        ("x a\\ b 'it'\\''s' \"q\\\"q\"", [["x", "a b", "it's", 'q"q']]),
        ("x \"$(echo 'a b' | tr a b)\" ${Y:-z w}", [["x", "$(echo 'a b' | tr a b)", "${Y:-z w}"]]),
        ("x `date` -k 'not (a or b)'", [["x", "`date`", "-k", "not (a or b)"]]),
        ("", []),
    ],
)
def test_lines_that_are_read(line: str, expected: list[list[str]]) -> None:
    assert words(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "for f in a b; do pytest $f; done",
        "if x; then y; fi",
        "cat <<E\nx\nE",
        "pytest 'a",
        'pytest "a',
        "pytest $(a",
        "{ pytest; }",
        "! pytest",
        "$RUNNER a",
        "f() { pytest; }",
        "pytest >",
        "while true; do x; done",
    ],
)
def test_lines_that_are_left_alone(line: str) -> None:
    assert not parse(line).sure


def test_offsets_are_those_of_the_text() -> None:
    line = "A=1  pytest   'a b'"
    (command,) = parse(line).commands
    assert [line[word.start : word.end] for word in command.words] == ["A=1", "pytest", "'a b'"]
    assert insert(line, [(command.words[1].end, " -q"), (0, "X=2 ")]) == "X=2 A=1  pytest -q   'a b'"


@given(
    st.lists(
        st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=8), min_size=1
    )
)
def test_quoted_words_come_back(values: list[str]) -> None:
    line = "run " + " ".join(shlex.quote(value) for value in values)
    assert words(line) == [["run", *values]]


@given(st.text("ab'\"\\ $;&|\n#=", max_size=12))
def test_what_is_read_for_sure_is_what_the_shell_splits(text: str) -> None:
    """Against shlex, on lines without operators or expansions, where both speak of the same thing."""
    if set("$;&|\n#") & set(text):
        return
    line = parse(f"x {text}")
    try:
        expected = shlex.split(f"x {text}")
    except ValueError:
        assert not line.sure or text.endswith("\\")
        return
    assert line.sure
    assert [word.text for command in line.commands for word in command.words] == expected


@pytest.mark.parametrize("path", ["-x.py", "a b.py", "it's.py", 'q"q.py', "$x.py", "é.py"])
def test_a_path_is_one_word_and_never_an_option(path: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f"printf %s {quote_path(path)}"], capture_output=True, check=True, text=True
    )
    assert done.stdout.removeprefix("./") == path
    assert not done.stdout.startswith("-")
