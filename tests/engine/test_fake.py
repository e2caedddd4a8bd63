from __future__ import annotations

from collections.abc import Iterator

import pytest

from berbench.engine.conformance import TREE, Bench, recipe
from berbench.engine.fake import FakeEngine
from berbench.errors import EngineError, Refusal
from berbench.model.changes import REGULAR, FileEntry


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    engine = FakeEngine()
    yield engine
    engine.close()


def build(engine: FakeEngine, text: str, key: str = "k", timeout_s: float = 9):
    return engine.build(recipe(text, key), lambda: TREE, timeout_s=timeout_s, say=lambda _: None)


def test_a_build_is_made_once(engine: FakeEngine):
    first, second = build(engine, "WORKDIR /app\nUSER me\n"), build(engine, "WORKDIR /app\nUSER me\n")
    assert first.image is not None and first.image == second.image == engine.find_image("k")
    assert (first.reused, second.reused) == (False, True)
    assert (first.image.workdir, first.image.user, first.image.tree) == ("/app", "me", "0" * 40)


def test_builds_fail_and_hang_when_told_to(engine: FakeEngine):
    failed = build(engine, "FROM x\n# fake: fail pip says no\n")
    assert failed.image is None and failed.failed_step == "RUN pip says no" and "pip says no" in failed.log
    hung = build(engine, "# fake: hang\n", timeout_s=0.1)
    assert hung.image is None and hung.timed_out
    assert engine.find_image("k") is None


def test_an_image_that_is_gone_is_the_engines_trouble(engine: FakeEngine):
    image = build(engine, "WORKDIR /w\n").image
    assert image is not None
    (left,) = engine.leftovers()
    assert (left.kind, left.id, left.key) == ("image", image.id, "k")
    engine.remove(left)
    with pytest.raises(EngineError, match="No such image"):
        Bench(engine, image).trial("true")


def test_S10_a_context_stays_in_its_folder(engine: FakeEngine):
    with pytest.raises(Refusal):
        engine.build(
            recipe("", "k"), lambda: [FileEntry("../x", REGULAR, b"")], timeout_s=9, say=lambda _: None
        )


def test_names_of_the_containers_folders_are_read_as_its_own(engine: FakeEngine):
    image = build(engine, "WORKDIR /w\n").image
    assert image is not None
    facts = Bench(engine, image).trial(
        'echo x >"$REPORT"; ls /berbench/kit', env=(("REPORT", "/berbench/out/r.xml"),), kit=(TREE[0],)
    )
    assert facts.log == b"kept.txt\n" and [file.name for file in facts.reports] == ["r.xml"]
