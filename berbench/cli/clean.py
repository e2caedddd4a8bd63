"""`berbench clean`: remove what berbench made and no longer needs."""

from __future__ import annotations

from typing import Annotated

import typer

from berbench.cli.options import JsonFlag, Settings, seconds_of


def clean(
    context: typer.Context,
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="Only what is older, like 0, 12h or 7d.")
    ] = "7d",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be removed.")] = False,
    json: JsonFlag = False,
) -> int:
    """Remove what berbench made and no longer needs.

    That is containers, networks, images, logs and temporary folders.

    They are known by berbench's own label and by age; nothing else is touched, nor what a running berbench uses.
    """
    from time import time

    from berbench.cli.console import emit, note
    from berbench.cli.show_health import show_cleaned
    from berbench.cli.wiring import workplace
    from berbench.stages.clean import clean as run
    from berbench.stages.clean import document
    from berbench.store import machine

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        engine = place.engine_or_none(note)
        cleaned = run(
            engine,
            place.old_folders(),
            older_than_s=seconds_of(older_than),
            keep_keys=place.needed_images(engine),
            now_s=time(),
            remove_folder=machine.remove,
            dry_run=dry_run,
            say=note,
        )
    if json:
        emit(document(cleaned))
    else:
        show_cleaned(cleaned, dry_run=dry_run)
    return 0
