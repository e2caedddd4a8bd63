"""Parts of a reference, left out to the byte: what git makes of real changes, rebuilt from contents."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berbench.diffs import Hunk, read_patch
from berbench.history import GitHistory
from berbench.strength.cuts import FILE, HUNK, Cut, Misfit, cuts_of, header, rebuilt
from berbench.strength.nocode import no_code
from gitrepo import RepoBuilder, executable, gitlink, symlink


class Reference:
    """A change in a real repository, its cuts, and the trees without each."""

    def __init__(self, root: Path, before: dict, after: dict) -> None:
        repo = RepoBuilder(root)
        self.history = GitHistory(root)
        self.old = self.history.tree_of(repo.commit("before", before))
        gone = {name: None for name in before if name not in after}
        self.new = self.history.tree_of(repo.commit("after", after | gone))
        self.patch = self.history.diff(self.old, self.new)
        self.changes = self.history.changes(self.old, self.new)
        paths = [change.path for change in self.changes]
        self.before, self.after = self.history.read(self.old, paths), self.history.read(self.new, paths)
        self.cuts = cuts_of(read_patch(self.patch), self.changes, self.before, self.after)

    def without(self, *cuts: Cut) -> dict[str, bytes | None]:
        """Contents of the changed paths with those cuts left out, by what each cut says of itself."""
        found = {change.path: self.after.get(change.path) for change in self.changes}
        for cut in cuts:
            for path in cut.paths:
                found[path] = self.before.get(path) if cut.content is None else cut.content
        return found

    def of(self, kind: str) -> list[Cut]:
        return [cut for cut in self.cuts if cut.kind == kind]


def _numbered(count: int, changed: dict[int, bytes | None] | None = None, end: bytes = b"\n") -> bytes:
    lines = [(changed or {}).get(n, b"line %d" % n) for n in range(count)]
    return b"\n".join(line for line in lines if line is not None) + end


def test_each_hunk_of_a_file_can_be_left_out_alone(tmp_path: Path) -> None:
    before = {"a.txt.py": _numbered(60)}
    after = {"a.txt.py": _numbered(60, {3: b"three\nand more", 30: None, 55: b"fifty-five"})}
    change = Reference(tmp_path / "r", before, after)
    hunks = change.of(HUNK)
    assert [cut.header.split(" @@")[0] for cut in hunks] == [
        "@@ -1,7 +1,8",
        "@@ -28,7 +29,6",
        "@@ -53,7 +53,7",
    ]
    assert hunks[0].content == _numbered(60, {30: None, 55: b"fifty-five"})
    assert hunks[1].content == _numbered(60, {3: b"three\nand more", 55: b"fifty-five"})
    assert hunks[2].content == _numbered(60, {3: b"three\nand more", 30: None})
    assert hunks[0].lines == ("-line 3", "+three", "+and more")
    assert (hunks[0].added, hunks[0].deleted) == (2, 1)
    [whole] = change.of(FILE)
    assert whole.content is None and whole.header == "3 hunks"


@pytest.mark.parametrize("ends", [(b"\n", b""), (b"", b"\n"), (b"", b"")])
def test_a_missing_last_newline_stays_with_the_side_that_lacks_it(
    tmp_path: Path, ends: tuple[bytes, bytes]
) -> None:
    before = {"a": _numbered(40, end=ends[0])}
    after = {"a": _numbered(40, {2: b"two", 39: b"last"}, end=ends[1])}
    change = Reference(tmp_path / "r", before, after)
    first, last = change.of(HUNK)
    assert first.content == _numbered(40, {39: b"last"}, end=ends[1])
    assert last.content == _numbered(40, {2: b"two"}, end=ends[0])


def test_lines_end_at_newlines_alone_and_any_byte_survives(tmp_path: Path) -> None:
    odd = {5: b"a\x0cb\x1cc\xe9\xff\r", 6: "x\u2028y\x85".encode()}
    before = {"a\xe9.c": _numbered(50, {**odd, 20: b"\r"})}
    after = {
        "a\xe9.c": _numbered(50, {4: b"four\r", **odd, 20: b"\r", 21: b"\x00"[:0] + b"x\r", 45: b"\xff"})
    }
    change = Reference(tmp_path / "r", before, after)
    assert len(change.of(HUNK)) == 3
    assert change.of(HUNK)[1].content == _numbered(50, {4: b"four\r", **odd, 20: b"\r", 45: b"\xff"})


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ({"k": b""}, {"k": b"", "new.py": b"x = 1\n"}, "new file"),
        ({"k": b""}, {"k": b"", "empty": b""}, "new file"),
        ({"k": b"", "old.py": b"x = 1\n"}, {"k": b""}, "deleted file"),
        ({"run": b"a\n"}, {"run": executable(b"a\n")}, "mode changed"),
        ({"run": _numbered(30)}, {"run": executable(_numbered(30, {1: b"", 28: b""}))}, "mode and content"),
        ({"b": b"\0a\n"}, {"b": b"\0b\n"}, "binary file"),
        ({"cur": symlink("v1")}, {"cur": symlink("v2")}, "1 hunk"),
        ({"cur": symlink("v1")}, {"cur": b"v1\n"}, "type changed"),
        ({"sub": gitlink("1" * 40), "k": b""}, {"sub": gitlink("2" * 40), "k": b""}, "1 hunk"),
        ({"go.sum": _numbered(30)}, {"go.sum": _numbered(30, {1: b"a", 28: b"b"})}, "2 hunks"),
    ],
)
def test_what_is_more_than_lines_is_one_unit(tmp_path: Path, before: dict, after: dict, kind: str) -> None:
    change = Reference(tmp_path / "r", before, after)
    assert {cut.kind for cut in change.cuts} == {HUNK, FILE}
    assert {cut.header for cut in change.cuts} == {kind}
    assert all(cut.content is None for cut in change.cuts)


def test_a_rename_that_a_person_wrote_is_one_unit_of_both_names(tmp_path: Path) -> None:
    old, new = {"a.py": _numbered(20)}, {"b.py": _numbered(20, {2: b"two"})}
    change = Reference(tmp_path / "r", old, new)
    patch = (
        b"diff --git a/a.py b/b.py\nsimilarity index 90%\nrename from a.py\nrename to b.py\n--- a/a.py\n+++ b/b.py\n"
        b"@@ -1,5 +1,5 @@\n line 0\n line 1\n-line 2\n+two\n line 3\n line 4\n"
    )
    assert change.history.apply(change.old, patch) == change.new
    cuts = cuts_of(read_patch(patch), change.changes, change.before, change.after)
    assert {cut.paths for cut in cuts} == {("a.py", "b.py")}
    assert {cut.header for cut in cuts} == {"renamed from a.py"}


def test_hunks_that_lie_elsewhere_make_the_file_one_unit(tmp_path: Path) -> None:
    change = Reference(tmp_path / "r", {"a": _numbered(40)}, {"a": _numbered(40, {2: b"two", 35: b"x"})})
    moved = change.patch.replace(b"@@ -33,7 +33,7 @@", b"@@ -31,7 +31,7 @@")
    assert moved != change.patch and change.history.apply(change.old, moved) == change.new  # git looks around
    cuts = cuts_of(read_patch(moved), change.changes, change.before, change.after)
    assert [(cut.kind, cut.content) for cut in cuts] == [(HUNK, None), (FILE, None)]
    with pytest.raises(Misfit):
        rebuilt(change.before["a"], read_patch(moved)[0].hunks)


def test_what_no_test_can_notice_is_told_apart(tmp_path: Path) -> None:
    code = b'"""Old."""\n' + b"".join(b"def f%d():\n    return %d\n\n\n" % (n, n) for n in range(12))
    changed = code.replace(b'"""Old."""', b'"""New."""').replace(b"return 5", b"return  5  # five")
    changed = changed.replace(b"return 11", b"return 12")
    script = b"let a = 1;\n" * 20
    before = {"a.py": code, "README.md": b"old\n", "a.ts": script, "b.ts": script}
    after = {
        "a.py": changed,
        "README.md": b"new\n",
        "a.ts": b"// what it is\n/* and\n * why\n */\n" + script,
        "b.ts": b"*p = 1;\n" + script,
    }
    change = Reference(tmp_path / "r", before, after)
    assert [(cut.path, cut.no_code) for cut in change.of(HUNK)] == [
        ("README.md", True),
        ("a.py", True),
        ("a.py", True),
        ("a.py", False),
        ("a.ts", True),
        ("b.ts", False),
    ]
    assert {cut.path: cut.no_code for cut in change.of(FILE)} == {
        "README.md": True,
        "a.py": False,
        "a.ts": True,
        "b.ts": False,
    }


@pytest.mark.parametrize(
    ("path", "people"),
    [
        ("words.txt", False),
        ("requirements.txt", False),
        ("docs/a.txt", True),
        ("CHANGES.txt", True),
        ("a.rst", True),
    ],
)
def test_plain_text_may_be_what_a_program_reads(path: str, people: bool) -> None:
    assert no_code(path, b"a\n", b"b\n", ["a", "b"]) is people


def test_a_changed_text_or_an_emptied_file_is_code(tmp_path: Path) -> None:
    before = {"a.py": b"x = 'a'\n", "gone.py": b"# nothing\n", "data": b"1\n"}
    after = {"a.py": b"x = 'b'\n", "data": b"1\n\n", "new/__init__.py": b""}
    change = Reference(tmp_path / "r", before, after)
    assert not any(cut.no_code for cut in change.cuts)


def test_annotations_of_functions_are_told_apart(tmp_path: Path) -> None:
    old = b"def f(x, *, y=1):\n    return x\n" + b"\n" * 9 + b"z = 1\n" + b"\n" * 9 + b"async def g(a): ...\n"
    new = old.replace(b"f(x, *, y=1)", b"f(x: int, *, y: int = 1) -> int").replace(b"z = 1", b"z: int = 1")
    new = new.replace(b"g(a)", b"g(a: 'str')")
    change = Reference(tmp_path / "r", {"a.py": old, "a.js": old}, {"a.py": new, "a.js": new})
    found = [(cut.path, cut.only_hints, cut.no_code) for cut in change.of(HUNK)]
    assert found == [("a.js", False, False)] * 3 + [
        ("a.py", True, False),
        ("a.py", False, False),
        ("a.py", True, False),
    ]
    assert not any(cut.only_hints for cut in change.of(FILE))


_LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"\xff\x0c\n"]), max_size=40)
_EDITS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3), _LINES), max_size=5)


def _hunks(before: bytes, after: bytes) -> tuple[Hunk, ...]:
    """Hunks between two contents, with three lines of context, as git writes them."""
    old, new = _lines(before), _lines(after)
    groups = difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3)
    found = []
    for group in groups:
        lines: list[str] = []
        for _, a, b, c, d in group:
            same = old[a:b] == new[c:d]
            lines += [_line(" " if same else "-", line) for line in old[a:b]]
            lines += [] if same else [_line("+", line) for line in new[c:d]]
        whole = tuple(part for line in lines for part in line.split("\n"))
        a, b, c, d = group[0][1], group[-1][2], group[0][3], group[-1][4]
        found.append(Hunk(a + (b > a), b - a, c + (d > c), d - c, "", whole))
    return tuple(found)


def _lines(data: bytes) -> list[bytes]:
    *whole, rest = data.split(b"\n")
    return [part + b"\n" for part in whole] + [rest] * (rest != b"")


def _line(sign: str, line: bytes) -> str:
    text = sign + line.decode("utf-8", "surrogateescape")
    return text.removesuffix("\n") if text.endswith("\n") else text + "\n\\ No newline at end of file"


@given(old=_LINES, edits=_EDITS, tails=st.tuples(st.booleans(), st.booleans()))
def test_any_choice_of_hunks_is_exact(old: list, edits: list, tails: tuple[bool, bool]) -> None:
    lines = list(old)
    for at, count, put in sorted(edits, key=lambda edit: -edit[0]):
        lines[at : at + count] = put[:3]
    before = b"".join(old) + b"no end" * tails[0]
    after = b"".join(lines) + b"no end" * tails[1]
    hunks = _hunks(before, after)
    every = range(len(hunks))
    assert rebuilt(before, hunks) == after
    assert rebuilt(before, hunks, without=every) == before
    for index in every:
        rest = rebuilt(before, hunks, without={index})
        # What was left out, put where it is missing, gives the whole.
        shift = sum(hunk.new_lines - hunk.old_lines for hunk in hunks[:index])
        moved = replace(hunks[index], old_start=hunks[index].old_start + shift)
        assert rebuilt(rest, [moved]) == after
    for hunk in hunks:
        assert header(hunk).startswith(f"@@ -{hunk.old_start},")
