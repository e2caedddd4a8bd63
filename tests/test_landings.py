"""Landings read from real histories: every form, and everything that only looks like one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from berbench.errors import LandingError
from berbench.history import GitHistory
from berbench.landings import _Reader, closing_issues, form_of, mentioned_issues, prove, read_landings
from berbench.model.changes import Commit, LandedBy, Landing, NotLanding
from gitrepo import START, RepoBuilder

Read = Callable[..., list[Landing | NotLanding]]


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    built = RepoBuilder(tmp_path / "repo")
    built.commit("Start", {"a": b"0\n"})
    return built


@pytest.fixture
def read(repo: RepoBuilder, tmp_path: Path) -> Read:
    """What the walk of main tells, with both kinds of stream."""

    def run(slug: str = "") -> list[Landing | NotLanding]:
        with GitHistory(repo.path, scratch=tmp_path) as history:
            told = list(read_landings(history.walk("main"), slug=slug))
            bare = list(read_landings(history.messages("main"), slug=slug))
        assert [(one.pr, one.commit) for one in bare] == [(one.pr, one.commit) for one in told]
        return told

    return run


def landings(found: list[Landing | NotLanding]) -> dict[int | None, Landing]:
    return {one.pr: one for one in found if isinstance(one, Landing)}


def refused(found: list[Landing | NotLanding]) -> dict[int | None, str]:
    return {one.pr: one.reason for one in found if isinstance(one, NotLanding) and one.pr is not None}


def topic(repo: RepoBuilder, name: str, *messages: str) -> None:
    """A branch of main with a commit for each message, then back on main."""
    repo.branch(name, at="main")
    for at, message in enumerate(messages):
        repo.commit(message, {f"{name}-{at}": b"x\n"})
    repo.switch("main")


@pytest.mark.parametrize(
    ("subject", "body", "pr", "title", "branch"),
    [
        ("Merge pull request #7 from o/fix-x", "Fix x", 7, "Fix x", "fix-x"),
        ("Merge pull request #7 from o/deep/fix-x", "", 7, "deep/fix-x", "deep/fix-x"),
        (
            "Merge branch 'fix-x' into 'main'",
            "Fix x\n\nSee merge request group/sub/project!7",
            7,
            "Fix x",
            "fix-x",
        ),
        (
            "Merge branch 'fix-x' into 'main'",
            "Fix x\n\nCloses #3\n\nSee merge request !7",
            7,
            "Fix x",
            "fix-x",
        ),
        ("Merged in fix-x (pull request #7)", "Fix x\n\nApproved-by: B", 7, "Fix x", "fix-x"),
        (
            "Pull request #7: Fix x",
            "Merge in P/r from fix-x to master\n\n* commit 'abc'",
            7,
            "Fix x",
            "fix-x",
        ),
        ("Merge pull request #7 in P/R from fix-x to master", "Fix x", 7, "Fix x", "fix-x"),
        ("Merged PR 7: Fix x", "body", 7, "Fix x", ""),
        ("Merge pull request 'Fix x' (#7) from fix-x into main", "", 7, "Fix x", "fix-x"),
        ("Auto merge of #7 - ann:fix-x, r=bob", "Fix x\n\nlong", 7, "Fix x", "fix-x"),
        ("Fix x (#7)", "", 7, "Fix x", ""),
        ("Fix x (!7)", "", 7, "Fix x", ""),
    ],
)
def test_merges_of_every_forge_name_their_pull_request(
    repo: RepoBuilder, read: Read, subject: str, body: str, pr: int, title: str, branch: str
) -> None:
    topic(repo, "t", "Work on x")
    base = repo.head
    merge = repo.merge("t", f"{subject}\n\n{body}" if body else subject)
    landing = landings(read())[pr]
    assert (landing.commit, landing.base, landing.landed_by) == (merge, base, LandedBy.MERGE)
    assert (landing.title, landing.source_branch) == (title, branch)
    assert [change.path for change in landing.changes] == ["t-0"]


@pytest.mark.parametrize(
    ("subject", "pr"),
    [
        ("Fix (#12) regression (#345)", 345),
        ("Fix #12, see #13 (#345)", 345),
        ("Fix x (!9)", 9),
        ("Merged PR 7: Fix", 7),
    ],
)
def test_M01_only_the_trailing_number_is_the_pull_request(
    repo: RepoBuilder, read: Read, subject: str, pr: int
) -> None:
    repo.commit(f"{subject}\n\n(#999) and #998 are only spoken of", {"a": b"1\n"})
    repo.commit("Not the end (#55) of it", {"a": b"2\n"})
    assert list(landings(read())) == [pr]
    assert landings(read())[pr].landed_by is LandedBy.SQUASH


def test_M02_merge_squash_series_and_direct_pushes_are_told_apart(repo: RepoBuilder, read: Read) -> None:
    topic(repo, "t", "Work")
    repo.merge("t", "Merge pull request #1 from o/t\n\nOne")
    repo.commit("Two (#2)", {"two": b"2\n"})
    before = repo.head
    series = [
        repo.commit(f"Part {at}\n\nPR-URL: https://forge.example/o/r/pull/3", {"s": b"%d\n" % at})
        for at in (1, 2)
    ]
    repo.commit("Pushed", {"p": b"p\n"})
    found = read()
    assert {pr: one.landed_by for pr, one in landings(found).items()} == {
        1: LandedBy.MERGE, 2: LandedBy.SQUASH, 3: LandedBy.REBASE,
    }  # fmt: skip
    rebased = landings(found)[3]
    assert (rebased.base, rebased.commits) == (before, tuple(reversed(series)))
    assert [(one.path, one.status) for one in rebased.changes] == [("s", "A")]
    unnamed = [one for one in found if isinstance(one, NotLanding)]
    assert {one.reason for one in unnamed} == {"no pull request named"}
    assert len(unnamed) == 2  # the push and the first commit


def test_M14_only_what_is_called_a_revert_takes_a_number_back(repo: RepoBuilder, read: Read) -> None:
    repo.commit("Add x (#9)", {"x": b"x\n"})
    repo.commit("Tidy up (#12)\n\nNobody needs to revert #9 for this.", {"y": b"y\n"})
    topic(repo, "t", 'Revert "Add x (#9)"', "Bring x back: it was not the cause")
    repo.merge("t", "Merge pull request #13 from o/t\n\nFind the cause")
    assert set(landings(read())) == {9, 12, 13}


def test_M14_the_branch_of_a_revert_tells_what_it_reverts(repo: RepoBuilder, read: Read) -> None:
    repo.commit("Faster (#9)", {"f": b"1\n"})
    topic(repo, "revert-9-faster", "Slower again")
    repo.merge(
        "revert-9-faster",
        "Merge pull request #10 from o/revert-9-faster\n\nReverting what made it fast, for now",
    )
    assert refused(read())[9] == "reverted later by #10"


def test_trailers_of_two_pull_requests_name_none(repo: RepoBuilder, read: Read) -> None:
    """A backport keeps the first one's trailer beside its own."""
    url = "PR-URL: https://forge.example/o/r/pull"
    repo.commit(f"One\n\n{url}/3\n{url}/3", {"f": b"1\n"})
    repo.commit(f"Two\n\n{url}/4\n{url}/5", {"f": b"2\n"})
    assert list(landings(read())) == [3]


