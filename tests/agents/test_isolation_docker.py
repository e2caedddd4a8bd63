"""What an agent can reach and see, by real traffic: only what it is given, and everything else is refused and told."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import docker
import pytest
from agent_bench import AgentBench, make_bench
from outside import FORGES, MODEL, NAME, ODD, Outside, outside

from berbench.engine import egress, enclosure
from berbench.engine.docker_engine import DockerEngine
from berbench.errors import EngineError
from berbench.model.agent import SecretFile

pytestmark = pytest.mark.docker

HOSTS = (MODEL, f"{MODEL}:8080")

# Tries every request of a list of [what, where] and prints what came of each.
CLIENT = r"""
import json, os, socket, ssl, sys, urllib.request
trust = ssl.create_default_context()
trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
def through(url):
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=trust))
    return opener.open(url, timeout=10).read().decode()
def tunnel(place):
    proxy, port = os.environ["HTTPS_PROXY"].rpartition("/")[2].split(":")
    one = socket.create_connection((proxy, int(port)), 10)
    one.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
    said = b""
    while not said.endswith(b"\r\n\r\n"):
        said += one.recv(1)
    assert b" 200 " in said, said
    return one
def ask_in(one, host):
    one.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    said = b"".join(iter(lambda: one.recv(4096), b""))
    assert b"hello" in said, said
    return said.rpartition(b"\r\n\r\n")[2].decode()
def front(where):
    place, name = where.split(" ")
    one = trust.wrap_socket(tunnel(place), server_hostname=name or None)
    return ask_in(one, name)
def plain(where):
    place, host = where.split(" ")
    return ask_in(tunnel(place), host)
def greeting(name, room=0, record=1 << 14):
    two = lambda data: len(data).to_bytes(2, "big") + data
    more = b"\0\x15" + two(bytes(room)) if room else b""
    names = two(more + b"\0\0" + two(two(b"\0" + two(name))))
    hello = b"\3\3" + b"r" * 32 + b"\0" + two(b"\x13\1") + b"\1\0" + names
    hello = b"\1\0" + two(hello)
    parts = (hello[at : at + record] for at in range(0, len(hello), record))
    return b"".join(b"\x16\3\1" + two(part) for part in parts)
def raw(where):
    place, name, *shape, step = [*where.split(" "), 1 << 16][:5]
    one = tunnel(place)
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    whole = greeting(bytes.fromhex(name), *map(int, shape))
    for at in range(0, len(whole), int(step)):
        one.sendall(whole[at : at + int(step)])
    said = one.recv(4096)
    assert said[:1] in (b"\x15", b"\x16"), said  # the server's own word, an alert or a greeting
    return said.hex()
def many(where):
    # Greetings with long names, all different, each given up at once.
    from concurrent.futures import ThreadPoolExecutor
    place, count, name = where.split(" ")
    def one(number):
        made = tunnel(place)
        made.sendall(greeting(b"x%d" % number + b"gigi" * 7500 + name.encode()))
        made.close()
    with ThreadPoolExecutor(200) as pool:
        list(pool.map(one, range(int(count))))
    return ""
def half(where):
    # Opened and closed with nothing said, or the half of it.
    place, name = where.split(" ")
    one = tunnel(place)
    one.sendall(greeting(name.encode())[: int(len(name) and 40)])
    one.close()
    return ""
def odd(where):
    # Greetings with something before or behind, to a server of plain requests: it says what it makes of a line.
    place, before, *names = where.split(" ")
    one = tunnel(place)
    one.sendall(bytes.fromhex(before) + b"".join(greeting(name.encode()) for name in names) + b"\n\n")
    said = one.recv(4096)
    assert b"Bad request" in said, said
    return said.decode("latin-1")
def send(request):
    proxy, port = os.environ["HTTPS_PROXY"].rpartition("/")[2].split(":")
    one = socket.create_connection((proxy, int(port)), 10)
    one.sendall(request.encode())
    return one.recv(4096).decode("latin-1")
