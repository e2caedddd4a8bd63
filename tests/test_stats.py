"""Rates, intervals, paired differences, amounts that are known in part, and the front of what is best value."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berbench.stats import Amount, Paired, amount, front, paired, rate, wilson

SHARES = st.floats(0, 1)
WEIGHTS = st.floats(1e-3, 1e3)


@pytest.mark.parametrize(
    ("share", "number", "low", "high"),
    # Newcombe, Stat. Med. 17 (1998), table I, method 3.
    [
        (81 / 263, 263, 0.2553, 0.3662),
        (15 / 148, 148, 0.0624, 0.1605),
        (0 / 20, 20, 0.0, 0.1611),
        (1 / 29, 29, 0.0061, 0.1718),
    ],
)
def test_wilsons_interval_is_the_published_one(share: float, number: int, low: float, high: float) -> None:
    ends = wilson(share, number)
    assert ends.low == pytest.approx(low, abs=5e-5)
    assert ends.high == pytest.approx(high, abs=5e-5)


@given(SHARES, st.floats(0.5, 1e6))
def test_an_interval_holds_its_share_and_stays_within_bounds(share: float, number: float) -> None:
    ends = wilson(share, number)
    assert 0 <= ends.low <= share <= ends.high <= 1


@pytest.mark.parametrize(("share", "number"), [(0.5, 0), (0.5, -1), (1.5, 3), (-0.1, 3), (math.nan, 3)])
def test_there_is_no_interval_of_nothing(share: float, number: float) -> None:
    with pytest.raises(ValueError, match="no interval"):
        wilson(share, number)


def test_more_tasks_make_an_interval_narrower() -> None:
    widths = [wilson(0.5, number).high - wilson(0.5, number).low for number in (5, 10, 100)]
    assert all(wide > narrow for wide, narrow in pairwise(widths))


def test_a_rate_is_the_weighted_mean_over_tasks() -> None:
    found = rate([(1.0, 3.0), (0.0, 1.0)])
    assert found.value == 0.75
    assert found.tasks == 2
    assert found.interval == wilson(0.75, 16 / 10)  # (3 + 1)² / (9 + 1) tasks, no more


def test_equal_weights_of_any_size_change_nothing() -> None:
    shares = [1.0, 0.5, 0.0, 0.0]
    plain = rate([(share, 1.0) for share in shares])
    assert plain.interval == wilson(0.375, 4)
    for weight in (2.0**-600, 0.25, 2.0**600):
        scaled = rate([(share, weight) for share in shares])
        assert (scaled.value, scaled.interval) == (plain.value, plain.interval)


def test_a_task_of_no_weight_is_left_out_and_no_task_is_no_rate() -> None:
    assert rate([(1.0, 1.0), (0.0, 0.0)]).value == 1.0
    assert rate([(1.0, 1.0), (0.0, 0.0)]).tasks == 1
    for nothing in ([], [(1.0, 0.0)]):
        found = rate(nothing)
        assert (found.value, found.interval, found.tasks) == (None, None, 0)


@given(st.lists(st.tuples(SHARES, WEIGHTS), min_size=1, max_size=20))
def test_a_rate_lies_among_its_shares(shares: list[tuple[float, float]]) -> None:
    found = rate(shares)
    assert found.value is not None
    assert min(s for s, _ in shares) - 1e-9 <= found.value <= max(s for s, _ in shares) + 1e-9


def test_what_is_unknown_is_never_nothing() -> None:
    assert amount([1.0, None, 3.0]) == Amount(2, 1, 4.0, 2.0)
    assert amount([1.0, None, 3.0]).is_bound
    assert not amount([1.0, 3.0]).is_bound
    assert amount([None, None]) == Amount(0, 2, None, None)
    assert not amount([None, None]).is_bound
    assert amount([]) == Amount()
    assert amount([0.0]).total == 0.0


def test_the_mean_of_what_is_known_in_part_is_a_lower_bound() -> None:
    assert amount([1.0, 3.0]).mean == 2.0
    assert amount([4.0, None]).mean == 2.0
    assert amount([None]).mean is None


def test_pairs_are_counted_over_common_tasks_only() -> None:
    first = {"a": 1.0, "b": 0.5, "c": 0.0, "d": 1.0, "only": 1.0}
    second = {"a": 0.0, "b": 1.0, "c": 0.0, "d": 1.0, "other": 1.0}
    assert paired(first, second, {}) == Paired(4, 1, 1, 2, 0.125)
    assert paired(second, first, {}) == Paired(4, 1, 1, 2, -0.125)


def test_weights_bear_on_the_difference_and_a_task_of_none_is_no_pair() -> None:
    first, second = {"a": 1.0, "b": 0.0, "c": 1.0}, {"a": 0.0, "b": 1.0, "c": 0.0}
    assert paired(first, second, {"a": 3.0, "b": 1.0, "c": 0.0}) == Paired(2, 1, 1, 0, 0.5)


def test_without_a_common_task_there_is_no_difference() -> None:
    assert paired({"a": 1.0}, {"b": 1.0}, {}) == Paired(0, 0, 0, 0, None)


def test_the_front_is_what_nothing_beats() -> None:
    points = [(1.0, 0.2), (2.0, 0.5), (2.0, 0.4), (3.0, 0.5), (0.5, 0.1), (4.0, 0.9)]
    assert front(points) == (True, True, False, False, True, True)
    assert front([(1.0, 0.5), (1.0, 0.5)]) == (True, True)
    assert front([]) == ()


@given(st.lists(st.tuples(st.floats(0, 9), SHARES), min_size=1, max_size=12))
def test_there_is_always_something_that_nothing_beats(points: list[tuple[float, float]]) -> None:
    assert any(front(points))
