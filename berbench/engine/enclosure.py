"""An agent's network: internal, its own, and with one way out, the proxy.

Each cell has a network of its own, so agents at work at the same time can't see each other. Its addresses come from
a range of berbench's own, so their number is not bounded by the engine's. The engine's bridge gets no address in it,
or every service of the host would be open to the agent: an internal network alone does not keep it out.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from ipaddress import IPv4Network
from typing import Any

from berbench.engine import egress, lookout, owner, refusals
from berbench.engine.api import Api, Refused, Reply
from berbench.engine.archive import Ids, Writer
from berbench.engine.capture import Capture, Frames
from berbench.engine.container import Container, spec
from berbench.engine.workspace import Denied
from berbench.errors import EngineError
from berbench.model.agent import Destination
from berbench.model.trial import Image, Limits

TRIES = 50  # networks that are asked for before the range counts as used up
MOST_DENIED = 2000
LOOK_S = 45.0  # longer than a look waits for a proxy on a busy machine
NOWHERE = "127.0.0.1"  # asked for names, in the agent's own network: nobody answers there


class Enclosure:
    """One agent's network and proxy. `make_network` and `start` make them, `look` proves them."""

    def __init__(
        self,
        api: Api,
        image: Image,
        outside: str,
        destinations: Sequence[Destination],
        labels: dict[str, str],
    ) -> None:
        self._api = api
        self._destinations = tuple(destinations)
        self._image = image
        self._labels = labels
        self._outside = outside
        self._proxy = Container(api, "proxy")
        self.network = f"berbench-agent-{self._proxy.name.rpartition('-')[2]}"
        self._log: _Log | None = None
        self._look: _Look | None = None
        self._canaries: tuple[str, ...] = ()
        self.agent_address = self.proxy_address = ""

    @property
    def variables(self) -> dict[str, str]:
        """What leads the agent's programs to the proxy."""
        return egress.variables(self.proxy_address)

    @property
    def denied(self) -> tuple[Denied, ...]:
        """What was refused so far, or in all once it is closed."""
        return tuple(self._log.denied) if self._log else ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What `denied` leaves out, and who was let through to and did not answer."""
        if self._log is None:
            return ()
        told = [f"{place} did not answer the agent's proxy" for place in self._log.unreached]
        if self._log.more:
            told.append(f"{self._log.more} more requests were refused than are listed")
        return tuple(told)

    @property
    def log(self) -> bytes:
        """The proxy's log."""
        return self._log.kept.value() if self._log else b""

    def make_network(self) -> None:
        """Make the network; from then on its addresses are known."""
        for _ in range(TRIES):
            network = egress.subnet(random.randrange(1 << 20))
            gateway, proxy, agent = (str(network[number]) for number in (1, 2, 3))
            wanted = network_body(self.network, network, self._labels)
            try:
                self._api.call("POST", "/networks/create", body=wanted)
            except Refused as error:
                if "overlap" not in error.reason.lower():
                    raise
                continue
            self.proxy_address, self.agent_address = proxy, agent
            self._canaries = (f"{gateway}:22",)
            return
        raise EngineError(
            f"No free network was found in {egress.SPACE} for an agent.",
            remedy="remove networks that nobody uses, for instance with `berbench clean`",
        )

    def start(self) -> None:
        """Start the proxy between the network and the outside."""
        wanted = spec(
            self._image, egress.COMMAND, labels={**self._labels, owner.TRIAL: "proxy"}, network=self._outside,
            limits=Limits(memory_bytes=256 << 20, cpus=1, pids=2048), cpus=1,
        )  # fmt: skip
        wanted["HostConfig"]["CapAdd"] = []
        self._proxy.create(wanted)
        told = egress.documents(self.agent_address, self._destinations, os.environ)
        self._proxy.put(_packed(told))
        self._connect(self._proxy.name, self.proxy_address)
        self._log = _Log(self._proxy.attach(egress.LONGEST_S))
        self._proxy.start()

    def join(self, wanted: dict[str, Any]) -> None:
        """Make what a container is created with one of this network, where no name is resolved."""
        host = wanted["HostConfig"]
        host["NetworkMode"] = self.network
        host["Dns"], host["DnsSearch"], host["ExtraHosts"] = [NOWHERE], ["."], []
        host["DnsOptions"] = ["timeout:1", "attempts:1"]
        address = {"IPAMConfig": {"IPv4Address": self.agent_address}}
        wanted["NetworkingConfig"] = {"EndpointsConfig": {self.network: address}}

    def make_look(self, agent: str) -> None:
        """Make what looks out of the network of the agent's container."""
        names = [one.host for one in self._destinations if not one.host.startswith("*.")]
        wanted = spec(
            self._image, lookout.look(self.proxy_address, self._outer_addresses(), (names or ["example.com"])[0]),
            labels={**self._labels, owner.TRIAL: "look"}, network=f"container:{agent}",
            limits=Limits(memory_bytes=128 << 20, cpus=1, pids=64), cpus=1,
        )  # fmt: skip
        wanted["HostConfig"]["CapAdd"] = []
        wanted["HostConfig"]["ExtraHosts"] = []
        del wanted["Hostname"]
        self._look = _Look(self._api, wanted)

    def look(self) -> None:
        """EngineError unless, seen from the started agent's own network, the proxy answers and nothing else does.

        Some of it takes longer to tell; `finish` says it.
        """
        assert self._look is not None
        self._look.first()

    def finish(self) -> None:
        """End the proxy, so that its log is whole. EngineError when the look found a way past it, or it is gone."""
        if self._look is not None:
            self._look.last()
        whole = self._log is None or self._log.goes_on()
        stood = self._proxy.is_up()
        self._proxy.kill()
        if self._log is not None:
            whole = self._log.wait() and whole
        if not stood:
            raise EngineError(
                "The agent's proxy ended before the agent did.",
                remedy="nothing was measured; run it again, and look at the engine's memory when it happens again",
                details=self.log.decode("utf-8", "replace").splitlines()[-10:],
            )
        if not whole:
            raise EngineError(
                "The log of the agent's proxy could not be read to its end.",
                remedy="nothing was measured, as refused requests may be missing; run it again",
            )

    def close(self) -> list[str]:
        """Remove all of it, whatever state it is in; what would not go."""
        trouble = []
        if self._look is not None:
            trouble += _try(self._look.box.remove)
        trouble += _try(self._proxy.remove)
        if self._log is not None:
            self._log.stop()
        trouble += _try(self._remove_network)
        return trouble

    # --- within ---

    def _connect(self, container: str, address: str) -> None:
        body = {"Container": container, "EndpointConfig": {"IPAMConfig": {"IPv4Address": address}}}
        self._api.call("POST", f"/networks/{self.network}/connect", body=body)

    def _outer_addresses(self) -> tuple[str, ...]:
        """Addresses that answer outside: the proxy's own on its other side, and the host's there."""
        networks = self._proxy.describe()["NetworkSettings"]["Networks"]
        found = list(self._canaries)
        for name, one in networks.items():
            if name != self.network:
                found += [f"{one[key]}:{egress.PORT}" for key in ("IPAddress", "Gateway") if one.get(key)]
        return tuple(found)

    def _remove_network(self) -> None:
        try:
            self._api.call("DELETE", f"/networks/{self.network}")
        except Refused as error:
            if error.status != 404:
                raise


