"""What a cell used: the steps of a workflow together, and a cost from prices where the tool tells none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from berbench.model.cells import Configuration, Usage

Number = TypeVar("Number", int, float)

PER = 1_000_000  # tokens that a price is for


def priced(usage: Usage, configuration: Configuration) -> Usage:
    """The usage with a cost by the tool's `prices`, where it tells tokens and no cost.

    Cached tokens count in full, so the cost is what it may have been at most. Unknown stays unknown.
    """
    prices = configuration.tool.prices.get(configuration.model)
    if usage.cost_usd is not None or prices is None:
        return usage
    if usage.input_tokens is None or usage.output_tokens is None:
        return usage
    cost = (usage.input_tokens * prices[0] + usage.output_tokens * prices[1]) / PER
    return replace(usage, cost_usd=cost)


def together(usages: Sequence[Usage]) -> Usage:
    """The steps of one cell as one. A sum with an unknown part is unknown; what was said last is the last step's."""
    if len(usages) == 1:
        return usages[0]
    cut = next((one for one in reversed(usages) if one.refused or one.unanswered), Usage())
    return Usage(
        input_tokens=_sum([one.input_tokens for one in usages]),
        cached_tokens=_sum([one.cached_tokens for one in usages]),
        output_tokens=_sum([one.output_tokens for one in usages]),
        cost_usd=_sum([one.cost_usd for one in usages]),
        turns=_sum([one.turns for one in usages]),
        final_message=usages[-1].final_message if usages else "",
        refused=cut.refused,
        unanswered=cut.unanswered,
    )


def _sum(parts: Sequence[Number | None]) -> Number | None:
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    total = known[0]
    for part in known[1:]:
        total += part
    return total
