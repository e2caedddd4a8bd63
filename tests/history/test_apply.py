"""Patches between trees: every oddity of names, modes and bytes, whatever config and attributes say."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from berbench.diffs import patch_paths
from berbench.errors import PatchConflict
from berbench.history import GitHistory
from gitrepo import File, RepoBuilder, executable, gitlink, symlink

Files = dict[str | bytes, File]
Pair = Callable[[Files, Files], tuple[RepoBuilder, GitHistory]]


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    """A repository of two commits, `main^` and `main`."""

    def build(before: Files, after: Files) -> tuple[RepoBuilder, GitHistory]:
        repo = RepoBuilder(tmp_path / "repo")
        repo.commit("Before", {"keep": b"k\n", **before})
        repo.commit("After (#1)", after)
        return repo, GitHistory(repo.path, scratch=tmp_path)

    return build


def round_trip(history: GitHistory) -> bytes:
    """The patch between both commits, applied in both directions."""
    patch, back = history.diff("main^", "main"), history.diff("main", "main^")
    assert history.apply("main^", patch) == history.tree_of("main")
    assert history.apply("main", back) == history.tree_of("main^")
    changed = {os.fsencode(change.path) for change in history.changes("main^", "main")}
    assert {os.fsencode(path) for path in patch_paths(patch)} == changed
    assert history.make_tree("main^", history.changes("main^", "main")) == history.tree_of("main")
    return patch


def test_P01_binary_changes_are_whole(pair: Pair) -> None:
    _, history = pair({"x.bin": b"\0\1\2", "a.py": b"a\n"}, {"x.bin": b"\0\1\3", "a.py": b"b\n"})
    assert b"GIT binary patch" in round_trip(history)


def test_P01_a_stub_is_refused_by_name(pair: Pair) -> None:
    repo, history = pair({"x.bin": b"\0\1\2", "a.py": b"a\n"}, {"x.bin": b"\0\1\3", "a.py": b"b\n"})
    stub = repo.git("diff", "main^", "main")
    with pytest.raises(PatchConflict, match=r"'x\.bin'.*missing") as caught:
        history.apply("main^", stub)
    assert caught.value.path == "x.bin"


def test_P04_attributes_do_not_decide_what_is_in_a_patch(pair: Pair) -> None:
    attributes = (
        b"*.snap binary\n*.py -diff\n*.txt diff=upper\n*.md text eol=crlf working-tree-encoding=UTF-16\n"
    )
    repo, history = pair(
        {
            ".gitattributes": attributes,
            "tests/x.snap": b"1\n",
            "a.py": b"1\n",
            "b.txt": b"1\n",
            "c.md": b"1\r\n",
        },
        {"tests/x.snap": b"2\n", "a.py": b"2\n", "b.txt": b"2\n", "c.md": b"2\r\n"},
    )
    (repo.git_dir / "info").mkdir(exist_ok=True)
    (repo.git_dir / "info" / "attributes").write_bytes(attributes)
    repo.git("config", "diff.upper.textconv", "tr a-z A-Z <")
    repo.checkout()
    round_trip(history)


def test_P05_a_pure_rename_moves_the_file(pair: Pair) -> None:
    _, history = pair({"tests/a.py": b"same\n"}, {"tests/a.py": None, "tests/b.py": b"same\n"})
    patch = round_trip(history)
    assert patch_paths(patch) == ("tests/a.py", "tests/b.py")
    paths = [entry.path for entry in history.list_tree(history.apply("main^", patch))]
    assert paths == ["keep", "tests/b.py"]


def test_P05_a_rename_patch_of_another_tool_applies(pair: Pair) -> None:
    repo, history = pair({"tests/a.py": b"same\n"}, {"tests/a.py": None, "tests/b.py": executable(b"same\n")})
    patch = repo.git("diff", "-M", "--binary", "--full-index", "main^", "main")
    assert b"rename from" in patch
    assert history.apply("main^", patch) == history.tree_of("main")


def test_P07_mode_only_changes_survive(pair: Pair) -> None:
    repo, history = pair({"tests/run.sh": b"#!/bin/sh\n"}, {"tests/run.sh": executable(b"#!/bin/sh\n")})
    repo.git("config", "core.fileMode", "false")
    tree = history.apply("main^", round_trip(history))
    assert {entry.path: entry.mode for entry in history.list_tree(tree)}["tests/run.sh"] == 0o100755


def test_P08_empty_files_come_and_go(pair: Pair) -> None:
    _, history = pair({"tests/.gitkeep": b""}, {"tests/.gitkeep": None, "tests/unit/__init__.py": b""})
    assert patch_paths(round_trip(history)) == ("tests/.gitkeep", "tests/unit/__init__.py")


@pytest.mark.parametrize("setting", ["true", "input", "false"])
def test_P10_carriage_returns_survive(pair: Pair, setting: str) -> None:
    repo, history = pair({"a.txt": b"1\r\n2\r\n"}, {"a.txt": b"1\r\n2\r\n3\r\n", "mixed": b"a\r\nb\nc\r"})
    repo.git("config", "core.autocrlf", setting)
    repo.git("config", "core.eol", "crlf")
    assert b"+3\r\n" in round_trip(history)


def test_P13_bytes_that_are_no_utf8_survive(pair: Pair) -> None:
    _, history = pair(
        {"l1.txt": b"caf\xe9\n"}, {"l1.txt": b"caf\xe9\nna\xefve\n", "u16": "x\n".encode("utf-16")}
    )
    round_trip(history)


def test_P14_all_names_survive(pair: Pair) -> None:
    names = [
        "tests/é.py",
        "tests/my file.py",
        'tests/a"b.py',
        "tests/a\tb.py",
        "a\nb",
        "back\\slash",
        " lead",
        "x b/x b",
    ]
    names += [
        "trail ",
        "a b/x",
        "-dash",
        ":(top)x",
        "*",
        "[a]",
        "dev/null",
        "a/dev/null",
        "\x01",
        "com1",
        "git~1",
    ]
    raw = [os.fsencode(name) for name in names] + [b"\xff\xfe", b"d\xe9/f"]
    _, history = pair(dict.fromkeys(raw, b"1\n"), dict.fromkeys(raw, b"2\n"))
    round_trip(history)
    assert {os.fsencode(one.path) for one in history.changes("main^", "main")} == set(raw)


def test_P14_names_without_hunks_survive(tmp_path: Path) -> None:
    raw = [b"a b/x", b"x b/x", b"t\xc3\xa9 st", b'q"uote', b"n\nl", b"\xff", b"trail ", b"a", b"b b b"]
    repo = RepoBuilder(tmp_path / "r")
    repo.commit("1", dict.fromkeys(raw, b""))
    repo.commit("2", dict.fromkeys(raw, executable(b"")))
    repo.commit("3", {**dict.fromkeys(raw, None), "other": b""})
    with GitHistory(repo.path, scratch=tmp_path) as history:
        for old, new in (("main~2", "main~1"), ("main~1", "main"), ("main", "main~2")):
            assert history.apply(old, history.diff(old, new)) == history.tree_of(new)


@pytest.mark.parametrize("cut", [lambda patch: patch.rstrip(), lambda patch: patch[:-1]])
def test_P16_a_trimmed_patch_is_refused(pair: Pair, cut: Callable[[bytes], bytes]) -> None:
    _, history = pair({"a": b"1\n2\n3\n\n\n"}, {"a": b"1\n2\nx\n\n\n"})
    patch = round_trip(history)
    assert patch.endswith(b" \n \n")
    with pytest.raises(PatchConflict):
        history.apply("main^", cut(patch))


@pytest.mark.parametrize(
    ("before", "after"), [(b"a", b"b"), (b"a\n", b"a"), (b"a", b"a\n"), (b"x\na", b"x\nb\n")]
)
def test_P17_missing_newlines_stay_missing(pair: Pair, before: bytes, after: bytes) -> None:
    _, history = pair({"tests/expected.txt": before}, {"tests/expected.txt": after})
    assert b"No newline" in round_trip(history)


def test_P19_links_stay_links(pair: Pair) -> None:
    _, history = pair(
        {"tests/cur": symlink("v1"), "was-link": symlink("keep"), "was-file": b"text\n"},
        {"tests/cur": symlink("v2"), "was-link": b"now text\n", "was-file": symlink("keep")},
    )
    tree = history.apply("main^", round_trip(history))
    modes = {entry.path: entry.mode for entry in history.list_tree(tree)}
    assert (modes["tests/cur"], modes["was-link"], modes["was-file"]) == (0o120000, 0o100644, 0o120000)
    assert history.read(tree, ["tests/cur"]) == {"tests/cur": b"v2"}


def test_P19_nothing_is_written_through_a_link(pair: Pair) -> None:
    _, history = pair({"out": symlink("/tmp")}, {"a": b"1\n"})
    patch = b"--- /dev/null\n+++ b/out/x\n@@ -0,0 +1 @@\n+x\n"
    with pytest.raises(PatchConflict):
        history.apply("main", patch)
    for path in (b"../x", b"/etc/x", b"a/../../x", b".git/config"):
        with pytest.raises(PatchConflict):
            history.apply("main", b"--- /dev/null\n+++ b/" + path + b"\n@@ -0,0 +1 @@\n+x\n")


def test_P20_submodule_pointers_move(pair: Pair) -> None:
    _, history = pair({"sub": gitlink("1" * 40)}, {"sub": gitlink("2" * 40), "b": b"b\n"})
    round_trip(history)


def test_files_and_folders_trade_places_within_one_patch(pair: Pair) -> None:
    _, history = pair(
        {"x": b"file\n", "y/a": b"a\n", "y/b": b"b\n"}, {"x": None, "x/in": b"in\n", "y": b"now a file\n"}
    )
    round_trip(history)


def test_P22_no_path_is_silently_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = RepoBuilder(tmp_path / "repo")
    repo.commit("1", {"f.txt": b"1\n", "sub/g.txt": b"1\n"})
    repo.commit("2", {"f.txt": b"2\n", "sub/g.txt": b"2\n"})
    repo.checkout()
    monkeypatch.chdir(repo.path / "sub")
    # The scratch folder itself lies inside another repository here.
    with GitHistory(Path(), scratch=repo.path / "sub") as history:
        assert history.apply("main^", history.diff("main^", "main")) == history.tree_of("main")


@pytest.mark.parametrize(
    "settings",
    [
        {"diff.noprefix": "true"},
        {
            "diff.mnemonicPrefix": "true",
            "diff.renames": "copies",
            "color.ui": "always",
            "color.diff": "always",
        },
        {"diff.external": "false", "diff.orderFile": "nothing-there", "diff.algorithm": "patience"},
        {"diff.context": "0", "diff.interHunkContext": "9", "diff.suppressBlankEmpty": "true"},
        {"apply.whitespace": "error", "core.whitespace": "tab-in-indent", "apply.ignoreWhitespace": "change"},
        {
            "diff.submodule": "log",
            "diff.ignoreSubmodules": "all",
            "core.quotePath": "true",
            "diff.relative": "true",
        },
        {"log.showSignature": "true", "log.decorate": "full", "log.date": "raw", "log.follow": "true"},
        {
            "core.sparseCheckout": "true",
            "core.splitIndex": "true",
            "diff.srcPrefix": "x/",
            "diff.dstPrefix": "y/",
        },
    ],
)
def test_P23_settings_do_not_change_a_patch(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]
) -> None:
    before: Files = {"f.txt": b"1\n\n\n\n\n\n\n\n\n\n2\n", "old": b"same\n", "s": gitlink("1" * 40)}
    repo, history = pair(
        before,
        {"f.txt": b"x\n\n\n\n \t\n\n\n\n\n\ny\n", "old": None, "new": b"same\n", "s": gitlink("2" * 40)},
    )
    plain, walked = history.diff("main^", "main"), list(history.walk("main"))
    config = tmp_path / "gitconfig"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(config))
    for key, value in settings.items():
        repo.git("config", key, value)
        repo.git("config", "--file", str(config), key, value)
    with GitHistory(repo.path, scratch=tmp_path) as again:
        assert round_trip(again) == plain
        assert list(again.walk("main")) == walked


def test_P25_a_patch_applies_whole_or_not_at_all(pair: Pair) -> None:
    _, history = pair({"a.py": b"1\n", "b.py": b"1\n"}, {"a.py": b"2\n", "b.py": b"2\n"})
    patch = history.diff("main^", "main")
    spoiled = patch.replace(b"-1\n+2\n", b"-7\n+2\n", 1)
    base = history.tree_of("main^")
    with pytest.raises(PatchConflict) as caught:
        history.apply("main^", spoiled)
    assert (caught.value.path, caught.value.hunk) == ("a.py", "line 1")
    assert history.apply(base, patch) == history.tree_of("main")


@pytest.mark.parametrize("nothing", [b"", b"\n", b"I could not find the bug.\n"])
def test_P26_a_patch_of_nothing_is_refused_before_git_sees_it(pair: Pair, nothing: bytes) -> None:
    _, history = pair({"a": b"1\n"}, {"a": b"2\n"})
    with pytest.raises(PatchConflict, match=r"empty|no change"):
        history.apply("main", nothing)


def test_conflicts_name_the_path(pair: Pair) -> None:
    _, history = pair({"é/a b": b"1\n"}, {"é/a b": None, "new": b"n\n"})
    patch = history.diff("main^", "main")
    with pytest.raises(PatchConflict) as caught:
        history.apply("main", patch)
    assert caught.value.path in ("new", "é/a b")
    with pytest.raises(PatchConflict, match="does not exist") as caught:
        history.apply("main", patch[patch.index(b"diff --git a/\xc3") :])
    assert caught.value.path == "é/a b"


def test_P32_an_empty_list_of_changes_is_no_change(pair: Pair) -> None:
    _, history = pair({"a": b"1\n"}, {"a": b"2\n"})
    assert history.make_tree("main", []) == history.tree_of("main")
    assert history.diff("main", "main") == b""
    assert history.read("main", []) == {}


def test_P37_large_patches_pass(pair: Pair) -> None:
    lines = b"".join(b"%d\n" % number for number in range(60_000))
    _, history = pair({}, {"big.txt": lines, "big.bin": os.urandom(700_000)})
    assert len(round_trip(history)) > 1_000_000
