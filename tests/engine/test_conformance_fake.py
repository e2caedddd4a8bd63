from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from berbench.engine.conformance import CHECKS, TREE, Bench, Check, recipe
from berbench.engine.fake import FakeEngine

WANTED = [check for check in CHECKS if not check.needs]


@pytest.fixture(scope="module")
def running() -> Iterator[dict[str, Future[None]]]:
    """All checks side by side: most of their time is waiting for time-outs."""
    engine = FakeEngine()
    built = engine.build(
        recipe("FROM x\nWORKDIR /work\nCOPY . .\n", "fake"), lambda: TREE, timeout_s=60, say=lambda _: None
    )
    assert built.image is not None
    bench = Bench(engine, built.image)
    with ThreadPoolExecutor(6) as pool:
        yield {check.name: pool.submit(check.run, bench) for check in WANTED}
    engine.close()


@pytest.mark.parametrize("check", WANTED, ids=lambda c: c.name)
def test_the_fake(running: dict[str, Future[None]], check: Check):
    running[check.name].result()


def test_the_fake_is_held_to_all_that_needs_no_container():
    assert len(WANTED) > 25 and all(check.needs == "" or len(check.needs) > 5 for check in CHECKS)
