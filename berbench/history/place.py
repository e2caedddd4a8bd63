"""Where a repository is: at or above a folder, as a work tree, a linked work tree or a bare one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from berbench.errors import RepositoryError
from berbench.history.git import Answer, Command


class Place:
    """Where a repository is and of what kind."""

    def __init__(self, lines: Sequence[str], path: Path) -> None:
        bare, shallow, git_dir, objects = lines[:4]
        self.bare, self.shallow = bare == "true", shallow == "true"
        self.git_dir = Path(git_dir)
        self.objects = (path / objects).resolve()
        self.root = Path(lines[4] or git_dir)


def locate(path: Path) -> Place:
    """Ask git where it is; every kind of no has its own remedy."""
    if not path.is_dir():
        raise RepositoryError(f"{str(path)!r} is no folder.", remedy="Give the path of a git repository.")
    command = Command(path)
    facts = ("--is-bare-repository", "--is-shallow-repository", "--absolute-git-dir", "--git-path", "objects")
    # Asked last: it fails where there is no work tree, after all the rest was answered.
    answer = command.ask("rev-parse", *facts, "--show-toplevel")
    lines = os.fsdecode(answer.out).split("\n", 4)
    if len(lines) < 5:
        raise _no_repository(path, answer)
    lines[4] = lines[4].removesuffix("\n")
    if not lines[4] and lines[0] != "true":
        raise RepositoryError(
            f"{str(path)!r} is inside a repository's git folder.", remedy="Go to the work tree above it."
        )
    return Place(lines, path)


def _no_repository(path: Path, answer: Answer) -> RepositoryError:
    if "not a git repository" in answer.err:
        return RepositoryError(
            f"{str(path)!r} is not inside a git repository.", remedy="Go to one, or make one with `git init`."
        )
    if "dubious ownership" in answer.err:  # git before 2.38 takes no exception from the command line
        return RepositoryError(
            f"git refuses {str(path)!r}: it belongs to another user.",
            remedy=f"Allow it with `git config --global --add safe.directory {path}`.",
        )
    return RepositoryError(f"git can't read {str(path)!r}: {answer.complaint}")


def alternates(objects: Path) -> str:
    """The object folder as git reads the variable: paths with separators or quotes are quoted."""
    text = str(objects)
    if ":" in text or '"' in text:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text
