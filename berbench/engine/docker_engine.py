"""The engine door over Docker's API (20.10 and newer, or anything that speaks it)."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import IO, Any

from berbench.engine import facts, failures, script
from berbench.engine.api import Api, Refused, Reply
from berbench.engine.archive import MAX_TOTAL, Ids, Taken, Writer, check_delta, read_files
from berbench.engine.building import Builder, image_of, tag_of, wanted_platform
from berbench.engine.capture import Capture, Frames
from berbench.engine.container import Container as Box
from berbench.engine.container import fresh, ids_of, spec
from berbench.engine.door import EngineInfo, Leftover, Say
from berbench.engine.installed import InstalledCache
from berbench.engine.leftovers import Leftovers
from berbench.engine.owner import KEY, PLATFORM, TASK, TRIAL
from berbench.engine.worktree import tree_entries
from berbench.errors import EngineError, Interrupted
from berbench.model.changes import FileEntry, TreeEntry
from berbench.model.trial import OUT_DIR, Build, Facts, Image, ImageRecipe, Limits, Trial

# Beyond the limits inside: for starting, preparing and collecting, and for the kill after TERM.
SLACK_S = 20.0
COLLECT_SLACK_S = 40.0
SPOOL = 8 << 20  # bytes of a delta held in memory; larger ones go to a temp file


class DockerEngine:
    """One engine. Safe to use from several threads. Connects at once: EngineError when nothing answers."""

    def __init__(self) -> None:
        self._api = Api()
        self._lock = threading.Lock()
        self._info: dict[str, Any] = {}
        self._ids: dict[str, Ids] = {}
        self._running: dict[str, Callable[[], None]] = {}
        self._interrupted = False
        self._installed = InstalledCache(self._api)
        self._leftovers = Leftovers(self._api)

    # --- the engine itself ---

    def info(self) -> EngineInfo:
        """Versions and platform."""
        said = self._about()
        return EngineInfo(
            name=f"{said['name']} {said['ServerVersion']}",
            api_version=self._api.version,
            client_version=self._api.client_version,
            platform=said["platform"],
            storage=said.get("Driver", ""),
            address=self._api.address,
            free_bytes=said["free"],
        )

    def interrupt(self) -> None:
        """End every build and trial of this object."""
        with self._lock:
            self._interrupted = True
            running = list(self._running.values())
        for end in running:
            end()

    def close(self) -> None:
        """Close the connections."""
        self._api.close()

    # --- images ---

    def find_image(self, key: str) -> Image | None:
        """The image built from the recipe with this key for the wanted platform."""
        try:
            said = self._api.call("GET", f"/images/{tag_of(key)}/json")
        except Refused as error:
            if error.status == 404:
                return None
            raise
        labels = (said.get("Config") or {}).get("Labels") or {}
        wanted = wanted_platform(self._about()["platform"])
        return image_of(said) if labels.get(KEY) == key and labels.get(PLATFORM) == wanted else None

    def build(
        self,
        recipe: ImageRecipe,
        context: Callable[[], Iterable[FileEntry]],
        *,
        timeout_s: float,
        say: Say,
    ) -> Build:
        """The image of a recipe: the one that is there, or a new one."""
        builder = Builder(self._api, self._about(), self.find_image)
        with self._interruptible(f"build-{id(builder)}", builder.stop):
            built = builder.build(recipe, context, timeout_s=timeout_s, say=say)
            if built.image is not None and not built.reused:
                say("listing what the image holds")
                self._installed.of(built.image)
        return built

    def work_tree(self, image: Image, paths: Container[str] | None = None) -> Iterator[TreeEntry]:
        """Files and links of the image's work tree."""
        trouble: list[str] = []
        wanted = spec(image, ("/bin/sh",), labels={TASK: "", TRIAL: "look"}, limits=Limits(), cpus=1)
        with fresh(self._api, "look", wanted, trouble) as box:
            reply = box.take(image.workdir)
            if reply is None:
                raise EngineError(f"The image {image.id} has no folder {image.workdir}.")
            with contextlib.closing(reply):
                yield from tree_entries(reply, paths)

    # --- trials ---

    def run(self, trial: Trial) -> Facts:
        """One fresh container, removed whatever happens."""
        check_delta(trial.delta)
        facts.check_globs(trial)
        said = self._about()
        installed = self._installed.of(trial.image)
        wanted = spec(
            trial.image,
            ("/bin/sh", f"{script.ROOT}/main.sh"),
            env=tuple(f"{name}={value}" for name, value in trial.env),
            labels={TASK: trial.task, TRIAL: trial.name},
            network=trial.network,
            limits=trial.limits,
            cpus=min(trial.limits.cpus, float(said["NCPU"])),
        )
        trouble: list[str] = []
        started = datetime.now(UTC)
        try:
            with fresh(self._api, "trial", wanted, trouble) as box, self._interruptible(box.name, box.kill):
                seen = self._one(box, trial)
        except BaseException:
            self._raise_if_interrupted()
            raise
        self._raise_if_interrupted()
        return facts.facts_of(
            trial,
            replace(
                seen,
                started_at=started,
                engine=f"{said['name']} {said['ServerVersion']}, {said['platform']}",
                installed=installed,
                warnings=tuple(trouble),
            ),
        )

    def _one(self, box: Box, trial: Trial) -> facts.Seen:
        """From a created container to what was seen of it."""
        ids = self._ids_of(box, trial.image)
        by_root = ids.uid != 0
        with tempfile.SpooledTemporaryFile(SPOOL, prefix="berbench-") as tar:
            _pack(tar, trial, ids, by_root=by_root)
            box.put(tar)
        limit = script.limit_of(trial) * (2 if trial.setup else 1) + SLACK_S
        if trial.collect:
            limit += COLLECT_SLACK_S
        log, deadline = Capture(), _Deadline(box)
        with contextlib.closing(box.attach(limit + 60)) as output:
            began = time.monotonic()
            if (fault := _start(box)) is not None:
                log.feed(fault.encode() + b"\n")
                return facts.Seen(log, Taken(), None, refused=fault)
            with deadline.of(limit):
                if by_root:
                    box.as_root(("/bin/sh", "-c", _BY_ROOT), trial.image.workdir)
                _read(output, log)
            seconds = time.monotonic() - began
        code = box.wait()
        out = _take(box)
        killed_for_memory = box.killed_for_memory()
        return facts.Seen(
            log, out, code, killed=deadline.passed, out_of_memory=killed_for_memory, seconds=seconds
        )

    def _ids_of(self, box: Box, image: Image) -> Ids:
        known = self._ids.get(image.id)
        if known is None:
            known = self._ids[image.id] = ids_of(box, image.user)
        return known

    # --- what was left ---

    def sweep(self) -> tuple[Leftover, ...]:
        """Remove containers and networks whose owner process is gone."""
        return self._leftovers.sweep()

    def leftovers(self) -> tuple[Leftover, ...]:
        """All that carries berbench's label."""
        return self._leftovers.all()

    def remove(self, leftover: Leftover) -> None:
        """Remove one of them."""
        self._leftovers.remove(leftover)

    # --- within ---

    def _about(self) -> dict[str, Any]:
        with self._lock:
            if not self._info:
                self._info = about(self._api)
            return self._info

    @contextlib.contextmanager
    def _interruptible(self, name: str, end: Callable[[], None]) -> Iterator[None]:
        with self._lock:
            if self._interrupted:
                raise Interrupted("Interrupted.")
            self._running[name] = end
        try:
            yield
        finally:
            with self._lock:
                del self._running[name]

    def _raise_if_interrupted(self) -> None:
        if self._interrupted:
            raise Interrupted("Interrupted.")


