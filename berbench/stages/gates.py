"""What a run is held against: a least pass rate, an earlier run, and that no task was skipped.

Rates are those of reports, made by the same functions: the attempts of a task are averaged first, then the tasks by
their weights. Cells without a measurement count for neither side; a configuration that was measured nowhere can't
pass a gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from berbench.errors import StoreError
from berbench.model.cells import CellOutcome
from berbench.stages.plan import Plan
from berbench.stages.runrecord import SCHEMA
from berbench.stats import paired, rate
from berbench.store.cells import RESULT, Cells

NOP = "nop"  # must solve nothing, so no rate is asked of it

Shares = Mapping[str, Mapping[str, float]]  # configuration → task → share of its attempts that pass
Weights = Mapping[str, float]  # by task


@dataclass(frozen=True, slots=True)
class Earlier:
    """A run that came to its end. `tasks` are the fingerprints under which it measured."""

    run: str
    shares: Shares
    tasks: Mapping[str, str] = field(default_factory=dict)

    def other_tasks(self, plan: Plan) -> tuple[str, ...]:
        """The tasks that are another problem now than they were then."""
        return tuple(
            task
            for task, ground in plan.grounds.items()
            if self.tasks.get(task, ground.fingerprint) != ground.fingerprint
        )


def earlier(cells: Cells, wanted: str) -> Earlier:
    """A run to be held against, by its id, an experiment's name, or `latest`.

    UsageError when none came to its end, StoreError when its record can't be read: both before anything is paid for.
    """
    run = cells.find_run(wanted, ended=True)
    begun, ended = cells.read_run(run) or {}, cells.read_run(run, RESULT) or {}
    try:
        if ended.get("schema") != SCHEMA:
            raise ValueError
        return Earlier(run, shares(ended["cells"]), dict(begun["tasks"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"The record of run {run} is none that this berbench can hold another run against.",
            remedy="Name another run; `berbench report list` lists them.",
        ) from error


def shares(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
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


def below(found: Shares, weights: Weights, least: float) -> tuple[str, ...]:
    """The configurations that pass less than `least` (0 to 1) of their tasks, a sentence each."""
    asked = {label: tasks for label, tasks in found.items() if label != NOP}
    if not asked:
        return ("--min-pass-rate: nothing was measured",)
    said = []
    for label, tasks in asked.items():
        value, number = _rate(tasks, weights)
        if value is None:
            said.append(f"--min-pass-rate: {label} was measured on no task, and {least:.0%} was asked for")
        elif value < _rounded(least):
            passed, wanted = _percent(value, least)
            said.append(
                f"--min-pass-rate: {label} passes {passed} of {_tasks(number)}, and {wanted} was asked for"
            )
    return tuple(said)


def regressed(
    found: Shares, before: Earlier, weights: Weights, *, without: Sequence[str] = ()
) -> tuple[str, ...]:
    """The configurations that pass less of the tasks that both runs measured, `without` some; a sentence each.

    Any loss counts: cells that nothing changed for are the same measurements, so there is no luck in them.
    """
    same = {task: weight for task, weight in weights.items() if task not in without}
    shared = [label for label in found if label in before.shares]
    if not shared:
        return (f"--no-regression-against: no configuration was measured in {before.run} as well",)
    return tuple(
        told for label in shared if label != NOP and (told := _regressed(label, found, before, same))
    )


def _regressed(label: str, found: Shares, before: Earlier, weights: Weights) -> str:
    now, then = (
        {task: side[label][task] for task in weights if task in side[label]}
        for side in (found, before.shares)
    )
    pair = paired(now, then, weights)
    if pair.difference is None:
        return f"--no-regression-against: {label} has no task in common with {before.run}"
    if _rounded(pair.difference) >= 0:
        return ""
    common = [task for task in now if task in then]
    new, old = (_rate({task: side[task] for task in common}, weights)[0] or 0.0 for side in (now, then))
    passed, passed_before = _percent(new, old)
    lost = [task for task in common if now[task] < then[task] and weights[task] > 0]
    return (
        f"--no-regression-against: {label} passes {passed} of {_tasks(pair.tasks, 'common ')}, and "
        f"{passed_before} in {before.run}: worse on {_some(lost)}"
    )


def stale(skipped: Sequence[Any]) -> tuple[str, ...]:
    """Whether tasks were skipped, as one sentence."""
    if not skipped:
        return ()
    names = _some([row["task"] for row in skipped])
    return (
        f"--fail-on-stale: {len(skipped)} task{'s were' if len(skipped) > 1 else ' was'} skipped: {names}",
    )


def weights_of(plan: Plan) -> dict[str, float]:
    """What each task of a plan counts."""
    return {task: ground.files.task.weight for task, ground in plan.grounds.items()}


def _rate(tasks: Mapping[str, float], weights: Weights) -> tuple[float | None, int]:
    """The rate as reports have it, and the number of tasks that it stands on."""
    found = rate([(share, weights.get(task, 1.0)) for task, share in tasks.items()])
    return (None if found.value is None else _rounded(found.value)), found.tasks


def _rounded(share: float) -> float:
    # Sums of thirds and tenths are not exact; what is equal must not differ in the last digit.
    return round(share, 9)


def _percent(one: float, other: float) -> tuple[str, str]:
    """Both as percentages, with as many digits as tell them apart."""
    pairs = [(f"{one:.{digits}%}", f"{other:.{digits}%}") for digits in range(8)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])


def _tasks(number: int, kind: str = "") -> str:
    return f"{number} {kind}task{'s' * (number != 1)}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
