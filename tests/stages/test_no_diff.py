"""Patches that hold no change: graded without a container, and told by what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest
from sampleplace import Scripted, sample_place

from berbench.model.grading import GradeName
from berbench.model.trial import Facts, Trial
from berbench.stages.verify import NO_DIFF, NOTHING, grade_patch


def _coloured(patch: bytes) -> bytes:
    return b"".join(b"\x1b[1m" + line + b"\x1b[m\n" for line in patch.splitlines())


def _wide(patch: bytes) -> bytes:
    return patch.decode().encode("utf-16")


def test_a_patch_that_is_no_diff_is_told_apart_from_one_that_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    class Unused(Scripted):
        def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
            raise AssertionError("no container is started for it")

    spoilt: list[tuple[Callable[[bytes], bytes], str]] = [
        (lambda _: b"", NOTHING),
        (lambda _: b" \n\n", NOTHING),
        (lambda _: b"I could not solve it.\n", NO_DIFF),
        (lambda _: bytes(range(256)) * 9, NO_DIFF),
        (_coloured, NO_DIFF),
        (_wide, NO_DIFF),
    ]
    with sample_place(tmp_path_factory.mktemp("no-diff")) as place:
        created = place.create(place.pull("Leave words out of top()"))
        files = place.project.read_task(created.id)
        whole = (created.folder / "reference.patch").read_bytes()
        for spoil, reason in spoilt:
            grade = grade_patch(place.bench_with(Unused()), files, b"", spoil(whole), print).grade
            assert (grade.name, grade.reasons) == (GradeName.FAIL, (reason,)), spoil(whole)[:40]
