"""`berbench task verify`: grade any patch on a proven task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from berbench.cli.options import JsonFlag, Settings, TaskId


def verify(
    context: typer.Context,
    task_id: TaskId,
    patch: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The candidate, as git writes patches; /dev/stdin serves too."),
    ],
    json: JsonFlag = False,
) -> int:
    """Grade a patch as an agent's work is graded.

    Changes to test files and to what steers the test runner are dropped, and told. Planted tests of a known outcome
    watch the run.

    Exit code 0 for a pass alone, 1 for any other verdict, 3 when the engine failed.
    """
    from berbench.cli.console import emit, note
    from berbench.cli.show_grade import show_grade
    from berbench.cli.wiring import workplace
    from berbench.errors import EngineError
    from berbench.stages.verify import document, exit_code, unreachable
    from berbench.stages.verify import verify as run
    from berbench.store import read_named_file

    settings: Settings = context.obj
    data = read_named_file(patch)
    with workplace(settings.repository) as place:
        place.project.read_task(task_id)  # a name that is no task is a usage error, before anything runs
        try:
            verified = run(place.bench(1), task_id, data, note)
        except EngineError as error:  # no engine answers: told in the form that was asked for
            verified = unreachable(task_id, error)
    if json:
        emit(document(verified))
    else:
        show_grade(verified)
    return exit_code(verified)
