"""Help fits a terminal of 80 columns, and speaks of what people type."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from berbench.cli.app import app

PROGRAM = get_command(app)


def _pages(command: TyperCommand | TyperGroup, *words: str) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            assert isinstance(inner, TyperCommand | TyperGroup)
            yield from _pages(inner, *words, name)


assert isinstance(PROGRAM, TyperGroup)
PAGES = list(_pages(PROGRAM))


def _help(words: tuple[str, ...]) -> str:
    result = CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).invoke(app, [*words, "--help"])
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_help_is_in_words_and_cut_nowhere(words: tuple[str, ...]) -> None:
    text = _help(words)
    listed = text.partition("\nCommands:\n")[2]
    assert not re.search(
        r"\.\.\.$", listed, re.MULTILINE
    )  # a first sentence too long for the list of commands
    assert not re.search(r"[{<>}]|\[\[", text)  # the library's own marks: {NAME}, <str>, 1<=x<=16, [[KEY]]
    assert max(map(len, text.splitlines())) <= 80


def test_arguments_stand_as_they_are_typed() -> None:
    assert "Usage: root report [OPTIONS] [RUN] [KEY]\n" in _help(("report",)).replace("berbench", "root")
    assert "experiment create [OPTIONS] NAME CONFIG...\n" in _help(("experiment", "create"))
    assert "task validate [OPTIONS] [ID]...\n" in _help(("task", "validate"))


def test_limits_are_said_in_words() -> None:
    scan = " ".join(_help(("task", "scan")).split())
    assert "[default: 50; 1 to 200]" in scan and "[default: 20; at least 1]" in scan
    assert "[0.01 to 1000000000]" in _help(("experiment", "create"))
