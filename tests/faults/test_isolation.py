"""S rows in real containers: what an image holds, what a trial can reach, and what of the host it can see."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from berbench.engine.conformance import TREE, Bench, recipe
from berbench.engine.docker_engine import DockerEngine
from berbench.engine.fake import FakeEngine
from berbench.stages.verifier import Run, Verifier
from stages.sampleplace import SamplePlace

pytestmark = pytest.mark.docker

CANARY = "ghp_canary0123456789"
IN_TESTS = b"It is 3.14 long."
IN_REFERENCE = b"How many sentences end in a text."


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    opened = DockerEngine()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def bench(engine: DockerEngine) -> Iterator[Bench]:
    built = engine.build(
        recipe("FROM berbench/base\nWORKDIR /work\nCOPY . .\n", "test-isolation"),
        lambda: TREE,
        timeout_s=120,
        say=lambda _: None,
    )
    assert built.image is not None, built.log
    yield Bench(engine, built.image)
    _remove_images(engine, {"test-isolation"})


def _remove_images(engine: DockerEngine, keys: set[str]) -> None:
    for left in engine.leftovers():
        if left.kind == "image" and left.key in keys:
            engine.remove(left)


# --- what an image holds ---


def _everything_in(image: str) -> Iterator[tuple[str, bytes]]:
    """Every file of every layer of an image, and the image's own description, as the engine exports them."""
    saved = subprocess.run(["docker", "save", image], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(saved)) as outer:
        for member in outer:
            data = outer.extractfile(member)
            content = data.read() if data else b""
            if member.name.endswith(".tar"):
                with tarfile.open(fileobj=io.BytesIO(content)) as layer:
                    for entry in layer:
                        inside = layer.extractfile(entry) if entry.isfile() else None
                        yield entry.name, inside.read() if inside else entry.linkname.encode()
            else:
                yield member.name, content
    history = subprocess.run(
        ["docker", "history", "--no-trunc", "--format", "{{json .}}", image], capture_output=True, check=True
    )
    yield "history", history.stdout


def test_S01_S02_S05_T01_a_fresh_image_holds_the_base_tree_and_no_history(
    engine: DockerEngine, tmp_path: Path
) -> None:
    """On no base at all, so that every byte of every layer can be looked at."""
    place = SamplePlace(tmp_path, FakeEngine(tmp_path))
    root = place.sample.root
    zones = {"late": "2030-01-01T23:30:00 -0800", "early": "2030-01-02T08:00:00 +0100"}
    for tag, when in zones.items():
        subprocess.run(
            ["git", "-C", str(root), "tag", "-a", tag, "-m", f"canary tag {tag}"],
            env={**os.environ, "GIT_COMMITTER_DATE": when},
            check=True,
        )
    created = place.create(place.pull("Count sentences"))
    task = created.files.task
    dockerfile = b"FROM scratch\nWORKDIR /src\nCOPY . .\n"
    verifier = Verifier(place.history, engine, place.executor, place.data)
    base_tree = place.history.tree_of(task.source.base_commit)
    built = verifier.build(task, dockerfile, base_tree, exact=True, say=lambda _: None)
    assert built.image is not None, built.log
    try:
        found = dict(_everything_in(built.image.id))
    finally:
        _remove_images(engine, {built.image.key})
        place.close()
    assert "src/tally/__init__.py" in found
    assert not [name for name in found if {".git", ".ber"} & set(name.split("/"))]
    everything = b"\n".join([*(name.encode() for name in found), *found.values()])
    log = subprocess.run(
        ["git", "-C", str(root), "log", "--all", "--format=%H"], capture_output=True, check=True
    ).stdout.split()
    commits = [commit for commit in log if commit.decode() != task.source.base_commit]
    assert len(commits) > 5
    assert not [commit for commit in commits if commit in everything]
    for canary in (
        IN_TESTS,
        IN_REFERENCE,
        b"canary tag",
        b"sentence_count",
        task.id.encode() + b"/task.yaml",
    ):
        assert canary not in everything


