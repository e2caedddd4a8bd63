"""Rows of public faults about engines that are told without one: versions, address pools, privileges."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Network

import pytest

from berbench.diagnosis import diagnose_log
from berbench.engine import egress
from berbench.engine.docker_engine import DockerEngine
from berbench.engine.enclosure import network_body

INFO = {"ServerVersion": "29.0.1", "OperatingSystem": "x", "OSType": "linux", "Architecture": "x86_64"}


class _Engine(BaseHTTPRequestHandler):
    """An engine that knows versions 1.44 to 1.52 of its API, and answers what asks for another with an error."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        _, version, *rest = self.path.split("/")
        if version == "version" or rest == ["version"]:
            platform = {"Os": "linux", "Arch": "amd64", "Version": "29.0.1"}
            self._say(200, {**platform, "ApiVersion": "1.52", "MinAPIVersion": "1.44", "Components": []})
        elif version not in {f"v1.{minor}" for minor in range(44, 53)}:
            self._say(
                400,
                {"message": f"client version {version} is too old. Minimum supported API version is 1.44"},
            )
        else:
            self._say(200, INFO)

    def log_message(self, *args: object) -> None:
        """Nothing."""

    def _say(self, status: int, document: object) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def newest(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Engine]]:
    handler = type("Handler", (_Engine,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_address[1]}")
    for name in ("DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"):
        monkeypatch.delenv(name, raising=False)
    yield handler
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("pinned", ["", "1.40"])
def test_D10_an_engine_that_refuses_old_clients_is_asked_in_a_version_it_knows(
    newest: type[_Engine], monkeypatch: pytest.MonkeyPatch, pinned: str
) -> None:
    """A version that the environment pins for other programs is no hindrance: it is agreed upon with the engine."""
    monkeypatch.setenv("DOCKER_API_VERSION", pinned)
    if not pinned:
        monkeypatch.delenv("DOCKER_API_VERSION")
    engine = DockerEngine()
    try:
        info = engine.info()
    finally:
        engine.close()
    assert info.name.endswith("29.0.1") and 44 <= int(info.api_version.removeprefix("1.")) <= 52
    assert newest.asked[-1].startswith(f"/v{info.api_version}/")


def test_D08_an_agents_network_takes_no_address_of_the_pools_that_run_out() -> None:
    """An engine that picks the addresses by itself has about thirty; these are named, and there are thousands."""
    networks = [egress.subnet(number) for number in range(1000)]
    asked = [network_body(f"n{one}", one, {})["IPAM"]["Config"][0]["Subnet"] for one in networks]
    assert len(set(asked)) == 1000
    pools = [IPv4Network("172.16.0.0/12"), IPv4Network("192.168.0.0/16"), IPv4Network("10.0.0.0/8")]
    assert not [one for one in asked for pool in pools if IPv4Network(one).overlaps(pool)]


@pytest.mark.parametrize(
    "line",
    [
        "unshare: unshare failed: Operation not permitted",
        "bwrap: No permissions to create new namespace, likely because the kernel does not allow it",
        "mount: /mnt: permission denied.",
        "[0101/1.2:FATAL:zygote_host_impl_linux.cc(117)] No usable sandbox! Update your kernel",
        "Failed to move to new namespace: PID namespaces supported, but failed: errno = Operation not permitted",
        "[1:1:FATAL:x.cc(90)] Running as root without --no-sandbox is not supported.",
        "ptrace(PTRACE_ATTACH): Operation not permitted",
    ],
)
def test_D22_a_privilege_that_no_trial_has_is_named(line: str) -> None:
    assert "privilege" in diagnose_log(f"starting\n{line}\n1 failed\n".encode())


@pytest.mark.parametrize(
    "line",
    [
        "rm: cannot remove 'x': Operation not permitted",
        "mount the volume first",
        "unshared memory",
        "permission denied",
    ],
)
def test_D22_other_refusals_are_no_privilege(line: str) -> None:
    assert "privilege" not in diagnose_log(f"{line}\n".encode())
