"""docker/*.sh with stand-ins for every program that would change the machine, and for real where an engine is."""

from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOLS = (
    *("sh", "cat", "cut", "rm", "mkdir", "cp", "tar", "tail", "tr", "mktemp", "touch", "sleep", "ls"),
    *("grep", "id", "uname", "timeout", "sha256sum", "setsid", "flock", "kill"),
)


@dataclass
class Host:
    """A machine whose PATH holds a few plain tools, and stand-ins that note how they were called."""

    room: Path

    def __post_init__(self) -> None:
        for folder in ("bin", "run", "proc", "tmp"):
            (self.room / folder).mkdir()
        for tool in TOOLS:
            if place := shutil.which(tool):
                (self.room / "bin" / tool).symlink_to(place)

    def stand_in(self, name: str, body: str) -> None:
        place = self.room / "bin" / name
        place.unlink(missing_ok=True)
        place.write_text(f'#!/bin/sh\necho "{name} $*" >>{self.room}/calls\n{body}\n')
        place.chmod(0o755)

    def calls(self) -> str:
        place = self.room / "calls"
        return place.read_text() if place.exists() else ""

    def run(self, script: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", str(ROOT / "docker" / script), *arguments],
            env={
                "PATH": str(self.room / "bin"),
                "TMPDIR": str(self.room / "tmp"),
                "BERBENCH_ENGINE_RUN_DIR": str(self.room / "run"),
                "BERBENCH_ENGINE_LOG": str(self.room / "dockerd.log"),
                "BERBENCH_ENGINE_PROC": str(self.room / "proc"),
                **env,
            },
            capture_output=True,
            text=True,
            timeout=60,
        )


@pytest.fixture
def host(tmp_path: Path) -> Host:
    host = Host(tmp_path)
    host.stand_in("id", "case $1 in -u) echo 0 ;; *) echo someone ;; esac")
    # Answers once a dockerd has said that it runs.
    host.stand_in("docker", f"[ -e {tmp_path}/answers ] && echo 20.10.24")
    return host


def test_an_engine_that_answers_is_left_alone(host: Host):
    (host.room / "answers").touch()
    ended = host.run("ensure-engine.sh")
    assert ended.returncode == 0 and ended.stdout == "engine: Docker 20.10.24 answers\n"
    assert "dockerd" not in host.calls() and "apt-get" not in host.calls()


def test_a_named_engine_that_does_not_answer_is_not_replaced(host: Host):
    ended = host.run("ensure-engine.sh", DOCKER_HOST="tcp://nowhere:1")
    assert ended.returncode == 1
    assert "DOCKER_HOST=tcp://nowhere:1" in ended.stderr and "unset DOCKER_HOST" in ended.stderr


def test_an_ordinary_user_is_told_the_lines_to_run(host: Host):
    host.stand_in("id", "case $1 in -u) echo 1000 ;; *) echo someone ;; esac")
    ended = host.run("ensure-engine.sh")
    assert ended.returncode == 1
    assert "sudo sh docker/ensure-engine.sh" in ended.stderr and "usermod -aG docker someone" in ended.stderr


def test_another_system_is_told_what_to_install(host: Host):
    host.stand_in("uname", "echo Darwin")
    ended = host.run("ensure-engine.sh")
    assert ended.returncode == 1 and "Docker Desktop" in ended.stderr


DOCKERD = """\
if [ -e {room}/run/docker.pid ]; then echo 'pid file found, ensure docker is not running'; exit 1; fi
if [ -e {room}/run/docker.sock ]; then echo 'address already in use'; exit 1; fi
{more}
touch {room}/answers
sleep 5
"""


def test_a_killed_daemons_pid_file_and_socket_are_cleared(host: Host):
    (host.room / "run/docker.pid").write_text("4194305")
    (host.room / "run/docker.sock").touch()
    containerd = host.room / "run/docker/containerd"
    containerd.mkdir(parents=True)
    (containerd / "containerd.pid").write_text("4194306")
    (containerd / "containerd.sock").touch()
    host.stand_in("dockerd", DOCKERD.format(room=host.room, more=""))
    ended = host.run("ensure-engine.sh")
    assert ended.returncode == 0, ended.stderr
    assert not (containerd / "containerd.pid").exists() and not (containerd / "containerd.sock").exists()


def test_a_containerd_that_lives_on_is_kept(host: Host):
    containerd = host.room / "run/docker/containerd"
    containerd.mkdir(parents=True)
    (containerd / "containerd.pid").write_text("77")
    (host.room / "proc/77").mkdir()
    (host.room / "proc/77/comm").write_text("containerd\n")
    host.stand_in("dockerd", DOCKERD.format(room=host.room, more=""))
    assert host.run("ensure-engine.sh").returncode == 0
    assert (containerd / "containerd.pid").exists()


