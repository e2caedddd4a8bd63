"""`berbench demo`: the whole way from a pull request to a verdict, on a sample repository."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep the sample repository here [default: a temporary folder]."),
    ] = None,
    base_image: Annotated[
        str, typer.Option(metavar="NAME", help="The image that the sample's Dockerfile builds on.")
    ] = "berbench/base",
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", min=1, max=16, help="Tasks proven at once.")
    ] = 2,
) -> int:
    """Show the way from scan to verdicts on a sample repository.

    Its pull requests landed in every form that berbench knows. The trials run in real containers.

    Exit code 0 when every verdict is the one that the sample was built for, 3 when the engine failed.
    """
    from berbench.cli.demonstration import run

    return run(folder, base_image=base_image, jobs=jobs)
