"""Tar in and out: what goes into a container, and what may come out of one.

Names are bytes (`surrogateescape`), in GNU format, whose long names, odd bytes and large sizes every engine
reads. What comes out was written by code under test and is not trusted: only regular files, under the
asked-for folder, up to a size and a number.
"""

from __future__ import annotations

import io
import stat
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Protocol, cast

from berbench.errors import EngineError, Refusal
from berbench.model.changes import EXECUTABLE, SYMLINK, Delta, FileEntry
from berbench.model.trial import ReportFile

ENCODING = "utf-8"
MAX_FILE = 32 << 20  # bytes of one report that are kept
MAX_TOTAL = 192 << 20  # bytes taken from the engine for all reports of a trial
MAX_FILES = 4000
SECOND_NAME = -1  # as a mode: a file that the archive holds under another name, which is the target then


class Source(Protocol):
    """Anything bytes can be read from."""

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, fewer only at the end."""


@dataclass(frozen=True, slots=True)
class Ids:
    """Numeric user and group."""

    uid: int = 0
    gid: int = 0


def unsafe(path: str) -> str:
    """Why a path can't be inside a tree; "" when it can."""
    if not path or path.startswith("/"):
        return "is absolute" if path else "is empty"
    parts = path.split("/")
    if ".." in parts:
        return "holds `..`"
    if "" in parts or "." in parts or "\0" in path:
        return "is not a plain relative path"
    return ""


def check_delta(delta: Delta) -> None:
    """Refusal when a path leaves the tree, is written twice, or goes through a link or file of the delta."""
    written = {entry.path: entry for entry in delta.writes}
    if len(written) != len(delta.writes):
        raise Refusal("The change writes one path twice.", remedy="create the task again")
    for path in (*written, *delta.deletes):
        if reason := unsafe(path):
            raise Refusal(f"The change touches {path!r}, which {reason}.", remedy="create the task again")
    for path in written:
        for parent in parents(path):
            if parent in written:
                raise Refusal(
                    f"The change writes {path!r} through {parent!r}, which is no folder.",
                    remedy="create the task again",
                )


def parents(path: str) -> Iterator[str]:
    """The folders above a path, topmost first."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


class Writer:
    """Writes a tar stream. Folders above a file are added once, owned like the file."""

    def __init__(self, target: IO[bytes], ids: Ids, mtime: int) -> None:
        self._tar = tarfile.open(  # noqa: SIM115
            fileobj=target, mode="w", format=tarfile.GNU_FORMAT, encoding=ENCODING, errors="surrogateescape"
        )
        self._ids = ids
        self._mtime = mtime
        self._folders: set[str] = set()

    def folder(self, path: str, mode: int = 0o755) -> None:
        """A folder and those above it."""
        for name in (*parents(path), path):
            if name not in self._folders:
                self._folders.add(name)
                self._tar.addfile(self._member(name, tarfile.DIRTYPE, mode))

    def file(self, path: str, data: bytes, mode: int = 0o644, *, folders: bool = True) -> None:
        """A regular file."""
        if folders and "/" in path:
            self.folder(path.rpartition("/")[0])
        member = self._member(path, tarfile.REGTYPE, mode)
        member.size = len(data)
        self._tar.addfile(member, io.BytesIO(data))

    def entry(self, path: str, entry: FileEntry, *, folders: bool = True) -> None:
        """A file or link of a tree, under the name `path`."""
        if entry.mode != SYMLINK:
            self.file(path, entry.data, 0o755 if entry.mode == EXECUTABLE else 0o644, folders=folders)
            return
        if folders and "/" in path:
            self.folder(path.rpartition("/")[0])
        member = self._member(path, tarfile.SYMTYPE, 0o777)
        member.linkname = entry.data.decode(ENCODING, "surrogateescape")
        self._tar.addfile(member)

    def pipe(self, path: str) -> None:
        """A named pipe."""
        self._tar.addfile(self._member(path, tarfile.FIFOTYPE, 0o600))

    def close(self) -> None:
        """End the archive; the target stays open."""
        self._tar.close()

    def _member(self, name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
        member = tarfile.TarInfo(name)
        member.type, member.mode, member.mtime = kind, mode, self._mtime
        member.uid, member.gid = self._ids.uid, self._ids.gid
        return member


@dataclass(frozen=True, slots=True)
class Taken:
    """What came out of a container: the files, and whether something had to stay behind."""

    files: tuple[ReportFile, ...] = ()
    complete: bool = True


def read_files(
    source: Source,
    *,
    max_file: int = MAX_FILE,
    max_total: int = MAX_TOTAL,
    max_files: int = MAX_FILES,
    named: bool = True,
) -> Taken:
    """Regular files of an archive of one folder, named relative to it. Never raises for what it holds."""
    files: list[ReportFile] = []
    limited = _Limited(source, max_total)
    try:
        with tarfile.open(fileobj=limited, mode="r|", encoding=ENCODING, errors="surrogateescape") as tar:  # type: ignore[call-overload]
            for member in tar:
                name = member.name.partition("/")[2] if named else member.name
                if not member.isreg() or unsafe(name):
                    continue
                if len(files) == max_files:
                    return Taken(tuple(files), complete=False)
                body = tar.extractfile(member)
                assert body is not None  # a regular file has a body
                data = body.read(max_file)
                files.append(ReportFile(name, data, truncated=member.size > len(data)))
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError):
        return Taken(tuple(files), complete=False)
    return Taken(tuple(files), complete=not limited.spent)


@contextmanager
def translated(what: str = "An archive of the engine's") -> Iterator[None]:
    """Whatever an archive is that is none becomes an EngineError."""
    try:
        yield
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:
        raise EngineError(
            f"{what} can't be read: {error}.", remedy="try again; see the engine's own log if it stays"
        ) from error


@contextmanager
def opened(source: Source, what: str = "An archive of the engine's") -> Iterator[tarfile.TarFile]:
    """An archive as it comes, to be read once from its beginning. EngineError when it can't be."""
    with (
        translated(what),
        tarfile.open(fileobj=source, mode="r|", encoding=ENCODING, errors="surrogateescape") as tar,  # type: ignore[call-overload]
    ):
        yield tar


