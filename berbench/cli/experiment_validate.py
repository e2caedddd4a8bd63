"""`berbench experiment validate`: everything an experiment comes to, before it costs anything."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from berbench.cli.options import ExperimentName, JsonFlag, Settings


def validate(
    context: typer.Context,
    name: ExperimentName,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Also each command, host, layer of a tool, and cell.")
    ] = False,
    json: JsonFlag = False,
) -> int:
    """Show all that an experiment comes to, and what it lacks.

    That is every configuration, the tasks that would run, and whether what the tools need is there. Values of
    variables are never shown. Spends nothing and needs no engine. Exit code 1 when it could not run: no fresh task,
    or a variable or file that is missing.
    """
    from berbench.cli.console import emit
    from berbench.cli.show_experiments import show_checked
    from berbench.cli.wiring import workplace
    from berbench.stages.experiments import check, check_document

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        checked = check(
            place.experiments, place.tools, place.project, place.history, name=name, environ=os.environ
        )
    if json:
        emit(check_document(checked))
    else:
        show_checked(checked, verbose=verbose)
    return 1 if checked.problems else 0