def behind(where, at_once=False):
    # A second request right behind a first that is let through, or in one go with it.
    first, *second = where.split("\n")
    proxy, port = os.environ["HTTPS_PROXY"].rpartition("/")[2].split(":")
    one = socket.create_connection((proxy, int(port)), 5)
    head = f"GET {first} HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n".encode()
    more = "\r\n".join([*second, "", ""]).encode()
    one.sendall(head + more if at_once else head)
    said = b""
    while b"hello from" not in said:
        piece = one.recv(4096)
        assert piece, "no first answer"
        said += piece
    if not at_once:
        one.sendall(more)
    one.settimeout(3)
    said = said.partition(b"hello from")[2] + b"".join(iter(lambda: one.recv(4096), b""))
    assert b"hello from" in said or b"200 Conn" in said, said[:200]
    return said.decode()
def at_once(where):
    return behind(where, True)
def direct(place):
    host, port = place.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 2).close()
    except ConnectionRefusedError:
        return "refused"
    return "connected"
def resolve(name):
    return socket.gethostbyname(name)
def ask(server):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.settimeout(2)
    one.sendto(b"\1\2\1\0\0\1\0\0\0\0\0\0\4leak\4test\0\0\1\0\1", (server, 53))
    return one.recvfrom(512)[0].hex()
found = []
for what, where in json.loads(sys.argv[1]):
    try:
        found.append(["yes", globals()[what](where)])
    except Exception as error:
        found.append(["no", f"{type(error).__name__}: {error}"])
