"""`berbench experiment list`: every experiment and what it comes to."""

from __future__ import annotations

import typer

from berbench.cli.options import JsonFlag, Settings


def list_experiments(context: typer.Context, json: JsonFlag = False) -> int:
    """List all experiments, the built-in one first. One that can't be read says why; the exit code is 2 then."""
    from berbench.cli.console import emit
    from berbench.cli.show_experiments import show_experiments
    from berbench.cli.wiring import workplace
    from berbench.errors import ConfigError
    from berbench.stages.experiments import list_document, overviews

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        found = overviews(place.experiments, lambda: place.tools)
    if json:
        emit(list_document(found))
    else:
        show_experiments(found)
    return ConfigError.exit_code if any(one.problem for one in found) else 0
