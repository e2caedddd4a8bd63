"""An engine without containers, for tests and dry demonstrations: plain processes in temp folders.

It isolates nothing and must never run what is not trusted. An image is the context's files in a folder; of
the Dockerfile only WORKDIR, USER, a FROM of an image made here, and two markers count: `# fake: fail TEXT` fails
the build with that text, and `# fake: hang` makes it outrun its time. Trials run the very scripts that containers run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from berbench import process
from berbench.engine import facts, script
from berbench.engine.archive import MAX_FILE, Ids, Taken, check_delta, unsafe
from berbench.engine.capture import Capture
from berbench.engine.door import EngineInfo, Leftover, Say
from berbench.engine.fake_workspace import FakeWorkspace, lay_out
from berbench.engine.workspace import WorkspaceSpec
from berbench.errors import EngineError, Interrupted, Refusal
from berbench.model.agent import ROOM as AGENT_ROOM
from berbench.model.changes import EXECUTABLE, REGULAR, SYMLINK, FileEntry, TreeEntry
from berbench.model.trial import KIT_DIR, OUT_DIR, Build, Facts, Image, ImageRecipe, ReportFile, Trial

SLACK_S = 10.0
MARK = "BERBENCH_FAKE_TRIAL"  # in the environment of a trial's processes: how those that hide are found


@dataclass(frozen=True, slots=True)
class _Built:
    image: Image
    folder: Path
    made_s: float


class FakeEngine:
    """Keeps its images in `root` (a temp folder of its own by default, removed by `close`)."""

    def __init__(self, root: Path | None = None) -> None:
        self._own = root is None
        self._root = Path(tempfile.mkdtemp(prefix="berbench-fake-")) if root is None else root
        self._images: dict[str, _Built] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def info(self) -> EngineInfo:
        """Says that it is the fake."""
        kind = f"{sys.platform}/{platform.machine()}"
        return EngineInfo(
            "Fake 1", "0", "0", kind, "folder", str(self._root), shutil.disk_usage(self._root).free
        )

    def find_image(self, key: str) -> Image | None:
        """The image built with this key by this object."""
        built = self._images.get(key)
        return built.image if built else None

    def build(
        self,
        recipe: ImageRecipe,
        context: Callable[[], Iterable[FileEntry]],
        *,
        timeout_s: float,
        say: Say,
    ) -> Build:
        """Lay the context out in a folder."""
        began = time.monotonic()
        with self._lock:
            if image := self.find_image(recipe.key):
                return Build(image, "", 0.0, reused=True)
            text = recipe.dockerfile.decode("utf-8", "replace")
            if found := re.search(r"^# fake: fail\b[ \t]*(.*)$", text, re.M):
                return Build(None, f"{found[1]}\n", time.monotonic() - began, failed_step=f"RUN {found[1]}")
            if re.search(r"^# fake: hang", text, re.M):
                self._wait(timeout_s)
                return Build(None, "", time.monotonic() - began, failed_step="RUN hang", timed_out=True)
            say("Step 1/1 : COPY . .")
            folder = self._root / "images" / hashlib.sha256(recipe.key.encode()).hexdigest()[:16]
            below = next((one for one in self._images.values() if f"FROM {one.image.id}" in text), None)
            if below is not None:
                shutil.copytree(below.folder, folder, symlinks=True)
            for entry in context():
                _lay(folder, entry)
            folder.mkdir(parents=True, exist_ok=True)
            image = Image(
                id="sha256:" + hashlib.sha256(f"fake {recipe.key}".encode()).hexdigest(),
                key=recipe.key,
                tree=recipe.tree,
                workdir=_last(text, "WORKDIR") or (below.image.workdir if below else "/"),
                user=_last(text, "USER") or (below.image.user if below else ""),
                platform=self.info().platform,
            )
            self._images[recipe.key] = _Built(image, folder, time.time())
            return Build(image, "Step 1/1 : COPY . .\n", time.monotonic() - began)

    def work_tree(self, image: Image, paths: Container[str] | None = None) -> Iterator[TreeEntry]:
        """Files and links of the image's folder."""
        for entry in _entries(self._folder_of(image)):
            if paths is None or entry.path in paths:
                head = b"blob %d\0" % len(entry.data)
                yield TreeEntry(entry.path, entry.mode, hashlib.sha1(head + entry.data).hexdigest())

    def run(self, trial: Trial) -> Facts:
        """One fresh folder, removed whatever happens, and every process of the trial with it."""
        check_delta(trial.delta)
        facts.check_globs(trial)
        if self._stop.is_set():
            raise Interrupted("Interrupted.")
        started = datetime.now(UTC)
        room = Path(tempfile.mkdtemp(prefix="berbench-fake-"))
        mark = secrets.token_hex(8)
        try:
            return self._one(trial, room, mark, started)
        finally:
            _end_all(mark)
            shutil.rmtree(room, ignore_errors=True)

    def _one(self, trial: Trial, room: Path, mark: str, started: datetime) -> Facts:
        tree, root = room / "tree", room / "berbench"
        shutil.copytree(self._folder_of(trial.image), tree, symlinks=True)
        _pack(root, trial)
        log = Capture()
        began = time.monotonic()
        limit = script.limit_of(trial) * (2 if trial.setup else 1) + SLACK_S
        ended = process.stream(
            ["/bin/sh", str(root / "main.sh")],
            log.feed,
            cwd=tree,
            env=_environment(trial.env, room, mark),
            timeout_s=limit,
            stop=self._stop,
        )
        seconds = time.monotonic() - began
        if self._stop.is_set():
            raise Interrupted("Interrupted.")
        _end_all(mark)
        code = None if ended.code is None else ended.code if ended.code >= 0 else 128 - ended.code
        seen = facts.Seen(
            log=log,
            out=_take(root / "out"),
            code=137 if ended.timed_out else code,
            killed=ended.timed_out,
            seconds=seconds,
            started_at=started,
            engine="Fake 1",
        )
        return facts.facts_of(trial, seen)

    def home(self, image: Image) -> str:
        """A folder beside the work tree."""
        return f"{AGENT_ROOM}/home"

    @contextlib.contextmanager
    def workspace(self, wanted: WorkspaceSpec) -> Iterator[FakeWorkspace]:
        """One fresh folder, removed whatever happens, and every process of the agent with it."""
        check_delta(wanted.delta)
        if self._stop.is_set():
            raise Interrupted("Interrupted.")
        room = Path(tempfile.mkdtemp(prefix="berbench-fake-"))
        mark = secrets.token_hex(8)
        try:
            shutil.copytree(self._folder_of(wanted.image), room / "tree", symlinks=True)
            lay_out(room / "tree", wanted, _lay)
            env = _environment((), room, mark)
            yield FakeWorkspace(room, wanted, env, lambda number: _end_all(mark, number), self._stop)
        finally:
            _end_all(mark)
            shutil.rmtree(room, ignore_errors=True)

    def interrupt(self) -> None:
        """End every build and trial of this object."""
        self._stop.set()

    def sweep(self) -> tuple[Leftover, ...]:
        """There is nothing that outlives the process."""
        return ()

    def leftovers(self) -> tuple[Leftover, ...]:
        """The images."""
        return tuple(
            Leftover(
                "image", one.image.id, one.image.key, one.made_s, _size(one.folder), in_use=False, key=key
            )
            for key, one in self._images.items()
        )

    def remove(self, leftover: Leftover) -> None:
        """Remove an image."""
        for key, one in list(self._images.items()):
            if one.image.id == leftover.id:
                del self._images[key]
                shutil.rmtree(one.folder, ignore_errors=True)

    def close(self) -> None:
        """Remove the images, if they are in a folder of its own."""
        if self._own:
            shutil.rmtree(self._root, ignore_errors=True)

    def _folder_of(self, image: Image) -> Path:
        built = self._images.get(image.key)
        if built is None or built.image.id != image.id:
            raise EngineError(f"No such image: {image.id}", remedy="build it again")
        return built.folder

    def _wait(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise Interrupted("Interrupted.")


def _last(dockerfile: str, instruction: str) -> str:
    found = re.findall(rf"^{instruction}[ \t]+(\S+)", dockerfile, re.M | re.I)
    return found[-1] if found else ""


def _lay(folder: Path, entry: FileEntry) -> None:
    if reason := unsafe(entry.path):
        raise Refusal(f"The tree holds {entry.path!r}, which {reason}.")
    place = folder / entry.path
    place.parent.mkdir(parents=True, exist_ok=True)
    if entry.mode == SYMLINK:
        place.symlink_to(os.fsdecode(entry.data))
        return
    place.write_bytes(entry.data)
    place.chmod(0o755 if entry.mode == EXECUTABLE else 0o644)


def _pack(root: Path, trial: Trial) -> None:
    """The folders and scripts that a container gets in a tar file, the container's folder names replaced."""
    place = script.Place(str(root), counters=False)
    for folder in ("kit", "delta", f"out/{script.NOTES}"):
        (root / folder).mkdir(parents=True)
    for entry in trial.kit:
        _lay(root / "kit", FileEntry(entry.path, entry.mode, _here_bytes(entry.data, root)))
    for entry in trial.delta.writes:
        _lay(root / "delta", entry)
    ids = Ids(os.getuid(), os.getgid())
    for name, data in script.files(trial, ids, place, kept=False):
        (root / name).write_bytes(_here_bytes(data, root) if name.startswith(("setup-", "command")) else data)


def _here_bytes(data: bytes, root: Path) -> bytes:
    for name in (KIT_DIR, OUT_DIR):
        data = data.replace(name.encode(), os.fsencode(root / Path(name).name))
    return data


def _environment(more: Sequence[tuple[str, str]], room: Path, mark: str) -> Mapping[str, str]:
    """The same variables as in a container; programs are this host's, Python the one that runs berbench."""
    root = room / "berbench"
    (room / "home").mkdir()
    return {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
        "HOME": str(room / "home"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # a container would have no plug-ins of this Python either
        **{name: os.fsdecode(_here_bytes(os.fsencode(value), root)) for name, value in more},
        MARK: mark,
    }


def _take(out: Path) -> Taken:
    entries = [entry for entry in _entries(out) if entry.mode != SYMLINK]
    reports = (ReportFile(e.path, e.data[:MAX_FILE], truncated=len(e.data) > MAX_FILE) for e in entries)
    return Taken(tuple(reports))


def _entries(folder: Path) -> Iterator[FileEntry]:
    """Files and links below a folder; links are never followed."""
    for at, folders, files in os.walk(folder):
        for name in sorted((*files, *(f for f in folders if Path(at, f).is_symlink()))):
            place = Path(at, name)
            path = place.relative_to(folder).as_posix()
            if place.is_symlink():
                yield FileEntry(path, SYMLINK, os.fsencode(place.readlink()))
            elif place.is_file():
                mode = EXECUTABLE if place.stat().st_mode & 0o100 else REGULAR
                yield FileEntry(path, mode, place.read_bytes())


def _size(folder: Path) -> int:
    return sum(place.lstat().st_size for place in folder.rglob("*"))


def _end_all(mark: str, number: int = signal.SIGKILL) -> None:
    """Signal every process that carries the mark, wherever it has put itself."""
    wanted = f"{MARK}={mark}".encode()
    for place in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if wanted in place.read_bytes().split(b"\0"):
                os.kill(int(place.parent.name), number)
