from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from agent_bench import AgentBench, make_bench
from candidate_cases import CASES, Case

from berbench.agents.candidate import leaves
from berbench.engine.fake import FakeEngine
from berbench.engine.members import as_told
from berbench.model.cells import AgentFacts
from berbench.model.changes import REGULAR, FileEntry


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentBench]:
    engine = FakeEngine()
    bench = make_bench(engine, tmp_path_factory.mktemp("agents"), "FROM x\nWORKDIR /work\nCOPY . .\n", "fake")
    yield bench
    bench.history.close()
    engine.close()


@pytest.fixture(scope="module")
def ran(bench: AgentBench) -> Iterator[dict[str, Future[AgentFacts]]]:
    with ThreadPoolExecutor(3) as pool:
        yield {case.name: pool.submit(bench.run, case.script, **case.more) for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_an_agent_leaves(bench: AgentBench, ran: dict[str, Future[AgentFacts]], case: Case):
    facts = ran[case.name].result()
    assert facts.exit_code == 0, facts.log
    assert bench.left(facts) == case.left
    assert facts.left_out == case.out


def test_planted_configuration_is_never_the_agents_work(bench: AgentBench):
    planted = (FileEntry("CLAUDE.md", REGULAR, b"be good\n"), FileEntry("kept.txt", REGULAR, b"planted\n"))
    facts = bench.run("cat CLAUDE.md kept.txt; git status --short; echo x >x", planted=planted)
    assert facts.log == b"be good\nplanted\n"
    assert bench.left(facts) == {"x": (REGULAR, b"x\n")}
    facts = bench.run("echo mine >CLAUDE.md; rm kept.txt", planted=planted)
    assert facts.candidate == b""


@pytest.mark.parametrize("altered", [("src/one.py",), None])
def test_P31_what_a_build_changed_is_no_change_of_the_agents(tmp_path: Path, altered: tuple[str, ...] | None):
    engine = FakeEngine(tmp_path / "engine")
    bench = make_bench(engine, tmp_path, "FROM x\nWORKDIR /work\nCOPY . .\n", "generated")
    [folder] = (tmp_path / "engine" / "images").iterdir()
    (folder / "src" / "one.py").write_text("one = 'generated'\n")
    (folder / "src" / "version.py").write_text("made = 'by the build'\n")
    facts = bench.run("touch src/one.py src/version.py; echo 'two = 3' >src/deep/two.py", altered=altered)
    assert bench.left(facts) == {"src/deep/two.py": (REGULAR, b"two = 3\n")}
    facts = bench.run("echo more >>src/one.py; echo more >>src/version.py", altered=altered)
    assert bench.left(facts) == {
        "src/one.py": (REGULAR, b"one = 'generated'\nmore\n"),
        "src/version.py": (REGULAR, b"made = 'by the build'\nmore\n"),
    }
    bench.history.close()


@pytest.mark.parametrize(
    ("path", "target", "out"),
    [
        ("a", "b", False),
        ("a", "/b", True),
        ("a", "..", True),
        ("d/a", "..", False),
        ("d/a", "../..", True),
        ("d/a", "../b", False),
        ("a", "b/../../c", True),
        ("a", "..b", False),
        ("a", "", False),
    ],
)
def test_links_that_leave(path: str, target: str, out: bool):
    assert leaves(path, target) is out


def test_names_are_compared_as_engines_tell_them():
    assert as_told("a-\udce9\udcff.txt") == "a-\ufffd\ufffd.txt"
    assert as_told("é.txt") == "é.txt"
