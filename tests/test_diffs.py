"""Reading patches as values."""

from __future__ import annotations

import pytest

from berbench.diffs import patch_paths, read_patch
from berbench.errors import PatchConflict

MODE = b"diff --git a/tests/run.sh b/tests/run.sh\nold mode 100644\nnew mode 100755\n"
EMPTY = b"diff --git a/tests/u/__init__.py b/tests/u/__init__.py\nnew file mode 100644\nindex 00..e69de29\n"
RENAME = b"diff --git a/tests/a.py b/tests/b.py\nrename from tests/a.py\nrename to tests/b.py\n"
STUB = b"diff --git a/x.bin b/x.bin\nindex 1234567..89abcde 100644\nBinary files a/x.bin and b/x.bin differ\n"


def text(path: str = "a.py", body: bytes = b" x\n-y\n+z\n", counts: bytes = b"-1,2 +1,2") -> bytes:
    name = path.encode()
    head = b"diff --git a/%s b/%s\nindex 1..2 100644\n--- a/%s\n+++ b/%s\n" % (name, name, name, name)
    return head + b"@@ " + counts + b" @@ def f():\n" + body


def test_a_hunk_tells_its_lines_and_counts() -> None:
    [file] = read_patch(text())
    [hunk] = file.hunks
    assert (file.path, file.added, file.deleted, file.new_mode) == ("a.py", 1, 1, 0o100644)
    assert (hunk.lines, hunk.heading) == ((" x", "-y", "+z"), "def f():")


def test_several_kinds_of_sections_stand_side_by_side() -> None:
    files = read_patch(MODE + EMPTY + text() + RENAME + STUB)
    assert [file.path for file in files] == [
        "tests/run.sh",
        "tests/u/__init__.py",
        "a.py",
        "tests/b.py",
        "x.bin",
    ]
    assert [file.is_mode_only for file in files] == [True, False, False, False, False]
    assert [file.is_new for file in files] == [False, True, False, False, False]
    assert [file.is_rename for file in files] == [False, False, False, True, False]
    assert [file.is_stub for file in files] == [False, False, False, False, True]


def test_P05_a_pure_rename_names_both_paths() -> None:
    assert patch_paths(RENAME) == ("tests/a.py", "tests/b.py")


def test_a_deleted_line_that_looks_like_a_header_is_content() -> None:
    body = b"--- a/other\n+++ b/other\n"
    [file] = read_patch(text(body=body, counts=b"-1 +1"))
    assert file.hunks[0].lines == ("--- a/other", "+++ b/other")


@pytest.mark.parametrize(
    ("quoted", "name"),
    [
        (b'"a/tests/\\303\\251.py" "b/tests/\\303\\251.py"', "tests/é.py"),
        (b'"a/t\\"q\\".py" "b/t\\"q\\".py"', 't"q".py'),
        (b'"a/n\\nl" "b/n\\nl"', "n\nl"),
        (b'"a/\\377" "b/\\377"', "\udcff"),
        (b"a/my file b/my file", "my file"),
        (b"a/x b/x b/x b/x", "x b/x"),
    ],
)
def test_P14_names_are_read_with_their_real_bytes(quoted: bytes, name: str) -> None:
    patch = b"diff --git " + quoted + b"\nold mode 100644\nnew mode 100755\n"
    assert patch_paths(patch) == (name,)


@pytest.mark.parametrize("odd", [b"a\x0cb", b"a\xe2\x80\xa8b", b"a\x0bb\x1c\x85", b"caf\xe9", b"cr\r"])
def test_lines_end_at_line_feeds_alone(odd: bytes) -> None:
    [file] = read_patch(text(body=b" x\n-y\n+" + odd + b"\n"))
    assert file.hunks[0].added == (odd.decode("utf-8", "surrogateescape"),)


def test_P17_the_missing_newline_marker_is_no_line_of_content() -> None:
    body = b"-y\n\\ No newline at end of file\n+y\n"
    files = read_patch(text(body=body, counts=b"-1 +1") + MODE)
    assert (files[0].added, files[0].deleted) == (1, 1)
    assert files[1].is_mode_only


def test_P16_a_patch_that_was_cut_is_refused() -> None:
    with pytest.raises(PatchConflict, match="cut short"):
        read_patch(text(body=b" x\n-y\n+z"[:-4]))


def test_words_hold_no_files() -> None:
    assert read_patch(b"") == () == read_patch(b"Nothing to see here.\n")


def test_a_patch_without_git_headers_is_read() -> None:
    [file] = read_patch(b"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n")
    assert file.path == "x.py"
    [new] = read_patch(b"--- /dev/null\n+++ b/y.py\n@@ -0,0 +1 @@\n+b\n")
    assert (new.path, new.is_new) == ("y.py", True)


@pytest.mark.parametrize("between", [b"", b"\n", b"Some words.\n", b"@@ no hunk @@\n"])
def test_P16_a_header_ends_where_git_ends_it(between: bytes) -> None:
    mode = b"diff --git a/run b/run\nold mode 100644\nnew mode 100755\n"
    plain = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert patch_paths(mode + between + plain) == (("run", "x") if between else ("x",))


def test_text_behind_a_section_is_no_header_of_it() -> None:
    said = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nold mode of doing it\nrename from y\n"
    [file] = read_patch(said)
    assert (file.path, file.old_mode, file.is_rename) == ("x", None, False)


def test_a_mode_or_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(PatchConflict, match="no file's mode"):
        read_patch(b"diff --git a/x b/x\nold mode 10o644\nnew mode 100755\n")
    with pytest.raises(PatchConflict, match="impossible numbers"):
        read_patch(b"--- a/x\n+++ b/x\n@@ -1," + b"9" * 5000 + b" +1 @@\n-a\n")
