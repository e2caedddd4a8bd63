"""The tree that an agent sees: nothing of what a task hides, by every way of writing it, and nothing of berbench's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from berbench.agents import visible_tree
from berbench.history import GitHistory
from gitrepo import RepoBuilder

PATHS = (
    ".ber/bench/config.yaml",
    "docs/answer.md",
    "docs/deep/answer.md",
    "docs/other.md",
    "src/app.py",
    "src/dots/.hidden",
    "tests/test_cost.py",
    "tests/test_other.py",
)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHistory]:
    repo = RepoBuilder(tmp_path_factory.mktemp("seen") / "r")
    repo.commit("base", dict.fromkeys(PATHS, b"x\n"))
    with GitHistory(repo.path) as history:
        yield history


@pytest.mark.parametrize(
    ("hide", "hidden"),
    [
        ((), set()),
        (("tests/test_cost.py",), {"tests/test_cost.py"}),
        (("tests/",), {"tests/test_cost.py", "tests/test_other.py"}),
        (("tests",), {"tests/test_cost.py", "tests/test_other.py"}),
        (("docs/**",), {"docs/answer.md", "docs/deep/answer.md", "docs/other.md"}),
        (("**/answer.md",), {"docs/answer.md", "docs/deep/answer.md"}),
        (("docs/{answer,other}.md",), {"docs/answer.md", "docs/other.md"}),
        (("docs/**", "!docs/other.md"), {"docs/answer.md", "docs/deep/answer.md"}),
        (("src/dots/",), {"src/dots/.hidden"}),
        (("nothing-like-it", ""), set()),
    ],
)
def test_an_agent_sees_all_but_what_is_hidden_and_berbenchs_own(
    history: GitHistory, hide: tuple[str, ...], hidden: set[str]
) -> None:
    seen = {entry.path for entry in history.list_tree(visible_tree(history, "main", hide))}
    assert seen == set(PATHS[1:]) - hidden
