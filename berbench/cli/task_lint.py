"""`berbench task lint`: what is wrong with a task's text, before anything runs."""

from __future__ import annotations

from typing import Annotated

import typer

from berbench.cli.options import JsonFlag, Settings, TaskId


def lint(
    context: typer.Context,
    task_id: TaskId,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be derived.")] = False,
    json: JsonFlag = False,
) -> int:
    """List what is wrong with a task.

    Exit code 1 when there are errors; warnings alone give 0.
    """
    from berbench.cli.console import emit, note
    from berbench.cli.show_tasks import show_problems
    from berbench.cli.wiring import workplace
    from berbench.stages.lint import document, fix_task, lint_task

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        if fix:
            for line in fix_task(place.lint_doors(), task_id):
                note(line)
        problems = lint_task(place.lint_doors(), place.project.read_task(task_id))
    if json:
        emit(document(task_id, problems))
    else:
        show_problems(task_id, problems)
    return 1 if any(problem.severity == "error" for problem in problems) else 0
