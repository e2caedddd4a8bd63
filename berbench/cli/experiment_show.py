"""`berbench experiment show`: an experiment as it is read."""

from __future__ import annotations

import typer

from berbench.cli.options import ExperimentName, JsonFlag, Settings


def show(context: typer.Context, name: ExperimentName, json: JsonFlag = False) -> int:
    """Show an experiment's settings and configurations."""
    from berbench.cli.console import emit
    from berbench.cli.show_experiments import show_experiment
    from berbench.cli.wiring import workplace
    from berbench.stages.experiments import resolved

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        experiment, resolution = resolved(place.experiments, place.tools, name)
        where = place.experiments.where(name)
    if json:
        emit(experiment.model_dump(mode="json", by_alias=True))
    else:
        show_experiment(where, experiment, resolution)
    return 0
