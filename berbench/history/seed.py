"""A new repository out of a fast-import stream: how the sample comes to be. Nothing else writes history."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from berbench.errors import RepositoryError
from berbench.history.git import Command


def create_repository(path: Path, stream: bytes, *, branch: str = "main") -> Mapping[int, str]:
    """Make a repository with the stream's history and `branch` checked out; commit id of each mark.

    RepositoryError when the folder holds anything, or git refuses.
    """
    path.mkdir(parents=True, exist_ok=True)
    if any(path.iterdir()):
        raise RepositoryError(f"{path} is not empty.", remedy="Name a folder that does not exist yet.")
    git = Command(path)
    git.run("init", "--quiet", ".")
    git.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    marks = path / ".git" / "berbench-marks"
    git.run("fast-import", "--quiet", f"--export-marks={marks}", data=stream)
    git.run("reset", "--quiet", "--hard")
    lines = [line.split() for line in marks.read_text(encoding="ascii").splitlines()]
    marks.unlink()
    return {int(mark.removeprefix(":")): commit for mark, commit in lines}