def test_a_pull_request_is_no_issue_of_its_own(repo: RepoBuilder, read: Read) -> None:
    topic(repo, "t", "Work\n\nCloses #7, fixes #3")
    repo.merge("t", "Merge pull request #7 from o/t\n\nFix")
    assert landings(read())[7].issues == (3,)


def test_a_series_that_takes_something_back_tells_the_sum(repo: RepoBuilder, read: Read) -> None:
    for data in (b"1\n", b"0\n"):
        repo.commit(f"Step {data!r} (#4)", {"a": data, "b": data})
    assert [(one.path, one.status) for one in landings(read())[4].changes] == [("b", "A")]


def test_M04_the_base_is_the_first_parent_of_the_merge(repo: RepoBuilder, read: Read) -> None:
    topic(repo, "t", "Work")
    moved = repo.commit("Main moves on", {"other": b"o\n"})
    repo.merge("t", "Merge pull request #1 from o/t")
    landing = landings(read())[1]
    assert landing.base == moved
    assert [change.path for change in landing.changes] == ["t-0"]


def test_M05_foxtrot_merges_lose_no_pull_request(repo: RepoBuilder, read: Read) -> None:
    repo.branch("dev")
    repo.commit("On dev", {"d": b"d\n"})
    repo.switch("main")
    topic(repo, "t", "Work")
    eight = repo.merge("t", "Merge pull request #8 from o/t")
    nine = repo.commit("Nine (#9)", {"n": b"n\n"})
    repo.switch("dev")
    repo.merge("main", "Merge branch 'main' into dev")
    repo.branch("main", at="dev")  # the fast-forward
    found = landings(read())
    assert {pr: one.commit for pr, one in found.items()} == {8: eight, 9: nine}
    assert [change.path for change in found[8].changes] == ["t-0"]


