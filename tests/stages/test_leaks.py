"""No prompt tells a commit or the branch of the change: neither as it is created nor as it is edited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import pytest

from berbench.history import GitHistory
from berbench.model.changes import Repository
from berbench.model.task import TaskFiles
from berbench.stages.create import Created, Doors, Request, create
from berbench.stages.init import initialise
from berbench.stages.lint import LintDoors, leaks_in, lint_task
from berbench.store import Project
from gitrepo import RepoBuilder

FORGE = Repository("github.com", "owner/name", "github")


@dataclass(frozen=True)
class Place:
    """A merge of a branch of two commits, and the doors around it."""

    doors: LintDoors
    commits: dict[str, str]

    def create(self, text: str) -> Created:
        """The merge as a task, of an issue of this text."""
        return create(Doors(self.doors, None), Request(5, issue_text=text), lambda line: None)

    def leaks(self, files: TaskFiles, text: str) -> list[str]:
        """What lint says of the task with another prompt, knowing what is on the disk alone."""
        edited = replace(files, prompt=text.encode())
        return [problem.code for problem in leaks_in(lint_task(self.doors, edited))]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    repo = RepoBuilder(tmp_path / "repo")
    commits = {"base": repo.commit("Begin", {"a.py": b"x = 1\n", "tests/test_a.py": b"assert 1\n"})}
    repo.branch("count-from-zero")
    commits["first"] = repo.commit("Count from zero", {"a.py": b"x = 0\n"})
    commits["last"] = repo.commit("Try it", {"tests/test_a.py": b"from a import x\n\nassert x == 0\n"})
    repo.switch("main")
    commits["landing"] = repo.merge(
        "count-from-zero", "Merge pull request #5 from owner/count-from-zero\n\nCount from zero"
    )
    with GitHistory(repo.path) as history:
        project = Project(repo.path, locks=tmp_path / "locks")
        initialise(
            history, project, remote="origin", repository=FORGE, base_image="x", today=date(2026, 1, 2)
        )
        yield Place(LintDoors(history, project, project.read_config(), FORGE, "refs/heads/main"), commits)


@pytest.mark.parametrize("name", ["base", "first", "last", "landing"])
@pytest.mark.parametrize("length", [7, 12, 40])
def test_T01_no_commit_of_the_change_is_told(place: Place, name: str, length: int) -> None:
    text = f"# Count from zero\n\nCounting begins at one; compare {place.commits[name][:length]}.\n"
    created = place.create(text)
    assert place.commits[name][:7] not in created.files.prompt.decode()
    assert place.leaks(created.files, text) == ["prompt-commit"]
    assert place.leaks(created.files, "# Count from zero\n\nCounting begins at one.\n") == []


def test_T01_the_branch_of_the_change_is_not_told(place: Place) -> None:
    text = "# Count from zero\n\nCounting begins at one; see the branch count-from-zero.\n"
    created = place.create(text)
    assert "count-from-zero" not in created.files.prompt.decode()
    assert place.leaks(created.files, text) == ["prompt-branch"]
