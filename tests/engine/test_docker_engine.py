"""What real containers and builds do when things go wrong. Everything made here is removed here."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from engineproxy import EngineProxy

from berbench.engine import building, buildkit, container
from berbench.engine.building import tag_of
from berbench.engine.conformance import TREE, Bench, recipe
from berbench.engine.docker_engine import DockerEngine
from berbench.engine.door import Leftover
from berbench.errors import EngineError, Interrupted
from berbench.model.changes import REGULAR, FileEntry
from berbench.model.trial import Build, Facts, ImageRecipe, Limits

pytestmark = pytest.mark.docker

BASE = "FROM berbench/base\nWORKDIR /work\n"


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    engine = DockerEngine()
    _remove_images(engine)  # a run that was killed leaves them, and "built" would be "reused"
    yield engine
    left = _remove_images(engine)
    engine.close()
    assert not left, left


def _remove_images(engine: DockerEngine) -> list[Leftover]:
    """Removes this module's images; what would not go. One that others were built on goes after them."""
    while True:
        mine = [left for left in engine.leftovers() if left.kind == "image" and left.key.startswith("test-")]
        gone = 0
        for image in mine:
            with contextlib.suppress(EngineError):
                engine.remove(image)
                gone += 1
        if not gone:
            return mine


def build(
    engine: DockerEngine,
    dockerfile: str,
    key: str,
    *,
    timeout_s: float = 120,
    say: Callable[[str], None] = lambda line: None,
) -> Build:
    return engine.build(recipe(dockerfile, f"test-{key}"), lambda: TREE, timeout_s=timeout_s, say=say)


@pytest.fixture(scope="module")
def bench(engine: DockerEngine) -> Bench:
    built = build(engine, BASE + "COPY . .\n", "plain")
    assert built.image is not None, built.log
    return Bench(engine, built.image)


def containers(engine: DockerEngine, *pids: int) -> dict[str, Leftover]:
    """The containers of this process, or of others, by name: other runs may be using the same engine."""
    wanted = {str(pid) for pid in pids or (os.getpid(),)}
    found = [left for left in engine.leftovers() if left.kind == "container"]
    return {
        left.name: left for left in found if left.owner.split("/")[2:3] and left.owner.split("/")[2] in wanted
    }


def until(what: Callable[[], object], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.05)


def processes_with(text: str) -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if text.encode() in place.read_bytes():
                found.append(place.parent.name)
    return found


# --- the engine and what is recorded of it ---


def test_D10_both_versions_are_known(engine: DockerEngine):
    info = engine.info()
    assert info.name.split()[0] in ("Docker", "Podman") and info.name.split()[1][0].isdigit()
    assert info.api_version.startswith("1.") and info.client_version.startswith("docker-py ")
    assert info.free_bytes is None or info.free_bytes > 0


def test_D10_D13_versions_platform_and_image_stand_in_the_facts(engine: DockerEngine, bench: Bench):
    facts = bench.trial("true")
    info = engine.info()
    versions = f"API {info.api_version}, {info.client_version}"
    assert facts.engine == f"{info.name} ({versions}), {info.platform}"
    assert facts.image == bench.image.id and facts.started_at is not None


