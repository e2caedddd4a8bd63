from __future__ import annotations

from collections.abc import Iterator

import pytest

from berbench.engine.conformance import CHECKS, TREE, Bench, Check, recipe
from berbench.engine.docker_engine import DockerEngine
from berbench.model.changes import REGULAR, Delta, FileEntry

pytestmark = pytest.mark.docker

AS_ROOT = "FROM berbench/base\nWORKDIR /work\nCOPY . .\n"
# A tree copied in as root and tested as someone else: common, and the user may not even write to it.
AS_USER = "FROM berbench/base\nRUN useradd -m -u 1234 tester\nWORKDIR /work\nCOPY . .\nUSER tester\n"


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    engine = DockerEngine()
    yield engine
    for left in engine.leftovers():
        if left.kind == "image" and left.name.startswith("berbench/task:") and left.id in _made:
            engine.remove(left)
    engine.close()


_made: set[str] = set()


def _bench(engine: DockerEngine, dockerfile: str, key: str) -> Bench:
    built = engine.build(recipe(dockerfile, key), lambda: TREE, timeout_s=120, say=lambda _: None)
    assert built.image is not None, built.log
    _made.add(built.image.id)
    return Bench(engine, built.image)


@pytest.fixture(scope="module")
def as_root(engine: DockerEngine) -> Bench:
    return _bench(engine, AS_ROOT, "conformance-root")


@pytest.fixture(scope="module")
def as_user(engine: DockerEngine) -> Bench:
    return _bench(engine, AS_USER, "conformance-user")


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.name)
def test_containers(as_root: Bench, check: Check):
    check.run(as_root)


FOR_A_USER = (
    "writes_and_deletions_make_the_other_tree",
    "files_and_folders_may_swap",
    "odd_names_survive",
    "a_link_in_the_image_is_not_followed",
    "a_failing_set_up_line_is_named",
    "reports_come_back",
    "a_child_of_its_own_session_holds_nothing_up",
    "a_trial_that_kills_all_it_can_is_no_pass",
    "a_workspace_holds_the_tree_and_what_it_is_given",
    "secrets_are_there_for_the_agent",
    "a_workspaces_time_is_kept",
    "what_changed_in_a_workspace_is_seen_from_outside",
)


@pytest.mark.parametrize("check", [c for c in CHECKS if c.name in FOR_A_USER], ids=lambda c: c.name)
def test_containers_of_an_ordinary_user(as_user: Bench, check: Check):
    check.run(as_user)


def test_D14_the_user_is_the_images_and_owns_what_a_trial_adds(as_user: Bench):
    delta = Delta((FileEntry("new/deep/x", REGULAR, b""), FileEntry("kept.txt", REGULAR, b"")))
    said = as_user.says(
        "id -u; stat -c %u new new/deep new/deep/x kept.txt run.sh; touch new/deep/y; test ! -w run.sh",
        delta=delta,
    )
    assert said.split() == [b"1234"] * 5 + [b"0"]
    said = as_user.says("echo $HOME; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status")
    assert said == b"/home/tester\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n"
