"""`berbench doctor`: is everything here that berbench needs?"""

from __future__ import annotations

import typer

from berbench.cli.options import JsonFlag, Settings


def doctor(context: typer.Context, json: JsonFlag = False) -> int:
    """Check what berbench needs, and say how to mend what fails.

    That is git, settings, Dockerfile, engine, forge access, disk and leftovers. Exit code 1 when a check fails.
    """
    from berbench.cli.console import emit
    from berbench.cli.show_health import show_findings
    from berbench.cli.wiring import workplace
    from berbench.stages.doctor import document, examine
    from berbench.store import machine

    settings: Settings = context.obj
    with workplace(settings.repository) as place:
        findings = examine(place, machine)
    if json:
        emit(document(findings))
    else:
        show_findings(findings)
    return 0 if all(finding.ok for finding in findings) else 1
