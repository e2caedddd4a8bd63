from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from berbench.engine.conformance import TREE, recipe
from berbench.engine.executor import LocalExecutor
from berbench.engine.fake import FakeEngine
from berbench.errors import EngineError, Interrupted
from berbench.model.changes import Delta
from berbench.model.trial import Image, Trial


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    engine = FakeEngine()
    yield engine
    engine.close()


@pytest.fixture
def image(engine: FakeEngine) -> Image:
    built = engine.build(recipe("WORKDIR /w\n", "k"), lambda: TREE[:1], timeout_s=9, say=lambda _: None)
    assert built.image is not None
    return built.image


def trial(image: Image, command: str, name: str = "x") -> Trial:
    return Trial(name, "t", image, Delta(), command, 60)


def test_facts_come_in_the_order_of_the_trials(engine: FakeEngine, image: Image):
    executor = LocalExecutor(engine, 3)
    facts = executor.run([trial(image, f"sleep 0.{3 - n}; exit {n}", str(n)) for n in range(3)])
    executor.close()
    assert [(one.trial, one.exit_code) for one in facts] == [("0", 0), ("1", 1), ("2", 2)]


def test_D17_no_more_run_at_once_than_allowed(engine: FakeEngine, image: Image):
    running, most, lock = 0, 0, threading.Lock()
    real = engine.run

    class Counted:
        def run(self, one: Trial) -> object:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            facts = real(one)
            with lock:
                running -= 1
            return facts

    executor = LocalExecutor(Counted(), 2)  # type: ignore[arg-type]
    threads = [threading.Thread(target=executor.run, args=([trial(image, "true")] * 2,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    executor.close()
    assert most == 2


def test_an_engine_that_is_lost_is_told_once_and_nothing_new_begins(
    engine: FakeEngine, image: Image, tmp_path: Path
):
    gone, told = replace(image, id="sha256:gone"), tmp_path / "begun"
    told.touch()
    begin = f"echo begun >> {told}; sleep 1"
    executor = LocalExecutor(engine, 1)
    with pytest.raises(EngineError, match="No such image"):
        executor.run([trial(gone, "true"), trial(image, begin), trial(image, begin)])
    executor.close()
    assert told.read_text() in ("", "begun\n")  # at most the one that was next


def test_an_interrupt_ends_what_runs(engine: FakeEngine, image: Image):
    executor = LocalExecutor(engine, 2)
    threading.Timer(0.4, signal.raise_signal, [signal.SIGINT]).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        executor.run([trial(image, "sleep 50")] * 4)
    assert time.monotonic() - began < 10
    with pytest.raises(Interrupted):
        engine.run(trial(image, "true"))
    executor.close()