def test_S01_S05_a_trial_holds_no_repository_and_the_reference_only_where_it_is_given(
    engine: DockerEngine, tmp_path: Path
) -> None:
    """Two trials of one image: the base's finds the hidden tests alone; the reference's is the control."""
    place = SamplePlace(tmp_path, FakeEngine(tmp_path))
    try:
        created = place.create(place.pull("Count sentences"))
        task = created.files.task
        base = place.history.tree_of(task.source.base_commit)
        with_tests = place.history.apply(base, created.files.tests_patch)
        solved = place.history.apply(with_tests, created.files.reference_patch)
        dockerfile = (place.sample.root / task.environment.dockerfile).read_bytes()
        verifier = Verifier(place.history, engine, _Direct(engine), place.data)
        built = verifier.build(task, dockerfile, base, exact=True, say=lambda _: None)
        assert built.image is not None, built.log
        search = "grep -rslaF --exclude-dir=proc --exclude-dir=sys '{}' / ; env | grep -aF '{}'; true"
        spoken = [search.format(text.decode(), text.decode()) for text in (IN_TESTS, IN_REFERENCE)]
        # The words are put together inside, or the command that looks for them would find itself.
        command = "; echo ==; ".join(
            line.replace("3.14", "3''.14").replace("many", "ma''ny") for line in spoken
        )
        command += "; echo ==; find / -xdev -name .git -o -xdev -name 'pack-*' -o -xdev -name .ber"
        looking = task.model_copy(update={"verify": task.verify.model_copy(update={"command": command})})
        runs = {"base": Run(base), "tests": Run(with_tests), "reference": Run(solved)}
        trials = verifier.run(looking, built.image, runs)
        seen = {name: trial.facts.log.decode().split("==") for name, trial in trials.items()}
    finally:
        place.close()
    _remove_images(engine, {built.image.key})
    assert [part.split() for part in seen["base"]] == [[], [], []]
    assert [part.split() for part in seen["tests"]] == [["/src/tests/test_sentences.py"], [], []]
    assert [part.split() for part in seen["reference"]] == [
        ["/src/tests/test_sentences.py"],
        ["/src/tally/sentences.py"],
        [],
    ]


class _Direct:
    """Trials one after another, in the real engine."""

    def __init__(self, engine: DockerEngine) -> None:
        self._engine = engine

    def run(self, trials):  # type: ignore[no-untyped-def]
        """Facts of each."""
        return [self._engine.run(trial) for trial in trials]

    def close(self) -> None:
        """Nothing to end."""


# --- what a trial can reach ---

REACH = """
import json, os, socket, sys
def tried(what):
    try:
        return what()
    except OSError as error:
        return type(error).__name__
def read(host, port):
    with socket.create_connection((host, port), timeout=3) as line:
        return line.recv(64).decode()
def gateway():
    for line in open('/proc/net/route').read().splitlines()[1:]:
        words = line.split()
        if words[1] == '00000000':
            return '.'.join(str(int(words[2][i:i + 2], 16)) for i in (6, 4, 2, 0))
    return ''
def send(host):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        return line.sendto(b'x', (host, 53))
host, port = sys.argv[1], int(sys.argv[2])
print(json.dumps({
    'interfaces': sorted(os.listdir('/sys/class/net')),
    'gateway': gateway(),
    'bridge': tried(lambda: read(host, port)),
    'datagram': tried(lambda: send(host)),
    'names': tried(lambda: socket.getaddrinfo('example.org', 80) and 'found'),
    'six': tried(lambda: read('2606:4700::1111', 53)),
}))
"""


@pytest.fixture
def listener() -> Iterator[tuple[str, int]]:
    """A server on the host's end of the engine's own bridge, which any container on it can reach."""
    shown = subprocess.run(
        ["docker", "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}"],
        capture_output=True,
        text=True,
        check=True,
    )
    server = socket.create_server((shown.stdout.strip(), 0))

    def serve() -> None:
        while True:
            try:
                line, _ = server.accept()
            except OSError:
                return
            with line:
                line.sendall(b"canary host")

    worker = threading.Thread(target=serve, daemon=True)
    worker.start()
    host, port = server.getsockname()
    yield host, port
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    worker.join(5)


