"""A workspace without a container: plain processes in a temp folder. It isolates nothing, and has no proxy.

Names of the container (the folder beside the work tree, the work tree itself) are put in place of by folders of the
host in commands and variables.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path

from berbench import process
from berbench.engine import seat
from berbench.engine.members import LARGEST, as_told
from berbench.engine.workspace import GRACE_S, STDOUT, Changed, Denied, Found, Ran, Sink, WorkspaceSpec
from berbench.errors import Interrupted
from berbench.model.agent import ROOM
from berbench.model.changes import EXECUTABLE, REGULAR, SYMLINK, FileEntry, TreeEntry

Signal = Callable[[int], None]  # to every process of the workspace
_Mark = tuple[int, ...]


class FakeWorkspace:
    """See `workspace.Workspace`. `tree` is the work tree, laid out; `signal` reaches its processes."""

    def __init__(
        self, room: Path, spec: WorkspaceSpec, env: Mapping[str, str], signal: Signal, stop: threading.Event
    ) -> None:
        self._room = room
        self._tree = room / "tree"
        self._spec = spec
        self._signal = signal
        self._stop = stop
        self._places = {ROOM: str(room / "agent")}
        if len(spec.image.workdir) > 1:
            self._places[spec.image.workdir] = str(self._tree)
        names = "|".join(re.escape(name) for name in sorted(self._places, key=len, reverse=True))
        self._names = re.compile(rf"(?<![\w./-])(?:{names})(?![\w.-])")
        (room / "agent" / "home").mkdir(parents=True)
        self.put(spec.files)
        for number, file in enumerate(spec.secret_files):
            self._secret(file.target, number, file.data)
        self._bare = {**env, **self._texts(spec.env), "HOME": str(room / "agent" / "home")}
        self._env = {**self._bare, **self._texts(spec.secrets)}
        self._before = _marks(self._tree)

    @property
    def out_of_memory(self) -> bool:
        """Never told."""
        return False

    @property
    def refused(self) -> tuple[Denied, ...]:
        """There is no proxy."""
        return ()

    @property
    def egress(self) -> bytes:
        """There is no proxy."""
        return b""

    @property
    def engine(self) -> str:
        """Says that it is the fake."""
        return "Fake 1"

    @property
    def warnings(self) -> tuple[str, ...]:
        """None."""
        return ()

    def put(self, files: Iterable[FileEntry]) -> None:
        """Write files."""
        for entry in files:
            place = Path(self._here("/" + entry.path))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(entry.data)
            place.chmod(0o755 if entry.mode == EXECUTABLE else 0o644)

    def run(
        self,
        argv: Sequence[str],
        sink: Sink,
        *,
        stdin: str = "",
        env: Sequence[tuple[str, str]] = (),
        bare: bool = False,
        timeout_s: float,
    ) -> Ran:
        """Run a command; both outputs are told as the first."""
        command = [self._here(part) for part in seat.with_input(argv, stdin)]
        variables = {**(self._bare if bare else self._env), **self._texts(env)}
        began = time.monotonic()
        late = threading.Event()

        def term() -> None:
            late.set()
            self._signal(15)

        timer = threading.Timer(timeout_s, term)
        timer.daemon = True
        timer.start()
        try:
            ended = process.stream(
                command,
                lambda piece: sink(STDOUT, piece),
                cwd=self._tree,
                env=variables,
                timeout_s=timeout_s + GRACE_S,
                stop=self._stop,
            )
        finally:
            timer.cancel()
        if self._stop.is_set():
            raise Interrupted("Interrupted.")
        code = ended.code if ended.code is None or ended.code >= 0 else 128 - ended.code
        passed = late.is_set() or ended.timed_out
        return Ran(None if passed else code, time.monotonic() - began, timed_out=passed)

    def read(self, path: str, limit: int) -> bytes | None:
        """The end of a file."""
        place = Path(self._here(path))
        return place.read_bytes()[-limit:] if place.is_file() else None

    def end(self) -> tuple[Changed, ...]:
        """End every process; what differs."""
        self._signal(9)
        return self.changed()

    def changed(self) -> tuple[Changed, ...]:
        """What differs from how the tree was laid out."""
        now = _marks(self._tree)
        gone = [Changed(as_told(path), gone=True) for path in self._before if path not in now]
        changed = [
            Changed(as_told(path), added=path not in self._before)
            for path, mark in now.items()
            if self._before.get(path) != mark
        ]
        return (*gone, *changed)

    def entries(self, paths: Set[str]) -> Iterator[TreeEntry]:
        """What lies at these paths, by its bytes."""
        for path in _marks(self._tree):
            for one in _found(self._tree, path) if path in paths else ():
                if one.mode:
                    data = one.body.read() if one.body else os.fsencode(one.target)
                    id_ = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
                    yield TreeEntry(path, one.mode, id_)

    def fetch(self, paths: Iterable[str]) -> Iterator[Found]:
        """What lies at these paths."""
        wanted = set(paths)
        for path in _marks(self._tree):
            if as_told(path) in wanted:
                yield from _found(self._tree, path)

    def _texts(self, variables: Iterable[tuple[str, str]]) -> dict[str, str]:
        return {name: self._here(text) for name, text in variables}

    def _here(self, text: str) -> str:
        return self._names.sub(lambda found: self._places[found[0]], text)

    def _secret(self, target: str, number: int, data: bytes) -> None:
        place, link = Path(self._here(f"{seat.SECRETS}/{number}")), Path(self._here(target))
        for folder in (place.parent, link.parent):
            folder.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(0o400)
        link.symlink_to(place)


def _marks(tree: Path) -> dict[str, _Mark]:
    """Every path below a folder, with what tells whether it was written since; links are not followed."""
    found: dict[str, _Mark] = {}
    if tree.is_symlink():
        return found
    for at, folders, files in os.walk(tree):
        for name in (*folders, *files):
            place = Path(at, name)
            with contextlib.suppress(FileNotFoundError):
                said = place.lstat()
                is_folder = stat.S_ISDIR(said.st_mode)
                mark = () if is_folder else (said.st_ino, said.st_mtime_ns, said.st_ctime_ns)
                found[place.relative_to(tree).as_posix()] = (said.st_mode, *mark)
    return found


def _found(tree: Path, path: str) -> Iterator[Found]:
    place = tree / path
    said = place.lstat()
    if stat.S_ISLNK(said.st_mode):
        yield Found(path, SYMLINK, said.st_size, target=str(place.readlink()))
    elif stat.S_ISREG(said.st_mode):
        mode = EXECUTABLE if said.st_mode & stat.S_IXUSR else REGULAR
        if said.st_size > LARGEST:
            yield Found(path, mode, said.st_size)
            return
        with place.open("rb") as body:
            yield Found(path, mode, said.st_size, body)
    else:
        yield Found(path, 0, is_folder=stat.S_ISDIR(said.st_mode))


def lay_out(tree: Path, spec: WorkspaceSpec, lay: Callable[[Path, FileEntry], None]) -> None:
    """Turn a copy of the image's folder into the tree of the workspace."""
    for path in spec.delta.deletes:
        place = tree / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            for above in list(place.parents)[: len(Path(path).parts) - 1]:
                above.rmdir()
    for entry in spec.delta.writes:
        place = tree / entry.path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        lay(tree, entry)