def test_D13_another_platform_is_another_image(
    engine: DockerEngine, bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOCKER_DEFAULT_PLATFORM", "linux/s390x")
    assert engine.find_image(bench.image.key) is None


def test_what_the_image_holds_is_listed(bench: Bench):
    installed = bench.trial("true").installed
    assert any(line.startswith("pytest==") for line in installed)
    assert any(line.startswith("python==3.") for line in installed)
    assert any(line.startswith("deb:git==") for line in installed)


def test_D22_the_engines_own_seccomp_stays(bench: Bench):
    assert bench.trial("unshare -U true").exit_code != 0


# --- builds ---


def test_a_build_that_fails_names_its_step(engine: DockerEngine):
    built = build(engine, BASE + "RUN echo before\nRUN echo why; exit 3\nRUN echo after\n", "fails")
    assert built.image is None and not built.timed_out
    assert built.failed_step == "RUN echo why; exit 3"
    assert "why\n" in built.log and "non-zero code: 3" in built.log and "after" not in built.log
    assert engine.find_image("test-fails") is None


@pytest.mark.parametrize(
    "text", ["FROM berbench/base\nRNU x\n", "COPY . .\n", "", BASE + "COPY no-such-file /\n"]
)
def test_a_dockerfile_that_is_wrong_is_a_failed_build(engine: DockerEngine, text: str):
    built = build(engine, text, f"wrong-{len(text)}")
    assert built.image is None and built.log.strip() and built.failed_step


def test_C01_the_same_recipe_is_built_once_and_C02_another_is_another(engine: DockerEngine):
    def never() -> Iterator[FileEntry]:
        raise AssertionError("the context was read again")
        yield

    first = build(engine, BASE + "COPY . .\n", "once")
    again = engine.build(recipe(BASE, "test-once"), never, timeout_s=9, say=lambda _: None)
    assert first.image is not None and again.reused and again.image == first.image
    other = engine.build(
        recipe(BASE + "COPY . .\n", "test-other"),
        lambda: (FileEntry("kept.txt", REGULAR, b"edited"),),
        timeout_s=60,
        say=lambda _: None,
    )
    assert other.image is not None and other.image.id != first.image.id
    assert Bench(engine, other.image).says("cat kept.txt") == b"edited"


def test_two_who_ask_share_one_build(engine: DockerEngine):
    results: list[Build] = []
    says: list[str] = []
    wanted = recipe(BASE + f"RUN echo {time.time()}; sleep 1.5\n", "test-shared")

    def ask() -> None:
        results.append(engine.build(wanted, lambda: (), timeout_s=60, say=says.append))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.reused for one in results) == [False, True, True]
    assert len({one.image for one in results}) == 1 and any("another build" in line for line in says)


def test_a_build_that_hangs_is_ended_with_its_processes(engine: DockerEngine):
    began = time.monotonic()
    built = build(engine, BASE + "RUN trap '' TERM; echo hanging; sleep 97531\n", "hangs", timeout_s=3)
    assert built.timed_out and built.image is None and "sleep 97531" in built.failed_step
    assert time.monotonic() - began < 20
    until(lambda: not processes_with("sleep\x0097531"))


def test_an_interrupt_ends_a_build():
    engine = DockerEngine()
    threading.Timer(2, engine.interrupt).start()
    began = time.monotonic()
    with pytest.raises(Interrupted):
        build(engine, BASE + "RUN sleep 97532\n", "interrupted")
    engine.close()
    assert time.monotonic() - began < 15
    until(lambda: not processes_with("sleep\x0097532"))


def test_a_build_may_flood_its_log(engine: DockerEngine):
    text = BASE + "RUN echo first; yes 0123456789abcdef | head -c 40000000; echo last; exit 1\n"
    built = build(engine, text, "floods")
    assert built.image is None and "last\n" in built.log and len(built.log) < 1 << 20


def test_build_arguments_reach_the_build(engine: DockerEngine):
    wanted = ImageRecipe(
        "test-args",
        (BASE + 'ARG A\nRUN echo "[$A]"; exit 1\n').encode(),
        "Dockerfile",
        (("A", "x 'y' \"z\""),),
        "0" * 40,
    )
    built = engine.build(wanted, lambda: (), timeout_s=60, say=lambda _: None)
    assert "[x 'y' \"z\"]" in built.log


def test_D19_names_are_lower_case_short_and_different():
    keys = ("Org__Repo.X-PR_12", "org__repo.x-pr_12", "k" * 200, "sha256:" + "ab" * 32, "cd" * 32)
    tags = [tag_of(key) for key in keys]
    assert len(set(tags)) == len(keys)
    assert all(tag == tag.lower() and len(tag) < 64 for tag in tags)


LIMITED = (
    429,
    b'{"errors": [{"code": "TOOMANYREQUESTS", "message": "You have reached your pull rate limit"}]}',
)
UNKNOWN = (404, b'{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}')


