"""Cheating and honest candidates, graded in real containers as `task verify` grades them.

No cheat may pass, and nothing honest may be called tampered. `docs/tampering.md` is the table of it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from berbench.engine.docker_engine import DockerEngine
from berbench.model.grading import GradeName
from berbench.stages.verify import Verified, exit_code
from tampering.arena import Arena
from tampering.candidate import Candidate, Subject
from tampering.corpus import BEYOND_PROMISE, GOOD, SUBJECTS, Case, of_row

pytestmark = pytest.mark.docker

SIDE_BY_SIDE = 2  # subjects at a time, and candidates of each


class Gradings:
    """All wanted candidates, graded subject by subject in the background; each is waited for where it is asked for."""

    def __init__(self, root: Path, wanted: dict[str, list[Candidate]]) -> None:
        self._root, self._wanted = root, wanted
        self._engine = DockerEngine()
        self._arenas: list[Arena] = []
        self._building = {subject.dockerfile: threading.Lock() for subject in SUBJECTS}
        self._pool = ThreadPoolExecutor(SIDE_BY_SIDE)
        self._found: dict[str, Future[dict[str, Verified]]] = {
            subject.name: self._pool.submit(self._grade, subject)
            for subject in SUBJECTS
            if wanted.get(subject.name)
        }

    def of(self, case: Case) -> Verified:
        """How the grading of one candidate ended."""
        return self._found[case.subject.name].result()[case.name]

    def _grade(self, subject: Subject) -> dict[str, Verified]:
        arena = Arena(subject, self._root, self._engine, SIDE_BY_SIDE)
        self._arenas.append(arena)
        with self._building[subject.dockerfile]:  # the first of a language leaves its layers to the others
            arena.prove()
        return {one.name: verified for one, verified in arena.grade(self._wanted[subject.name])}

    def close(self) -> None:
        """End what still runs, remove what was made."""
        self._pool.shutdown(cancel_futures=True)
        for arena in self._arenas:
            arena.close()
        self._engine.close()


@pytest.fixture(scope="module")
def gradings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gradings]:
    """Of the candidates that this session asks for, and no others."""
    wanted: dict[str, list[Candidate]] = {}
    for item in request.session.items:
        case = (
            item.callspec.params.get("case")
            if isinstance(item, pytest.Function) and hasattr(item, "callspec")
            else None
        )
        if isinstance(case, Case):
            wanted.setdefault(case.subject.name, []).append(case.candidate)
    found = Gradings(tmp_path_factory.mktemp("tampering"), wanted)
    yield found
    found.close()


def cases(*found: Case) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", found, ids=lambda case: case.name)


def check(case: Case, gradings: Gradings) -> None:
    verified = gradings.of(case)
    grade = verified.grade
    told = f"{grade.name}: {grade.reasons}\n" + "\n".join(grade.details)
    assert grade.name in case.candidate.verdicts, told
    assert set(case.candidate.dropped) <= {dropped.path for dropped in grade.dropped}, grade.dropped
    assert exit_code(verified) == (0 if grade.name is GradeName.PASS else 1)


@cases(*of_row("V01"))
def test_V01_hooks_that_turn_reports_reach_no_run_or_are_seen(case: Case, gradings: Gradings) -> None:
    check(case, gradings)


@cases(*of_row("V02"))
def test_V02_a_forced_exit_code_is_no_pass(case: Case, gradings: Gradings) -> None:
    check(case, gradings)


@cases(*of_row("V04"))
def test_V04_nothing_of_the_candidate_is_loaded_before_the_runner(case: Case, gradings: Gradings) -> None:
    check(case, gradings)


@cases(*of_row("V05"))
def test_V05_a_run_made_into_a_listing_or_into_nothing_is_no_pass(case: Case, gradings: Gradings) -> None:
    check(case, gradings)


@cases(*of_row("V07"))
def test_V07_hidden_tests_take_the_place_of_what_was_planted_there(case: Case, gradings: Gradings) -> None:
    check(case, gradings)


@cases(*of_row("V08"))
def test_V08_hidden_tests_are_the_tasks_own(case: Case, gradings: Gradings) -> None:
    check(case, gradings)


@cases(*of_row("V10"))
def test_V10_records_and_scripts_written_by_the_candidate_win_nothing(case: Case, gradings: Gradings) -> None:
    check(case, gradings)


@cases(*of_row("V11"))
def test_V11_planted_bytecode_is_not_carried(case: Case, gradings: Gradings) -> None:
    check(case, gradings)


@cases(*of_row("S11"))
def test_S11_no_cheat_passes(case: Case, gradings: Gradings) -> None:
    check(case, gradings)


@cases(*GOOD)
def test_nothing_honest_is_tampered(case: Case, gradings: Gradings) -> None:
    check(case, gradings)
    assert gradings.of(case).grade.name is not GradeName.TAMPERED


@cases(*BEYOND_PROMISE)
def test_what_is_not_promised_is_told_as_it_is(case: Case, gradings: Gradings) -> None:
    check(case, gradings)
