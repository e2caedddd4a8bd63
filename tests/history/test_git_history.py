"""GitHistory over real repositories: places, environments, and what the walk tells."""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from berbench.errors import RepositoryError
from berbench.history import GitHistory
from berbench.history.git import Command
from berbench.model.changes import FileEntry, LineCount
from gitrepo import RepoBuilder, executable, gitlink, symlink


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    built = RepoBuilder(tmp_path / "repo")
    built.commit("Start", {"a.py": b"x = 1\n", "tests/test_a.py": b"assert 1\n"})
    built.tag("v1.0")
    built.branch("feature")
    built.commit(
        "Fix a\n\nFixes #3", {"a.py": b"x = 2\n", b"b\xff\n.py": b"", "run": executable(b"#!/bin/sh\n")}
    )
    built.switch("main")
    built.commit("Other", {"c.py": b"c\n"})
    built.merge("feature", "Merge pull request #7 from o/feature\n\nFix a")
    return built


@pytest.fixture
def history(repo: RepoBuilder, tmp_path: Path) -> Iterator[GitHistory]:
    with GitHistory(repo.path, scratch=tmp_path) as opened:
        yield opened


def test_walk_is_newest_first_with_changes_against_the_first_parent(
    repo: RepoBuilder, history: GitHistory
) -> None:
    walked = list(history.walk("main"))
    assert [commit.subject for commit in walked] == [
        "Merge pull request #7 from o/feature", "Other", "Fix a", "Start",
    ]  # fmt: skip
    assert walked[0].sha == repo.head
    assert [change.path for change in walked[0].changes] == ["a.py", "b\udcff\n.py", "run"]
    assert [change.status for change in walked[0].changes] == ["M", "A", "A"]
    assert (walked[2].body, walked[2].author) == ("Fixes #3", "Ann Author <ann@example.org>")
    assert [change.path for change in walked[3].changes] == ["a.py", "tests/test_a.py"]


def test_messages_and_search_and_between_agree_with_the_walk(repo: RepoBuilder, history: GitHistory) -> None:
    assert [one.sha for one in history.messages("main")] == [one.sha for one in history.walk("main")]
    assert [one.subject for one in history.search("main", ["#7([^0-9]|$)"])] == [
        "Merge pull request #7 from o/feature"
    ]
    assert [one.subject for one in history.between(f"{repo.head}^1", repo.head)] == [
        "Merge pull request #7 from o/feature", "Fix a",
    ]  # fmt: skip
    assert history.search("main", []) == ()


def test_search_looks_at_every_branch_when_asked(repo: RepoBuilder, history: GitHistory) -> None:
    repo.branch("side")
    repo.commit("Only here (#99)")
    assert history.search("main", ["#99"]) == ()
    assert [one.subject for one in history.search("", ["#99"])] == ["Only here (#99)"]


