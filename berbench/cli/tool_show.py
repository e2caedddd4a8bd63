"""`berbench tool show`: one tool's document, all layers merged."""

from __future__ import annotations

from typing import Annotated

import typer

from berbench.cli.options import JsonFlag, Settings, known_tools


def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="TOOL", help="The tool's name.", autocompletion=known_tools)],
    json: JsonFlag = False,
) -> int:
    """Print a tool's document as its layers come to.

    It is YAML, which an overlay may extend or replace key by key.
    """
    from berbench.cli.console import emit, say
    from berbench.cli.wiring import workplace
    from berbench.stages.tools import one_tool, tool_text

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        tool, layers = one_tool(place.tools, name)
    if json:
        emit(tool.model_dump(mode="json", by_alias=True))
    else:
        say("# " + " < ".join(layers))
        say(tool_text(tool).decode().rstrip("\n"))
    return 0
