"""Rows on what candidates bring beside their change: binaries, ignored files, junk. Nothing of it loses the change."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "candidates"))

from candidatebench import BASE, CandidateBench

ELF = b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 8
DUMP = b"REDIS0011\xfa\x00\xff" + b"\x00" * 64
FIX = {"src/app.py": b"x = 2\n"}


@pytest.fixture
def bench(tmp_path: Path) -> CandidateBench:
    return CandidateBench(tmp_path, {**BASE, ".gitignore": b"build/\n*.log\n", "data.bin": DUMP})


def test_P02_binaries_beside_a_change_lose_nothing_of_it(bench: CandidateBench) -> None:
    left = {"a.out": ELF, "dump.rdb": DUMP, "data.bin": ELF}
    patch = bench.patch({**FIX, **left})
    assert b"GIT binary patch" in patch and b"Binary files" not in patch
    prepared = bench.prepare(patch)
    assert prepared.tree == bench.tree_with({**FIX, **left})
    assert prepared.dropped == ()


def test_P28_new_files_that_the_repository_ignores_are_part_of_a_candidate(bench: CandidateBench) -> None:
    made = {"build/gen.py": b"made = True\n", "run.log": b"log\n"}
    prepared = bench.prepare({**FIX, **made})
    assert prepared.tree == bench.tree_with({**FIX, **made})


def test_P29_a_scratch_test_left_at_the_top_runs_in_no_trial(bench: CandidateBench) -> None:
    """It stays in the tree, for it may be more than junk; but the command names the hidden tests and nothing else."""
    prepared = bench.prepare(
        {**FIX, "scratch.py": b"1/0\n", "tests/test_scratch.py": b"def test(): assert 0\n"}
    )
    assert prepared.tree == bench.tree_with({**FIX, "scratch.py": b"1/0\n"})
    assert [dropped.path for dropped in prepared.dropped] == ["tests/test_scratch.py"]


def test_V11_bytecode_never_reaches_a_trial(bench: CandidateBench) -> None:
    planted = {"src/__pycache__/app.cpython-311.pyc": b"planted", "src/old.pyc": b"planted"}
    prepared = bench.prepare({**FIX, **planted})
    assert prepared.tree == bench.tree_with(FIX)
    assert {dropped.path for dropped in prepared.dropped} == set(planted)
