"""What lies outside of an agent's network, for tests: a network of their own, and a server on it.

The server answers for a model's API and for code forges alike, by TLS on 443, in clear on 8080, and to questions
for names on 53: what an agent can't reach here, it is kept from. On 3333 it is the proxy of a company, and says so.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass

import docker

from berbench.engine.owner import OWNER, TRIAL, this_process

MODEL = "api.model.test"
FORGES = ("github.com", "codeload.github.com", "raw.githubusercontent.com", "gitlab.com", "git.corp.test")
ODD = f"{MODEL}%3a8080%2fevil.test"  # without its escapes it looks as if it began with the model's
NAME = "leak.test"  # that the server's own name service knows

SERVER = r"""
import http.server, socket, socketserver, ssl, subprocess, threading
subprocess.run("openssl req -x509 -newkey rsa:2048 -nodes -keyout /k -out /c -days 9 -subj /CN=x".split(),
               check=True, capture_output=True)
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"hello from " + self.headers.get("Host", "?").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass
def serve(port, tls):
    server = http.server.ThreadingHTTPServer(("", port), Answer)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("/c", "/k")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
serve(443, True)
serve(8080, False)
class Company(socketserver.StreamRequestHandler):
    def handle(self):
        line = self.rfile.readline().decode()
        while self.rfile.readline().strip(): pass
        print("by the company:", line.strip(), flush=True)
        method, place, _ = line.split()
        there = socket.create_connection(("127.0.0.1", int(place.rpartition(":")[2])))
        self.wfile.write(b"HTTP/1.1 200 fine\r\n\r\n")
        def pour(one, other):
            while data := one.recv(65536): other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        threading.Thread(target=pour, args=(there, self.connection), daemon=True).start()
        pour(self.connection, there)
socketserver.ThreadingTCPServer.daemon_threads = True
company = socketserver.ThreadingTCPServer(("", 3333), Company)
threading.Thread(target=company.serve_forever, daemon=True).start()
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("", 53))
print("ready", flush=True)
while True:
    asked, who = names.recvfrom(512)
    print("asked", asked[12:-4], flush=True)
    end = asked.index(b"\0", 12) + 5
    answer = asked[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + asked[12:end]
    names.sendto(answer + b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton("203.0.113.7"), who)
"""


@dataclass(frozen=True)
class Outside:
    """The network's name (the server's container has it too), the server's address on it, and addresses at which the
    host answers."""

    network: str
    address: str
    host: tuple[str, ...]


@contextlib.contextmanager
def outside() -> Iterator[Outside]:
    """The network and the server, removed at the end."""
    client = docker.from_env(timeout=60)
    name = f"berbench-test-{secrets.token_hex(4)}"
    labels = {OWNER: this_process(), TRIAL: "test"}
    api = client.api
    network = container = None
    try:
        pool = docker.types.IPAMPool(subnet=f"198.51.100.{16 * secrets.randbelow(16)}/28")
        network = api.create_network(name, labels=labels, ipam=docker.types.IPAMConfig(pool_configs=[pool]))[
            "Id"
        ]
        joined = api.create_endpoint_config(aliases=[MODEL, ODD, *FORGES])
        container = api.create_container(
            "berbench/base", ["python3", "-c", SERVER], name=name, labels=labels,
            host_config=api.create_host_config(network_mode=name, init=True),
            networking_config=api.create_networking_config({name: joined}),
        )["Id"]  # fmt: skip
        api.start(container)
        end = time.monotonic() + 60
        while b"ready" not in api.logs(container):
            assert time.monotonic() < end, api.logs(container)
            time.sleep(0.1)
        address = api.inspect_container(container)["NetworkSettings"]["Networks"][name]["IPAddress"]
        told = [api.inspect_network(one)["IPAM"]["Config"][0] for one in (name, "bridge")]
        yield Outside(name, address, tuple(one["Gateway"] for one in told if one.get("Gateway")))
    finally:
        if container is not None:
            api.remove_container(container, force=True)
        if network is not None:
            api.remove_network(network)
        client.close()