def test_maintenance_branches_hold_landings(repo: RepoBuilder, read: Read) -> None:
    repo.branch("stable")
    fix = repo.commit("Fix on stable (#5)", {"s": b"s\n"})
    repo.switch("main")
    repo.commit("Main (#6)", {"m": b"m\n"})
    repo.merge("stable", "Merge branch 'stable'")
    assert landings(read())[5].commit == fix
    repo.merge("stable", "Merge stable into main (#7)")
    assert "long-lived" in refused(read())[7]


def test_the_interior_of_a_pull_request_is_not_a_landing(repo: RepoBuilder, read: Read) -> None:
    topic(repo, "inner", "Nested work")
    repo.branch("t", at="main")
    repo.commit("Fix crash (#12)\n\nFixes #31", {"t": b"t\n"})
    nested = repo.merge("inner", "Merge pull request #14 from o/inner")
    repo.switch("main")
    repo.commit("Main moves (#13)", {"m": b"m\n"})
    repo.switch("t")
    repo.merge("main", "Merge branch 'main' into t")
    repo.switch("main")
    repo.merge("t", "Merge pull request #15 from o/t\n\nFix crash")
    found = landings(read())
    assert set(found) == {13, 14, 15}
    assert found[14].commit == nested
    assert found[15].issues == (31,)


def test_M07_an_octopus_is_refused(repo: RepoBuilder, read: Read) -> None:
    topic(repo, "t1", "One")
    topic(repo, "t2", "Two")
    repo.merge(["t1", "t2"], "Both topics (#4)")
    assert "octopus" in refused(read())[4]


def test_M08_commits_without_a_trace_are_counted_and_get_no_number(repo: RepoBuilder, read: Read) -> None:
    for number in range(3):
        repo.commit(f"Fast-forwarded {number}, fixes #{number + 1}", {"f": b"%d\n" % number})
    found = read()
    assert [(one.pr, one.reason) for one in found if isinstance(one, NotLanding)] == [
        (None, "no pull request named")
    ] * 4
    assert landings(found) == {}


def test_M10_all_forms_of_bitbucket_give_the_number_and_the_branch(repo: RepoBuilder, tmp_path: Path) -> None:
    messages = [
        "Merged in fix/x (pull request #5)\n\nFix x",
        "Pull request #5: Fix x\n\nMerge in P/R from fix/x to master",
        "Merge pull request #5 in P/R from fix/x to master\n\nFix x",
    ]
    for message in messages:
        repo.commit(message, {"a": message.encode()})
    with GitHistory(repo.path, scratch=tmp_path) as history:
        forms = [form_of(one) for one in history.first_parents("main", 3)]
    assert [(one.pr, one.title, one.source_branch) for one in forms if one] == [(5, "Fix x", "fix/x")] * 3


def test_M11_a_merge_with_a_custom_subject_is_a_merge(repo: RepoBuilder, read: Read) -> None:
    topic(repo, "t", "Work", "More work")
    base = repo.head
    repo.merge("t", "Speed up x (#31)")
    landing = landings(read())[31]
    assert (landing.landed_by, landing.base, landing.title) == (LandedBy.MERGE, base, "Speed up x")
    assert len(landing.changes) == 2


def test_M13_backports_are_duplicates_where_the_original_is_here(repo: RepoBuilder, read: Read) -> None:
    repo.branch("1.x")
    repo.commit("Backport #77 to 1.x (#90)", {"fix": b"old fix\n"})
    alone = repo.commit("Backport #78 to 1.x (#91)", {"other": b"o\n"})
    repo.switch("main")
    original = repo.commit("Fix it (#77)", {"fix": b"fix\n"})
    repo.commit(f"Fix it again (#92)\n\n(cherry picked from commit {original})", {"again": b"x\n"})
    repo.merge("1.x", "Merge branch '1.x'")
    found = read()
    assert set(landings(found)) == {77, 91}
    assert landings(found)[91].commit == alone
    assert "#77" in refused(found)[90]
    assert original[:12] in refused(found)[92]


