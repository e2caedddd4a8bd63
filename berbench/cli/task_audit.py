"""`berbench task audit`: how strong the hidden tests are, and how fair the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from berbench.cli.options import JsonFlag, Settings, TaskIds

if TYPE_CHECKING:
    from berbench.stages.audit import Audited


def audit(
    context: typer.Context,
    task_ids: TaskIds = None,
    every: Annotated[bool, typer.Option("--all", help="Audit every task whose proof holds.")] = False,
    mutants: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=10_000,
            help="Change single lines of the reference, in N ways in all; needs berbench[audit].",
        ),
    ] = 0,
    seed: Annotated[
        int, typer.Option(metavar="S", min=0, help="Which mutants are drawn; the same seed draws the same.")
    ] = 0,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", min=1, max=64, help="Trials side by side.")
    ] = 2,
    min_score: Annotated[
        float | None,
        typer.Option(metavar="X", min=0, max=1, help="Exit code 1 when a task's score is below."),
    ] = None,
    json: JsonFlag = False,
) -> int:
    """Find out, by trials, what the hidden tests do not check.

    What an agent could only guess is listed beside it.

    Each hunk and file of the reference is left out in turn, lines of it are changed, and candidates that solve
    nothing are tried: one trial each. Only tasks whose proof holds can be audited.

    Exit code 0 for audits that were made, 1 for a score below --min-score, 3 when the engine failed.
    """
    from berbench.cli.console import emit
    from berbench.cli.progress import progress
    from berbench.cli.show_audit import show_audits
    from berbench.cli.wiring import workplace
    from berbench.errors import UsageError
    from berbench.stages.audit import audit as run
    from berbench.stages.audit import choose, document, exit_code
    from berbench.stages.auditplan import Wanted

    settings: Settings = context.obj
    if bool(task_ids) == every:
        raise UsageError("Say which tasks to audit, one way.", remedy="name task ids, or give --all")
    with workplace(settings.repository) as place:
        ids, skipped = choose(place.project, place.history, task_ids or [])
        outcomes = list(skipped)
        if ids:
            wanted = Wanted(mutants, seed, jobs)
            with progress(ids, quiet=json) as shown:
                for outcome in run(place.bench(jobs), ids, wanted, shown.say):
                    shown.ended(outcome.id, *_told(outcome))
                    outcomes.append(outcome)
    if json:
        emit(document(outcomes))
    else:
        show_audits(outcomes, in_full=not every)
    return exit_code(outcomes, min_score=min_score)


def _told(outcome: Audited) -> tuple[str, str]:
    if outcome.audit is not None:
        return "audited", f"in {outcome.audit.seconds:.1f} s, {outcome.audit.trials} trials"
    return "failed", outcome.failed.message if outcome.failed else outcome.skipped
