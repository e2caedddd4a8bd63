"""The files of the guide to nightly runs are YAML, and the command lines in them are ones that berbench takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from berbench.yamlio import load
from test_docs import _complaint

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "guides" / "nightly.md").read_text(encoding="utf-8")
FILES = [load(text.encode(), "nightly.md") for text in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)]
CRON = re.findall(r"^0 2 \* \* \*  (.*)$", PAGE, re.M)


def _lines(tree: Any) -> Iterator[str]:
    """Every shell line of a CI file."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == "run" and isinstance(value, str):
                yield from value.splitlines()
            elif key == "script":
                yield from value
            else:
                yield from _lines(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _lines(value)


def _commands(lines: list[str]) -> list[str]:
    parts = (part.strip() for line in lines for part in line.split("&&"))
    return [part for part in parts if part.startswith("berbench ")]


@pytest.mark.parametrize("number", range(2))
def test_files_of_ci_run_commands_that_there_are(number: int) -> None:
    commands = _commands(list(_lines(FILES[number])))
    assert commands and commands[0].startswith("berbench run nightly --json")
    assert [_complaint(command) for command in commands] == [""] * len(commands)


def test_files_of_ci_keep_the_data_folder_from_night_to_night() -> None:
    github, gitlab = FILES
    steps = github["jobs"]["run"]["steps"]
    [cache] = [step["with"]["path"] for step in steps if "cache" in step.get("uses", "")]
    assert github["jobs"]["run"]["env"]["BERBENCH_DATA_DIR"].endswith(cache)
    [path] = gitlab["berbench"]["cache"]["paths"]
    assert gitlab["berbench"]["variables"]["BERBENCH_DATA_DIR"].endswith(path)
    # Without the whole history no task's base commit is there.
    assert gitlab["berbench"]["variables"]["GIT_DEPTH"] == "0"
    assert any(step.get("with", {}).get("fetch-depth") == "0" for step in steps)


def test_the_crontab_line_runs_a_command_that_there_is() -> None:
    [line] = CRON
    assert [_complaint(command) for command in _commands([line])] == [""]
