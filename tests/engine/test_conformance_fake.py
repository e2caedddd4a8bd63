from __future__ import annotations

from collections.abc import Iterator

import pytest

from berbench.engine.conformance import CHECKS, TREE, Bench, Check, recipe
from berbench.engine.fake import FakeEngine


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    engine = FakeEngine()
    built = engine.build(
        recipe("FROM x\nWORKDIR /work\nCOPY . .\n", "fake"), lambda: TREE, timeout_s=60, say=lambda _: None
    )
    assert built.image is not None
    yield Bench(engine, built.image)
    engine.close()


@pytest.mark.parametrize("check", [c for c in CHECKS if not c.needs], ids=lambda c: c.name)
def test_the_fake(bench: Bench, check: Check):
    check.run(bench)
