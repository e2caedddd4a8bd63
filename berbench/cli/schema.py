"""`berbench schema`: JSON Schemas of berbench's documents, for editors."""

from __future__ import annotations

from typing import Annotated

import typer


def _names(incomplete: str) -> list[str]:
    from berbench.schemas import DOCUMENTS

    return [name for name in DOCUMENTS if name.startswith(incomplete)]


def schema(
    name: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENT", help="task, config, experiment, tool or validation.", autocompletion=_names
        ),
    ],
) -> int:
    """Print the JSON Schema of a document, for editors."""
    from berbench.cli.console import emit
    from berbench.schemas import schema_of

    emit(schema_of(name))
    return 0
