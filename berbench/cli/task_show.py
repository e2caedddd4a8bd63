"""`berbench task show`: one task for review, in the order a reviewer reads."""

from __future__ import annotations

import typer

from berbench.cli.options import JsonFlag, Settings, TaskId


def show(
    context: typer.Context,
    task_id: TaskId,
    json: JsonFlag = False,
) -> int:
    """Show a task in the order in which a reviewer reads.

    That is provenance and standing, prompt, the files of both patches, the command, and the last verdict.
    """
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