@contextlib.contextmanager
def registry(*answers: tuple[int, bytes]) -> Iterator[str]:
    """A registry on loopback: who greets it gets the next of these answers, at last always the last."""
    greeted = iter((*answers[:-1], *[answers[-1]] * 1000))
    now: list[tuple[int, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/v2/":
                now[:] = [next(greeted)]
            status, answer = (200, b"{}") if self.path == "/v2/" else now[0]
            self.send_response(status)
            self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(answer)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def test_D20_a_registry_that_limits_is_the_engines_trouble(
    engine: DockerEngine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(building, "WAITS_S", (0.01, 0.02))
    said: list[str] = []
    with registry(LIMITED) as host, pytest.raises(EngineError, match="could not be built") as error:
        build(engine, f"FROM {host}/some/image:1\n", "limited", say=said.append)
    assert any("toomanyrequests" in line.lower() for line in error.value.details)
    assert [line for line in said if "busy" in line] == [
        "a registry is busy: asking again in 0.01 s",
        "a registry is busy: asking again in 0.02 s",
    ]


def test_D20_a_registry_that_limits_for_a_moment_is_asked_again(
    engine: DockerEngine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(building, "WAITS_S", (0.01, 0.02))
    with registry(LIMITED, (503, b"{}"), UNKNOWN) as host:
        built = build(engine, f"FROM {host}/some/image:1\n", "limited-once")
    assert built.image is None and "manifest" in built.log


def test_D20_a_wait_for_a_registry_ends_with_the_build(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(building, "WAITS_S", (3600.0,))
    engine = DockerEngine()
    with registry(LIMITED) as host:
        text = f"FROM {host}/some/image:1\n"
        with pytest.raises(EngineError, match="could not be built"):
            build(engine, text, "limited-late", timeout_s=3000)

        def stop(line: str) -> None:
            if "busy" in line:
                threading.Thread(target=engine.interrupt).start()

        with pytest.raises(Interrupted):
            build(engine, text, "limited-stopped", timeout_s=7200, say=stop)
    engine.close()


def test_D20_an_image_that_does_not_exist_is_the_dockerfiles(engine: DockerEngine):
    with registry(UNKNOWN) as host:
        built = build(engine, f"FROM {host}/some/image:1\n", "unknown")
    assert built.image is None and "manifest" in built.log


def test_buildkit_syntax_is_built_by_a_client_that_can(engine: DockerEngine, monkeypatch: pytest.MonkeyPatch):
    text = BASE + "COPY . .\nRUN --mount=type=tmpfs,target=/scratch touch /scratch/x && echo made >made\n"
    try:
        buildkit.find_client("RUN --mount")
    except EngineError:
        with pytest.raises(EngineError, match="BuildKit"):
            build(engine, text, "buildkit")
    else:
        built = build(engine, text, "buildkit")
        assert built.image is not None, built.log
        facts = Bench(engine, built.image).trial("cat made; cat .dockerignore; find . ! -type d | wc -l")
        assert facts.log.startswith(b"made\n" + TREE[-1].data)
        assert facts.log.split()[-1] == b"%d" % (len(TREE) + 1)
        failed = build(engine, BASE + "RUN --mount=type=tmpfs,target=/s echo why; exit 3\n", "buildkit-fails")
        assert failed.image is None and "why" in failed.log and "exit 3" in failed.failed_step
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EngineError, match=r"BuildKit \(RUN --mount\)") as error:
        build(engine, text, "buildkit-missing")
    assert "buildx" in error.value.remedy


# --- trials that can't start ---


def test_an_image_without_a_shell_says_so(engine: DockerEngine):
    built = build(engine, "FROM scratch\nWORKDIR /work\nCOPY . .\n", "no-shell")
    assert built.image is not None, built.log
    for user in ("", "1234"):
        facts = Bench(engine, replace(built.image, user=user)).trial("true")
        assert facts.setup_failed == "start the trial's shell" and facts.exit_code is None
        assert b"/bin/sh" in facts.log


def test_an_image_whose_user_is_missing_says_so(engine: DockerEngine):
    built = build(engine, BASE + "COPY . .\nUSER ghost\n", "ghost")
    assert built.image is not None, built.log
    facts = Bench(engine, built.image).trial("true")
    assert facts.setup_failed and facts.exit_code is None and b"find user ghost" in facts.log


def test_an_image_that_is_gone_is_the_engines_trouble(engine: DockerEngine, bench: Bench):
    gone = Bench(engine, type(bench.image)("sha256:" + "0" * 64, "k", "t", "/work", ""))
    with pytest.raises(EngineError):
        gone.trial("true")


# --- trials that go wrong on the way ---


def test_a_flood_of_half_a_gigabyte_is_quick_and_takes_no_memory(bench: Bench):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    facts = bench.trial("echo first; head -c 500000000 /dev/zero; echo last; exit 3", timeout_s=120)
    assert facts.exit_code == 3 and facts.log_bytes == 500000000 + len(b"first\nlast\n")
    assert facts.log.startswith(b"first\n") and facts.log.endswith(b"last\n")
    assert time.monotonic() - began < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


def test_a_terabyte_of_nothing_in_the_reports_is_left_there(bench: Bench):
    began = time.monotonic()
    facts = bench.trial("truncate -s 1T /berbench/out/huge; echo x >/berbench/out/small; exit 1")
    assert facts.exit_code == 1 and time.monotonic() - began < 60
    assert {file.name for file in facts.reports if file.truncated} == {"huge"}
    assert any("reports" in warning for warning in facts.warnings)


def test_D01_D02_nothing_of_a_trial_runs_on(bench: Bench):
    facts = bench.trial("setsid sleep 97533 & trap '' TERM; sleep 97534; sleep 97534", timeout_s=1)
    assert facts.timed_out
    assert not processes_with("sleep\x0097533") and not processes_with("sleep\x0097534")


def test_D07_an_init_is_the_first_process(bench: Bench):
    """It hands signals on and takes in orphans, which a shell in its place would not."""
    first = bench.says("cat /proc/1/comm").decode().strip()
    assert "init" in first or first == "tini", first


def test_D07_a_main_process_that_ignores_term_costs_no_grace(bench: Bench):
    began = time.monotonic()
    facts = bench.trial("sh -c \"trap '' TERM INT HUP; sleep 97539\" & sleep 0.2; exit 2")
    assert facts.exit_code == 2 and not processes_with("sleep\x0097539")
    assert time.monotonic() - began < 9


def test_D08_a_trial_makes_no_network(engine: DockerEngine, bench: Bench):
    names = []
    worker = threading.Thread(target=lambda: bench.trial("sleep 1.5", network="bridge"))
    worker.start()
    while worker.is_alive():
        names += [left.name for left in engine.leftovers() if left.kind == "network"]
        time.sleep(0.1)
    worker.join()
    assert names == []


def test_D11_set_up_that_fills_memory_is_told(bench: Bench):
    hog = 'python3 -c "x = bytearray(400 << 20)"'
    facts = bench.trial("true", setup=(f"{hog} || true",), limits=Limits(memory_bytes=64 << 20))
    assert facts.out_of_memory


def test_a_limit_too_low_to_start_is_out_of_memory_or_the_engines_trouble(bench: Bench):
    try:
        facts = bench.trial("true", limits=Limits(memory_bytes=6 << 20))
    except EngineError:
        return
    assert facts.exit_code is None or facts.out_of_memory or facts.exit_code == 0


def test_a_volume_in_the_image_goes_with_the_container(engine: DockerEngine):
    built = build(engine, BASE + "COPY . .\nVOLUME /work\n", "volume")
    assert built.image is not None, built.log
    volumes = Path("/var/lib/docker/volumes")
    before = set(os.listdir(volumes)) if volumes.is_dir() else set()  # noqa: PTH208
    facts = Bench(engine, built.image).trial("cat kept.txt", delta=_delta())
    assert facts.log == b"new"
    assert (set(os.listdir(volumes)) if volumes.is_dir() else set()) <= before  # noqa: PTH208


def _delta() -> object:
    from berbench.model.changes import Delta

    return Delta((FileEntry("kept.txt", REGULAR, b"new"),))


def test_D17_handles_stay_bounded(bench: Bench):
    bench.says("true")
    before = len(os.listdir("/proc/self/fd")), threading.active_count()  # noqa: PTH208
    for _ in range(6):
        bench.says("true")
    threads = [threading.Thread(target=bench.says, args=("true",)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after = len(os.listdir("/proc/self/fd")), threading.active_count()  # noqa: PTH208
    assert after[0] <= before[0] + 8 and after[1] <= before[1]


# --- engines that are lost or hang ---


@pytest.fixture
def proxy(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineProxy]:
    proxy = EngineProxy(tmp_path_factory.mktemp("p"))
    monkeypatch.setenv("DOCKER_HOST", proxy.address)
    yield proxy
    proxy.close()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ResourceWarning
        )  # the docker package forgets sockets it can't connect
        gc.collect()


def test_an_engine_lost_in_the_middle_gives_no_facts(engine: DockerEngine, bench: Bench, proxy: EngineProxy):
    through = DockerEngine()
    threading.Timer(2, proxy.lose).start()
    with pytest.raises(EngineError, match="lost"):
        Bench(through, bench.image).trial("sleep 97535")
    (left,) = containers(engine).values()
    assert left.in_use  # its owner, this process, still lives
    engine.remove(left)
    through.close()
    assert not processes_with("sleep\x0097535")


def test_an_engine_lost_while_building_gives_no_image(proxy: EngineProxy):
    through = DockerEngine()
    threading.Timer(2, proxy.lose).start()
    with pytest.raises(EngineError):
        build(through, BASE + "RUN sleep 97536\n", "lost")
    through.close()
    until(lambda: not processes_with("sleep\x0097536"))


def test_no_engine_at_all_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(EngineError, match="No container engine answers") as error:
        DockerEngine()
    assert "DOCKER_HOST" in error.value.remedy and str(tmp_path) in " ".join(error.value.details)


def test_D05_a_removal_that_hangs_does_not_lose_the_facts(
    engine: DockerEngine, bench: Bench, proxy: EngineProxy, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(container, "REMOVE_S", 1.0)
    through = DockerEngine()
    proxy.hang_on(b"DELETE ")
    facts = Bench(through, bench.image).trial("exit 4")
    assert facts.exit_code == 4
    assert any("could not be removed" in warning for warning in facts.warnings)
    for left in containers(engine).values():
        engine.remove(left)
    through.close()
    assert not containers(engine)


def test_an_engine_that_never_answers_a_call_is_noticed(
    bench: Bench, proxy: EngineProxy, monkeypatch: pytest.MonkeyPatch
):
    from berbench.engine import api

    through = DockerEngine()
    through.info()
    monkeypatch.setattr(
        api.Api.call, "__kwdefaults__", {**(api.Api.call.__kwdefaults__ or {}), "timeout_s": 1.0}
    )
    proxy.hang_on(b"POST ")
    with pytest.raises(EngineError, match="did not answer POST /containers/create"):
        Bench(through, bench.image).trial("true")
    through.close()


# --- whatever ends berbench ---

OWNER = """
import sys
from berbench.engine.conformance import Bench
from berbench.engine.docker_engine import DockerEngine
engine = DockerEngine()
print("ready", flush=True)
Bench(engine, engine.find_image("test-plain")).trial("sleep 97537")
"""


def owner() -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)


def test_what_a_killed_owner_left_is_swept_and_nothing_else(engine: DockerEngine, bench: Bench):
    with owner() as dead, owner() as live:
        until(lambda: len(containers(engine, dead.pid, live.pid)) == 2)
        until(lambda: len(processes_with("sleep\x0097537")) >= 2)
        (left,) = containers(engine, dead.pid)
        dead.kill()
        dead.wait()
        by_hand = subprocess.run(
            ["docker", "create", bench.image.id, "true"], check=True, capture_output=True, text=True
        ).stdout.strip()
        try:
            assert left in {swept.name for swept in engine.sweep()}
            assert containers(engine, live.pid) and not containers(engine, dead.pid)
            assert subprocess.run(["docker", "inspect", by_hand], capture_output=True).returncode == 0
        finally:
            subprocess.run(["docker", "rm", "-f", by_hand], capture_output=True)
            live.send_signal(signal.SIGINT)
            live.wait(20)
        assert not containers(engine, live.pid)
    until(lambda: not processes_with("sleep\x0097537"))


def test_an_interrupt_ends_a_trial(engine: DockerEngine, bench: Bench):
    through = DockerEngine()
    threading.Timer(2, through.interrupt).start()
    began = time.monotonic()
    with pytest.raises(Interrupted):
        Bench(through, bench.image).trial("trap '' TERM; sleep 97538")
    assert time.monotonic() - began < 12
    with pytest.raises(Interrupted):
        Bench(through, bench.image).trial("true")
    through.close()
    assert not containers(engine)


def test_a_container_is_gone_after_success_failure_and_time_out(engine: DockerEngine, bench: Bench):
    ended: list[Facts] = [bench.trial("true"), bench.trial("false"), bench.trial("sleep 9", timeout_s=1)]
    assert [one.exit_code for one in ended] == [0, 1, None]
    assert not containers(engine)


def test_C01_an_image_whose_base_was_replaced_is_built_anew(engine: DockerEngine, bench: Bench) -> None:
    mine = f"berbench-test/below:{os.getpid()}"

    def below(text: str) -> None:
        built = build(engine, f"{BASE}RUN echo {text} > /below\n", f"below-{text}")
        assert built.image is not None, built.log
        repository, _, tag = mine.partition(":")
        engine._api.call("POST", f"/images/{built.image.id}/tag", query={"repo": repository, "tag": tag})

    below("one")
    try:
        above = f"ARG BASE_IMAGE={mine}\nFROM ${{BASE_IMAGE}}\nWORKDIR /work\nCOPY . .\n"
        first = build(engine, above, "above")
        assert build(engine, above, "above").reused
        below("two")
        second = build(engine, above, "above")
        assert first.image is not None and second.image is not None
        assert not second.reused
        assert second.image.id != first.image.id
    finally:
        engine._api.call("DELETE", f"/images/{mine}")
