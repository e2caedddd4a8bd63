"""From what was seen of each change to one number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berbench.model.grading import Grade, GradeName
from berbench.model.trial import Evidence, Facts, Outcome, TestResult
from berbench.strength.adversaries import CONFTEST, DELETES, EXITS, STUBS, adversaries
from berbench.strength.score import WEIGHTS, Score, score_of
from berbench.strength.seen import Noticed, sight
from berbench.verdicts import Trialed

NO, TESTS, BREAKS = Noticed.NO, Noticed.TESTS, Noticed.BREAKS


def test_the_weights_are_whole() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("hunks", "mutants", "guesses", "score"),
    [
        ([TESTS, TESTS], [TESTS], 0, Score(1.0, 1.0, 1.0, 1.0)),
        ([TESTS, NO], [], 0, Score(0.643, 0.5, None, 1.0)),
        ([NO], [NO], 1, Score(0.1, 0.0, 0.0, 0.5)),
        ([], [], 0, Score(None, None, None, 1.0)),
        ([Noticed.NO_CODE, Noticed.APART], [], 3, Score(None, None, None, 0.25)),
        ([Noticed.WHOLE, Noticed.NO_CODE], [], 0, Score(1.0, 1.0, None, 1.0)),
        ([BREAKS, Noticed.TIMEOUT], [BREAKS], 0, Score(1.0, 1.0, None, 1.0)),
        ([], [TESTS, NO, BREAKS], 0, Score(0.7, None, 0.5, 1.0)),
    ],
)
def test_what_was_not_measured_counts_for_nothing(
    hunks: list, mutants: list, guesses: int, score: Score
) -> None:
    assert score_of(hunks, mutants, guesses) == score


def test_S11_a_task_that_an_adversary_wins_is_worth_nothing() -> None:
    assert score_of([TESTS], [TESTS], 0, passed_by_adversary=True).total == 0


@given(st.lists(st.sampled_from(list(Noticed))), st.lists(st.sampled_from(list(Noticed))), st.integers(0, 50))
def test_a_score_is_within_its_bounds_and_never_rises_with_what_is_missed(
    hunks: list, mutants: list, guesses: int
) -> None:
    score = score_of(hunks, mutants, guesses)
    for part in (score.total, score.hunks, score.mutants, score.scope):
        assert part is None or 0 <= part <= 1
    worse = score_of([*hunks, NO], mutants, guesses + 1)
    assert worse.total is not None
    assert score.hunks is None or worse.total <= score.total  # type: ignore[operator]


def _trialed(*results: TestResult, **facts: object) -> Trialed:
    lost = bool(facts.pop("lost", False))
    return Trialed(Facts("x", 1, **facts), Evidence("junit", results, collection_failed=lost))  # type: ignore[arg-type]


FAILED, ERROR = TestResult("a", Outcome.FAILED), TestResult("a", Outcome.ERROR)
PASSED = TestResult("b", Outcome.PASSED)


@pytest.mark.parametrize(
    ("grade", "trial", "noticed"),
    [
        (Grade(GradeName.PASS, tests=(PASSED,)), _trialed(), NO),
        (Grade(GradeName.FAIL, tests=(FAILED, PASSED)), _trialed(), TESTS),
        (Grade(GradeName.FAIL, tests=(PASSED,), missing=("a",)), _trialed(), TESTS),
        (Grade(GradeName.FAIL, missing=("a", "b")), _trialed(lost=True), BREAKS),
        (Grade(GradeName.FAIL, tests=(FAILED,), missing=("b",)), _trialed(lost=True), TESTS),
        (Grade(GradeName.FAIL, tests=(ERROR, PASSED)), _trialed(), BREAKS),
        (Grade(GradeName.FAIL), _trialed(setup_failed="pip install ."), BREAKS),
        (Grade(GradeName.NO_TESTS_RAN), _trialed(), BREAKS),
        (Grade(GradeName.TIMEOUT), _trialed(), Noticed.TIMEOUT),
        (Grade(GradeName.OUT_OF_MEMORY), _trialed(), Noticed.OUT_OF_MEMORY),
        (Grade(GradeName.INCONSISTENT, tests=(PASSED,)), _trialed(), TESTS),
    ],
)
def test_only_a_pass_is_unnoticed(grade: Grade, trial: Trialed, noticed: Noticed) -> None:
    assert sight(grade, [trial]).noticed is noticed


CODE = b"def f(x):\n    return x + 1\n"


def test_S11_adversaries_for_python() -> None:
    made = adversaries(["a.py", "tests/test_a.py"], {"a.py": (b"x = 1", CODE)}, {"a.py": [2]})
    found = {one.name: one for one in made}
    assert found[DELETES].deletes == ("tests/test_a.py",)
    assert list(found[CONFTEST].writes) == ["conftest.py"]
    assert found[EXITS].writes == {"a.py": b'x = 1\n__import__("os")._exit(0)\n'}
    assert found[STUBS].writes == {"a.py": b"def f(x):\n    return None\n"}
    assert not any(one.absent for one in made)


def test_S11_what_is_not_written_for_a_language_says_so() -> None:
    found = {one.name: one for one in adversaries(["a.go"], {"a.go": (b"", b"package a\n")}, {})}
    assert all(one.absent and not one.writes for one in found.values())
    script = {one.name: one for one in adversaries(["a.js"], {"a.js": (b"", b"let x;\n")}, {})}
    assert script[EXITS].writes == {"a.js": b"\nprocess.exit(0);\n"}
