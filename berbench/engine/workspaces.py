"""Makes and removes workspaces on one engine: the container, its network, its proxy, side by side where it can be."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from berbench.engine import egress, seat
from berbench.engine.api import Api
from berbench.engine.archive import check_delta
from berbench.engine.container import Account, Container, account_of, fresh, spec
from berbench.engine.docker_workspace import DockerWorkspace
from berbench.engine.enclosure import Enclosure
from berbench.engine.owner import RUN, TASK, TRIAL
from berbench.engine.workspace import WorkspaceSpec
from berbench.errors import EngineError
from berbench.model.agent import Destination
from berbench.model.trial import Build, Image, ImageRecipe, Limits

HOST = "workspace"
EGRESS_BUILD_S = 900.0

Describe = Callable[[str], dict[str, Any] | None]  # an image's name or id → what the engine says of it
BuildImage = Callable[[ImageRecipe], Build]


class Workspaces:
    """Workspaces of one engine. `outside` is the network on which proxies find what agents may reach."""

    def __init__(self, api: Api, describe: Describe, build: BuildImage, outside: str) -> None:
        self._api = api
        self._describe = describe
        self._build = build
        self._outside = outside
        self._lock = threading.Lock()
        self._accounts: dict[str, Account] = {}
        self._egress: Image | None = None
        self._making = ThreadPoolExecutor(16, thread_name_prefix="berbench-agent")
        # Removal takes longer than all else, and nobody needs to wait for it.
        self._removing = ThreadPoolExecutor(4, thread_name_prefix="berbench-removal")
        # What the next agent with the same destinations will need is made while this one is at work.
        self._spares: dict[tuple[Destination, ...], Future[Enclosure]] = {}
        self._closed = False

    def close(self) -> None:
        """Wait until all that was made is removed."""
        with self._lock:
            self._closed = True
            spares = list(self._spares.values())
            self._spares.clear()
        for spare in spares:
            if spare.exception() is None:
                spare.result().close()
        self._making.shutdown()
        self._removing.shutdown()

    def account(self, image: Image) -> Account:
        """The image's user: its numbers, and a home that it may write to."""
        with self._lock:
            known = self._accounts.get(image.id)
        if known is not None:
            return known
        config = (self._describe(image.id) or {}).get("Config") or {}
        wanted = spec(image, ("/bin/sh",), labels={TASK: "", TRIAL: "look"}, limits=Limits(), cpus=1)
        with fresh(self._api, "look", wanted, []) as box:
            found = account_of(box, image.user)
        told = [line[5:] for line in config.get("Env") or () if line.startswith("HOME=")]
        account = Account(found.ids, seat.home_of((told or [found.home])[-1], image.workdir))
        with self._lock:
            return self._accounts.setdefault(image.id, account)

    def egress(self) -> Image:
        """The proxy's image: the one that is there, or a new one. EngineError when it can't be built."""
        with self._lock:
            if self._egress is None:
                base = next((name for name in egress.BASES if self._describe(name)), egress.BASES[-1])
                built = self._build(egress.recipe(base))
                if built.image is None:
                    raise EngineError(
                        f"The image of the proxy could not be built: {built.failed_step}.",
                        remedy="see the lines below, then try `make egress`; it needs Debian's packages",
                        details=built.log.splitlines()[-10:],
                    )
                self._egress = built.image
            return self._egress

    @contextlib.contextmanager
    def open(
        self, wanted: WorkspaceSpec, *, engine: str, cpus: float, hold: Hold
    ) -> Iterator[DockerWorkspace]:
        """One workspace. `hold` keeps what ends it at once for as long as it lasts."""
        check_delta(wanted.delta)
        account = self.account(wanted.image)
        labels = {TASK: wanted.task, RUN: wanted.run}
        enclosure, spare = None, False
        if wanted.destinations:
            enclosure = self._take_spare(wanted.destinations)
            spare = enclosure is not None
            enclosure = enclosure or self._enclosure(wanted.destinations, labels)
        box = Container(self._api, "agent")
        workspace = DockerWorkspace(box, wanted, account, enclosure, engine)
        with hold(box.name, box.discard):
            try:
                asked = self._asked(wanted, {**labels, TRIAL: "agent"}, cpus)
                if enclosure is None:
                    workspace.trouble += box.create(asked)
                    workspace.start()
                    workspace.lay_out({})
                else:
                    self._make_enclosed(box, workspace, enclosure, asked, started=spare)
                    self._make_spare(wanted.destinations)
                yield workspace
                workspace.settle()
            except BaseException:
                _remove(box, enclosure)
                raise
            self._removing.submit(_remove, box, enclosure)

    def _asked(self, wanted: WorkspaceSpec, labels: dict[str, str], cpus: float) -> dict[str, Any]:
        command = ("/bin/sh", "-c", seat.KEEPER)
        asked = spec(wanted.image, command, user="0:0", labels=labels, limits=wanted.limits, cpus=cpus)
        asked["Hostname"] = HOST
        asked["HostConfig"]["ExtraHosts"] = [f"{HOST}:127.0.0.1"]
        asked["HostConfig"]["Tmpfs"] = seat.memory_files()
        return asked

    def _make_enclosed(
        self,
        box: Container,
        workspace: DockerWorkspace,
        enclosure: Enclosure,
        asked: dict[str, Any],
        *,
        started: bool,
    ) -> None:
        """The container in its network. The proxy, and then the look from inside, come to be beside it."""
        if not started:
            enclosure.make_network()
        enclosure.join(asked)

        def proxy() -> None:
            if not started:
                enclosure.start()

        with _beside(self._making, proxy):
            workspace.trouble += box.create(asked)
            workspace.start()
        enclosure.make_look(box.name)
        with _beside(self._making, enclosure.look):
            workspace.lay_out(enclosure.variables)

    # --- spares ---

    def _enclosure(self, destinations: tuple[Destination, ...], labels: dict[str, str]) -> Enclosure:
        return Enclosure(self._api, self.egress(), self._outside, destinations, labels)

    def _take_spare(self, destinations: tuple[Destination, ...]) -> Enclosure | None:
        """One that was made for these destinations and that no agent has seen."""
        with self._lock:
            spare = self._spares.pop(destinations, None)
        return spare.result() if spare is not None and spare.exception() is None else None

    def _make_spare(self, destinations: tuple[Destination, ...]) -> None:
        def make() -> Enclosure:
            enclosure = self._enclosure(destinations, {TASK: "", RUN: ""})
            try:
                enclosure.make_network()
                enclosure.start()
            except BaseException:
                enclosure.close()
                raise
            return enclosure

        with self._lock:
            if destinations not in self._spares and not self._closed:
                self._spares[destinations] = self._making.submit(make)


@contextlib.contextmanager
def _beside(pool: ThreadPoolExecutor, what: Callable[[], None]) -> Iterator[None]:
    """Do something beside the block, which is left only when both are done; the error of either is raised."""
    future = pool.submit(what)
    try:
        yield
    finally:
        future.exception()
    future.result()


Hold = Callable[[str, Callable[[], None]], contextlib.AbstractContextManager[None]]


def _remove(box: Container, enclosure: Enclosure | None) -> None:
    """What will not go now is found by its labels later."""
    box.discard()
    if enclosure is not None:
        enclosure.close()