def network_body(name: str, network: IPv4Network, labels: Mapping[str, str]) -> dict[str, Any]:
    """What an engine is asked for: a network that leads nowhere, and in which the host itself has no address."""
    return {
        "Name": name,
        "CheckDuplicate": True,
        "Driver": "bridge",
        "Internal": True,
        "EnableIPv6": False,
        "Labels": {owner.OWNER: owner.this_process(), **labels},
        "IPAM": {"Driver": "default", "Config": [{"Subnet": str(network), "Gateway": str(network[1])}]},
        "Options": {"com.docker.network.bridge.inhibit_ipv4": "true"},
    }


class _Log:
    """Reads the proxy's log as it comes."""

    def __init__(self, output: Reply) -> None:
        self.denied: list[Denied] = []
        self.more = 0  # refusals that are not kept
        self.unreached: dict[str, None] = {}  # in the order of their first time; hosts of the list alone
        self.kept = Capture(head=256 << 10, tail=256 << 10)
        self._output = output
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def goes_on(self) -> bool:
        """Whether its end was not reached yet."""
        return self._thread.is_alive()

    def wait(self) -> bool:
        """Wait for its end; whether it came."""
        self._thread.join(20)
        return not self._thread.is_alive()

    def stop(self) -> None:
        """End it here."""
        self._output.stop()
        self._thread.join(20)
        self._output.close()

    def _read(self) -> None:
        frames, rest = Frames(), b""
        with contextlib.suppress(EngineError):
            for piece in self._output.pieces():
                for payload in frames.feed(piece):
                    self.kept.feed(payload)
                    *lines, rest = (rest + payload).split(b"\n")
                    for line in lines:
                        one = refusals.denied(line, datetime.now(UTC))
                        if one is not None and len(self.denied) < MOST_DENIED:
                            self.denied.append(one)
                        elif one is not None:
                            self.more += 1
                        elif place := refusals.unreached(line):
                            self.unreached[place] = None


class _Look:
    """The look from inside: a container in the agent's network."""

    def __init__(self, api: Api, wanted: dict[str, Any]) -> None:
        self.box = Container(api, "look")
        self.box.create(wanted)
        self._said = bytearray()
        self._line = threading.Event()
        self._output = self.box.attach(LOOK_S + 30)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def first(self) -> None:
        """Start it. EngineError unless it says that all is closed."""
        self.box.start()
        self._line.wait(LOOK_S)
        self._demand(self._lines()[:1] == ["ready"])

    def last(self) -> None:
        """EngineError unless it ended well."""
        self._thread.join(LOOK_S)
        self._output.close()
        self._demand(self._lines() == ["ready", "closed"])

    def _demand(self, holds: bool) -> None:
        if not holds:
            said = self._lines() or ["it said nothing"]
            raise EngineError(
                f"The agent's isolation does not hold: {said[-1]}.",
                remedy="nothing was measured; see docs/guides/isolation.md, and the engine's version and settings",
            )

    def _lines(self) -> list[str]:
        return bytes(self._said).decode("utf-8", "replace").splitlines()

    def _read(self) -> None:
        frames = Frames()
        with contextlib.suppress(EngineError):
            for piece in self._output.pieces():
                for payload in frames.feed(piece):
                    self._said += payload[:4096]
                if b"\n" in self._said:
                    self._line.set()
        self._line.set()


def _packed(texts: dict[str, bytes]) -> io.BytesIO:
    tar = io.BytesIO()
    writer = Writer(tar, Ids(), int(time.time()))
    for path, text in texts.items():
        writer.file(path.lstrip("/"), text, folders=False)
    writer.close()
    tar.seek(0)
    return tar


def _try(what: Any) -> list[str]:
    try:
        what()
    except EngineError as error:
        return [error.message]
    return []
