"""`berbench task list`: every task and where it stands."""

from __future__ import annotations

import typer

from berbench.cli.options import JsonFlag, Settings


def list_tasks(context: typer.Context, json: JsonFlag = False) -> int:
    """List all tasks, and whether their proofs still hold.

    A task is fresh, stale (with the inputs that changed), unvalidated, forged or broken. One that validation refused
    says why. Needs no engine.
    """
    from berbench.cli.console import emit
    from berbench.cli.show_tasks import show_list
    from berbench.cli.wiring import workplace
    from berbench.stages.standing import document, stand

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        listed = stand(place.project, place.history, place.project.task_ids(), place.data)
    if json:
        emit(document(listed))
    else:
        show_list(listed)
    return 0
