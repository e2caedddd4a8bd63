"""What lies in a work tree, out of an engine's archives of it."""

from __future__ import annotations

import io
import tarfile
from typing import cast

import pytest

from berbench.engine import members
from berbench.engine.api import Refused, Reply
from berbench.engine.worktree import blob_id
from berbench.model.changes import EXECUTABLE, REGULAR, SYMLINK

HELLO, EMPTY = "ce013625030ba8dba906f756967f9e9ca394464a", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
TREE = {"a/one": b"hello\n", "b/big": bytes(3000), "c/run": b"", "c/two": b"hello\n", "top": b"hello\n"}


class Archive(io.BytesIO):
    """As an engine sends one."""

    @classmethod
    def of(cls, path: str) -> Archive | None:
        """The archive of `path`, named for its last folder."""
        room = cls()
        found = False
        with tarfile.open(fileobj=room, mode="w") as tar:
            for name, data in TREE.items():
                if not path or name == path or name.startswith(path + "/"):
                    found = True
                    member = tarfile.TarInfo(
                        f"work/{name}" if not path else name[len(path.rpartition("/")[0]) :]
                    )
                    member.size, member.mode = len(data), 0o755 if name == "c/run" else 0o644
                    tar.addfile(member, io.BytesIO(data))
            if not path:
                for name, kind, target in (
                    ("link", tarfile.SYMTYPE, "top"),
                    ("z", tarfile.LNKTYPE, "work/top"),
                ):
                    member = tarfile.TarInfo(f"work/{name}")
                    member.type, member.linkname = kind, target
                    tar.addfile(member)
        room.seek(0)
        return room if found else None


def test_blobs_are_called_what_git_calls_them() -> None:
    assert blob_id(io.BytesIO(b"hello\n"), 6) == HELLO and blob_id(io.BytesIO(), 0) == EMPTY


def opened(asked: list[str]) -> members.Open:
    def open_(path: str) -> Reply | None:
        asked.append(path)
        return cast("Reply | None", Archive.of(path))

    return open_


def test_files_and_links_are_told_by_their_bytes() -> None:
    asked: list[str] = []
    wanted = {*TREE, "link", "z", "none"} - {"b/big"}
    found = {one.path: (one.mode, one.id) for one in members.entries(opened(asked), wanted)}
    assert found == {
        "a/one": (REGULAR, HELLO),
        "c/run": (EXECUTABLE, EMPTY),
        "c/two": (REGULAR, HELLO),
        "top": (REGULAR, HELLO),
        "link": (SYMLINK, "83a3157d14d9081ed01cd799287899822e19523a"),
        "z": (REGULAR, ""),  # a second name: looked at by itself
    }
    assert asked == [""]


def test_much_that_lies_beside_them_is_left_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "PASSED", 2000)
    asked: list[str] = []
    found = {one.path: one.id for one in members.entries(opened(asked), {"a/one", "c/two", "top"})}
    assert found == {"a/one": HELLO, "c/two": HELLO, "top": HELLO}
    assert asked == ["", "c", "top"]


def test_what_an_engine_refuses_by_itself_comes_with_its_folder_or_with_all() -> None:
    asked: list[str] = []
    given = opened(asked)

    def open_(path: str) -> Reply | None:
        if path:
            asked.append(path)
            raise Refused(500, "too many links")
        return given(path)

    found = {
        one.path: one.body.read() if one.body else None for one in members.fetch(open_, ["c/two", "c/no"])
    }
    assert asked == ["c/no", "c", "", "c/two", "c", ""]
    assert found == {"c/two": b"hello\n", "c/no": None}
