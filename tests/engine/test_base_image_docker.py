"""What an image stands on is known by more than its name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from imageregistry import image_registry

from berbench.engine.api import Refused
from berbench.engine.building import image_of
from berbench.engine.conformance import TREE, recipe
from berbench.engine.docker_engine import DockerEngine
from berbench.model.trial import Image
from berbench.verdicts.drift import elsewhere
from taskfiles import make_block, make_files

pytestmark = pytest.mark.docker
KEYS = ("base-image-pushed", "base-image-own")


@pytest.fixture
def engine() -> Iterator[DockerEngine]:
    engine = DockerEngine()
    yield engine
    for left in engine.leftovers():
        if left.kind == "image" and left.key in KEYS:
            engine.remove(left)
    engine.close()


def _built(engine: DockerEngine, dockerfile: str, key: str) -> Image:
    built = engine.build(recipe(dockerfile, key), lambda: TREE, timeout_s=120, say=lambda _: None)
    assert built.image is not None, built.log
    return built.image


def test_C05_another_image_pushed_under_the_same_tag_is_told_by_its_digest(engine: DockerEngine) -> None:
    with image_registry() as registry:
        name = registry.image
        dockerfile = f"ARG BASE_IMAGE={name}\nFROM ${{BASE_IMAGE}}\nWORKDIR /work\nCOPY . .\n"
        try:
            registry.push("one")
            first = _built(engine, dockerfile, KEYS[0])
            assert first.base == f"{name}@{registry.digest}"
            assert _built(engine, dockerfile, KEYS[0]) == first
            stands = {"base_image": first.base, "base_id": first.base_id}
            proof = make_block(make_files(), "t::new").model_copy(update=stands)
            assert not elsewhere(proof, first)

            registry.push("two")
            pulled = {"fromImage": name.rpartition(":")[0], "tag": "1"}
            engine._api.call("POST", "/images/create", query=pulled)
            second = _built(engine, dockerfile, KEYS[0])
            assert second.id != first.id
            assert second.base == f"{name}@{registry.digest}"
            assert registry.digest in elsewhere(proof, second)
        finally:
            for left in engine.leftovers():
                if left.kind == "image" and left.key == KEYS[0]:
                    engine.remove(left)
            with contextlib.suppress(Refused):
                engine._api.call("DELETE", f"/images/{name}")


def test_C05_a_base_that_was_made_here_is_known_by_its_id(engine: DockerEngine) -> None:
    image = _built(engine, "FROM berbench/base\nWORKDIR /work\nCOPY . .\n", KEYS[1])
    base = engine._image("berbench/base")
    assert base is not None
    assert (image.base, image.base_id) == ("berbench/base", base["Id"])


@pytest.mark.parametrize(
    ("said", "platform"),
    [
        (("linux", "arm64", "v8"), "linux/arm64"),
        (("linux", "arm64", ""), "linux/arm64"),
        (("linux", "arm", "v7"), "linux/arm/v7"),
        (("linux", "amd64", None), "linux/amd64"),
        ((None, None, None), ""),
    ],
)
def test_D13_one_platform_has_one_name(said: tuple[str | None, ...], platform: str) -> None:
    told = dict(zip(("Os", "Architecture", "Variant"), said, strict=True))
    assert image_of({"Id": "sha256:1", **told}).platform == platform


def test_D13_an_image_says_for_which_platform_it_is(engine: DockerEngine) -> None:
    image = _built(engine, "FROM berbench/base\nWORKDIR /work\nCOPY . .\n", KEYS[1])
    assert image.platform == engine.info().platform
