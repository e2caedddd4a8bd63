"""The engine door over Docker's API (20.10 and newer, or anything that speaks it)."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from berbench.engine import facts
from berbench.engine.api import Api, Refused
from berbench.engine.archive import Ids, check_delta
from berbench.engine.building import Builder, base_of, image_of, tag_of, wanted_platform
from berbench.engine.container import Container as Box
from berbench.engine.container import fresh, ids_of, spec
from berbench.engine.docker_workspace import DockerWorkspace
from berbench.engine.dockerfile import final_base
from berbench.engine.door import EngineInfo, Leftover, Say
from berbench.engine.installed import InstalledCache
from berbench.engine.leftovers import Leftovers
from berbench.engine.owner import KEY, PLATFORM, TASK, TRIAL
from berbench.engine.trials import KEEPER, MAIN, has_user, observe
from berbench.engine.workspace import WorkspaceSpec
from berbench.engine.workspaces import EGRESS_BUILD_S, Workspaces
from berbench.engine.worktree import tree_entries
from berbench.errors import EngineError, Interrupted
from berbench.model.changes import FileEntry, TreeEntry
from berbench.model.trial import Build, Facts, Image, ImageRecipe, Limits, Trial

MIN_FREE = 200 << 20  # bytes; with less, no build and no trial can be trusted


class DockerEngine:
    """One engine. Safe to use from several threads. Connects at once: EngineError when nothing answers.

    `outside` is the engine's network on which agents' proxies find what may be reached.
    """

    def __init__(self, *, outside: str = "bridge") -> None:
        self._api = Api()
        self._lock = threading.Lock()
        self._info: dict[str, Any] = {}
        self._ids: dict[str, Ids] = {}
        self._running: dict[str, Callable[[], None]] = {}
        self._interrupted = False
        self._installed = InstalledCache(self._api)
        self._leftovers = Leftovers(self._api)
        self._workspaces = Workspaces(self._api, self._image, self._build_egress, outside)

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

    def _recorded(self) -> str:
        """The engine as records name it: both versions, and the platform."""
        info = self.info()
        return f"{info.name} (API {info.api_version}, {info.client_version}), {info.platform}"

    def interrupt(self) -> None:
        """End every build and trial of this object."""
        with self._lock:
            self._interrupted = True
            running = list(self._running.values())
        # In threads: a second Ctrl-C, here, must not leave anything at work.
        ending = [threading.Thread(target=end) for end in running]
        for thread in ending:
            thread.start()
        for thread in ending:
            thread.join()

    def close(self) -> None:
        """Close the connections, once all that agents had is removed."""
        self._workspaces.close()
        self._api.close()

    # --- images ---

    def find_image(self, key: str) -> Image | None:
        """The image built from the recipe with this key for the wanted platform."""
        said = self._image(tag_of(key))
        if said is None:
            return None
        labels = (said.get("Config") or {}).get("Labels") or {}
        wanted = wanted_platform(self._about()["platform"])
        return image_of(said) if labels.get(KEY) == key and labels.get(PLATFORM) == wanted else None

    def _image(self, name: str) -> dict[str, Any] | None:
        """What the engine says of an image it has."""
        try:
            said: dict[str, Any] = self._api.call("GET", f"/images/{quote(name, safe='/:@')}/json")
        except Refused as error:
            if error.status == 404:
                return None
            raise
        return said

    def _find_on_its_base(self, recipe: ImageRecipe) -> Image | None:
        """The recipe's image, unless its base image was replaced since: then it is another environment."""
        image = self.find_image(recipe.key)
        name = final_base(recipe.dockerfile, recipe.build_args) if image else ""
        base = self._image(name) if name else None
        if image is None or base is None:
            return image
        layers = _layers(self._image(image.id))
        below = _layers(base)
        if layers[: len(below)] != below:
            return None
        told, base_id = base_of(name, base)
        return replace(image, base=told, base_id=base_id)

    def build(
        self,
        recipe: ImageRecipe,
        context: Callable[[], Iterable[FileEntry]],
        *,
        timeout_s: float,
        say: Say,
    ) -> Build:
        """The image of a recipe: the one that is there, or a new one."""
        self._need_disk()
        builder = Builder(self._api, self._about(), lambda key: self._find_on_its_base(recipe))
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
        self._need_disk()
        installed = self._installed.of(trial.image)
        wanted = spec(
            trial.image,
            KEEPER if has_user(trial.image) else MAIN,
            user="0:0" if has_user(trial.image) else trial.image.user,
            env=tuple(f"{name}={value}" for name, value in trial.env),
            labels={TASK: trial.task, TRIAL: trial.name},
            network=trial.network,
            limits=trial.limits,
            cpus=min(trial.limits.cpus, float(said["NCPU"])),
        )
        trouble: list[str] = []
        started = datetime.now(UTC)
        try:
            with (
                fresh(self._api, "trial", wanted, trouble) as box,
                self._interruptible(box.name, box.discard),
            ):
                seen = observe(box, trial, self._ids_of(box, trial.image))
        except BaseException:
            self._raise_if_interrupted()
            raise
        self._raise_if_interrupted()
        self._need_disk()  # or the trial itself may have failed for it
        return facts.facts_of(
            trial,
            replace(
                seen,
                started_at=started,
                engine=self._recorded(),
                installed=installed,
                warnings=tuple(trouble),
            ),
        )

    def _ids_of(self, box: Box, image: Image) -> Ids:
        known = self._ids.get(image.id)
        if known is None:
            known = self._ids[image.id] = ids_of(box, image.user)
        return known

    # --- agents ---

    def home(self, image: Image) -> str:
        """The home folder of the image's user."""
        return self._workspaces.account(image).home

    @contextlib.contextmanager
    def workspace(self, wanted: WorkspaceSpec) -> Iterator[DockerWorkspace]:
        """One fresh container for an agent, with a way out of its own, removed whatever happens."""
        said = self._about()
        self._need_disk()
        name = self._recorded()
        cpus = min(wanted.limits.cpus, float(said["NCPU"]))
        try:
            with self._workspaces.open(wanted, engine=name, cpus=cpus, hold=self._interruptible) as workspace:
                self._raise_if_interrupted()  # it may have come to be after all that there was had been ended
                yield workspace
        except BaseException:
            self._raise_if_interrupted()
            raise
        self._raise_if_interrupted()

    def egress(self) -> Image:
        """The image of the proxy, built where there is none."""
        return self._workspaces.egress()

    def _build_egress(self, recipe: ImageRecipe) -> Build:
        return self.build(recipe, lambda: (), timeout_s=EGRESS_BUILD_S, say=lambda _: None)

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

    def _need_disk(self) -> None:
        folder = str(self._about().get("DockerRootDir", ""))
        free = _free(self._api.address, folder)
        if free is not None and free < MIN_FREE:
            raise EngineError(
                f"The engine's disk is full: {free >> 20} MiB are left in {folder}.",
                remedy="make room, for instance with `berbench clean`, then try again",
            )

    def _raise_if_interrupted(self) -> None:
        if self._interrupted:
            raise Interrupted("Interrupted.")


def _layers(said: dict[str, Any] | None) -> list[str]:
    return list(((said or {}).get("RootFS") or {}).get("Layers") or ())


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