class _Body:
    """A file's bytes, read by others than have opened the archive."""

    def __init__(self, body: IO[bytes]) -> None:
        self._body = body

    def read(self, size: int = -1, /) -> bytes:
        with translated():
            return self._body.read(size)


def body_of(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    """A regular file's bytes, to be read before the next member is asked for. EngineError where they end early."""
    body = tar.extractfile(member)
    assert body is not None  # a regular file has a body
    return cast("IO[bytes]", _Body(body))


def read_members(source: Source) -> Iterator[tuple[str, int, IO[bytes] | None, int, str]]:
    """(name below the folder, git mode, body, size, link target) of every file and link of an archive.

    EngineError when it can't be read.
    """
    with opened(source) as tar:
        for member in tar:
            name = member.name.partition("/")[2]
            if member.isreg():
                mode = EXECUTABLE if member.mode & stat.S_IXUSR else 0o100644
                yield name, mode, body_of(tar, member), member.size, ""
            elif member.issym():
                yield name, SYMLINK, None, 0, member.linkname
            elif member.islnk():
                yield name, SECOND_NAME, None, 0, member.linkname.partition("/")[2]


class _Limited:
    """Ends a stream early: a sparse file of a terabyte is a terabyte of zeros on the wire.

    Beyond the end it soon raises EOFError, for `tarfile` skips a body block by block though nothing comes.
    """

    def __init__(self, source: Source, room: int) -> None:
        self._source = source
        self._room = room
        self.spent = False
        self._in_vain = 0

    def read(self, size: int = -1, /) -> bytes:
        if size < 0 or size > self._room:
            self.spent = True
            size = self._room
        data = self._source.read(size) if size else b""
        self._room -= len(data)
        self._in_vain = 0 if data else self._in_vain + 1
        if self._in_vain > 8:
            raise EOFError("the archive ends within a file")
        return data


def begins_with_a_folder(source: Source) -> bool:
    """Whether an archive is one of a folder. EngineError when it is no archive."""
    with opened(source) as tar:
        first = tar.next()
    return first is not None and bool(first.isdir())


def first_file(source: Source, limit: int = 1 << 20) -> bytes:
    """The first regular file of an archive, b"" when there is none."""
    taken = read_files(source, max_file=limit, max_files=1, named=False).files
    return taken[0].data if taken else b""
