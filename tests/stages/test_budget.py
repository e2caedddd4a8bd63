"""The ceiling of cost: what a cell reserves, and what becomes of the reserve."""

from __future__ import annotations

import pytest

from berbench.model.cells import Cell, Configuration
from berbench.model.tools import ToolDocument
from berbench.stages.budget import Answer, Budget, Known

YES, LATER, NO = Answer
AGENT = Configuration(ToolDocument(name="agent", invoke=("a",)), "m")
CHEAP = Configuration(ToolDocument(name="agent", invoke=("a",)), "s")
NOP = Configuration(ToolDocument(name="nop", type="control"))


def _cells(configuration: Configuration, count: int = 4) -> list[Cell]:
    return [Cell(f"{configuration.label}-{number}", "7", configuration, number) for number in range(count)]


def test_without_a_ceiling_everything_starts_and_is_added_up() -> None:
    budget = Budget(None, None)
    one, two, *_ = _cells(AGENT)
    assert (budget.reserve(one), budget.reserve(two)) == (YES, YES)
    budget.settle(one, 5.0)
    budget.settle(two, None)
    assert (budget.spent, budget.untold) == (5.0, 1)


@pytest.mark.parametrize("controls", [0, 2], ids=["alone", "beside controls"])
def test_the_first_of_unknown_cost_holds_all_that_is_left(controls: int) -> None:
    budget = Budget(1.0, None)
    for control in _cells(NOP, controls):
        assert budget.reserve(control) is YES
    one, two, three, _ = _cells(AGENT)
    assert (budget.reserve(one), budget.reserve(two), budget.reserve(_cells(CHEAP)[0])) == (YES, LATER, LATER)
    budget.settle(one, 0.4)
    assert (budget.reserve(two), budget.reserve(three)) == (YES, LATER)
    budget.settle(two, 0.4)
    assert budget.reserve(three) is NO
    assert budget.reserve(_cells(CHEAP)[0]) is YES
    assert budget.spent == pytest.approx(0.8)


def test_what_is_known_of_like_cells_is_the_reserve() -> None:
    budget = Budget(1.0, 0.1, {"agent/m": Known(0.6, 0.3)})
    one, two, *_ = _cells(AGENT)
    assert (budget.reserve(one), budget.reserve(two)) == (YES, LATER)
    assert budget.reserve(_cells(CHEAP)[0]) is YES  # the guess is for what nothing is known of
    budget.settle(one, 0.9)
    assert budget.reserve(two) is LATER
    budget.release(_cells(CHEAP)[0])
    assert budget.reserve(two) is NO


def test_a_cost_that_is_not_told_counts_as_its_reserve() -> None:
    budget = Budget(1.0, None)
    one, two, *_ = _cells(AGENT)
    assert budget.reserve(one) is YES
    budget.settle(one, None)
    assert (budget.reserve(two), budget.spent, budget.untold) == (NO, 0.0, 1)
    assert budget.reserve(_cells(NOP)[0]) is YES


def test_a_ceiling_of_nothing_starts_controls_alone() -> None:
    budget = Budget(0.0, None)
    assert budget.reserve(_cells(AGENT)[0]) is NO
    assert budget.reserve(_cells(NOP)[0]) is YES
