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


_LIMIT = re.compile(r"^timeout (\d+)h ")


def _lines(tree: Any) -> Iterator[str]:
    """Every shell line of a CI file."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == "run" and isinstance(value, str):
                yield from value.splitlines()
            elif key in ("script", "after_script"):
                yield from value
            else:
                yield from _lines(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _lines(value)


def _commands(lines: list[str]) -> list[str]:
    parts = (_LIMIT.sub("", part.strip()) for line in lines for part in line.split("&&"))
    return [part for part in parts if part.startswith("berbench ")]


@pytest.mark.parametrize("number", range(2))
def test_files_of_ci_run_commands_that_there_are(number: int) -> None:
    commands = _commands(list(_lines(FILES[number])))
    assert commands and commands[0].startswith("berbench run nightly --json")
    assert [_complaint(command) for command in commands] == [""] * len(commands)


def test_files_of_ci_keep_the_data_folder_from_night_to_night() -> None:
    github, gitlab = FILES
    steps = github["jobs"]["run"]["steps"]
    restore, save = (step for step in steps if "cache" in step.get("uses", ""))
    assert restore["with"]["path"] == save["with"]["path"] and restore["with"]["key"] == save["with"]["key"]
    assert github["jobs"]["run"]["env"]["BERBENCH_DATA_DIR"].endswith(save["with"]["path"])
    # The plain action saves nothing when the job failed, and then every cell is paid for again.
    assert save["if"] == "always()" and gitlab["berbench"]["cache"]["when"] == "always"
    [path] = gitlab["berbench"]["cache"]["paths"]
    assert gitlab["berbench"]["variables"]["BERBENCH_DATA_DIR"].endswith(path)
    # Without the whole history no task's base commit is there.
    assert gitlab["berbench"]["variables"]["GIT_DEPTH"] == "0"
    assert any(step.get("with", {}).get("fetch-depth") == "0" for step in steps)


def test_a_run_is_stopped_in_good_order_before_its_job_is_cut_off() -> None:
    github, gitlab = FILES
    for tree, job_hours in ((github, int(github["jobs"]["run"]["timeout-minutes"]) / 60), (gitlab, 6)):
        [hours] = [int(found[1]) for line in _lines(tree) if (found := _LIMIT.match(line))]
        assert hours < job_hours
    assert gitlab["berbench"]["timeout"] == "6 hours"


def test_the_program_comes_from_where_the_reader_says() -> None:
    """A name alone would be whatever an index has under it."""
    for tree in FILES:
        assert [line for line in _lines(tree) if line.startswith("pip ")] == ['pip install "$BERBENCH"']
    github, gitlab = FILES
    for variables in (github["jobs"]["run"]["env"], gitlab["berbench"]["variables"]):
        assert variables["BERBENCH"].startswith("berbench @ ")


def test_the_crontab_line_runs_a_command_that_there_is() -> None:
    [line] = CRON
    assert [_complaint(command) for command in _commands([line])] == [""]
