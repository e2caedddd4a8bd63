"""`berbench task create`: rebuild one pull request as an unvalidated task, then stop for review."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from berbench.cli.options import NoApi, Settings


def create(
    context: typer.Context,
    pull_request: Annotated[
        str, typer.Argument(metavar="PR", help="Number or URL of a merged pull request.")
    ] = "",
    commit: Annotated[
        str,
        typer.Option(
            metavar="SHA",
            help="The landing commit: to choose among several, or where there is no pull request.",
        ),
    ] = "",
    issue_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Text of the issue, for the prompt.", dir_okay=False),
    ] = None,
    no_api: NoApi = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing task of the same id.")] = False,
) -> int:
    """Rebuild a merged pull request as a task, and stop for review.

    The landing is proven against local history. Prompt, tests.patch, reference.patch and verify.command are
    a draft: nothing was run yet.
    """
    from berbench.cli.console import note
    from berbench.cli.show_tasks import show_created
    from berbench.cli.wiring import workplace
    from berbench.errors import UsageError
    from berbench.forge.remote import parse_pull_request
    from berbench.stages.create import Request
    from berbench.stages.create import create as run
    from berbench.store import read_text_file

    if not pull_request and not commit:
        raise UsageError(
            "Nothing to create a task from.",
            remedy="name a pull request (`berbench task create 123`) or a commit (`--commit SHA`)",
        )
    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        request = Request(
            pr=parse_pull_request(pull_request, place.repository) if pull_request else None,
            commit=commit,
            issue_text=read_text_file(issue_file) if issue_file else None,
            force=force,
        )
        created = run(place.create_doors(no_api=no_api), request, note)
    show_created(created)
    return 0