def test_M13_copies_that_came_long_after_the_original_are_duplicates_too(
    repo: RepoBuilder, read: Read
) -> None:
    """The walk meets them first, and waits for the original: as far down as the history goes."""
    original = repo.commit("Fix it (#77)", {"fix": b"fix\n"})
    repo.commit("Between (#80)", {"b": b"1\n"})
    repo.commit("Backport #77 to 1.x (#90)", {"old": b"fix\n"})
    repo.commit("Between (#91)", {"b": b"2\n"})
    repo.commit(f"Fix it again (#92)\n\n(cherry picked from commit {original})", {"again": b"x\n"})
    repo.commit("Between (#93)", {"b": b"3\n"})
    alone = repo.commit("Backport #78 to 1.x (#94)", {"other": b"o\n"})
    repo.commit("Between (#95)", {"b": b"4\n"})
    found = read()
    assert set(landings(found)) == {77, 80, 91, 93, 94, 95}
    assert landings(found)[94].commit == alone
    assert "#77" in refused(found)[90] and original[:12] in refused(found)[92]


def test_M13_the_same_change_twice_is_one_landing(repo: RepoBuilder, read: Read) -> None:
    repo.branch("1.x")
    repo.commit("Fix it (#20)", {"fix": b"fix\n"})
    repo.switch("main")
    repo.commit("Fix it (#21)", {"fix": b"fix\n"}, date=START.replace(year=2025))
    repo.merge("1.x", "Merge branch '1.x'", date=START.replace(year=2026))
    with_changes = [one for one in read_all(repo) if one.pr in (20, 21)]
    assert [type(one) for one in with_changes] == [Landing, NotLanding]


def read_all(repo: RepoBuilder) -> list[Landing | NotLanding]:
    with GitHistory(repo.path) as history:
        return list(read_landings(history.walk("main")))


@pytest.mark.parametrize(
    "revert",
    [
        'Revert "Add x (#9)" (#10)',
        'Revert "Add x" (#10)\n\nThis reverts commit {sha}.',
        'Revert "Add x" (#10)\n\nReverts o/r#9',
        "revert: add x (#10)\n\nThis reverts commit {short}.",
        'Revert "Add x" (#10)',
        "Back out the x change (#10)\n\nThis reverts commit {sha}",
    ],
)
def test_M14_reverted_changes_and_reverts_are_no_tasks(repo: RepoBuilder, read: Read, revert: str) -> None:
    sha = repo.commit("Add x (#9)", {"x": b"x\n"})
    repo.commit(revert.format(sha=sha, short=sha[:9]), {"x": None})
    repo.commit("Reland x, better (#11)", {"x": b"xx\n"})
    found = read()
    assert list(landings(found)) == [11]
    assert refused(found) == {10: "reverts an earlier change", 9: "reverted later by #10"}


def test_M14_a_merge_of_a_revert_branch_counts(repo: RepoBuilder, read: Read) -> None:
    topic(repo, "add", "Add x")
    nine = repo.merge("add", "Merge pull request #9 from o/add\n\nAdd x")
    repo.branch("revert-9-add")
    repo.commit(
        f'Revert "Add x"\n\nThis reverts commit {nine}, reversing\nchanges made to 1234567.', {"add-0": None}
    )
    repo.switch("main")
    repo.merge("revert-9-add", 'Merge pull request #10 from o/revert-9-add\n\nRevert "Add x"')
    found = read()
    assert landings(found) == {}
    assert refused(found)[10] == "reverts an earlier change"
    assert refused(found)[9].startswith("reverted later by ")


def test_M14_the_revert_of_a_revert_brings_the_change_back(repo: RepoBuilder, read: Read) -> None:
    repo.commit("Add x (#9)", {"x": b"x\n"})
    repo.commit('Revert "Add x (#9)" (#10)', {"x": None})
    repo.commit('Revert "Revert "Add x (#9)" (#10)" (#11)', {"x": b"y\n"})
    assert list(landings(read())) == [11]


