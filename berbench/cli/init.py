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
            help="What the drafted Dockerfile builds on, instead of the language's official image. "
            "Where no registry answers, berbench/base (made by `make base`) will do.",
        ),
    ] = "",
    main_branch: Annotated[
        str, typer.Option(metavar="NAME", help="The branch that pull requests land on [default: found].")
    ] = "",
) -> int:
    """Write the settings, and draft a Dockerfile.

    They are .ber/bench/config.yaml and Dockerfile.berbench. What exists is never overwritten.
    """
    from berbench.cli.show_tasks import show_begun
    from berbench.cli.wiring import workplace

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        begun = place.begin(base_image=base_image, main_branch=main_branch)
    show_begun(begun)
    return 0