_BY_ROOT = f"/bin/sh {script.ROOT}/prepare.sh; echo $? >{script.ROOT}/go"


class _Deadline:
    """Kills a container when its time is over, from a thread of its own."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self.passed = False

    @contextlib.contextmanager
    def of(self, seconds: float) -> Iterator[None]:
        """The time allowed for the block."""
        timer = threading.Timer(seconds, self._pass)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _pass(self) -> None:
        self.passed = True
        self._box.kill()


def _pack(tar: IO[Any], trial: Trial, ids: Ids, *, by_root: bool) -> None:
    """The tar file that makes a container a trial's: kit, scripts, staged files of the delta."""
    place = script.Place()
    writer = Writer(tar, ids, int(time.time()))
    root = script.ROOT.lstrip("/")
    for folder in ("kit", "delta", f"out/{script.NOTES}"):
        writer.folder(f"{root}/{folder}")
    for entry in trial.kit:
        writer.entry(f"{root}/kit/{entry.path}", entry)
    for entry in trial.delta.writes:
        writer.entry(f"{root}/delta/{entry.path}", entry)
    for name, data in script.files(trial, ids, place, by_root=by_root):
        writer.file(f"{root}/{name}", data, 0o755)
    if by_root:
        writer.pipe(f"{root}/go")
    writer.close()
    tar.seek(0)


def _start(box: Box) -> str | None:
    """Start it; why the image can't be started, None when it was."""
    try:
        box.start()
    except Refused as error:
        if fault := failures.image_fault(error.reason):
            return f"{fault} ({error.reason})"
        raise
    return None


def _read(output: Reply, log: Capture) -> None:
    frames = Frames()
    for piece in output.pieces():
        for payload in frames.feed(piece):
            log.feed(payload)


def _take(box: Box) -> Taken:
    reply = box.take(OUT_DIR)
    if reply is None:
        return Taken(complete=False)
    with contextlib.closing(reply):
        return read_files(reply, max_total=MAX_TOTAL)


def about(api: Api) -> dict[str, Any]:
    """The engine's account of itself; `name`, `platform`, `free` (bytes, None when far away) are added."""
    said: dict[str, Any] = api.call("GET", "/info")
    arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(
        said.get("Architecture", ""), said.get("Architecture", "")
    )
    said["platform"] = f"{said.get('OSType') or 'linux'}/{arch}"
    said["name"] = "Podman" if "podman" in str(said.get("ServerVersion", "")).lower() else "Docker"
    said.setdefault("NCPU", 1)
    said["free"] = _free(api.address, str(said.get("DockerRootDir", "")))
    return said


def _free(address: str, folder: str) -> int | None:
    if not address.startswith("unix://") or not folder:
        return None
    with contextlib.suppress(OSError):
        return shutil.disk_usage(folder).free
    return None
