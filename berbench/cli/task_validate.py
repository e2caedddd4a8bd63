"""`berbench task validate`: prove tasks in fresh containers."""

from __future__ import annotations

from typing import Annotated

import typer

from berbench.cli.options import JsonFlag, Settings, TaskIds


def validate(
    context: typer.Context,
    task_ids: TaskIds = None,
    every: Annotated[bool, typer.Option("--all", help="Prove every task.")] = False,
    stale: Annotated[bool, typer.Option("--stale", help="Prove every task that is not fresh.")] = False,
    narrow: Annotated[
        bool,
        typer.Option(
            "--narrow",
            help="Where other tests fail in both trials, deselect them in verify.command and prove again.",
        ),
    ] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", min=1, max=64, help="Tasks proven at once.")
    ] = 1,
    json: JsonFlag = False,
) -> int:
    """Prove tasks by two trials each, in fresh containers.

    The hidden tests must fail at the base commit and pass with the reference patch. Only then the proof is written.

    Exit code 0 when every task was validated, 1 when one was not, 3 when the engine failed.
    """
    from berbench.cli.console import emit
    from berbench.cli.progress import progress
    from berbench.cli.show_validations import show_validations
    from berbench.cli.wiring import workplace
    from berbench.stages.validate import Validated, choose, document, exit_code
    from berbench.stages.validate import validate as run

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        ids = choose(place.project, place.history, task_ids or [], every=every, stale=stale)
        outcomes: list[Validated] = []
        if ids:
            with progress(ids, quiet=json) as shown:
                proven = run(place.bench(jobs), ids, jobs=jobs, narrowing=narrow, say=shown.say)
                outcomes.extend(shown.done(outcome) for outcome in proven)
    ordered = sorted(outcomes, key=lambda outcome: ids.index(outcome.id))
    if json:
        emit(document(ordered))
    else:
        show_validations(ordered)
    return exit_code(ordered)