def test_S04_network_none_reaches_nothing_and_bridge_shows_that_it_could(
    bench: Bench, listener: tuple[str, int]
) -> None:
    command = f'python3 -c "$REACH" {listener[0]} {listener[1]}'
    env = (("REACH", REACH),)
    closed = json.loads(bench.says(command, network="none", env=env))
    assert closed["interfaces"] == ["lo"] and closed["gateway"] == ""
    assert closed["bridge"] == closed["datagram"] == closed["six"] == "OSError"
    assert closed["names"] == "gaierror"
    opened = json.loads(bench.says(command, network="bridge", env=env))
    assert opened["bridge"] == "canary host" and opened["gateway"] == listener[0]


# --- what of the host a trial can see ---


def test_S07_nothing_of_the_host_is_mounted_and_nothing_can_be_gained(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_ed25519").write_text(CANARY)
    (tmp_path / ".netrc").write_text(CANARY)
    lines = (
        "find / -xdev -name 'docker*.sock' -o -xdev -name containerd.sock",
        "ls -A ~ 2>/dev/null | grep -E 'ssh|netrc|docker'",
        "echo ==; cut -d' ' -f2,3,4 /proc/mounts",
        "echo ==; grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status",
        "echo ==; mount -t tmpfs none /mnt 2>&1; mknod /tmp/d b 8 0 2>&1; echo x >/proc/sys/kernel/hostname; true",
    )
    sockets, mounts, status, gained = bench.says("; ".join(lines)).decode().split("==\n")
    assert sockets == ""
    allowed = (
        "/proc",
        "/sys",
        "/dev",
        "/etc/resolv.conf",
        "/etc/hostname",
        "/etc/hosts",
    )
    for line in mounts.splitlines():
        place = line.split()[0]
        assert place == "/" or place.startswith(allowed) or place.endswith("/sbin/docker-init"), line
    words = dict(line.split(":") for line in status.split("\n") if line)
    assert words["NoNewPrivs"].strip() == "1" and words["Seccomp"].strip() == "2"
    # CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID: no raw sockets, no devices, no mounts, no tracing.
    assert int(words["CapEff"], 16) == 0b11111011
    assert "mount: " in gained and "mknod: " in gained and "hostname" in gained


def test_S08_the_hosts_environment_is_unknown_inside(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "GITLAB_TOKEN", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "MY_OWN"):
        monkeypatch.setenv(name, CANARY)
    told = bench.says("env; env | base64; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'").decode()
    assert CANARY not in told and "canary" not in told
    names = {line.partition("=")[0] for line in told.splitlines()}
    assert not {"GITHUB_TOKEN", "GITLAB_TOKEN", "ANTHROPIC_API_KEY", "MY_OWN"} & names
    assert "PATH=" in told


def test_S08_a_proxys_password_is_in_no_log_and_no_layer_of_an_image(
    engine: DockerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ftp_proxy", f"http://me:{CANARY}@proxy.example.invalid:3128")
    said: list[str] = []
    built = engine.build(
        recipe(
            'FROM berbench/base\nRUN echo "<$ftp_proxy>"; echo "$ftp_proxy" | base64 -w0\n',
            "test-proxy-secret",
        ),
        lambda: TREE,
        timeout_s=120,
        say=said.append,
    )
    try:
        assert built.image is not None, built.log
        assert "<http://me:***@proxy.example.invalid:3128>" in built.log  # the build itself needs and has it
        history = subprocess.run(
            ["docker", "history", "--no-trunc", built.image.id], capture_output=True, text=True, check=True
        ).stdout
        inspected = subprocess.run(
            ["docker", "inspect", built.image.id], capture_output=True, text=True, check=True
        ).stdout
        for told in (built.log, history, inspected, "\n".join(said)):
            assert CANARY not in told
            assert "canary" not in told and "Y2FuYXJ5" not in told and "NhbmFyeT" not in told
    finally:
        _remove_images(engine, {"test-proxy-secret"})
