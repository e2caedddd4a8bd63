"""`berbench tool list`: the agents that can be compared."""

from __future__ import annotations

import os

import typer

from berbench.cli.options import JsonFlag, Settings


def list_tools(context: typer.Context, json: JsonFlag = False) -> int:
    """List every tool, and whether what it needs is there.

    With the layers that its document is merged from: built in, the project's, yours.
    """
    from berbench.cli.console import emit
    from berbench.cli.show_experiments import show_tools
    from berbench.cli.wiring import workplace
    from berbench.experiments import user_tools_folder
    from berbench.stages.tools import list_document, overviews

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        found = overviews(place.tools, os.environ)
    if json:
        emit(list_document(found))
    else:
        show_tools(found, user_tools_folder(os.environ))
    return 0
