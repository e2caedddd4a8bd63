"""`berbench task scan`: rank merged pull requests as candidates for tasks."""

from __future__ import annotations

from typing import Annotated

import typer

from berbench.cli.options import JsonFlag, NoApi, Settings


def scan(
    context: typer.Context,
    json: JsonFlag = False,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=200, help="How many candidates to consider.")
    ] = 50,
    since: Annotated[str, typer.Option(metavar="DATE", help="Only landings after this date.")] = "",
    max_reference_files: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Reject candidates that change more implementation files than this."
        ),
    ] = 20,
    no_api: NoApi = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Also list what was rejected, and why.")] = False,
) -> int:
    """Rank merged pull requests as candidates, and say why.

    Candidates change both tests and implementation. Local history is read first;
    the forge is asked only for linked issues that it doesn't tell.
    """
    from berbench.cli.console import emit, note
    from berbench.cli.show_scan import show_scan
    from berbench.cli.wiring import workplace
    from berbench.stages.scan import document
    from berbench.stages.scan import scan as run

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        report = run(
            place.history,
            patterns=place.config.harvest.test_patterns,
            main=place.main,
            limit=limit,
            since=since,
            max_reference_files=max_reference_files,
            forge=place.forge(no_api=no_api),
            repository=place.repository,
            say=note,
        )
    if json:
        for line in report.notes:
            note(line)
        emit(document(report))
    else:
        show_scan(report, verbose=verbose)
    return 0
