"""`berbench run`: measure an experiment's configurations on every fresh task."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from berbench.cli.options import ExperimentName, JsonFlag, Settings, Tasks, listed, share_of

if TYPE_CHECKING:
    from berbench.cli.wiring import Workplace
    from berbench.stages.crew import Forecast
    from berbench.stages.plan import Narrowing, Plan
    from berbench.stages.run import Wishes

Tags = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Only tasks with one of these tags.")
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency", "-j", metavar="N", min=1, max=256, help="Cells at once [default: the experiment's]."
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Measure again what is measured already.")]
MaxCost = Annotated[
    float | None,
    typer.Option(
        metavar="USD", min=0, max=1e9, help="Start no cell that could exceed it [default: the experiment's]."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done and what it may cost; do nothing.")
]
FailOnStale = Annotated[bool, typer.Option("--fail-on-stale", help="Exit code 1 when a task is skipped.")]
MinPassRate = Annotated[
    str | None,
    typer.Option(
        metavar="X", help="Exit code 1 when a configuration passes less of its tasks, like 0.8 or 80%."
    ),
]
Against = Annotated[
    str | None,
    typer.Option(
        metavar="RUN",
        help="Exit code 1 when a configuration passes less of the tasks common with this run: an id, an "
        "experiment's name for its last run, or latest.",
    ),
]


def run(
    context: typer.Context,
    name: ExperimentName,
    task: Tasks = None,
    tag: Tags = None,
    concurrency: Concurrency = None,
    fresh: Fresh = False,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    fail_on_stale: FailOnStale = False,
    min_pass_rate: MinPassRate = None,
    no_regression_against: Against = None,
    json: JsonFlag = False,
) -> int:
    """Measure each configuration on each fresh task. What is measured already is not paid for again.

    Stale, unvalidated, forged and broken tasks are skipped by name. A run that was stopped is simply run again.
    `berbench run controls` needs no file and costs nothing.

    Exit code 0 when all that was planned is measured, 1 when a gate trips or the ceiling of cost kept a cell from
    starting, 3 when a cell could not be measured or the engine failed.
    """
    from berbench.cli.console import emit, note
    from berbench.cli.show_run import show_run
    from berbench.cli.wiring import workplace
    from berbench.stages.crew import forecast
    from berbench.stages.gates import earlier
    from berbench.stages.plan import Narrowing
    from berbench.stages.regrade import worth_it
    from berbench.stages.run import Gates, Wishes
    from berbench.stages.runrecord import exit_code

    settings: Settings = context.obj
    # A gate that is asked for with nothing, like --min-pass-rate "$UNSET", must not quietly be no gate.
    least = None if min_pass_rate is None else share_of(min_pass_rate)
    with workplace(settings.repository) as place:
        against = None if no_regression_against is None else earlier(place.cells, no_regression_against)
        plan = _planned(place, name, Narrowing(listed("--task", task), listed("--tag", tag)))
        if against and (changed := against.other_tasks(plan)):
            note(f"changed since {against.run}, so not held against it: {', '.join(changed)}")
        coming = forecast(place.cells, plan, fresh=fresh)
        for told in coming.damaged:
            note(f"{told} It is due again.")
        if not fresh and (count := worth_it(place.cells, plan, coming.due)):
            note(
                f"{count} of the due cells can be graded from stored work, with no agent: berbench regrade {name}"
            )
        if coming.takes_up:
            note(f"taking up a fresh run that was stopped: {coming.reused} of its cells are measured")
        if dry_run:
            _dry(place, plan, coming, json=json)
            return 0
        experiment = plan.experiment
        wishes = Wishes(
            concurrency or experiment.concurrency,
            fresh,
            experiment.max_cost_usd if max_cost is None else max_cost,
            Gates(fail_on_stale, least, against),
        )
        document = _measured(place, plan, coming, wishes, quiet=json)
    if json:
        emit(document)
    show_run(document, quiet=json)
    return exit_code(document)


def _planned(place: Workplace, name: str, narrowing: Narrowing) -> Plan:
    from berbench.stages.experiments import resolved
    from berbench.stages.plan import make_plan

    experiment, resolution = resolved(place.experiments, place.tools, name)
    return make_plan(
        place.project,
        place.history,
        where=place.experiments.where(name),
        experiment=experiment,
        resolution=resolution,
        narrowing=narrowing,
    )


def _dry(place: Workplace, plan: Plan, coming: Forecast, *, json: bool) -> None:
    from berbench.cli.console import emit
    from berbench.cli.show_run import show_plan
    from berbench.stages.budget import known_costs
    from berbench.stages.plan import missing_auth
    from berbench.stages.runrecord import plan_document

    problems = missing_auth((cell.configuration for cell in coming.due), os.environ)
    known = known_costs(place.cells, plan.resolution.configurations)
    if json:
        emit(plan_document(plan, coming, known, problems))
    else:
        show_plan(plan, coming, known, problems)


def _measured(
    place: Workplace, plan: Plan, coming: Forecast, wishes: Wishes, *, quiet: bool
) -> dict[str, Any]:
    from datetime import UTC, datetime

    from berbench.cli.run_progress import run_progress
    from berbench.stages.run import run as measure

    with run_progress(len(coming.due), quiet=quiet) as shown:
        return measure(
            place.cells,
            plan,
            coming,
            wishes,
            makers=lambda run_id: place.makers(run_id, wishes.concurrency, plan.resolution.configurations),
            environ=os.environ,
            now=lambda: datetime.now(UTC),
            shown=shown,
        )
