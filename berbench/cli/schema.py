"""`berbench schema`: JSON Schemas of berbench's documents, for editors."""

from __future__ import annotations

from typing import Annotated

import typer


def schema(
    name: Annotated[str, typer.Argument(metavar="DOCUMENT", help="task, config or validation.")],
) -> int:
    """Print the JSON Schema of a document, so that editors complete and check it."""
    from berbench.cli.console import emit
    from berbench.documents import schema_of

    emit(schema_of(name))
    return 0
