"""Canaries in a trial's results."""

from __future__ import annotations

from collections.abc import Sequence

from berbench.model.grading import Canary
from berbench.model.trial import TestResult


def split(
    results: Sequence[TestResult], canaries: Sequence[Canary]
) -> tuple[dict[str, tuple[TestResult, ...]], tuple[TestResult, ...]]:
    """(results by canary's name, empty for one that is missing; the results of all other tests).

    A canary's name is a part of its id under every runner, and of no other test's, so a repeat (`…#2`) is its too.
    """
    seen: dict[str, list[TestResult]] = {canary.name: [] for canary in canaries}
    others = []
    for result in results:
        name = next((name for name in seen if name in result.id), None)
        if name is None:
            others.append(result)
        else:
            seen[name].append(result)
    return {name: tuple(found) for name, found in seen.items()}, tuple(others)
