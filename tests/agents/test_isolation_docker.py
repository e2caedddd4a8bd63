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
from outside import FORGES, MODEL, NAME, Outside, outside

from berbench.engine import enclosure
from berbench.engine.docker_engine import DockerEngine
from berbench.errors import EngineError
from berbench.model.agent import SecretFile

pytestmark = pytest.mark.docker

HOSTS = (MODEL, f"{MODEL}:8080")

# Tries every request of a list of [what, where] and prints what came of each.
CLIENT = r"""
import json, socket, ssl, sys, urllib.request
trust = ssl.create_default_context()
trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
def through(url):
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=trust))
    return opener.open(url, timeout=10).read().decode()
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
