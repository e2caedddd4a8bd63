"""Trials that should end alike: what counts as a disagreement, and what the verdict says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from berbench.model.trial import Evidence, Facts, Outcome, ReportFile, TestResult, Verdict, VerdictName
from berbench.verdicts import Hidden, Trialed
from berbench.verdicts.luck import (
    Pair,
    clock_unmoved,
    judge_clock,
    judge_order,
    judge_repeats,
    order_unproven,
)

HIDDEN = Hidden(("tests/test_x.py",))


def trial(code: int | None, tests: str, *, runner: str = "pytest", **facts: object) -> Trialed:
    """A trial from words: `a+ b- c?` are tests that passed, failed, were skipped."""
    outcomes = {"+": Outcome.PASSED, "-": Outcome.FAILED, "?": Outcome.SKIPPED}
    results = tuple(
        TestResult(f"tests/test_x.py::{word[:-1]}", outcomes[word[-1]], "tests/test_x.py")
        for word in tests.split()
    )
    counts = tuple((o, n) for o in Outcome if (n := sum(r.outcome is o for r in results)))
    evidence = Evidence("junit", results, counts, runner=runner)
    return Trialed(replace(Facts("x", code), **facts), evidence)  # type: ignore[arg-type]


def ids(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/test_x.py::{name}" for name in names)


SOUND = Pair(trial(1, "new- other- old+"), trial(0, "new+ other+ old+"))


def repeats(*pairs: Pair) -> Verdict:
    return judge_repeats([pairs[0], *(replace(pair, label="repeated") for pair in pairs[1:])], HIDDEN)


def test_repeats_that_agree_prove_what_one_does() -> None:
    assert repeats(SOUND, SOUND, SOUND) == repeats(SOUND)
    assert repeats(SOUND).name is VerdictName.VALIDATED


def test_a_test_that_moves_is_named_with_how_it_moved() -> None:
    moved = Pair(SOUND.base, trial(1, "new+ other- old+"))
    found = repeats(SOUND, moved, SOUND)
    assert found.name is VerdictName.FLAKY
    assert (found.moved, found.moved_by) == (ids("other"), "repeat")
    assert found.details == (
        "tests/test_x.py::other with the reference: passed 2, failed 1",
        "exit code with the reference: 0, 1, 0",
    )
    assert found.fail_to_pass == ids("new") and found.pass_to_pass == ids("old")
    assert found.quarantinable and "--quarantine-flaky" in found.remedy


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_it_does_not_matter_which_repeat_is_the_unlucky_one(bad: int) -> None:
    pairs = [SOUND, SOUND, SOUND]
    pairs[bad] = Pair(trial(1, "new- other+ old+"), SOUND.reference)
    assert repeats(*pairs).moved == ids("other")


def test_a_test_that_is_missing_from_a_repeat_has_moved() -> None:
    found = repeats(SOUND, Pair(SOUND.base, trial(0, "new+ old+")))
    assert found.moved == ids("other")
    assert "passed 1, missing 1" in found.details[0]


def test_a_skip_instead_of_a_pass_has_moved_though_every_exit_code_is_right() -> None:
    found = repeats(SOUND, Pair(SOUND.base, trial(0, "new+ other+ old?")))
    assert (found.name, found.moved) == (VerdictName.FLAKY, ids("old"))


def test_where_all_that_shows_the_change_moves_nothing_is_left_to_prove() -> None:
    pair = Pair(trial(1, "new- old+"), trial(0, "new+ old+"))
    found = repeats(pair, Pair(trial(0, "new+ old+"), pair.reference))
    assert found.name is VerdictName.FLAKY
    assert not found.quarantinable and "nothing left" in found.remedy


def test_an_exit_code_that_moves_alone_is_a_disagreement() -> None:
    found = repeats(SOUND, Pair(trial(2, "new- other- old+"), SOUND.reference))
    assert (found.name, found.moved) == (VerdictName.FLAKY, ())
    assert "exit code alone" in found.reason and not found.quarantinable


def test_without_readable_evidence_exit_codes_alone_count() -> None:
    blind = Pair(Trialed(Facts("base", 1), Evidence()), Trialed(Facts("reference", 0), Evidence()))
    assert repeats(blind, blind).name is VerdictName.VALIDATED
    other = Pair(blind.base, Trialed(Facts("reference", 1), Evidence()))
    assert repeats(blind, other).name is VerdictName.FLAKY


@pytest.mark.parametrize(
    "name", ["at[0x7f1234567890]", "t (0.03 s)", "t[/tmp/x123/a]", "t[2024-05-01T10:20]"]
)
def test_V19_names_that_change_by_themselves_are_no_disagreement(name: str) -> None:
    with_name = Evidence(
        "junit", (*SOUND.reference.evidence.results, TestResult(name, Outcome.PASSED, "tests/test_x.py"))
    )
    found = repeats(SOUND, Pair(SOUND.base, Trialed(SOUND.reference.facts, with_name)))
    assert found.name is VerdictName.VALIDATED


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        ({"out_of_memory": True}, VerdictName.OUT_OF_MEMORY),
        ({"timed_out": True, "timed_out_in": "verify"}, VerdictName.TIMEOUT),
        ({"setup_failed": "make", "setup_exit_code": 2}, VerdictName.SETUP_FAILED),
    ],
)
def test_a_repeat_that_was_cut_off_is_no_disagreement_of_tests(
    facts: dict[str, object], name: VerdictName
) -> None:
    found = repeats(SOUND, Pair(SOUND.base, trial(None, "", **facts)))
    assert found.name is name
    assert "the repeated reference trial" in found.reason


def test_a_refusal_in_which_all_repeats_agree_keeps_its_name() -> None:
    passing = Pair(trial(0, "new+ old+"), trial(0, "new+ old+"))
    assert repeats(passing, passing).name is VerdictName.BASE_PASSES


def test_another_order_refuses_with_the_seed_and_how_to_repeat_it() -> None:
    other = Pair(trial(1, "old+ new- other-"), trial(1, "old+ other- new+"), "shuffled")
    found = judge_order(SOUND, other, HIDDEN, seed=42)
    assert found is not None and found.name is VerdictName.FLAKY
    assert (found.moved, found.moved_by) == (ids("other"), "order")
    assert "seed 42" in found.reason and "--seed 42" in found.remedy
    assert judge_order(SOUND, SOUND, HIDDEN, seed=42) is None


def test_a_base_that_ends_at_its_first_failure_ends_elsewhere_in_another_order() -> None:
    stopped = Pair(trial(1, "other-"), SOUND.reference, "shuffled")
    assert judge_order(SOUND, stopped, HIDDEN, seed=1) is None
    lost = Pair(SOUND.base, trial(0, "new+ other+"), "shuffled")
    found = judge_order(SOUND, lost, HIDDEN, seed=1)
    assert found is not None and found.moved == ids("old")


def test_another_date_refuses_with_what_rots() -> None:
    other = Pair(trial(1, "new- other- old-"), trial(1, "new+ other+ old-"), "clock-moved")
    found = judge_clock(SOUND, other, HIDDEN, offset="+400d")
    assert found is not None and found.moved == ids("old")
    assert "+400d" in found.reason and "rot with the calendar" in found.remedy
    hung = Pair(SOUND.base, trial(None, "", timed_out=True, timed_out_in="verify"), "clock-moved")
    cut_off = judge_clock(SOUND, hung, HIDDEN, offset="+400d")
    assert cut_off is not None and cut_off.name is VerdictName.TIMEOUT
    assert "clock-moved reference trial" in cut_off.reason


def _noted(name: str, text: bytes) -> Trialed:
    return trial(0, "new+ other+ old+", reports=(ReportFile(name, text),))


def test_an_order_counts_only_where_it_is_seen() -> None:
    usual = SOUND.reference
    assert order_unproven(usual, trial(0, "old+ new+ other+")) == ""
    assert "usual order" in order_unproven(usual, usual)
    assert "only one" in order_unproven(trial(0, "new+"), trial(0, "new+"))
    assert "no report" in order_unproven(usual, Trialed(Facts("x", 0), Evidence()))
    assert order_unproven(usual, _noted("order", b"jest is too old\n")) == "jest is too old"
    assert "did not start" in order_unproven(usual, trial(4, ""))
    # A crash is no option that an old runner does not know.
    assert "did not start" not in order_unproven(usual, trial(139, ""))


def test_vitest_reports_in_the_order_of_the_file_and_says_its_seed() -> None:
    usual = trial(0, "a+ b+", runner="vitest")
    assert "seed" in order_unproven(usual, usual)
    said = Trialed(replace(usual.facts, log=b'Running tests with seed "5"\n'), usual.evidence)
    assert order_unproven(usual, said) == ""


def test_files_that_run_side_by_side_are_no_other_order() -> None:
    def run(*files: str) -> Trialed:
        results = tuple(TestResult(f"{file}.T{n}", Outcome.PASSED, file) for file in files for n in (1, 2))
        return Trialed(Facts("x", 0), Evidence("go-json", results, runner="go"))

    assert "usual order" in order_unproven(run("a", "b"), run("b", "a"))


def test_a_moved_clock_counts_only_where_it_was_seen_to_move() -> None:
    assert clock_unmoved(_noted("clock", b"moved\n").facts) == ""
    assert "libfaketime" in clock_unmoved(_noted("clock", b"install libfaketime in the Dockerfile\n").facts)
    assert "date" in clock_unmoved(Facts("x", 0))
