from __future__ import annotations

import stat
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from agent_bench import NON_UTF8, AgentBench, make_bench
from candidate_cases import CASES, Case

from berbench.agents import candidate
from berbench.agents.candidate import leaves
from berbench.engine import fake_workspace
from berbench.engine.fake import FakeEngine
from berbench.engine.fake_workspace import FakeWorkspace
from berbench.engine.members import as_told
from berbench.model.cells import AgentFacts
from berbench.model.changes import EXECUTABLE, REGULAR, FileEntry
from berbench.stages.imagetree import read_image_tree
from berbench.store import DataDir


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


@pytest.mark.parametrize("looked", [True, False])
def test_P31_what_a_build_changed_is_no_change_of_the_agents(tmp_path: Path, looked: bool):
    engine = FakeEngine(tmp_path / "engine")
    bench = make_bench(engine, tmp_path, "FROM x\nWORKDIR /work\nCOPY . .\n", "generated")
    [folder] = (tmp_path / "engine" / "images").iterdir()
    (folder / "src" / "one.py").write_text("one = 'generated'\n")
    (folder / "src" / "version.py").write_text("made = 'by the build'\n")
    for name in ("kept.txt", "data.bin", "run.sh"):
        (folder / name).chmod(0o644 if name == "run.sh" else 0o775)
    data = DataDir(tmp_path / "data", "x", locks=tmp_path / "locks")
    held = read_image_tree(engine, bench.history, data, bench.image)
    assert (held.changed, set(held.modes)) == (("src/one.py",), {"kept.txt", "data.bin", "run.sh"})
    assert held == read_image_tree(engine, bench.history, data, bench.image)
    altered = (*held.missing, *held.changed, *held.modes) if looked else None
    facts = bench.run("touch src/one.py src/version.py; echo 'two = 3' >src/deep/two.py", altered=altered)
    assert bench.left(facts) == {"src/deep/two.py": (REGULAR, b"two = 3\n")}
    facts = bench.run("echo more >>src/one.py; echo more >>src/version.py", altered=altered)
    assert bench.left(facts) == {
        "src/one.py": (REGULAR, b"one = 'generated'\nmore\n"),
        "src/version.py": (REGULAR, b"made = 'by the build'\nmore\n"),
    }
    facts = bench.run("touch kept.txt; echo y >data.bin; echo x >run.sh", altered=altered)
    assert bench.left(facts) == {"data.bin": (REGULAR, b"y\n"), "run.sh": (EXECUTABLE, b"x\n")}
    facts = bench.run("chmod 600 src/one.py; chmod +x run.sh src/deep/two.py", altered=altered)
    assert bench.left(facts) == {"src/deep/two.py": (EXECUTABLE, b"two = 2\n")}
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


# What an engine that goes by sizes and times does not tell.
LONG_AGO = "find . ! -type d -exec touch -h -d @1600000000 {} +"
QUIET = {
    "an edit": ("echo 'one = 2' >src/one.py", {"src/one.py": b"one = 2\n"}),
    "a link": ("ln -sfn run.shxx link", {"link": b"run.shxx"}),
    "a second name": ("ln -f src/deep/two.py src/one.py", {"src/one.py": b"two = 2\n"}),
    "odd bytes": ("printf 'new\\n' >$(printf 'latin-\\351.txt')", {NON_UTF8: b"new\n"}),
    "none": ("cp src/one.py x; cat x >src/one.py; rm x", {}),
}


def by_size_and_time(tree: Path) -> dict[str, tuple[int, ...]]:
    found = {place.relative_to(tree).as_posix(): place.lstat() for place in tree.rglob("*")}
    return {
        path: (said.st_mode, *((said.st_size, int(said.st_mtime)) if not stat.S_ISDIR(said.st_mode) else ()))
        for path, said in found.items()
    }


@pytest.mark.parametrize("what", QUIET)
def test_an_edit_that_keeps_size_and_time_is_taken_though_engines_go_by_them(
    bench: AgentBench, monkeypatch: pytest.MonkeyPatch, what: str
):
    made = FakeWorkspace.__init__

    def dated(self: FakeWorkspace, room: Path, *more: Any) -> None:
        subprocess.run(["sh", "-c", LONG_AGO], cwd=room / "tree", check=True)
        made(self, room, *more)

    monkeypatch.setattr(fake_workspace, "_marks", by_size_and_time)
    monkeypatch.setattr(FakeWorkspace, "__init__", dated)
    script, left = QUIET[what]
    facts = bench.run(f"{script}; {LONG_AGO}")
    assert {path: data for path, (_, data) in bench.left(facts).items()} == left
    monkeypatch.setattr(FakeWorkspace, "entries", lambda *_: iter(()))
    assert bench.run(f"{script}; {LONG_AGO}").candidate == b""  # by such a list alone


def test_P02_no_source_is_lost_behind_junk(bench: AgentBench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(candidate, "MOST_BYTES", 3000)
    monkeypatch.setattr(candidate, "SMALL", 100)
    facts = bench.run(
        "for i in 1 2 3; do head -c 1450 /dev/urandom >a$i; done; echo 1 >src/one.py; echo x >x"
    )
    left = bench.left(facts)
    assert {"src/one.py", "x"} < set(left) and len(left) == 4
    assert set(facts.left_out) == {"a1", "a2", "a3"} - set(left)
