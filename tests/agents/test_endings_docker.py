"""How an agent's container ends: by itself, by its time, by its memory, by whoever interrupts, and by nobody at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import docker
import pytest
from agent_bench import AgentBench, make_bench

from berbench.agents import tool_layer
from berbench.engine.container import Container
from berbench.engine.docker_engine import DockerEngine
from berbench.errors import EngineError, Interrupted, Refusal
from berbench.model.agent import AgentStep
from berbench.model.changes import REGULAR
from berbench.model.tools import ToolDocument
from berbench.model.trial import Limits

pytestmark = pytest.mark.docker

PLAIN = "FROM berbench/base\nWORKDIR /work\nCOPY . .\n"
HOSTS = ("api.model.test",)


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    engine = DockerEngine()
    yield engine
    while True:  # one that others were built on goes after them
        left = [
            one for one in engine.leftovers() if one.kind == "image" and one.key.startswith("test-endings")
        ]
        left += [one for one in engine.leftovers() if one.key in _layers]
        if not left:
            break
        for one in reversed(left):
            try:
                engine.remove(one)
            except EngineError:
                continue
    engine.close()


_layers: set[str] = set()


@pytest.fixture(scope="module")
def bench(engine: DockerEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentBench]:
    bench = make_bench(engine, tmp_path_factory.mktemp("endings"), PLAIN, "test-endings")
    yield bench
    bench.history.close()


def left_of(owner: int) -> list[str]:
    """Containers and networks of a process."""
    client = docker.from_env(timeout=60)
    try:
        found = client.api.containers(all=True, filters={"label": "berbench.owner"})
        found += client.api.networks(filters={"label": "berbench.owner"})
    finally:
        client.close()
    return [one["Id"] for one in found if one["Labels"]["berbench.owner"].split("/")[2] == str(owner)]


def test_D01_D02_a_time_out_ends_all_and_what_was_written_by_then_counts(bench: AgentBench):
    script = (
        "setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & trap 'echo late >late' TERM;"
        " echo early >early; while :; do sleep 0.1; done"
    )
    began = time.monotonic()
    facts = bench.run(script, timeout_s=2)
    assert facts.timed_out and facts.exit_code is None and 2 <= facts.seconds < 30
    assert time.monotonic() - began < 60
    assert bench.left(facts) == {"early": (REGULAR, b"early\n"), "late": (REGULAR, b"late\n")}


def test_a_child_that_holds_the_output_open_holds_nothing_up(bench: AgentBench):
    began = time.monotonic()
    facts = bench.run("sleep 300 & echo done >x; exit 5")
    assert facts.exit_code == 5 and time.monotonic() - began < 60
    assert bench.left(facts) == {"x": (REGULAR, b"done\n")}


def test_D11_memory_is_told_whoever_is_killed(bench: AgentBench):
    script = "echo x >x; python3 -c 'b = bytearray(400 << 20)'; echo went on"
    facts = bench.run(script, limits=Limits(memory_bytes=128 << 20, cpus=1, pids=64))
    assert facts.out_of_memory and facts.exit_code == 0 and b"went on\n" in facts.log
    assert bench.left(facts) == {"x": (REGULAR, b"x\n")}


def test_an_agent_that_kills_all_it_can_loses_only_what_it_had_not_written(bench: AgentBench):
    scripts = (
        "echo a >a; kill -9 $$",
        "echo b >b; kill -TERM $$",
        "echo c >c; kill -9 -1; sleep 9",
        "echo d >d",
    )
    steps = tuple(AgentStep(("/bin/sh", "-c", script), b"") for script in scripts)
    facts = bench.agents.run(replace(bench.trial(""), steps=steps))
    # Who ends itself is told from who ends the container, which an engine's failure may have done as well.
    assert [step.exit_code for step in facts.steps] in ([137, 143, None], [137, 143, 0, None])
    assert facts.exit_code is None and not facts.timed_out
    assert facts.warnings == ("the container was ended, from within or from outside",)
    assert bench.left(facts) == {name: (REGULAR, f"{name}\n".encode()) for name in "abc"}


def test_an_interruption_ends_it_and_leaves_nothing(tmp_path: Path, bench: AgentBench):
    engine = DockerEngine()
    mine = replace(bench, engine=engine)
    timer = threading.Timer(6, engine.interrupt)
    timer.start()
    with pytest.raises(Interrupted):
        mine.run("sleep 300", hosts=HOSTS)
    engine.close()
    assert left_of(os.getpid()) == []


def test_an_interruption_while_it_comes_to_be_ends_it(bench: AgentBench, monkeypatch: pytest.MonkeyPatch):
    engine = DockerEngine()
    usual = Container.create

    def late(box: Container, asked: dict[str, Any]) -> object:
        engine.interrupt()  # there is nothing yet that it could remove
        return usual(box, asked)

    monkeypatch.setattr(Container, "create", late)
    began = time.monotonic()
    with pytest.raises(Interrupted):
        replace(bench, engine=engine).run("sleep 60")
    assert time.monotonic() - began < 40
    engine.close()
    assert left_of(os.getpid()) == []


KILLED = """\
import sys
from pathlib import Path
sys.path[:0] = [{tests!r}, {agents!r}]
from agent_bench import AgentBench
from berbench.engine.docker_engine import DockerEngine
from berbench.history import GitHistory
from berbench.model.trial import Image
history = GitHistory(Path({repository!r}))
bench = AgentBench(history, DockerEngine(), {image!r}, {tree!r})
print("started", flush=True)
bench.run("sleep 300", hosts={hosts!r})
"""


def test_what_a_killed_berbench_leaves_is_swept_by_the_next(
    bench: AgentBench, engine: DockerEngine, tmp_path: Path
):
    here = Path(__file__).parent
    script = KILLED.format(
        tests=str(here.parent), agents=str(here), repository=str(bench.history.root), image=bench.image,
        tree=bench.history.tree_of("HEAD~1"), hosts=HOSTS,
    )  # fmt: skip
    environ = {
        **os.environ,
        "TMPDIR": str(tmp_path),
    }  # its scratch folder stays, as that of any killed process
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environ)
    try:
        end = time.monotonic() + 90
        while len(left_of(child.pid)) < 3:  # the agent, its proxy, its network
            assert child.poll() is None and time.monotonic() < end
            time.sleep(0.1)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert child.stdout is not None
        child.stdout.close()
    swept = engine.sweep()
    assert {"container", "network"} <= {one.kind for one in swept}
    assert left_of(child.pid) == []


def test_a_volume_in_the_work_tree_is_refused(engine: DockerEngine, tmp_path: Path):
    bench = make_bench(engine, tmp_path, PLAIN + "VOLUME /work/data\n", "test-endings-volume")
    with pytest.raises(Refusal, match="VOLUME /work/data"):
        bench.run("true")
    bench.history.close()


def test_a_work_tree_that_is_the_whole_system_is_refused(engine: DockerEngine, tmp_path: Path):
    bench = make_bench(engine, tmp_path, "FROM berbench/base\nWORKDIR /\nCOPY . .\n", "test-endings-system")
    with pytest.raises(Refusal, match="working folder is /,"):
        bench.run("true")
    bench.history.close()


def test_tools_are_put_in_once_and_work_as_the_images_user(engine: DockerEngine, tmp_path: Path):
    dockerfile = "FROM berbench/base\nRUN useradd -m tester\nWORKDIR /work\nCOPY . .\nUSER tester\n"
    bench = make_bench(engine, tmp_path, dockerfile, "test-endings-tools")
    tool = ToolDocument.model_validate(
        {
            "schema": "berbench.tool/1",
            "name": "greeter",
            "version": "7",
            "install": {
                "run": ["mkdir -p /opt/tool\nprintf '#!/bin/sh\\necho greeter {version} $COLOUR\\n' >/opt/tool/greet\n"
                        "chmod 755 /opt/tool/greet"],
                "env": {"PATH": "/opt/tool:$PATH", "COLOUR": "a \"b\" c"},
                "check": "greet && test \"$(id -un)\" = tester",
            },
        }
    )  # fmt: skip
    layer = tool_layer([tool])
    image = bench.agents.with_tools(bench.image, layer, lambda _: None)
    _layers.add(image.key)
    assert image.user == "tester" and image.workdir == "/work" and image.tree == bench.image.tree
    assert bench.agents.with_tools(bench.image, layer, lambda _: None) == image
    facts = bench.run("greet; echo x >x", image=image)
    assert facts.log == b'greeter 7 a "b" c\n'
    assert bench.left(facts) == {"x": (REGULAR, b"x\n")}
    broken = replace(layer, run=("echo no such package >&2; exit 3",))
    with pytest.raises(EngineError, match="no such package"):
        bench.agents.with_tools(bench.image, broken, lambda _: None)
    bench.history.close()


def test_ten_thousand_files_are_taken(bench: AgentBench):
    python = (
        "import os\nfor d in range(100):\n os.mkdir(f'd{d}')\n"
        " for f in range(100): open(f'd{d}/f{f}', 'w').write(str(f))"
    )
    script = f'python3 -c "{python}"'
    facts = bench.run(script)
    assert facts.exit_code == 0, facts.log
    left = bench.left(facts)
    assert len(left) == 10_000 and left["d7/f42"] == (REGULAR, b"42")
