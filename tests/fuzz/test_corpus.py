"""Inputs that once broke a reader never do so again, and a few fresh ones are tried in every run.

New ones are looked for by `python -m benchmarks.fuzz`; what it finds is mended, then kept in corpus/.
"""

from __future__ import annotations

import random

import pytest

from benchmarks.fuzz.limits import MAX_BYTES, TooLong, smaller, try_input
from benchmarks.fuzz.mutation import mutate
from benchmarks.fuzz.targets import CORPUS, TARGETS
from berbench.errors import Refusal

SLACK = 3.0  # a run of all tests has other things to do as well
FRESH = 12
SLOW = {"apply": 2, "shell": 4, "prompts": 4}  # fresh inputs of targets that start processes or read much


@pytest.mark.parametrize("name", TARGETS)
def test_kept_inputs_break_no_rule(name: str) -> None:
    target = TARGETS[name]
    kept = sorted(target.corpus.glob("*"))
    failures = [(path.name, try_input(target.check, path.read_bytes(), seconds=SLACK)) for path in kept]
    assert [f"{input_}: {failure}" for input_, failure in failures if failure] == []
    assert kept or name in {"go", "tap", "rust", "summary", "junit", "lines", "evidence", "cells"}


@pytest.mark.parametrize("name", TARGETS)
def test_fresh_inputs_break_no_rule(name: str) -> None:
    target, dice = TARGETS[name], random.Random(7)
    pool = [data for data in target.inputs() if len(data) < 4096]
    for _ in range(SLOW.get(name, FRESH)):
        data = mutate(dice, dice.choice(pool), pool, target.words)
        failure = try_input(target.check, data[:4096], seconds=SLACK)
        assert failure is None, f"{data!r}: {failure}"


def test_the_corpus_is_small() -> None:
    sizes = [path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()]
    assert sum(sizes) < 200_000


def test_what_breaks_a_rule_is_told_by_kind_and_place() -> None:
    def refuses(data: bytes) -> None:
        raise Refusal("no")

    def breaks(data: bytes) -> None:
        if b"x" in data:
            raise KeyError("x")

    def hangs(data: bytes) -> None:
        while True:
            pass

    def hoards(data: bytes) -> None:
        assert len(bytearray(200 << 20)) > len(data)

    assert try_input(refuses, b"") is None
    assert try_input(breaks, b"a") is None
    broken, slow = try_input(breaks, b"x"), try_input(hangs, b"", seconds=0.02)
    large = try_input(hoards, b"", memory=True)
    assert broken and broken.kind == "raises" and broken.key == "KeyError at test_corpus.py:breaks"
    assert slow and slow.kind == "takes too long" and TooLong.__name__ in slow.detail
    assert large and large.kind == "takes too much memory"
    shortest = smaller(b"aaaxbbb" * 50, lambda data: try_input(breaks, data) is not None)
    assert shortest == b"x"


def test_changed_inputs_stay_within_bounds() -> None:
    dice, pool = random.Random(1), [b"", b"a\nb 1\n", b"x" * MAX_BYTES]
    changed = [mutate(dice, dice.choice(pool), pool, (b"word",)) for _ in range(300)]
    assert max(map(len, changed)) <= MAX_BYTES
    assert len(set(changed)) > 150
