"""Public faults whose right behaviour is a promise of every engine, each under its own name, in real containers."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from berbench.engine.api import Reply
from berbench.engine.conformance import TREE, Bench, commands, recipe
from berbench.engine.container import Container
from berbench.engine.docker_engine import DockerEngine
from berbench.model.trial import OUT_DIR

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    engine = DockerEngine()
    built = engine.build(
        recipe("FROM berbench/base\nWORKDIR /work\nCOPY . .\n", "test-rows"),
        lambda: TREE,
        timeout_s=120,
        say=lambda _: None,
    )
    assert built.image is not None, built.log
    yield Bench(engine, built.image)
    for left in engine.leftovers():
        if left.kind == "image" and left.key in ("test-rows", "test-rows-user"):
            engine.remove(left)
    engine.close()


def test_D04_the_same_trial_twice_at_once_clashes_by_no_name(bench: Bench) -> None:
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda number: bench.says(f"sleep 1; echo {number}"), (1, 2)))
    assert said == [b"1\n", b"2\n"]


def test_D23_codes_of_the_engines_client_are_the_programs_own(bench: Bench) -> None:
    commands.exit_codes_are_the_commands_own(bench)


def test_N04_N05_zone_and_locale_are_the_same_everywhere(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    monkeypatch.setenv("LANG", "C")
    commands.the_environment_is_the_same_everywhere(bench)
    python = "import time, locale; print(time.tzname[0], locale.getpreferredencoding())"
    assert bench.says(f'python3 -c "{python}"') == b"UTC UTF-8\n"


def test_V11_no_bytecode_of_an_earlier_time_is_run(bench: Bench) -> None:
    lines = (
        "mkdir -p pkg; echo 'x = 1' > pkg/m.py; cd pkg",
        "python3 -c 'import m; print(m.x)'; ls",
    )
    assert bench.says("; ".join(lines)) == b"1\nm.py\n"


def test_C05_the_image_that_was_used_is_named_by_its_digest(bench: Bench) -> None:
    facts = bench.trial("true")
    assert facts.image == bench.image.id
    assert facts.image.startswith("sha256:")


@pytest.mark.parametrize("user", ["root", "tester"])
def test_V10_reports_are_read_when_every_process_is_gone(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    """A process of its own session, silent and deaf to TERM, waits to turn the report: it never finds the time."""
    trial = bench
    if user != "root":
        dockerfile = f"FROM berbench/base\nRUN useradd -m {user}\nWORKDIR /work\nCOPY . .\nUSER {user}\n"
        built = bench.engine.build(
            recipe(dockerfile, "test-rows-user"), lambda: TREE, timeout_s=120, say=lambda _: None
        )
        assert built.image is not None, built.log
        trial = Bench(bench.engine, built.image)
    running: list[bool] = []
    take = Container.take

    def watched(self: Container, path: str) -> Reply | None:
        if path == OUT_DIR:
            running.append(bool(self.describe()["State"]["Running"]))
        return take(self, path)

    monkeypatch.setattr(Container, "take", watched)
    waits = "trap '' TERM HUP INT; while :; do echo forged >/berbench/out/r.xml; sleep 0.2; done"
    facts = trial.trial(f'setsid sh -c "{waits}" >/dev/null 2>&1 & sleep 0.5; exit 3')
    assert facts.exit_code == 3
    assert running == [False]