def test_a_daemon_that_cannot_use_overlay_gets_vfs(host: Host):
    more = 'case "$*" in *vfs*) ;; *) echo "error initializing graphdriver: overlay2: not supported"; exit 1 ;; esac'
    host.stand_in("dockerd", DOCKERD.format(room=host.room, more=more))
    ended = host.run("ensure-engine.sh")
    assert ended.returncode == 0, ended.stderr
    assert "dockerd --storage-driver=vfs" in host.calls()


def test_a_daemon_that_does_not_start_shows_its_last_lines(host: Host):
    host.stand_in("dockerd", "echo 'failed to start daemon: something else'; exit 1")
    ended = host.run("ensure-engine.sh")
    assert ended.returncode == 1
    assert "failed to start daemon: something else" in ended.stderr and "dockerd.log" in ended.stderr


# --- the base image ---

BUILDING = """\
case $1 in
image) [ "$2" = inspect ] && case $* in *berbench.base*) cat {room}/label 2>/dev/null ;; *) exit 1 ;; esac ;;
pull) {pull} ;;
build) tar -xOf - ./Dockerfile | grep -o 'berbench.base=.*' | cut -d= -f2 >{room}/label ;;
esac
"""


def test_the_base_image_is_made_once_and_then_found(host: Host):
    host.stand_in("docker", BUILDING.format(room=host.room, pull="true"))
    first = host.run("base-image.sh")
    assert first.returncode == 0, first.stderr
    assert "berbench/base is ready" in first.stdout and host.calls().count("docker build") == 1
    second = host.run("base-image.sh")
    assert second.stdout == "base: berbench/base is there\n" and host.calls().count("docker build") == 1
    other = host.run("base-image.sh", "--suite", "bullseye")
    assert other.returncode == 0 and "--tag berbench/base:bullseye" in host.calls()
    assert list((host.room / "tmp").iterdir()) == []


def test_the_base_image_is_made_from_packages_where_no_registry_answers(host: Host):
    host.stand_in("docker", BUILDING.format(room=host.room, pull="exit 1"))
    host.stand_in("mmdebstrap", 'for word; do case $word in *.tar) echo x >"$word" ;; esac; done')
    ended = host.run("base-image.sh", DEBIAN_MIRROR="http://mirror.example/debian")
    assert ended.returncode == 0, ended.stderr
    assert "http://mirror.example/debian" in host.calls() and "docker import" in host.calls()


def test_without_registry_and_tools_the_lines_to_run_are_told(host: Host):
    host.stand_in("docker", BUILDING.format(room=host.room, pull="exit 1"))
    host.stand_in("id", "echo 1000")
    ended = host.run("base-image.sh")
    assert ended.returncode == 1 and "sudo apt-get install -y mmdebstrap" in ended.stderr
    assert list((host.room / "tmp").iterdir()) == []


def test_packages_that_do_not_come_are_told(host: Host):
    host.stand_in("docker", BUILDING.format(room=host.room, pull="exit 1"))
    host.stand_in("mmdebstrap", "echo 'E: no mirror'; exit 25")
    ended = host.run("base-image.sh")
    assert ended.returncode == 1 and "E: no mirror" in ended.stderr and "DEBIAN_MIRROR" in ended.stderr


def test_an_option_that_is_none_is_a_clear_error(host: Host):
    ended = host.run("base-image.sh", "--sweet")
    assert ended.returncode == 1 and "unknown option --sweet" in ended.stderr


@pytest.mark.docker
def test_engine_and_base_are_instant_when_there():
    for script in ("ensure-engine.sh", "base-image.sh"):
        subprocess.run(["sh", str(ROOT / "docker" / script)], check=True, timeout=400)
        began = time.monotonic()
        subprocess.run(["sh", str(ROOT / "docker" / script)], check=True, timeout=60)
        assert time.monotonic() - began < 10


@pytest.mark.docker
def test_the_base_image_has_what_builds_need():
    line = "python --version && python -m pytest --version && python -m venv /v && git --version && pip --version"
    line += " && ls /usr/lib/*/faketime/libfaketime.so.1"
    said = subprocess.run(
        ["docker", "run", "--rm", "--network", "none", "berbench/base", "sh", "-c", line],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    ).stdout
    for word in ("Python 3", "pytest ", "git version", "pip ", "libfaketime"):
        assert word in said
