"""What a cell used: prices stand in for a cost that is not told, and what is unknown stays so."""

from __future__ import annotations

import pytest

from berbench.matrix.spending import priced, together
from berbench.model.cells import Configuration, Usage
from berbench.model.tools import ToolDocument

TOOL = ToolDocument(name="t", invoke=("t",), prices={"m": (2.0, 10.0)})
BIG = Usage(input_tokens=500_000, cached_tokens=400_000, output_tokens=100_000)


def test_prices_give_a_cost_where_none_is_told() -> None:
    assert priced(BIG, Configuration(TOOL, "m")).cost_usd == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("usage", "model"),
    [(BIG, "other"), (Usage(input_tokens=5), "m"), (Usage(), "m"), (Usage(5, 0, 5, cost_usd=0.25), "m")],
)
def test_a_cost_that_is_told_stays_and_one_that_can_not_be_known_is_unknown(usage: Usage, model: str) -> None:
    assert priced(usage, Configuration(TOOL, model)) == usage


def test_steps_add_up_and_one_unknown_part_makes_the_sum_unknown() -> None:
    first = Usage(10, 5, 1, 0.5, 2, "plan")
    second = Usage(20, None, 2, 0.25, 1, "done")
    found = together([first, second])
    assert found == Usage(30, None, 3, 0.75, 3, "done")
    assert together([first]) is first
    assert together([first, Usage()]).cost_usd is None
    assert together([]) == Usage()


def test_the_step_that_was_cut_off_says_why() -> None:
    cut = Usage(refused="HTTP 500", unanswered=True)
    found = together([cut, Usage()])
    assert (found.refused, found.unanswered) == ("HTTP 500", True)
