"""`berbench init`: settings and a drafted Dockerfile for a repository."""

from __future__ import annotations

from typing import Annotated

import typer

from berbench.cli.options import Settings


def init(
    context: typer.Context,
    base_image: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What the drafted Dockerfile builds on, instead of the language's official image "
            "(`berbench/base` where no registry answers).",
        ),
    ] = "",
) -> int:
    """Write .ber/bench/config.yaml, and draft Dockerfile.berbench when there is none. Never overwrites."""
    from berbench.cli.show_tasks import show_begun
    from berbench.cli.wiring import workplace

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        begun = place.begin(base_image=base_image)
    show_begun(begun)
    return 0