@pytest.mark.parametrize(
    ("message", "author", "word"),
    [
        ("Bump requests from 1.0 to 2.0 (#8)", "dependabot[bot] <d@x>", "bump"),
        ("chore(deps): bump the group with 2 updates (#8)", "dependabot[bot] <d@x>", "bump"),
        ("chore(deps-dev): bump eslint from 1.0 to 2.0 (#8)", "Ann <a@x>", "bump"),
        ("Release 1.2.3 (#8)", "Ann <a@x>", "release"),
        ("chore(main): release 1.2.3 (#8)", "Ann <a@x>", "release"),
        ("Bump version to 8.2.dev (#8)", "Ann <a@x>", "release"),
        ("v1.2.3 (#8)", "Ann <a@x>", "release"),
        ("Merge branch 'main' into feature (#8)", "Ann <a@x>", "merges a branch"),
    ],
)
def test_chores_are_no_landings(repo: RepoBuilder, read: Read, message: str, author: str, word: str) -> None:
    repo.commit(message, {"a": b"1\n"}, author=author)
    assert word in refused(read())[8]


@pytest.mark.parametrize(
    "title", ["Fix release of locks", "Bump limit of retries", "Support 3.12", "Revise versions 1 and 2"]
)
def test_titles_that_only_sound_like_chores_are_landings(repo: RepoBuilder, read: Read, title: str) -> None:
    repo.commit(f"{title} (#8)", {"a": b"1\n"})
    assert list(landings(read())) == [8]


def test_a_number_that_lands_twice_is_told(repo: RepoBuilder, read: Read) -> None:
    first = repo.commit("Fix x (#5)", {"a": b"1\n"})
    repo.commit("In between", {"b": b"1\n"})
    second = repo.commit("Fix x for good (#5)", {"a": b"2\n"})
    found = read()
    assert landings(found)[5].commit == second
    assert refused(found)[5] == f"landed twice: {second[:12]} names #5 too"
    with pytest.raises(LandingError, match="named by 2 commits") as caught:
        prove(5, found)
    assert "--commit" in caught.value.remedy
    assert [line[:12] for line in caught.value.details] == [second[:12], first[:12]]


def test_prove_says_what_stands_in_the_way(repo: RepoBuilder, read: Read) -> None:
    repo.commit("Add x (#9)", {"x": b"x\n"})
    repo.commit('Revert "Add x (#9)" (#10)', {"x": None})
    good = repo.commit("Good (#11)", {"g": b"g\n"})
    found = read()
    assert prove(11, found).commit == good
    for pr, word in ((9, "reverted later by #10"), (10, "reverts"), (12, "No commit of the main branch")):
        with pytest.raises(LandingError, match=word):
            prove(pr, found)


def test_M17_issues_are_linked_by_every_keyword_form() -> None:
    body = "closes https://forge.example/o/r/issues/7, fixes #8 and #9.\nRelated: #10"
    assert closing_issues(body, "o/r") == (7, 8, 9)
    assert mentioned_issues(body, "o/r") == (10,)
    assert closing_issues("Fixes: #1, #2") == (1, 2)
    assert closing_issues("Closes group/sub/project#3", "Group/sub/project") == (3,)
    assert closing_issues("Resolved GH-5 & #6") == (5, 6)
    assert closing_issues("fix https://gitlab.example/g/s/p/-/issues/12", "g/s/p") == (12,)


@pytest.mark.parametrize(
    "text",
    ["prefix #3", "fixes other/repo#3", "closes https://forge.example/x/y/issues/3", "<!-- fixes #3 -->",
     "```\nfixes #3\n```", "fixes a#3b", "fixed in 3", "see #3"],
)  # fmt: skip
def test_M17_what_is_not_closed_is_not_linked(text: str) -> None:
    assert closing_issues(text, "o/r") == ()


def test_memory_is_the_frontier_not_the_history() -> None:
    reader, widest = _Reader(""), 0

    def stream() -> Iterator[Commit]:
        nonlocal widest
        for number in range(5000, 0, -1):
            widest = max(widest, len(reader._colours) + len(reader._series))
            yield Commit(f"{number:040x}", (f"{number - 1:040x}",), START, "A <a>", f"Work {number}", "")

    assert sum(1 for _ in reader.read(stream())) == 5000
    assert 0 < widest <= 4
