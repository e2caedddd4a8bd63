"""What the history door gives to whoever puts a candidate's changes into a tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from berbench.errors import EmptyPatch, PatchConflict
from berbench.history import GitHistory
from berbench.model.changes import ABSENT, REGULAR, Change
from gitrepo import RepoBuilder

NONE = "0" * 40


@pytest.fixture
def history(tmp_path: Path) -> GitHistory:
    repo = RepoBuilder(tmp_path / "repo")
    repo.commit(
        "Start", {"x": b"file\n", "y/a": b"a\n", "y/b": b"b\n", ".gitattributes": b"* text eol=crlf\n"}
    )
    return GitHistory(repo.path, scratch=tmp_path)


@pytest.mark.parametrize("data", [b"", b"a\r\nb\n", b"\0\xff\n", b"$Id$\n"])
def test_bytes_are_stored_as_they_are(history: GitHistory, data: bytes) -> None:
    name = history.write_blob(data)
    tree = history.make_tree("main", [Change("new", ABSENT, REGULAR, NONE, name)])
    assert history.read(tree, ["new"]) == {"new": data}


def test_files_and_folders_take_each_others_place_unasked(history: GitHistory) -> None:
    name = history.write_blob(b"new\n")
    over_folder = history.make_tree("main", [Change("y", ABSENT, REGULAR, NONE, name)])
    assert [entry.path for entry in history.list_tree(over_folder)] == [".gitattributes", "x", "y"]
    over_file = history.make_tree("main", [Change("x/in", ABSENT, REGULAR, NONE, name)])
    assert [entry.path for entry in history.list_tree(over_file)] == [".gitattributes", "x/in", "y/a", "y/b"]


@pytest.mark.parametrize("nothing", [b"", b" \n", b"I could not find the bug.\n"])
def test_P26_a_patch_of_nothing_is_told_apart(history: GitHistory, nothing: bytes) -> None:
    with pytest.raises(EmptyPatch):
        history.apply("main", nothing)


def test_P26_a_patch_that_only_fails_is_not_empty(history: GitHistory) -> None:
    with pytest.raises(PatchConflict) as caught:
        history.apply("main", b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-other\n+new\n")
    assert not isinstance(caught.value, EmptyPatch)
