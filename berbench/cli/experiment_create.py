"""`berbench experiment create`: write down what is compared."""

from __future__ import annotations

from typing import Annotated

import typer

from berbench.cli.options import Settings, Tasks, known_tools, listed

Configurations = Annotated[
    list[str],
    typer.Argument(
        metavar="CONFIG",
        help="tool/model/effort+option; all but the tool may be left out.",
        autocompletion=known_tools,
    ),
]


def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The experiment's name.")],
    configurations: Configurations,
    attempts: Annotated[
        int,
        typer.Option(
            "--attempts", metavar="N", min=1, max=1000, help="Cells of each configuration on each task."
        ),
    ] = 1,
    task: Tasks = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Only tasks with one of these tags.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Decides the order of the cells.")] = 0,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, max=256, help="Cells at once.")
    ] = 2,
    timeout: Annotated[
        int | None,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=1,
            max=1_000_000,
            help="An agent's budget, instead of each task's own.",
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", metavar="USD", min=0.01, max=1e9, help="A ceiling for the whole run."),
    ] = None,
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="For people.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace an experiment of this name.")] = False,
) -> int:
    """Write an experiment, with comments to edit it by.

    Its file is .ber/bench/experiments/NAME.yaml. Nothing is written unless tools, models, efforts,
    options and tasks are known.
    """
    from berbench.cli.show_experiments import show_written
    from berbench.cli.wiring import workplace
    from berbench.stages import experiments

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        path, resolution = experiments.create(
            place.experiments,
            place.tools,
            place.project,
            name=name,
            configurations=configurations,
            force=force,
            attempts=attempts,
            tasks=listed("--task", task),
            tags=listed("--tag", tag),
            seed=seed,
            concurrency=concurrency,
            cell_timeout_s=timeout,
            max_cost_usd=max_cost,
            description=description,
        )
    show_written(name, path, resolution)
    return 0
