"""What `init` says of the forge that a remote's host is, or is not known to be."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from berbench.forge.remote import parse_remote
from berbench.history import GitHistory
from berbench.stages.init import initialise
from berbench.store import Project
from gitrepo import RepoBuilder


@pytest.mark.parametrize(
    ("remote", "provider", "told"),
    [
        ("https://code.example.org/owner/tool.git", "none", True),
        ("https://gitlab.example.org/owner/tool.git", "gitlab", False),
        ("", "auto", False),
    ],
)
def test_a_host_whose_name_tells_no_forge_is_asked_about(
    tmp_path: Path, remote: str, provider: str, told: bool
) -> None:
    repo = RepoBuilder(tmp_path / "repo")
    repo.commit("Begin", {"a.py": b"x = 1\n", "tests/test_a.py": b"def test_a():\n    assert 1\n"})
    history = GitHistory(repo.path)
    project = Project(repo.path, locks=tmp_path / "locks")
    begun = initialise(
        history,
        project,
        remote="origin",
        repository=parse_remote(remote),
        base_image="",
        today=date(2026, 1, 2),
    )
    history.close()
    assert project.read_config().provider == provider
    assert any("code.example.org does not tell its forge" in line for line in begun.review) is told
