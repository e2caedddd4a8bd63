"""From a recipe to an image: one build per recipe, however many ask for it.

The context is the tree and nothing else. The Dockerfile comes from the recipe and lies beside the tree's
files under a name of berbench's own, and the tree's .dockerignore neither drops files from the context nor is
changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from berbench.engine import buildkit, failures, owner, script
from berbench.engine.api import Api, Refused, Reply
from berbench.engine.archive import Ids, Writer, unsafe
from berbench.engine.buildlog import Output
from berbench.engine.capture import Capture
from berbench.engine.dockerfile import excludes_itself, needs_buildkit
from berbench.engine.door import Say
from berbench.errors import EngineError, Interrupted, Refusal, StoreError
from berbench.masking import mask
from berbench.model.changes import FileEntry
from berbench.model.trial import Build, Image, ImageRecipe

REPOSITORY = "berbench/task"
LOW_DISK = 256 << 20  # bytes; below this, "no space left on device" is the engine's trouble, not the image's
WAITS_S = (5.0, 20.0, 60.0)  # before a busy registry is asked again
PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy")


def wanted_platform(native: str) -> str:
    """What images are built for: DOCKER_DEFAULT_PLATFORM, else the engine's own kind."""
    return os.environ.get("DOCKER_DEFAULT_PLATFORM", "") or native


def tag_of(key: str) -> str:
    """The image name of a recipe: lower case, short, and different for different keys and platforms."""
    text = key + os.environ.get("DOCKER_DEFAULT_PLATFORM", "")
    plain = text.removeprefix("sha256:")
    short = plain if re.fullmatch(r"[0-9a-f]{20,}", plain) else hashlib.sha256(text.encode()).hexdigest()
    return f"{REPOSITORY}:{short[:20]}"


def image_of(said: dict[str, Any]) -> Image:
    """An image from the engine's own description of it."""
    config = said.get("Config") or {}
    labels = config.get("Labels") or {}
    return Image(
        id=said["Id"],
        key=labels.get(owner.KEY, ""),
        tree=labels.get(owner.TREE, ""),
        workdir=config.get("WorkingDir") or "/",
        user=config.get("User") or "",
        platform=_platform(said),
    )


def _platform(said: dict[str, Any]) -> str:
    kind, variant = said.get("Architecture"), said.get("Variant")
    # There is one of arm64, and not every builder writes it down.
    return "/".join(filter(None, (said.get("Os"), kind, "" if kind == "arm64" else variant)))


def base_of(name: str, said: dict[str, Any]) -> tuple[str, str]:
    """The base image `name` as `Image.base` and `Image.base_id` tell it, from the engine's own description of it."""
    plain = name.partition("@")[0]
    repository = re.sub(r":[^/:]*$", "", plain)
    digests = [str(one).partition("@") for one in sorted(said.get("RepoDigests") or ())]
    of_name = [digest for place, _, digest in digests if place == repository]
    found = (*of_name, *(digest for _, _, digest in digests))
    return f"{plain}@{found[0]}" if found else plain, str(said["Id"])


def proxy_arguments(environ: dict[str, str]) -> dict[str, str]:
    """The host's proxies, which every builder knows without ARG. One on loopback is no use in a container."""
    found = {}
    for name in PROXIES:
        for spelling in (name, name.upper()):
            value = environ.get(spelling, "")
            host = urlsplit(value if "//" in value else f"//{value}").hostname or ""
            if value and (name == "no_proxy" or not (host == "localhost" or host.startswith("127."))):
                found[spelling] = value
    return found


def proxy_passwords(proxies: dict[str, str]) -> tuple[str, ...]:
    """Passwords in the addresses of proxies, as they are written and as they are sent."""
    found = (urlsplit(value if "//" in value else f"//{value}").password for value in proxies.values())
    return tuple(form for password in found if password for form in {password, unquote(password)})


