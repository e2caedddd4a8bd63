"""Finding one landing: local history, the forge's word beside it, and what stands in the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from berbench.errors import ForgeError, LandingError, NotOnForge, RepositoryError
from berbench.history import GitHistory
from berbench.model.changes import Issue, LandedBy, Landing, PullRequest
from berbench.stages.landing import find_landing
from gitrepo import RepoBuilder

Find = Callable[..., Landing]


@dataclass
class ToldForge:
    """A forge that tells what it was given."""

    told: dict[int, PullRequest] = field(default_factory=dict)
    branches: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    fails: ForgeError | None = None
    credentials: str = ""

    def check(self) -> str:
        return "fine"

    def pull_request(self, number: int) -> PullRequest:
        if self.fails:
            raise self.fails
        if number not in self.told:
            raise NotOnForge(f"no pull request {number}")
        return self.told[number]

    def issue(self, number: int) -> Issue:
        raise NotOnForge(f"no issue {number}")

    def branch_commits(self, number: int) -> tuple[tuple[str, str], ...]:
        return tuple(self.branches.get(number, ()))

    def pull_requests_of(self, commit: str) -> Sequence[int]:
        return ()

    def close(self) -> None:
        """Nothing is open."""


def told(number: int, landing: str, *, merged: bool = True, target: str = "main") -> PullRequest:
    return PullRequest(number, f"Title {number}", "", "", merged, landing, "f" * 40, "topic", target, None)


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    built = RepoBuilder(tmp_path / "repo")
    built.commit("Start", {"a": b"0\n"})
    return built


@pytest.fixture
def find(repo: RepoBuilder, tmp_path: Path) -> Iterator[Find]:
    with GitHistory(repo.path, scratch=tmp_path) as history:

        def run(pr: int | None = None, commit: str | None = None, forge: ToldForge | None = None) -> Landing:
            return find_landing(history, forge, "main", pr, commit, slug="o/r")

        yield run


def test_a_merge_comes_with_its_changes_and_the_issues_of_its_branch(repo: RepoBuilder, find: Find) -> None:
    repo.branch("t")
    repo.commit("Work\n\nFixes #3", {"t": b"t\n"})
    repo.switch("main")
    merge = repo.merge("t", "Merge pull request #7 from x/t\n\nTitle. Closes o/r#4, closes other/r#5")
    landing = find(7)
    assert (landing.commit, landing.landed_by, landing.issues) == (merge, LandedBy.MERGE, (4, 3))
    assert [change.path for change in landing.changes] == ["t"]


def test_the_forge_tells_a_rebased_series_from_a_squash(repo: RepoBuilder, find: Find) -> None:
    base = repo.commit("Before", {"b": b"b\n"})
    one, two = repo.commit("Part one", {"x": b"1\n"}), repo.commit("Part two", {"x": b"2\n"})
    squash = repo.commit("Squashed without a number", {"y": b"y\n"})
    forge = ToldForge(
        {7: told(7, two), 8: told(8, squash), 9: told(9, one)},
        {7: [("a" * 40, "Part one"), ("b" * 40, "Part two")], 8: [("c" * 40, "wip"), ("d" * 40, "more")],
         9: [("e" * 40, "Part one")]},
    )  # fmt: skip
    series = find(7, forge=forge)
    assert (series.landed_by, series.base, series.commits) == (LandedBy.REBASE, base, (two, one))
    assert (series.title, series.pr) == ("Title 7", 7)
    assert (find(8, forge=forge).landed_by, find(8, forge=forge).base) == (LandedBy.SQUASH, two)
    assert (find(9, forge=forge).landed_by, find(9, forge=forge).base) == (LandedBy.REBASE, base)


def test_a_series_that_does_not_match_its_branch_is_refused(repo: RepoBuilder, find: Find) -> None:
    repo.commit("Something else", {"x": b"1\n"})
    two = repo.commit("Part two", {"x": b"2\n"})
    forge = ToldForge({7: told(7, two)}, {7: [("a" * 40, "Part one"), ("b" * 40, "Part two")]})
    with pytest.raises(LandingError, match="not its own"):
        find(7, forge=forge)


def test_forge_and_history_that_disagree_are_both_named(repo: RepoBuilder, find: Find) -> None:
    local = repo.commit("Fix (#7)", {"x": b"1\n"})
    other = repo.commit("Fix for real", {"x": b"2\n"})
    with pytest.raises(LandingError, match="disagree") as caught:
        find(7, forge=ToldForge({7: told(7, other)}))
    assert {line[:12] for line in caught.value.details} == {local[:12], other[:12]}
    assert find(7, forge=ToldForge({7: told(7, local)})).commit == local
    assert find(7, commit=local).commit == local


def test_the_forge_decides_which_of_two_namings_landed(repo: RepoBuilder, find: Find) -> None:
    first = repo.commit("Fix (#7)", {"x": b"1\n"})
    repo.commit("Between", {"y": b"1\n"})
    repo.commit("Fix again (#7)", {"x": b"2\n"})
    with pytest.raises(LandingError, match="named by 2 commits"):
        find(7)
    with pytest.raises(LandingError, match="disagree"):
        find(7, forge=ToldForge({7: told(7, first)}))
    assert find(7, commit=first).commit == first


def test_what_local_history_refuses_is_refused_whatever_the_forge_says(repo: RepoBuilder, find: Find) -> None:
    bump = repo.commit("Bump left-pad from 1 to 2 (#7)", {"x": b"1\n"})
    release = repo.commit("Release 2.0 (#8)", {"x": b"2\n"})
    for pr, commit, word in ((7, bump, "dependency bump"), (8, release, "release commit")):
        for forge in (None, ToldForge({pr: told(pr, commit)}, {pr: [("a" * 40, "work")]})):
            with pytest.raises(LandingError, match=word):
                find(pr, forge=forge)


def test_a_merge_that_only_the_forge_knows_is_a_merge(repo: RepoBuilder, find: Find) -> None:
    repo.branch("t")
    repo.commit("One", {"t": b"1\n"})
    last = repo.commit("Two", {"t": b"2\n"})
    repo.switch("main")
    base = repo.commit("Meanwhile", {"m": b"m\n"})
    merge = repo.merge("t", "Bring the topic in")
    forge = ToldForge({7: told(7, merge)}, {7: [("a" * 40, "One"), (last, "Bring the topic in")]})
    landing = find(7, forge=forge)
    assert (landing.landed_by, landing.base, landing.commits) == (LandedBy.MERGE, base, (merge,))
    assert [change.path for change in landing.changes] == ["t"]
    assert last in landing.brought


def test_what_the_forge_knows_better(repo: RepoBuilder, find: Find) -> None:
    repo.commit("Fix (#7)", {"x": b"1\n"})
    repo.branch("side")
    aside = repo.commit("Aside", {"z": b"z\n"})
    repo.switch("main")
    forge = ToldForge(
        {8: told(8, "", merged=False), 9: told(9, "9" * 40), 10: told(10, aside, target="side")}
    )
    for pr, word in (
        (7, "knows no pull request"),
        (8, "never merged"),
        (9, "not in this repository"),
        (10, "landed on side"),
    ):
        with pytest.raises(LandingError, match=word):
            find(pr, forge=forge)


def test_a_forge_that_fails_is_done_without(repo: RepoBuilder, find: Find) -> None:
    fix = repo.commit("Fix (#7)", {"x": b"1\n"})
    forge = ToldForge(fails=ForgeError("The forge is down."))
    assert find(7, forge=forge).commit == fix
    with pytest.raises(LandingError, match="No commit") as caught:
        find(8, forge=forge)
    assert "The forge is down." in caught.value.details[-1]


def test_another_branch_is_named(repo: RepoBuilder, find: Find) -> None:
    repo.branch("2.x")
    aside = repo.commit("Fix (#7)", {"x": b"1\n"})
    repo.switch("main")
    with pytest.raises(LandingError, match="another branch") as caught:
        find(7)
    assert caught.value.details[0].startswith(aside[:12])
    assert "main_branch" in caught.value.remedy
    with pytest.raises(LandingError, match="not on the main branch"):
        find(commit=aside)


def test_reverted_changes_are_refused_however_they_are_named(repo: RepoBuilder, find: Find) -> None:
    fix = repo.commit("Fix (#7)", {"x": b"1\n"})
    plain = repo.commit("Pushed", {"y": b"1\n"})
    repo.commit(f'Revert "Fix (#7)" (#8)\n\nThis reverts commit {fix}.', {"x": None})
    repo.commit(f'Revert "Pushed"\n\nThis reverts commit {plain}.', {"y": None})
    forge = ToldForge({9: told(9, plain)}, {9: [("a" * 40, "Pushed")]})
    for ask in ({"pr": 7}, {"commit": fix}, {"pr": 7, "forge": ToldForge({7: told(7, fix)})}, {"commit": plain},
                {"pr": 9, "forge": forge}):  # fmt: skip
        with pytest.raises(LandingError, match="reverted later by"):
            find(**ask)


def test_a_named_commit_serves_without_pull_requests(repo: RepoBuilder, find: Find) -> None:
    root = repo.head
    pushed = repo.commit("Fix it\n\nCloses #4", {"x": b"1\n"})
    landing = find(commit=pushed[:10])
    assert (landing.pr, landing.landed_by, landing.base, landing.issues) == (
        None,
        LandedBy.COMMIT,
        root,
        (4,),
    )
    assert find(pr=5, commit=pushed).pr == 5
    repo.branch("t")
    repo.commit("Work", {"t": b"t\n"})
    repo.switch("main")
    merge = repo.merge("t", "Merge branch 't'")
    assert (find(commit=merge).landed_by, find(commit=merge).base) == (LandedBy.MERGE, pushed)


def test_commits_that_can_not_serve_are_refused(repo: RepoBuilder, find: Find) -> None:
    root = repo.head
    named = repo.commit("Fix (#7)", {"x": b"1\n"})
    for name in ("t1", "t2"):
        repo.branch(name, at=named)
        repo.commit(name, {name: b"1\n"})
    repo.switch("main")
    octopus = repo.merge(["t1", "t2"], "Both")
    for commit, pr, word in (
        (root, None, "root commit"),
        (octopus, None, "octopus"),
        (named, 8, "names pull request #7"),
    ):
        with pytest.raises(LandingError, match=word):
            find(pr, commit=commit)
    with pytest.raises(RepositoryError, match="no commit"):
        find(commit="0123456789")


def test_a_shallow_clone_says_how_to_complete_it(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.commit("Fix (#7)", {"x": b"1\n"})
    repo.commit("Later", {"y": b"1\n"})
    repo.git("clone", "-q", "--bare", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow"))
    with GitHistory(tmp_path / "shallow", scratch=tmp_path) as history, pytest.raises(LandingError) as caught:
        find_landing(history, None, "main", 7, None)
    assert "--unshallow" in caught.value.remedy
