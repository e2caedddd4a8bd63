"""What lies at some paths of a work tree, out of the engine's archives of it.

Everything in an archive was written by whoever worked there. Names that leave the folder are passed over, and a
file larger than any that is wanted ends the archive: a sparse one of a terabyte is a terabyte of zeros on the wire.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator, Set

from berbench.engine.api import Refused, Reply
from berbench.engine.archive import SECOND_NAME, body_of, opened, unsafe
from berbench.engine.workspace import Found
from berbench.engine.worktree import blob_id
from berbench.model.changes import EXECUTABLE, REGULAR, SYMLINK, TreeEntry

LOST = "\ufffd"
LARGEST = 100 << 20  # bytes of one file; more is told, and not fetched
SKIPPED = 4 << 30  # bytes of one file that are read past for the sake of others that can't be asked for
PASSED = (
    32 << 20
)  # bytes that are read past where the whole tree is compared: packages that lie in it, mostly
BLOCK = 512  # bytes that a member costs by itself
ONE_BY_ONE = 16  # paths that are asked for each by itself; more, and their folders are fetched whole
FOLDERS = (
    8  # that are fetched one after the other; more, and the whole work tree is: each takes the engine a while
)

Open = Callable[[str], Reply | None]  # the archive of a path of the work tree, "" for all of it


def as_told(path: str) -> str:
    """A path as an engine tells it: each byte that is no UTF-8 becomes a U+FFFD."""
    return "".join(LOST if "\udc80" <= letter <= "\udcff" else letter for letter in path)


def fetch(open_: Open, paths: Iterable[str]) -> Iterator[Found]:
    """See `Workspace.fetch`."""
    wanted = set(paths)
    lost = {path for path in wanted if LOST in path}
    plain = wanted - lost
    if len(plain) <= ONE_BY_ONE:
        for path in sorted(plain):
            yield from _single(open_, path)
    else:
        folders = _by_top(plain)
        if len(folders) > FOLDERS:
            folders = {"": plain}
        for folder, inside in sorted(folders.items()):
            yield from _single(open_, folder) if inside == {folder} else _folder(open_, folder, inside)
    for folder, inside in sorted(_by_parent(lost).items()):
        yield from _folder(open_, folder, inside)


def entries(open_: Open, paths: Set[str]) -> Iterator[TreeEntry]:
    """See `Workspace.entries`. What lies beside these paths at the top of the tree is read past, up to a bound; then
    the rest is asked for by itself."""
    tops = {path.partition("/")[0] for path in paths}
    left = set(tops)
    passed = 0
    for one in _members(open_, ""):
        top = one.path.partition("/")[0]
        left.discard(top)
        if top not in tops:
            passed += one.size + BLOCK
            if passed > PASSED:
                break
        yield from _entry(one, paths)
    else:
        return
    for top in sorted(left):
        for one in _single(open_, top) if top in paths else _members(open_, top):
            yield from _entry(one, paths)


def _entry(one: Found, paths: Set[str]) -> Iterator[TreeEntry]:
    if one.path not in paths:
        return
    if one.mode == SECOND_NAME:  # its bytes came under another
        yield TreeEntry(one.path, REGULAR, "")
    elif one.mode == SYMLINK:
        yield TreeEntry(one.path, SYMLINK, blob_id(io.BytesIO(os.fsencode(one.target)), one.size))
    elif one.body is not None:
        yield TreeEntry(one.path, one.mode, blob_id(one.body, one.size))


def _by_top(paths: Iterable[str]) -> dict[str, set[str]]:
    """Paths by their first folder; those at the top by themselves."""
    found: dict[str, set[str]] = {}
    for path in paths:
        found.setdefault(path.partition("/")[0], set()).add(path)
    return found


def _by_parent(paths: Iterable[str]) -> dict[str, set[str]]:
    """Paths whose names were told with losses by the deepest folder whose own name was not."""
    found: dict[str, set[str]] = {}
    for path in paths:
        found.setdefault(path[: path.index(LOST)].rpartition("/")[0], set()).add(path)
    return found


def _single(open_: Open, path: str) -> Iterator[Found]:
    try:
        for one in _members(open_, path):
            if one.path == path:
                yield one
            return  # of a folder the first member is itself
    except Refused:
        try:
            yield from _beside_others(open_, path, path.rpartition("/")[0])
        except Refused:
            yield from _beside_others(open_, path, "")


def _beside_others(open_: Open, path: str, folder: str) -> Iterator[Found]:
    """What an engine refuses by itself, as it does a link that leads to itself and a path of 256 folders, out of the
    archive of a folder above; no file where that does not come so far. Refused by an engine that gives neither."""
    for one in _members(open_, folder):
        if one.path == path:
            yield one
            return
        if one.size > SKIPPED:
            break
    yield Found(path, 0)


def _folder(open_: Open, folder: str, wanted: set[str]) -> Iterator[Found]:
    """Those below a folder. Second names of one file, and all after one that is too large, are asked for singly;
    what can't be, since its name is not known, is told as no file."""
    left = set(wanted)
    later: list[str] = []
    for one in _members(open_, folder):
        told = as_told(one.path)
        if told in wanted:
            left.discard(told)
            if one.mode == SECOND_NAME:
                later.append(one.path)
            else:
                yield one
        if one.size <= LARGEST:
            continue
        unnamed = sorted(path for path in left if LOST in path)
        if not unnamed or one.size > SKIPPED:
            later += sorted(left.difference(unnamed))
            yield from (Found(path, 0) for path in unnamed)
            break
    for path in later:
        yield from _single(open_, path)


def _members(open_: Open, path: str) -> Iterator[Found]:
    reply = open_(path)
    if reply is None:
        return
    above = path.rpartition("/")[0] if path else ""
    what = f"The engine's archive of {path or 'the work tree'!r}"
    with contextlib.closing(reply), opened(reply, what) as tar:
        for member in tar:
            if (name := _name(member.name, above, whole=not path)) and not unsafe(name):
                yield _found(tar, member, name)


def _name(name: str, above: str, *, whole: bool) -> str:
    """A member's path in the work tree. Archives are named for their last folder, which of the whole is no part."""
    plain = name.rstrip("/")
    if whole:
        return plain.partition("/")[2]
    return f"{above}/{plain}" if above else plain


def _found(tar: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> Found:
    if member.isreg():
        mode = EXECUTABLE if member.mode & stat.S_IXUSR else REGULAR
        body = body_of(tar, member) if member.size <= LARGEST else None
        return Found(name, mode, member.size, body)
    if member.issym():
        return Found(name, SYMLINK, len(os.fsencode(member.linkname)), target=member.linkname)
    if member.islnk():
        return Found(name, SECOND_NAME)
    return Found(name, 0, is_folder=member.isdir())