print(json.dumps(found))
"""


NAMES = r"""
from socket import *
here = socket(AF_INET, SOCK_DGRAM)
here.bind(("127.0.0.1", 53))
while True:
    asked, who = here.recvfrom(512)
    end = asked.index(b"\0", 12) + 5
    answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + inet_aton("203.0.113.7")
    here.sendto(asked[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + asked[12:end] + answer, who)
"""


def client(*asked: tuple[str, str]) -> str:
    """The script of an agent that tries these."""
    return f"python3 - '{json.dumps(asked)}' <<'END'\n{CLIENT}\nEND"


@pytest.fixture(scope="module")
def world() -> Iterator[Outside]:
    with outside() as world:
        yield world


@pytest.fixture(scope="module")
def bench(world: Outside, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentBench]:
    engine = DockerEngine(outside=world.network)
    dockerfile = "FROM berbench/base\nWORKDIR /work\nCOPY . .\n"
    bench = make_bench(engine, tmp_path_factory.mktemp("isolated"), dockerfile, "test-isolation")
    yield bench
    for left in engine.leftovers():
        if left.kind == "image" and left.key == "test-isolation":
            engine.remove(left)
    bench.history.close()
    engine.close()


def tried(bench: AgentBench, *asked: tuple[str, str], **more: object) -> tuple[list[Any], Any]:
    facts = bench.run(client(*asked), hosts=HOSTS, **more)
    assert facts.exit_code == 0, facts.log
    return json.loads(facts.log), facts


def test_the_model_is_reached_and_forges_are_refused_and_told(bench: AgentBench, world: Outside):
    good = [("through", f"https://{MODEL}/v1"), ("through", f"http://{MODEL}:8080/v1")]
    bad = [("through", f"https://{forge}/x") for forge in FORGES]
    bad += [
        ("through", "http://github.com:8080/x"),
        ("through", f"https://{world.address}/x"),
        ("through", f"http://{world.address}:8080/x"),
        ("through", f"https://{MODEL}:8443/x"),
        ("through", f"https://x.{MODEL}/x"),
    ]
    found, facts = tried(bench, *good, *bad)
    assert found[:2] == [["yes", f"hello from {MODEL}"], ["yes", f"hello from {MODEL}:8080"]]
    assert [one[0] for one in found[2:]] == ["no"] * len(bad), found
    assert all("403" in one[1] for one in found[2:]), found
    assert [(one.host, one.port) for one in facts.refused] == [
        *((forge, 443) for forge in FORGES),
        ("github.com", 8080),
        (world.address, 443),
        (world.address, 8080),
        (MODEL, 8443),
        (f"x.{MODEL}", 443),
    ]
    assert f"CONNECT {MODEL}:443".encode() in facts.egress and b"github.com" in facts.egress


def test_a_name_in_the_greeting_of_tls_must_be_one_of_the_tools_hosts(bench: AgentBench):
    """A host that shares its addresses with a forge: it is asked for, and the forge is named inside."""
    good = [
        ("front", f"{MODEL}:443 {MODEL}"),
        ("front", f"{MODEL}:443 {MODEL.upper()}"),
        ("plain", f"{MODEL}:8080 {MODEL}"),
        ("raw", f"{MODEL}:443 {MODEL.encode().hex()}"),
    ]
    bad = [
        *((f"{MODEL}:{port}", forge, f"named in the greeting of TLS to {MODEL}")
          for port in (443, 8080) for forge in FORGES),
        (f"{MODEL}:443", f"x.{MODEL}", f"named in the greeting of TLS to {MODEL}"),
        (f"{MODEL}:443", "", "its greeting of TLS names no host"),
    ]  # fmt: skip
    asked = [("front", f"{place} {name}") for place, name, _ in bad]
    found, facts = tried(bench, *good, *asked, ("plain", f"{MODEL}:443 {MODEL}"), *good)
    count = len(good)
    assert [one[0] for one in found[:count] + found[-count:]] == ["yes"] * 2 * count, found
    assert [one[0] for one in found[count:-count]] == ["no"] * (len(bad) + 1), found
    assert [(one.host, one.port, one.reason) for one in facts.refused] == [
        *((name or MODEL, int(place.rpartition(":")[2]), why) for place, name, why in bad),
        (MODEL, 443, "it was not spoken to in TLS"),
    ]
    assert facts.warnings == ()


def test_no_bytes_of_a_name_upset_what_is_decided_of_the_next(bench: AgentBench):
    model, forge = MODEL.encode(), b"github.com"
    odd = [
        forge + b"\n" + model, model + b"\n" + forge, model + b" " + forge, forge + b"\0" + model, b"\xff\xfe", b"%",
        b"-", b"- ", b"", b".", model + b".", b"." + model, model + b"%0a" + forge, b"OK", b"OK\n", b"\n\n\n",
        b"x" * 999, b"\xff" * 5000, model + b"\r", b"\t" + model, "api.model.tést".encode(),
    ]  # fmt: skip
    asked = [("raw", f"{MODEL}:443 {name.hex()}") for name in odd]
    sound = [("front", f"{MODEL}:443 {MODEL}"), ("front", f"{MODEL}:443 github.com")]
    found, facts = tried(bench, *(one for name in asked for one in (name, *sound)))
    assert [one[0] for one in found] == ["no", "yes", "no"] * len(odd), found
    assert len([one for one in facts.refused if one.host == "github.com"]) >= len(odd)
    assert len(facts.refused) == 2 * len(odd), facts.refused


def test_greetings_are_read_however_they_come(bench: AgentBench):
    """Large as with keys that are safe from quantum computers, over many records, byte by byte."""
    shapes = ["1700", "15000", "60000", "0 1", "1700 100", "1700 16384 1", "300 7 3"]
    names = (MODEL, "github.com")
    found, facts = tried(
        bench,
        *(("raw", f"{MODEL}:443 {name.encode().hex()} {shape}") for shape in shapes for name in names),
    )
    assert [one[0] for one in found] == ["yes", "no"] * len(shapes), found
    assert [one.host for one in facts.refused] == ["github.com"] * len(shapes)


def test_many_long_names_keep_no_honest_greeting_from_being_read(bench: AgentBench):
    asked = [("many", f"{MODEL}:443 1000 .github.com"), ("front", f"{MODEL}:443 {MODEL}"),
             ("front", f"{MODEL}:443 github.com")]  # fmt: skip
    found, facts = tried(bench, *asked)
    assert [one[0] for one in found] == ["yes", "yes", "no"], found
    assert facts.refused[-1].host == "github.com"


def test_what_breaks_off_is_no_refusal(bench: AgentBench):
    asked = [("half", f"{MODEL}:{port} {name}") for port in (443, 8080) for name in ("", MODEL)]
    found, facts = tried(bench, *asked * 5, ("front", f"{MODEL}:443 {MODEL}"))
    assert [one[0] for one in found] == ["yes"] * (len(asked) * 5 + 1), found
    assert facts.refused == () and facts.warnings == (), facts.egress


def test_what_is_no_greeting_to_the_proxy_may_be_one_to_a_server(bench: AgentBench):
    """On a port for plain requests, what begins like one goes through, and nothing else that could be TLS."""
    empty, heartbeat, later = "1603010000", "180301000301000016030100", "160400"
    befores = (empty, heartbeat, later, "0d0a0d0a", "8001")
    asked = [
        *((before, name) for before in befores for name in ("github.com", MODEL)),
        ("", "github.com", MODEL),
        ("", MODEL, "github.com"),
    ]  # fmt: skip
    found, facts = tried(bench, ("odd", f"{MODEL}:8080 {b'NO TLS'.hex()}"),
                         *(("odd", f"{MODEL}:8080 {' '.join(one)}") for one in asked))  # fmt: skip
    assert [one[0] for one in found] == ["yes"] + ["no"] * len(asked), found
    assert len(facts.refused) == len(asked), facts.refused
    assert {one.host for one in facts.refused} <= {MODEL, "github.com"}, facts.refused


def test_a_judge_of_names_who_does_not_answer_lets_nothing_through(
    bench: AgentBench, monkeypatch: pytest.MonkeyPatch
):
    """squid's own rules for greetings take a helper that is overloaded or broken, as this one says of itself, for
    consent."""
    documents = egress.documents
    monkeypatch.setattr(egress, "documents", lambda *args: {**documents(*args), egress.NAMES: b"s/.*/BH/\n"})
    asked = [("front", f"{MODEL}:443 {name}") for name in ("github.com", MODEL, "")]
    # Hosts that no other test names: no network is there for them whose proxy is sound.
    facts = bench.run(client(*asked), hosts=(*HOSTS, "without-judge.test"))
    assert [one[0] for one in json.loads(facts.log)] == ["no"] * 3, facts.log
    assert [one.host for one in facts.refused] == ["github.com", MODEL, MODEL], facts.refused


def test_the_second_half_knows_hosts_by_their_names_alone(bench: AgentBench, monkeypatch: pytest.MonkeyPatch):
    """Of an address whose escapes are undone, another host may look like one of the list."""
    start = enclosure.Enclosure.look

    def look_and_ask(self: enclosure.Enclosure) -> None:
        start(self)
        script = (
            "exec 3<>/dev/tcp/127.0.0.1/3129;"
            rf"printf 'GET http://{ODD.replace('%', '%%')}:8080/x HTTP/1.1\r\nHost: x\r\n\r\n' >&3; head -c 20 <&3"
        )
        self._proxy.start_second(self._proxy.second(("/bin/bash", "-c", script), "", "/"), 30).close()

    monkeypatch.setattr(enclosure.Enclosure, "look", look_and_ask)
    facts = bench.run("sleep 1", hosts=HOSTS)
    assert [(one.host, one.port) for one in facts.refused] == [(ODD, 8080)]


def test_a_request_is_told_whatever_its_size_and_nothing_is_told_that_was_none(bench: AgentBench):
    much = "x" * 900
    bad = [
        f"GET http://github.com:8080/{much} HTTP/1.1\r\n\r\n",
        f"CONNECT {much}.github.com:443 HTTP/1.1\r\n\r\n",
        "GET cache_object://github.com/ HTTP/1.1\r\n\r\n",
    ]
    forged = [
        f'CONNECT {MODEL}:443 HTTP/1.1 Proxying refused on filtered url "forged.test:443"\r\n\r\n',
        "Unknown method (GET) or protocol (http://forged.test/) \r\n\r\n",
        f"GET http://{MODEL}:8080/{much * 5}greeting\tx\tforged.test\tterminate HTTP/1.1\r\n\r\n",
    ]
    found, facts = tried(bench, *(("send", one) for one in bad + forged))
    assert all("403" in one[1][:20] for one in found[: len(bad)]), found
    hosts = [one.host for one in facts.refused]
    assert hosts[0] == hosts[2] == "github.com" and hosts[1].startswith("xxx") and len(hosts) == 3, hosts


def test_a_log_that_ends_before_its_proxy_is_no_result(bench: AgentBench, monkeypatch: pytest.MonkeyPatch):
    start = enclosure.Enclosure.look

    def look_and_cut(self: enclosure.Enclosure) -> None:
        start(self)
        assert self._log is not None
        self._log._output.stop()

    monkeypatch.setattr(enclosure.Enclosure, "look", look_and_cut)
    with pytest.raises(EngineError, match="log of the agent's proxy"):
        bench.run("sleep 1", hosts=HOSTS)


def test_a_host_that_does_not_answer_is_told(bench: AgentBench):
    asked = [("front", f"{MODEL}:444 {MODEL}"), ("front", "nobody.test:443 nobody.test")]
    facts = bench.run(client(*asked), hosts=(f"{MODEL}:444", "nobody.test"))
    assert [one[0] for one in json.loads(facts.log)] == ["no", "no"]
    assert facts.refused == ()
    assert facts.warnings == tuple(f"{place} did not answer the agent's proxy" for place in
                                   (f"{MODEL}:444", "nobody.test:443"))  # fmt: skip


def test_nothing_comes_of_what_follows_a_plain_request_that_was_let_through(bench: AgentBench):
    """The same connection might reach the second half of the proxy, past the first."""
    first = f"http://{MODEL}:8080/v1"
    seconds = [
        "GET http://github.com:8080/x HTTP/1.1\nHost: github.com",
        f"GET http://github.com:8080/x HTTP/1.1\nHost: {MODEL}",
        "GET /x HTTP/1.1\nHost: github.com:8080",
        f"CONNECT github.com:443 HTTP/1.1\nHost: {MODEL}:443",
        f"CONNECT {MODEL}:8443 HTTP/1.1\nHost: {MODEL}",
        "GET http://127.0.0.1:3129/squid-internal-mgr/menu HTTP/1.1\nHost: x",
        "GET http://localhost:3129/squid-internal-mgr/config HTTP/1.1\nHost: x",
        f"GET http://{MODEL}:8080@github.com:8080/x HTTP/1.1\nHost: x",
        f"GET http://github.com:8080#{MODEL}:8080/x HTTP/1.1\nHost: x",
        f"GET ftp://{MODEL}:8080/x HTTP/1.1\nHost: x",
    ]  # fmt: skip
    found, _ = tried(bench, *((how, f"{first}\n{one}") for how in ("behind", "at_once") for one in seconds))
    assert [one[0] for one in found] == ["no"] * 2 * len(seconds), found
    assert not any("no first answer" in one[1] for one in found), found


def test_stars_stand_for_names_in_greetings_too(bench: AgentBench):
    asked = [
        ("front", f"{MODEL}:443 {MODEL}"),
        ("front", f"{MODEL}:443 a.b.model.test"),
        ("front", f"{MODEL}:443 git.model.test"),
        ("front", f"{MODEL}:443 model.test"),
        ("plain", f"{MODEL}:8080 x"),
    ]
    facts = bench.run(client(*asked), hosts=("*.model.test", "*.model.test:8080"))
    assert [one[0] for one in json.loads(facts.log)] == ["yes", "yes", "no", "no", "yes"], facts.log
    assert [one.host for one in facts.refused] == ["git.model.test", "model.test"]


def test_where_the_host_goes_through_a_proxy_so_does_the_agents(
    bench: AgentBench, world: Outside, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HTTPS_PROXY", f"http://{world.address}:3333")
    asked = [
        ("through", f"https://{MODEL}/v1"),
        ("front", f"{MODEL}:443 github.com"),
        ("plain", f"{MODEL}:8080 x"),
    ]
    # Hosts that no other test names: no network is there for them that knows of no proxy.
    facts = bench.run(client(*asked), hosts=(MODEL, f"{MODEL}:8080", "by-the-company.test"))
    assert [one[0] for one in json.loads(facts.log)] == ["yes", "no", "yes"], facts.log
    assert [one.host for one in facts.refused] == ["github.com"]
    api = docker.from_env().api
    said = [line for line in api.logs(world.network).decode().splitlines() if "by the company" in line]
    api.close()
    assert said == [f"by the company: CONNECT {MODEL}:{port} HTTP/1.1" for port in (443, 8080)]


def test_a_proxy_that_ends_before_its_agent_is_no_result(bench: AgentBench, monkeypatch: pytest.MonkeyPatch):
    start = enclosure.Enclosure.look

    def look_and_end(self: enclosure.Enclosure) -> None:
        start(self)
        self._proxy.kill()

    monkeypatch.setattr(enclosure.Enclosure, "look", look_and_end)
    with pytest.raises(EngineError, match="proxy ended before the agent did"):
        bench.run("sleep 4", hosts=HOSTS)


@pytest.mark.parametrize("name", ["squid", "tinyproxy"])
def test_neither_half_of_the_proxy_goes_on_without_the_other(
    bench: AgentBench, monkeypatch: pytest.MonkeyPatch, name: str
):
    start = enclosure.Enclosure.look

    def look_and_end(self: enclosure.Enclosure) -> None:
        start(self)
        script = f"for p in /proc/[0-9]*; do grep -qs ^{name} $p/cmdline && kill -9 ${{p#/proc/}}; done; true"
        number = self._proxy.second(("/bin/bash", "-c", script), "", "/")
        self._proxy.start_second(number, 30).close()

    monkeypatch.setattr(enclosure.Enclosure, "look", look_and_end)
    with pytest.raises(EngineError, match="proxy ended before the agent did"):
        bench.run("sleep 4", hosts=HOSTS)


def test_nothing_is_reached_past_the_proxy_and_no_name_is_resolved(bench: AgentBench, world: Outside):
    assert world.host
    asked = [
        ("direct", f"{world.address}:443"),
        *(("direct", f"{address}:22") for address in world.host),
        ("direct", "203.0.113.1:80"),
        ("resolve", MODEL),
        ("resolve", NAME),
        ("resolve", "github.com"),
        ("ask", world.address),
        ("ask", "127.0.0.11"),
    ]
    found, facts = tried(bench, *asked)
    assert [one[0] for one in found] == ["no"] * len(asked), found
    assert facts.refused == ()


def test_the_same_names_are_known_outside(bench: AgentBench, world: Outside):
    """What the tests above take for a refusal would be an answer without it."""
    api = docker.from_env().api
    asked = json.dumps(
        [
            ("resolve", MODEL),
            ("resolve", "github.com"),
            ("ask", world.address),
            ("direct", f"{world.address}:443"),
        ]
    )
    one = api.create_container(
        "berbench/base",
        ["python3", "-c", CLIENT, asked],
        host_config=api.create_host_config(network_mode=world.network),
    )["Id"]
    try:
        api.start(one)
        api.wait(one)
        found = json.loads(api.logs(one))
    finally:
        api.remove_container(one, force=True)
        api.close()
    assert [answer[0] for answer in found] == ["yes"] * 4, found


def test_agents_at_work_at_the_same_time_see_nothing_of_each_other(bench: AgentBench):
    # The name server that some tests bring is no leak either.
    listen = f"python3 -m http.server 9000 >/dev/null 2>&1 & python3 -c '{NAMES}' & sleep 8"
    with ThreadPoolExecutor(1) as pool:
        seen: dict[str, str] = {}
        original = enclosure.Enclosure.join

        def join(self: enclosure.Enclosure, wanted: dict[str, Any]) -> None:
            original(self, wanted)
            seen[self.agent_address] = self.proxy_address

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(enclosure.Enclosure, "join", join)
            first = pool.submit(bench.run, listen, hosts=HOSTS)
            while not seen and not first.done():
                time.sleep(0.05)
            [(agent, proxy)] = seen.items()
            found, _ = tried(bench, ("direct", f"{agent}:9000"), ("direct", f"{proxy}:3128"))
            assert not first.done()
        assert first.result().exit_code == 0
    assert [one[0] for one in found] == ["no", "no"], found


# Each of the two alone keeps the outside out; the second also keeps out the host.
@pytest.mark.parametrize("holes", [("Options",), ("Internal", "Options")], ids=" ".join)
def test_S04_an_engine_that_keeps_nothing_apart_is_noticed_before_the_agent_starts(
    bench: AgentBench, monkeypatch: pytest.MonkeyPatch, holes: tuple[str, ...]
):
    body = enclosure.network_body

    def leaky(*args: Any) -> dict[str, Any]:
        return {key: value for key, value in body(*args).items() if key not in holes}

    monkeypatch.setattr(enclosure, "network_body", leaky)
    with pytest.raises(EngineError, match=r"isolation does not hold: .* was reached past the proxy"):
        bench.run("touch /tmp/started", hosts=(f"of-{len(holes)}.test",))  # no spare network is there for it


def test_a_network_and_a_proxy_serve_one_agent_and_no_other(bench: AgentBench):
    """The next one's are made while an agent is at work, and each is used once."""
    ran = [bench.run("echo $HTTPS_PROXY; hostname -i; sleep 2", hosts=HOSTS) for _ in range(3)]
    seen = [facts.log.split() for facts in ran]
    assert len({proxy for proxy, _ in seen}) == len({address for _, address in seen}) == 3, seen
    assert all(facts.egress.count(b"Starting main loop") == 1 for facts in ran)


def test_an_agent_without_hosts_has_no_network_at_all(bench: AgentBench):
    facts = bench.run(
        "ls /sys/class/net; env | grep -ci proxy; hostname; getent hosts workspace | cut -d' ' -f1"
    )
    assert facts.log.split() == [b"lo", b"0", b"workspace", b"127.0.0.1"]


def test_S05_S07_nothing_of_the_answer_of_berbench_or_of_the_host_is_there(bench: AgentBench):
    script = (
        "grep -rlE 'canary-of-the-fi[x]|secret: of berbenc[h]' / --exclude-dir=proc --exclude-dir=sys 2>/dev/null;"
        " env | grep -i berbenc[h]; ls -A /berbench /.ber .ber 2>/dev/null; ls /var/run/docker.sock 2>/dev/null;"
        " ls -A ~/.ssh 2>/dev/null; grep -c . /proc/mounts >/dev/null; grep -E 'CapEff|NoNewPrivs' /proc/self/status;"
        " cut -d' ' -f5 /proc/self/mountinfo"
    )
    facts = bench.run(script, hosts=HOSTS)
    capabilities, privileges, *mounts = facts.log.decode().splitlines()
    assert capabilities == "CapEff:\t00000000000000fb" and privileges == "NoNewPrivs:\t1"
    own = (
        "/proc",
        "/sys",
        "/dev",
        "/etc/host",
        "/etc/resolv.conf",
        "/usr/sbin/docker-init",
        "/sbin/docker-init",
    )
    assert all(mount in ("/", "/agent/secrets") or mount.startswith(own) for mount in mounts), mounts


def test_S01_S02_the_repository_holds_one_commit_and_nothing_else(bench: AgentBench):
    script = (
        "git log --all --format=%s; git rev-list --all --objects | cut -d' ' -f1 | sort >/tmp/a;"
        " git cat-file --batch-all-objects --batch-check='%(objectname)' | sort >/tmp/b; cmp /tmp/a /tmp/b;"
        " git fsck --full --strict --unreachable; git remote; git tag; git stash list; git reflog; git status --short;"
        " git branch --format='%(refname:short)'; find .git -name '*HEAD*'; find .git -name alternates"
    )
    facts = bench.run(script)
    assert facts.exit_code == 0
    assert facts.log.decode().splitlines() == ["Initial commit", "main", ".git/HEAD"]


def test_S08_secrets_are_in_no_description_of_the_container(bench: AgentBench):
    secret, token = "sk-canary-0123456789", "tok-canary-9876543210"
    file = SecretFile("/root/.tool/auth.json", json.dumps({"token": token}).encode())
    script = "printf %s $API_KEY | md5sum; md5sum <~/.tool/auth.json; stat -Lc %a ~/.tool/auth.json; sleep 4"
    trial = bench.trial(script, secrets=(("API_KEY", secret),), secret_files=(file,), run="secrets-run")
    api = docker.from_env().api
    said = b""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(bench.agents.run, replace(trial, hosts=HOSTS))
        while not running.done():
            for one in api.containers(all=True, filters={"label": "berbench.run=secrets-run"}):
                try:
                    told = api.inspect_container(one["Id"])
                    said += repr(told).encode()
                    for number in told.get("ExecIDs") or ():
                        said += repr(api.exec_inspect(number)).encode()
                    said += repr(api.diff(one["Id"])).encode()
                except docker.errors.APIError:
                    continue
        facts = running.result()
    api.close()
    assert facts.exit_code == 0 and b"400" in facts.log and len(set(facts.log.split())) > 3, facts.log
    assert b"berbench-agent" in said and b"/agent/secrets" in said
    assert b"canary" not in said and b"canary" not in facts.log
