"""`berbench regrade`: grade stored candidates again, with no agent."""

from __future__ import annotations

from typing import Annotated

import typer

from berbench.cli.options import JsonFlag, Settings, known_experiments
from berbench.errors import UsageError

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="Only cells of this experiment [default: all stored ones].",
        autocompletion=known_experiments,
    ),
]
Key = Annotated[str, typer.Option("--cell", metavar="KEY", help="Only this cell: its key, or how it begins.")]
Jobs = Annotated[int, typer.Option("--concurrency", "-j", metavar="N", min=1, max=256, help="Cells at once.")]


def regrade(
    context: typer.Context, name: Name = "", cell: Key = "", concurrency: Jobs = 2, json: JsonFlag = False
) -> int:
    """Grade stored work again, by the tasks of today.

    For when hidden tests, command or grading changed. No agent runs. Work is graded as of today where all that its
    agent saw is what it was; `berbench run` finds the new grade then. The task must be fresh.

    Exit code 0, 3 when the engine failed for a cell, whose older grade stays.
    """
    from datetime import UTC, datetime

    from berbench.cli.console import emit, note
    from berbench.cli.show_run import show_regraded
    from berbench.cli.wiring import workplace
    from berbench.stages import regrade as stage
    from berbench.stages.experiments import resolved
    from berbench.stages.plan import Narrowing, fresh_grounds, make_plan

    if name and cell:
        raise UsageError(
            "An experiment's name and --cell are two ways to choose.", remedy="Give one of them."
        )
    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        cells = place.cells
        wanted = None
        if name:
            experiment, resolution = resolved(place.experiments, place.tools, name)
            where = place.experiments.where(name)
            plan = make_plan(
                place.project,
                place.history,
                where=where,
                experiment=experiment,
                resolution=resolution,
                narrowing=Narrowing(),
            )
            wanted = stage.wanted_of(plan)
        keys = (
            (cells.open(cell).record.result.key,)
            if cell
            else stage.newest_first(cells, cells.measured(), note)
        )
        found: list[stage.Regraded] = []
        if keys:
            grounds = fresh_grounds(place.project, place.history)
            regrading = stage.Regrading(place.bench(concurrency), cells, grounds)
            found += stage.regrade(regrading, keys, wanted=wanted, concurrency=concurrency, say=note)
        run = ""
        if name and any(one.after for one in found):
            run = stage.as_run(cells, plan, datetime.now(UTC))
    document = stage.document(found, run)
    if json:
        emit(document)
    else:
        show_regraded(document)
    return stage.exit_code(document)
