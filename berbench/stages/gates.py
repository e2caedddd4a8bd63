"""What a run is held against: a least pass rate, an earlier run, and that no task was skipped.

Both rates count as reports do: the attempts of a task are averaged first, then the tasks. Cells without a
measurement count for neither side; a configuration that was measured nowhere can't pass a gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from berbench.model.cells import CellOutcome

NOP = "nop"  # must solve nothing, so no rate is asked of it

Rates = Mapping[str, Mapping[str, float]]  # configuration → task → share of its attempts that pass


def rates(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Shares from the `cells` of a `berbench.run/1` document."""
    seen: dict[str, dict[str, list[bool]]] = {}
    for row in rows:
        tasks = seen.setdefault(row["label"], {})
        if row["outcome"] != CellOutcome.ERROR:
            tasks.setdefault(row["task"], []).append(row["outcome"] == CellOutcome.PASS)
    return {
        label: {task: sum(passes) / len(passes) for task, passes in tasks.items()}
        for label, tasks in seen.items()
    }


def below(found: Rates, least: float) -> tuple[str, ...]:
    """The configurations that pass less than `least` (0 to 1) of their tasks, a sentence each."""
    asked = {label: tasks for label, tasks in found.items() if label != NOP}
    if not asked:
        return ("--min-pass-rate: nothing was measured",)
    return tuple(
        f"--min-pass-rate: {label} {_told(tasks)}, and {least:.0%} was asked for"
        for label, tasks in asked.items()
        if not tasks or _mean(tasks.values()) < round(least, 9)
    )


def _told(tasks: Mapping[str, float]) -> str:
    if not tasks:
        return "was measured on no task"
    return f"passes {_mean(tasks.values()):.0%} of {len(tasks)} task{'s' * (len(tasks) != 1)}"


def regressed(found: Rates, before: Rates, name: str) -> tuple[str, ...]:
    """The configurations that pass less of the tasks that both runs measured, a sentence each.

    Any loss counts: cells that nothing changed for are the same measurements, so there is no luck in them.
    """
    shared = [label for label in found if label in before]
    if not shared:
        return (f"--no-regression-against: no configuration was measured in {name} as well",)
    said = []
    for label in shared:
        tasks = [task for task in found[label] if task in before[label]]
        if not tasks:
            said.append(f"--no-regression-against: {label} has no task in common with {name}")
            continue
        old, new = (_mean([side[label][task] for task in tasks]) for side in (before, found))
        if new < old:
            lost = [task for task in tasks if found[label][task] < before[label][task]]
            many = f"{len(tasks)} common task{'s' * (len(tasks) != 1)}"
            said.append(
                f"--no-regression-against: {label} passes {new:.0%} of {many}, and {old:.0%} in {name}: "
                f"worse on {_some(lost)}"
            )
    return tuple(said)


def stale(skipped: Sequence[Any]) -> tuple[str, ...]:
    """Whether tasks were skipped, as one sentence."""
    if not skipped:
        return ()
    names = _some([row["task"] for row in skipped])
    return (
        f"--fail-on-stale: {len(skipped)} task{'s were' if len(skipped) > 1 else ' was'} skipped: {names}",
    )


def _mean(shares: Iterable[float]) -> float:
    found = list(shares)
    # Sums of thirds and tenths are not exact; what is equal must not differ in the last digit.
    return round(sum(found) / len(found), 9)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
