from __future__ import annotations

import io
import os
import tarfile

import pytest

from berbench.engine.archive import Ids, Writer, begins_with_a_folder, check_delta, read_files
from berbench.engine.worktree import tree_entries
from berbench.errors import EngineError, Refusal
from berbench.model.changes import EXECUTABLE, REGULAR, SYMLINK, Delta, FileEntry


def tar_of(*members: tarfile.TarInfo, data: bytes = b"data") -> io.BytesIO:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as tar:
        for member in members:
            if member.isreg():
                member.size = len(data)
            tar.addfile(member, io.BytesIO(data) if member.isreg() else None)
    target.seek(0)
    return target


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, link
    return found


def test_S10_nothing_leaves_the_result_folder():
    taken = read_files(
        tar_of(
            member("out", tarfile.DIRTYPE),
            member("out/good.xml"),
            member("out/../../etc/cron.d/x"),
            member("/out/absolute"),
            member("out//etc/passwd"),
            member("out/link", tarfile.SYMTYPE, "/etc/passwd"),
            member("out/hard", tarfile.LNKTYPE, "out/good.xml"),
            member("out/pipe", tarfile.FIFOTYPE),
            member("out/device", tarfile.CHRTYPE),
            member("out/sub/fine"),
        )
    )
    assert [file.name for file in taken.files if not file.name.startswith("out")] == ["good.xml", "sub/fine"]
    assert taken.complete


def test_files_beyond_a_size_are_cut_and_said_so():
    taken = read_files(tar_of(member("out/a"), data=b"x" * 100), max_file=10)
    assert [(f.name, f.data, f.truncated) for f in taken.files] == [("a", b"x" * 10, True)]


def test_files_beyond_a_number_are_left():
    taken = read_files(tar_of(*(member(f"out/{n}") for n in range(5))), max_files=3)
    assert len(taken.files) == 3 and not taken.complete


class Endless:
    """A header that promises a terabyte, then zeros for ever."""

    def __init__(self) -> None:
        huge = member("out/sparse")
        huge.size = 1 << 40
        self.head = huge.tobuf(tarfile.GNU_FORMAT)
        self.given = 0

    def read(self, size: int = -1, /) -> bytes:
        data = (self.head + bytes(size))[:size]
        self.head = self.head[size:]
        self.given += len(data)
        return data


def test_an_endless_file_is_not_read_to_its_end():
    source = Endless()
    taken = read_files(source, max_file=1000, max_total=1 << 20)
    assert not taken.complete
    assert source.given <= 1 << 20
    assert [(f.name, f.truncated) for f in taken.files] == [("sparse", True)]


@pytest.mark.parametrize("junk", [b"", b"no tar at all" * 100, b"\xff" * 2048, bytes(5000)])
def test_what_is_no_archive_gives_nothing(junk: bytes):
    assert read_files(io.BytesIO(junk)).files == ()


def test_an_archive_cut_short_keeps_what_came():
    whole = tar_of(member("out/a"), member("out/b"), data=b"x" * 4000).getvalue()
    taken = read_files(io.BytesIO(whole[:6000]))
    assert taken.files[0].name == "a" and taken.files[0].data == b"x" * 4000


def test_P10_bytes_names_and_modes_go_in_as_they_are():
    odd = os.fsdecode(b"d \xff/new\nline \xe9")
    target = io.BytesIO()
    writer = Writer(target, Ids(7, 8), 99)
    writer.entry(odd, FileEntry(odd, EXECUTABLE, b"a\r\nb\r\n\0\xff"))
    writer.entry("l", FileEntry("l", SYMLINK, b"to \xe9"))
    writer.entry("p" * 200 + "/" + "q" * 200, FileEntry("", REGULAR, b""))
    writer.close()
    target.seek(0)
    with tarfile.open(fileobj=target, encoding="utf-8", errors="surrogateescape") as tar:
        found = {m.name: m for m in tar}
        body = tar.extractfile(odd)
        assert body is not None and body.read() == b"a\r\nb\r\n\0\xff"
    assert found[odd].mode == 0o755 and found[os.fsdecode(b"d \xff")].isdir()
    assert os.fsencode(found["l"].linkname) == b"to \xe9"
    assert found["p" * 200 + "/" + "q" * 200].mode == 0o644
    assert {(m.uid, m.gid, int(m.mtime)) for m in found.values()} == {(7, 8, 99)}


@pytest.mark.parametrize("path", ["", "/etc/passwd", "a/../../x", "..", "a//b", "./a", "a/.", "a\0b"])
def test_S10_paths_that_leave_the_tree_are_refused(path: str):
    for delta in (Delta((FileEntry(path, REGULAR, b""),)), Delta((), (path,))):
        with pytest.raises(Refusal, match="touches"):
            check_delta(delta)


def test_P19_a_way_through_a_link_is_refused():
    with pytest.raises(Refusal, match="through 'a/b'"):
        check_delta(
            Delta((FileEntry("a/b", SYMLINK, b"/etc"), FileEntry("a/b/c/passwd", REGULAR, b"")), ("a/b",))
        )


def test_a_path_written_twice_is_refused():
    with pytest.raises(Refusal, match="twice"):
        check_delta(Delta((FileEntry("a", REGULAR, b"1"), FileEntry("a", REGULAR, b"2"))))


@pytest.mark.parametrize("cut", [0, 100, 600, 700])
def test_an_archive_that_ends_early_is_the_engines_error(cut: int) -> None:
    whole = tar_of(member("src"), member("src/a"), data=b"x" * 1000).getvalue()
    for read in (lambda source: list(tree_entries(source, None)), begins_with_a_folder):
        broken = io.BytesIO(b"\xff" * 512 + whole if cut == 0 else whole[:cut])
        if read is begins_with_a_folder and cut >= 512:
            continue  # it looks no further
        with pytest.raises(EngineError, match="archive of the engine's can't be read"):
            read(broken)