def test_closing_the_walk_ends_its_process(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    for number in range(400):
        repo.commit(f"Commit {number} " + "x" * 3000, {"f": b"%d" % number})
    with GitHistory(repo.path, scratch=tmp_path) as history:
        walk = history.walk("main")
        assert next(walk).subject.startswith("Commit 399")
        before = threading.active_count()
        walk.close()
        assert threading.active_count() < before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_what_git_did_not_read_leaves_no_file_open(
    history: GitHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: left.append(str(told.exc_value)))
    for _ in range(3):
        with history._git.stream("cat-file", "--batch", feed=itertools.repeat(b"x" * 100 + b"\n", 200_000)):
            pass  # and is ended
    gc.collect()
    assert not left


def test_messages_of_any_bytes_are_readable(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.commit(b"caf\xe9 (#4)\n\nl\xe2\x80\xa8ine\x0c\n:100644 100644 not a change\n")
    with GitHistory(repo.path, scratch=tmp_path) as history:
        [commit] = history.walk("main")
        assert commit.subject == "caf� (#4)"
        assert commit.body == "l\u2028ine\x0c\n:100644 100644 not a change"
        assert commit.changes == ()


def test_lines_are_counted_for_every_pair_in_order(repo: RepoBuilder, history: GitHistory) -> None:
    merge, first = repo.head, history.first_parents("main", 9)[-1].sha
    with history.comparing() as comparison:
        for old, new in ((first, merge), (merge, merge), (merge, first)):
            comparison.ask(old, new)
        counts = [answer[0] for answer in comparison.answers()]
    assert LineCount("b\udcff\n.py", 0, 0) in counts[0]
    assert LineCount("run", 1, 0) in counts[0]
    assert counts[1] == ()
    assert LineCount("run", 0, 1) in counts[2]
    with history.comparing() as comparison:
        comparison.ask("", first)
        [(counted, text)] = comparison.answers()
    assert counted == (LineCount("a.py", 1, 0), LineCount("tests/test_a.py", 1, 0))
    assert b"+x = 1\n" in text


def test_to_compare_what_is_no_commit_is_an_error(repo: RepoBuilder, history: GitHistory) -> None:
    with pytest.raises(RepositoryError, match="000000000000 is missing"), history.comparing() as comparison:
        comparison.ask(repo.head, "0" * 40)
        comparison.ask("", repo.head)
        list(comparison.answers())


def test_of_a_walk_those_that_are_wanted_have_their_changes(repo: RepoBuilder, history: GitHistory) -> None:
    """Merges against their first parent, the first commit against nothing, and names that hold anything."""
    repo.commit("Odd", {"-\n": b"", ":100644 x": b"", "d/-\n-\n": b"y\n"})
    for number in range(40):
        repo.commit(f"Next {number}", {"d/n": b"%d" % number})
    every = list(history.walk("main"))
    told = list(history.walk("main", wanted=lambda commit: not commit.subject.startswith("Next")))
    assert [one.sha for one in told] == [one.sha for one in every]
    assert [one.changes for one in told[:40]] == [()] * 40
    assert told[40:] == every[40:]
    assert list(history.walk("main", wanted=lambda commit: True)) == every
    assert not any(one.changes for one in history.walk("main", wanted=lambda commit: False))


def test_files_come_as_stored_without_gitlinks(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.commit(
        "x",
        {
            ".gitattributes": b"*.txt text eol=crlf ident\ntests export-ignore\n",
            "a.txt": b"$Id$\n",
            "cur": symlink("a.txt"),
            "sub": gitlink("1" * 40),
            "tests/t.py": b"",
            ".ber/bench/x": b"secret",
        },
    )
    with GitHistory(repo.path, scratch=tmp_path) as history:
        files = {entry.path: entry for entry in history.files("main", exclude=[".ber"])}
        assert set(files) == {".gitattributes", "a.txt", "cur", "tests/t.py"}
        assert files["a.txt"].data == b"$Id$\n"
        assert files["cur"] == FileEntry("cur", 0o120000, b"a.txt")
        assert history.read("main", ["a.txt", "nope", "sub"]) == {"a.txt": b"$Id$\n"}


def test_P35_export_ignored_tests_are_part_of_every_tree(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.commit("x", {".gitattributes": b"tests export-ignore\n", "tests/test_x.py": b"assert 0\n", "a": b""})
    with GitHistory(repo.path, scratch=tmp_path) as history:
        listed = [entry.path for entry in history.list_tree("main")]
        assert [entry.path for entry in history.files("main")] == listed
        assert "tests/test_x.py" in listed


def test_delta_turns_one_tree_into_the_other(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.commit("1", {"gone": b"g", "link": symlink("gone"), "swap": b"file", "same": b"s"})
    repo.commit(
        "2",
        {"gone": None, "link": b"now a file", "swap": None, "swap/in": b"folder", "sub": gitlink("2" * 40)},
    )
    with GitHistory(repo.path, scratch=tmp_path) as history:
        delta = history.delta("main^", "main")
        assert delta.deletes == ("gone", "link", "swap")
        assert [entry.path for entry in delta.writes] == ["link", "swap/in"]


def test_opens_from_sub_folders_linked_work_trees_and_bare_copies(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.checkout()
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked: x"), "main")
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "bare.git"))
    for place, root in (
        (repo.path / "tests", repo.path),
        (tmp_path / "linked: x", tmp_path / "linked: x"),
        (tmp_path / "bare.git", tmp_path / "bare.git"),
    ):
        with GitHistory(place, scratch=tmp_path) as history:
            assert history.root == root
            patch = history.diff("main^", "main")
            assert history.apply("main^", patch) == history.tree_of("main")
            assert history.main_branch("", "origin") == "refs/heads/main"


def test_sha256_repositories_are_served(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r", object_format="sha256")
    repo.commit("1", {"a": b"1\n"})
    repo.commit("2 (#5)", {"a": b"2\n", "b/c": b"\0"})
    with GitHistory(repo.path, scratch=tmp_path) as history:
        patch = history.diff("main^", "main")
        assert history.apply("main^", patch) == history.tree_of("main")
        assert len(next(history.walk("main")).changes[0].new_id) == 64


def test_D16_a_repository_of_another_user_is_read(repo: RepoBuilder, tmp_path: Path) -> None:
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", "12345:12345", str(repo.path)], check=True)
    else:  # git itself offers this switch to play a foreign owner
        os.environ["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
    try:
        with GitHistory(repo.path, scratch=tmp_path) as history:
            assert history.resolve("main") == repo.head
    finally:
        os.environ.pop("GIT_TEST_ASSUME_DIFFERENT_OWNER", None)


def test_what_is_no_repository_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for place in (tmp_path / "plain", tmp_path / "missing"):
        with pytest.raises(RepositoryError) as caught:
            GitHistory(place)
        assert caught.value.remedy
    RepoBuilder(tmp_path / "r").commit("x")
    with pytest.raises(RepositoryError, match="inside a repository's git folder"):
        GitHistory(tmp_path / "r" / ".git" / "objects")


def test_shallow_and_partial_clones_say_how_to_complete_them(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{repo.path}"
    repo.git("clone", "-q", "--bare", "--depth=1", url, str(tmp_path / "shallow"))
    with GitHistory(tmp_path / "shallow", scratch=tmp_path) as history:
        assert history.is_shallow()
        with pytest.raises(RepositoryError) as caught:
            history.resolve("main~3")
        assert "--unshallow" in caught.value.remedy
    repo.git("clone", "-q", "--bare", "--filter=blob:none", url, str(tmp_path / "partial"))
    with GitHistory(tmp_path / "partial", scratch=tmp_path) as history:
        assert not history.is_shallow()
        with pytest.raises(RepositoryError, match=r"partial clone|missing"):
            list(history.files("main"))
        with pytest.raises(RepositoryError, match="partial clone"):
            history.diff("main^", "main")


def test_git_missing_is_said_plainly(repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(RepositoryError, match="git was not found"):
        GitHistory(repo.path)


def test_the_callers_git_variables_do_not_reach_git(
    repo: RepoBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = RepoBuilder(tmp_path / "other")
    other.commit("Elsewhere")
    monkeypatch.setenv("GIT_DIR", str(other.git_dir))
    monkeypatch.setenv("GIT_WORK_TREE", "/")
    monkeypatch.setenv("GIT_COMMON_DIR", str(other.git_dir))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_DIFF_OPTS", "--unified=0")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "diff.noprefix")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    with GitHistory(repo.path, scratch=tmp_path) as history:
        assert history.resolve("main") == repo.head
        assert b"diff --git a/a.py b/a.py" in history.diff("main^", "main")


def test_nothing_of_the_repository_is_written(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.checkout()
    (repo.path / "a.py").write_text("dirty")
    before = _bytes_below(repo.path)
    with GitHistory(repo.path, scratch=tmp_path) as history:
        tree = history.apply("main^", history.diff("main^", "main"))
        history.make_tree("main^", history.changes("main^", tree))
        list(history.walk("main"))
        scratch = [path for path in tmp_path.iterdir() if path.name.startswith("berbench-git-")]
        assert len(scratch) == 1
    assert _bytes_below(repo.path) == before
    assert not scratch[0].exists()


def test_main_branch_is_the_one_further_ahead(repo: RepoBuilder, tmp_path: Path) -> None:
    with GitHistory(repo.path, scratch=tmp_path) as history:
        repo.remote_ref("origin/main", f"{history.resolve('main^')}")
        assert history.main_branch("", "origin") == "refs/heads/main"
        repo.remote_ref("origin/main")
        repo.reset(history.resolve("main^"))
        assert history.main_branch("", "origin") == "refs/remotes/origin/main"
        assert history.main_branch("feature", "origin") == "refs/heads/feature"
        assert history.main_branch("origin/main", "origin") == "refs/remotes/origin/main"
        with pytest.raises(RepositoryError, match="tried nope"):
            history.main_branch("nope", "origin")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ann:secret@host.example/o/r.git", "https://host.example/o/r.git"),
        ("https://token@host.example/o/r", "https://host.example/o/r"),
        ("git@host.example:o/r.git", "git@host.example:o/r.git"),
        ("ssh://git:pw@host.example/o/r", "ssh://git@host.example/o/r"),
        ("/srv/git/r@2", "/srv/git/r@2"),
    ],
)
def test_remote_urls_lose_their_credentials(
    repo: RepoBuilder, history: GitHistory, url: str, shown: str
) -> None:
    repo.git("config", "remote.up.url", url)
    assert history.remote_url("up") == shown
    assert history.remote_url("none") == ""


def test_small_questions(repo: RepoBuilder, history: GitHistory) -> None:
    merge, side = repo.head, history.resolve("feature")
    assert history.describe("main") == "v1.0"
    assert history.is_ancestor(side, "main") and not history.is_ancestor("main", side)
    assert not history.on_first_parent_line(side, "main")
    assert history.on_first_parent_line(history.commit(merge).parents[0], "main")
    assert history.trees_of([merge, "nope"]) == {merge: history.tree_of("main")}
    for bad in ("nope", "-p", "", "--all"):
        with pytest.raises(RepositoryError):
            history.resolve(bad)


def _bytes_below(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_what_is_fixed_is_asked_of_git_once(history: GitHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids mean the same for ever; a branch, or an id that is not there yet, does not."""
    last, absent = history.resolve("main"), "f" * 40
    old, new = history.tree_of(history.commit(last).parents[0]), history.tree_of(last)

    def answers() -> list[object]:
        read = dict(history.read(old, ["c.py", "a.py", "none"]))
        return [history.tree_of(last), read, history.delta(old, new)]

    first = answers()
    assert first[1] == {"c.py": b"c\n", "a.py": b"x = 1\n"}
    history.read(old, ["c.py", "a.py", "none"]).clear()  # type: ignore[attr-defined]  # the caller's own
    branch, start, asked = history.tree_of("main"), Command._start, []
    with pytest.raises(RepositoryError):
        history.tree_of(absent)

    def counted(self: Command, *args: Any) -> Any:
        asked.append(args)
        return start(self, *args)

    monkeypatch.setattr(Command, "_start", counted)
    assert answers() == first and asked == []
    assert history.tree_of("main") == branch and len(asked) == 1
    with pytest.raises(RepositoryError):
        history.tree_of(absent)
    assert len(asked) == 2
