"""The difference between a proof and the trials that no longer reproduce it."""

from __future__ import annotations

from dataclasses import replace

from berbench.model.task import TrialSummary, Validation
from berbench.model.trial import Evidence, Facts, Image, Outcome, TestResult
from berbench.verdicts import Trialed
from berbench.verdicts.drift import Before, difference, elsewhere, moved, packages
from taskfiles import make_block, make_files

BLOCK = make_block(make_files(), "t::new").model_copy(
    update={
        "pass_to_pass": ("t::old",),
        "base": TrialSummary(exit_code=1, seconds=1),
        "reference": TrialSummary(exit_code=0, seconds=1),
    }
)


def trial(code: int, image: str = "sha256:1", installed: tuple[str, ...] = (), **tests: str) -> Trialed:
    results = tuple(TestResult(f"t::{name}", Outcome(outcome)) for name, outcome in tests.items())
    facts = Facts("x", code, image=image, engine="Docker 20.10", installed=installed)
    return Trialed(facts, Evidence("junit", results))


def test_N02_tests_exit_codes_image_and_packages_that_differ_are_told() -> None:
    before = Before(BLOCK, ("pip==23.0", "six==1.15", "gone==1"))
    now = ("pip==23.0", "six==1.16", "new==2")
    lines = difference(
        before,
        trial(0, new="passed", old="skipped"),
        trial(1, "sha256:2", now, new="failed", old="passed"),
    )
    assert lines == (
        "passes at the base now: t::new",
        "passed with the reference, now failed: t::new",
        "passed at the base, now skipped: t::old",
        "exit code of the base trial: 1 → 0",
        "exit code of the reference trial: 0 → 1",
        "image: sha256:1 → sha256:2",
        "package gone: 1 → absent",
        "package new: absent → 2",
        "package six: 1.15 → 1.16",
    )


IMAGE = Image("sha256:2", "k", "t", "/", "", "linux/amd64", "python:3@sha256:aa", "sha256:id-a")


def _proof(**changes: str) -> Validation:
    stands = {"platform": IMAGE.platform, "base_image": IMAGE.base, "base_id": IMAGE.base_id}
    return BLOCK.model_copy(update=stands | changes)


def test_D13_another_platform_is_refused() -> None:
    assert not elsewhere(_proof(), IMAGE)
    other = replace(IMAGE, platform="linux/arm64")
    assert elsewhere(_proof(), other) == "its proof is of linux/amd64, and this image is for linux/arm64"
    assert not elsewhere(_proof(platform=""), other)  # a proof from before platforms were noted


def test_C05_another_published_base_is_refused_and_an_own_one_is_told() -> None:
    pushed = replace(IMAGE, base="python:3@sha256:bb", base_id="sha256:id-b")
    said = elsewhere(_proof(), pushed)
    assert said == "its proof stands on python:3@sha256:aa, and this image on python:3@sha256:bb"
    # The same image under a newer list of platforms.
    assert not elsewhere(_proof(), replace(pushed, base_id=IMAGE.base_id))
    own = _proof(base_image="berbench/base")
    assert not elsewhere(own, pushed)
    assert not elsewhere(_proof(base_image="", base_id=""), pushed)  # a proof that does not know
    assert not elsewhere(_proof(), replace(IMAGE, base="", base_id=""))  # an engine that can't tell
    before = Before(own, ("six==1.15",))
    assert moved(before, replace(IMAGE, base="berbench/base", base_id="sha256:id-b"), ("six==1.16",)) == (
        "the image was built again since the last proof: sha256:1 → sha256:2",
        "its base image: berbench/base sha256:id-a → berbench/base sha256:id-b",
        "package six: 1.15 → 1.16",
    )
    assert moved(before, replace(IMAGE, id="sha256:1"), ("six==1.16",)) == ()


def test_a_test_that_is_gone_is_missing() -> None:
    lines = difference(Before(BLOCK), trial(1, new="failed", old="passed"), trial(0, new="passed"))
    assert lines == ("passed with the reference, now missing: t::old",)


def test_what_is_not_known_is_not_told() -> None:
    blind = Trialed(Facts("x", 1, image="sha256:1", engine="Docker 20.10"), Evidence())
    lines = difference(Before(BLOCK), blind, blind)
    assert lines == ("exit code of the reference trial: 0 → 1",)
    assert packages(None, ("a==1",)) == packages(("a==1",), ()) == ()


def test_a_package_that_is_there_twice_differs_where_one_of_them_does() -> None:
    assert packages(("a==1", "a==2"), ("a==2", "a==1")) == ()
    assert packages(("a==1", "a==2"), ("a==1", "a==3")) == ("package a: 1, 2 → 1, 3",)


def test_long_lists_are_cut_with_a_count() -> None:
    block = BLOCK.model_copy(update={"fail_to_pass": tuple(f"t::{n}" for n in range(50))})
    lines = difference(Before(block), trial(1, old="passed"), trial(0, old="passed"))
    assert len(lines) == 21 and lines[-1] == "and 30 more tests"
