"""`berbench task show`: one task for review, in the order a reviewer reads."""

from __future__ import annotations

from typing import Annotated

import typer

from berbench.cli.options import JsonFlag, Settings


def show(
    context: typer.Context,
    task_id: Annotated[str, typer.Argument(metavar="ID", help="The task's id.")],
    json: JsonFlag = False,
) -> int:
    """Show a task for review: provenance, prompt, both patches' files, the command, and its standing."""
    from berbench.cli.console import emit
    from berbench.cli.show_tasks import show_task
    from berbench.cli.wiring import workplace
    from berbench.stages.show import document, overview

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        view = overview(place.project, place.history, place.data, task_id)
    if json:
        emit(document(view))
    else:
        show_task(view)
    return 0