class Builder:
    """One build."""

    def __init__(self, api: Api, about: dict[str, Any], find: Callable[[str], Image | None]) -> None:
        self._api = api
        self._about = about
        self._find = find
        self._passwords = proxy_passwords(proxy_arguments(dict(os.environ)))
        self._stop = threading.Event()
        self._late = False
        self._reply: Reply | None = None

    def stop(self) -> None:
        """End it, from another thread."""
        self._stop.set()
        if self._reply is not None:
            self._reply.stop()

    def build(
        self, recipe: ImageRecipe, context: Callable[[], Iterable[FileEntry]], *, timeout_s: float, say: Say
    ) -> Build:
        """See `door.Engine.build`."""
        began = time.monotonic()
        if image := self._find(recipe.key):
            return Build(image, "", 0.0, reused=True)

        def told(line: str) -> None:
            say(mask(line, self._passwords))

        with self._only_one(recipe.key, told):
            if image := self._find(recipe.key):
                return Build(image, "", time.monotonic() - began, reused=True)
            began = time.monotonic()
            with tempfile.TemporaryFile(prefix="berbench-") as tar:
                construct = needs_buildkit(recipe.dockerfile)
                self._spool(tar, recipe, context(), classic=not construct)

                def attempt() -> Build:
                    tar.seek(0)
                    left = timeout_s - (time.monotonic() - began)
                    if construct:
                        return self._with_client(tar, recipe, construct, left, began, told)
                    return self._with_api(tar, recipe, left, began, told)

                return self._patiently(attempt, began + timeout_s, told)

    def _patiently(self, attempt: Callable[[], Build], until: float, say: Say) -> Build:
        """A registry that is busy is asked again, after longer and longer, as far as the time goes."""
        for wait_s in WAITS_S:
            try:
                return attempt()
            except EngineError as error:
                busy = failures.is_busy("\n".join((error.message, *error.details)))
                if not busy or time.monotonic() + wait_s >= until:
                    raise
            say(f"a registry is busy: asking again in {wait_s:g} s")
            self._stop.wait(wait_s)
            self._check()
        return attempt()

    # --- one at a time ---

    @contextlib.contextmanager
    def _only_one(self, key: str, say: Say) -> Iterator[None]:
        name = hashlib.sha256(f"{self._about.get('ID', '')}{tag_of(key)}".encode()).hexdigest()[:32]
        place = user_cache_path("berbench") / "builds" / f"{name}.lock"
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(place)
            waited = False
            while True:
                self._check()
                with contextlib.suppress(Timeout):
                    lock.acquire(timeout=0.5)
                    break
                if not waited:
                    say("waiting for another build of the same image")
                waited = True
        except OSError as error:
            raise StoreError(
                f"The lock of a build can't be taken in {place.parent}: {error.strerror}.",
                remedy="make the folder writable, or set XDG_CACHE_HOME",
            ) from error
        try:
            yield
        finally:
            lock.release()

    def _check(self) -> None:
        if self._stop.is_set() and not self._late:
            raise Interrupted("Interrupted.")

    # --- the context ---

    def _spool(
        self, tar: IO[bytes], recipe: ImageRecipe, entries: Iterable[FileEntry], *, classic: bool
    ) -> None:
        """The tree, the Dockerfile, and what keeps the tree's own .dockerignore from taking effect."""
        # Older than any trial's change, so that nothing compiled in the image is taken for up to date.
        writer = Writer(tar, Ids(), int(time.time()) - 10)
        ignore: bytes | None = None
        for entry in entries:
            self._check()
            if reason := unsafe(entry.path):
                raise Refusal(f"The tree holds {entry.path!r}, which {reason}.")
            writer.entry(entry.path, entry)
            if entry.path == ".dockerignore":
                ignore = entry.data
        dockerfile = recipe.dockerfile
        if classic and ignore is None:
            # The classic builder drops the two that are named here, so the image gets the bare tree.
            writer.file(".dockerignore", f"{script.BUILD_FILE}\n.dockerignore\n".encode())
        elif classic and ignore is not None and excludes_itself(ignore):
            writer.file(script.IGNORE_FILE, ignore)
            dockerfile += f"\nCOPY {script.IGNORE_FILE} .dockerignore\n".encode()
        writer.file(script.BUILD_FILE, dockerfile)
        writer.close()
        tar.seek(0)

    def _labels(self, recipe: ImageRecipe) -> dict[str, str]:
        return {
            owner.KEY: recipe.key,
            owner.TREE: recipe.tree,
            owner.PLATFORM: wanted_platform(self._about["platform"]),
        }

    # --- the classic builder, over the API ---

    def _with_api(
        self, tar: IO[bytes], recipe: ImageRecipe, timeout_s: float, began: float, say: Say
    ) -> Build:
        query = {
            "t": tag_of(recipe.key),
            "dockerfile": script.BUILD_FILE,
            "rm": "1",
            "forcerm": "1",
            "buildargs": json.dumps(proxy_arguments(dict(os.environ)) | dict(recipe.build_args)),
            "labels": json.dumps(self._labels(recipe)),
        }
        if platform := os.environ.get("DOCKER_DEFAULT_PLATFORM"):
            query["platform"] = platform
        log, reading = Capture(head=64 << 10, tail=256 << 10), Output(say)
        timer = threading.Timer(timeout_s, self._outran)
        timer.daemon = True
        timer.start()
        try:
            headers = {"Content-Type": "application/x-tar", **self._api.registry_header()}
            reply = self._api.open(
                "POST", "/build", query=query, data=tar, headers=headers, timeout_s=timeout_s + 60
            )
            with contextlib.closing(reply):
                self._reply = reply
                if self._stop.is_set():
                    reply.stop()
                for piece in reply.pieces():
                    reading.feed(piece, log)
        except Refused as error:
            if failures.world_broke(error.reason):
                raise
            reading.error = error.reason
        finally:
            timer.cancel()
        self._check()
        return self._outcome(recipe, log, reading.error, reading.step, began)

    def _outran(self) -> None:
        self._late = True
        self.stop()

    # --- BuildKit, through a client ---

    def _with_client(
        self, tar: IO[bytes], recipe: ImageRecipe, construct: str, timeout_s: float, began: float, say: Say
    ) -> Build:
        client = buildkit.find_client(construct)
        log, reading = Capture(head=64 << 10, tail=256 << 10), buildkit.Output(say)

        def sink(piece: bytes) -> None:
            log.feed(piece)
            reading.feed(piece)

        arguments = proxy_arguments(dict(os.environ)) | dict(recipe.build_args)
        ended = buildkit.build(
            client,
            tar,
            sink,
            address=self._api.address,
            tag=tag_of(recipe.key),
            labels=self._labels(recipe),
            arguments=arguments,
            timeout_s=timeout_s,
            stop=self._stop,
        )
        self._late = ended.timed_out
        self._check()
        failed = "" if ended.code == 0 else reading.error or "the build failed"
        return self._outcome(recipe, log, failed, reading.step, began)

    # --- what came of it ---

    def _outcome(self, recipe: ImageRecipe, log: Capture, error: str, step: str, began: float) -> Build:
        seconds = time.monotonic() - began
        text = mask(log.value().decode("utf-8", "replace"), self._passwords)
        error, step = mask(error, self._passwords), mask(step, self._passwords)
        if self._late:
            return Build(None, text, seconds, failed_step=step, timed_out=True)
        if error:
            self._raise_if_the_world_broke(error, log)
            return Build(None, f"{text.rstrip()}\n{error}\n", seconds, failed_step=step or error)
        image = self._find(recipe.key)
        if image is None:
            raise EngineError("The build ended without a word and without an image.", details=[text[-2000:]])
        return Build(image, text, seconds)

    def _raise_if_the_world_broke(self, error: str, log: Capture) -> None:
        free = self._about.get("free")
        full = failures.says_disk_full(log.value()) and free is not None and free < LOW_DISK
        if full or failures.world_broke(error):
            raise EngineError(
                "The image could not be built: the engine, its disk or a registry failed.",
                remedy="see the details, then try again; `berbench doctor` checks the engine and its disk; where no "
                "registry answers, name an image that is here: remove the Dockerfile, then "
                "`berbench init --base-image NAME`",
                details=error.splitlines()[-10:],
            )
