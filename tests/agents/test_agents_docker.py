"""Agents in real containers: what they leave, what they can see, and what they can't."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from agent_bench import AgentBench, make_bench
from candidate_cases import CASES, Case

from berbench.engine.docker_engine import DockerEngine
from berbench.model.cells import AgentFacts
from berbench.model.changes import REGULAR

pytestmark = pytest.mark.docker

# A tree copied in as root, of which the build changed and added something, used by someone else.
AS_USER = """\
FROM berbench/base
RUN useradd -m -u 1234 tester
WORKDIR /work
COPY . .
RUN echo "one = 'generated'" >src/one.py && echo made >src/version.py && chmod 775 docs/* src/deep/two.py
USER tester
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    engine = DockerEngine()
    yield engine
    for left in engine.leftovers():
        if left.kind == "image" and left.key.startswith("test-agents-"):
            engine.remove(left)
    engine.close()


@pytest.fixture(scope="module")
def bench(engine: DockerEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentBench]:
    dockerfile = "FROM berbench/base\nWORKDIR /work\nCOPY . .\n"
    bench = make_bench(engine, tmp_path_factory.mktemp("root"), dockerfile, "test-agents-root")
    yield bench
    bench.history.close()


@pytest.fixture(scope="module")
def as_user(engine: DockerEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentBench]:
    bench = make_bench(engine, tmp_path_factory.mktemp("user"), AS_USER, "test-agents-user")
    yield bench
    bench.history.close()


# Those in which an engine's list or archive shows otherwise than a folder does.
IN_CONTAINERS = (
    "P05_renames",
    "P07_modes",
    "names_that_are_no_utf8",
    "what_keeps_its_size_and_time_is_changed_all_the_same",
    "odd_names",
    "links_that_lead_nowhere",
    "S10_links_that_leave_the_tree_are_left_out_and_told",
    "files_and_folders_swap",
    "folders_made_anew_hold_what_is_there_now",
    "no_files",
    "second_names",
    "too_large_is_told",
    "behind_what_is_too_large",
    "repositories_within",
    "all_gone",
    "the_work_tree_itself_is_gone",
    "a_link_in_place_of_the_work_tree",
)
CHOSEN = [case for case in CASES if case.name in IN_CONTAINERS]


@pytest.fixture(scope="module")
def ran(bench: AgentBench) -> Iterator[dict[str, Future[AgentFacts]]]:
    with ThreadPoolExecutor(4) as pool:
        yield {case.name: pool.submit(bench.run, case.script, **case.more) for case in CHOSEN}


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_what_an_agent_leaves(bench: AgentBench, ran: dict[str, Future[AgentFacts]], case: Case):
    facts = ran[case.name].result()
    assert facts.exit_code == 0, facts.log
    assert bench.left(facts) == case.left
    assert facts.left_out == case.out


def test_an_ordinary_user_may_change_all_and_has_a_home(as_user: AgentBench):
    facts = as_user.run(
        "id -u; echo $HOME; touch ~/x; git status --short; echo 'two = 3' >src/deep/two.py;"
        " rm kept.txt; echo x >new; stat -c %u new src .git",
        altered=("src/one.py", "docs/read me.md", "src/deep/two.py"),
        setup=(
            "id -u >built; mkdir -p build; echo b >build/b; echo more >>kept.txt; rm run.sh",
            "touch ~/.made",
        ),
    )
    assert (facts.exit_code, facts.warnings, facts.left_out) == (0, (), ()), facts.log
    assert facts.log.decode().splitlines() == [
        "1234",
        "/home/tester",
        ' M "docs/read me.md"',
        " M kept.txt",  # by set-up lines
        " D run.sh",
        " M src/deep/two.py",  # by the build: an agent sees what is there, and it is not counted as its work
        " M src/one.py",
        "?? built",
        "?? src/version.py",
        *["1234"] * 3,
    ]
    assert as_user.left(facts) == {
        "kept.txt": (0, b""),
        "new": (REGULAR, b"x\n"),
        "src/deep/two.py": (REGULAR, b"two = 3\n"),
    }


def test_V10_nothing_outside_the_work_tree_is_part_of_a_candidate(bench: AgentBench):
    """Rewards, start-up files of interpreters, folders of a name that begins alike: they end with the container."""
    facts = bench.run(
        "mkdir -p /logs /work-too /tests; echo 1 | tee /logs/reward.txt /work-too/a /tests/conftest.py /workshop"
        " /usr/lib/python3/dist-packages/sitecustomize.py ~/.pytest.ini >/dev/null; echo x >inside"
    )
    assert facts.exit_code == 0, facts.log
    assert bench.left(facts) == {"inside": (REGULAR, b"x\n")}
    assert facts.left_out == ()
