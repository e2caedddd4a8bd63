"""A run of an experiment: plan, record, measure what is not measured yet, and hold the result against its gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from berbench.errors import ConfigError
from berbench.stages import gates
from berbench.stages.budget import Budget, known_costs
from berbench.stages.crew import Forecast, Shown, Tally, execute
from berbench.stages.measure import Makers
from berbench.stages.plan import Plan, missing_auth
from berbench.stages.runrecord import document, record, skipped_rows
from berbench.store.cells import Cells


@dataclass(frozen=True, slots=True)
class Gates:
    """What the run is held against. `least` is a share from 0 to 1."""

    stale: bool = False
    least: float | None = None
    against: gates.Earlier | None = None


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line asks of a run, the experiment's own settings where it says nothing."""

    concurrency: int
    fresh: bool = False
    ceiling: float | None = None
    gates: Gates = Gates()


def run(
    cells: Cells,
    plan: Plan,
    coming: Forecast,
    wishes: Wishes,
    *,
    makers: Callable[[str], Makers],
    environ: Mapping[str, str],
    now: Callable[[], datetime],
    shown: Shown,
) -> dict[str, Any]:
    """Measure what is due; the `berbench.run/1` document. `makers` opens what cells are measured with, given the
    run's id, and is not asked when nothing is due. ConfigError when a tool lacks what it needs of the host."""
    due = coming.due
    if missing := missing_auth((cell.configuration for cell in due), environ):
        raise ConfigError(
            f"{missing[0]}.",
            remedy="Set it, or leave the configuration out; nothing was started.",
            details=missing[1:],
        )
    began = now()
    cells.sweep()
    started = record(plan, coming, fresh=wishes.fresh, ceiling=wishes.ceiling, concurrency=wishes.concurrency)
    run_id = cells.begin_run(plan.experiment.name, began, started)
    known = known_costs(cells, plan.resolution.configurations) if wishes.ceiling is not None and due else {}
    budget = Budget(wishes.ceiling, plan.experiment.cell_cost_usd, known)
    tally = Tally()
    if due:
        tally = execute(
            makers(run_id),
            plan,
            coming,
            budget=budget,
            concurrency=wishes.concurrency,
            shown=shown,
        )
    found = document(cells, plan, run_id, coming.reused, tally, budget)
    found["gates"] = list(_tripped(plan, found, wishes.gates))
    cells.end_run(run_id, {**found, "started_at": began.isoformat(), "finished_at": now().isoformat()})
    return found


def _tripped(plan: Plan, found: Mapping[str, Any], asked: Gates) -> tuple[str, ...]:
    said: tuple[str, ...] = gates.stale(skipped_rows(plan)) if asked.stale else ()
    shares, weights = gates.shares(found["cells"]), gates.weights_of(plan)
    if asked.least is not None:
        said += gates.below(shares, weights, asked.least)
    if asked.against is not None:
        changed = asked.against.other_tasks(plan)
        said += gates.regressed(shares, asked.against, weights, without=changed)
    return said
