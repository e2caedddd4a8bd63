"""Dockerfile drafts: what they say, and that a shell understands them."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from berbench.environments import declared_arguments, draft
from berbench.errors import UsageError
from berbench.model.changes import Snapshot
from berbench.process import run

TODAY = date(2024, 6, 1)
TREES = {
    "python": Snapshot(("pyproject.toml", "a.py"), {"pyproject.toml": b"[project]\n"}),
    "node": Snapshot(("package.json", "a.js"), {"package.json": b"{}"}),
    "go": Snapshot(("go.mod", "a.go"), {"go.mod": b"go 1.20\n"}),
    "rust": Snapshot(("Cargo.toml", "a.rs"), {}),
    "java": Snapshot(("pom.xml", "A.java"), {"pom.xml": b"<project/>"}),
}


def runs(dockerfile: str) -> list[str]:
    """The shell text of each RUN, as the builder joins it."""
    lines = [line for line in dockerfile.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", "", "\n".join(lines))
    return [line.removeprefix("RUN ") for line in joined.splitlines() if line.startswith("RUN ")]


@pytest.mark.parametrize("language", sorted(TREES))
def test_a_draft_is_marked_and_builds_with_any_builder(language: str) -> None:
    made = draft(TREES[language], today=TODAY)
    assert made.language == language
    assert made.dockerfile.startswith("# DRAFT")
    assert all(reason in made.dockerfile for reason in made.reasons)
    assert "{{" not in re.sub(r"'[^'\n]*'", "", made.dockerfile)  # every blank is filled in
    assert not re.search(
        r"RUN --|<<|COPY --(link|chmod)|^# *syntax", made.dockerfile.replace("' \\", ""), re.MULTILINE
    )


@pytest.mark.parametrize("language", sorted(TREES))
def test_D14_tests_run_as_an_account_and_not_as_root(language: str) -> None:
    users = re.findall(r"^USER (.*)$", draft(TREES[language], today=TODAY).dockerfile, re.MULTILINE)
    assert users[-1] == "berbench"


@pytest.mark.parametrize("language", sorted(TREES))
def test_every_run_of_a_draft_is_a_shell_program(language: str, tmp_path: Path) -> None:
    scripts = runs(draft(TREES[language], today=TODAY).dockerfile)
    assert scripts
    for number, script in enumerate(scripts):
        path = tmp_path / f"{number}.sh"
        path.write_text(script)
        assert run(["sh", "-n", str(path)]).code == 0, script[:200]


def test_the_base_image_is_the_languages_own_unless_one_is_given() -> None:
    assert "ARG BASE_IMAGE=python:3.12-slim" in draft(TREES["python"], today=TODAY).dockerfile
    assert "ARG BASE_IMAGE=node:20" in draft(TREES["node"], today=TODAY).dockerfile
    given = draft(TREES["python"], base_image="berbench/base", today=TODAY)
    assert "ARG BASE_IMAGE=berbench/base" in given.dockerfile
    assert any("berbench/base" in reason for reason in given.reasons)


def test_drafts_take_the_day_but_not_the_commit_so_that_images_are_shared() -> None:
    names = declared_arguments(draft(TREES["python"], today=TODAY).dockerfile.encode())
    assert "BERBENCH_AS_OF" in names
    assert "BERBENCH_BASE_COMMIT" not in names


def test_the_reader_in_a_draft_is_the_one_that_ships(tmp_path: Path) -> None:
    """What printf writes in the container is the file under kit/, byte for byte."""
    script = next(
        one for one in runs(draft(TREES["python"], today=TODAY).dockerfile) if "read_python.py" in one[-40:]
    )
    target = tmp_path / "read_python.py"
    path = tmp_path / "write.sh"
    path.write_text(script.replace("/opt/berbench/read_python.py", str(target)))
    assert run(["sh", str(path)]).code == 0
    shipped = Path(__file__).parents[2] / "berbench/environments/kit/read_python.py"
    assert target.read_bytes() == shipped.read_bytes()


def test_an_unknown_language_is_a_usage_error_with_a_remedy() -> None:
    with pytest.raises(UsageError, match="no manifest") as caught:
        draft(Snapshot(("README.md",)), today=TODAY)
    assert "by hand" in caught.value.remedy
