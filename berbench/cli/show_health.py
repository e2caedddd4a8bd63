"""How `doctor` and `clean` look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from berbench.cli.console import say, sentence, show
from berbench.cli.tables import cell, plural, table

if TYPE_CHECKING:  # the verb that shows it has loaded it already
    from berbench.stages.clean import Cleaned
    from berbench.stages.doctor import Finding


def show_findings(findings: Sequence[Finding]) -> None:
    """One line a finding; a failing one ends with its remedy."""
    made = table("", "check", "finding", wide=("finding",))
    for finding in findings:
        remedy = f" → {sentence(finding.remedy)}" if finding.remedy and not finding.ok else ""
        text = finding.message.rstrip(".") + remedy if remedy else finding.message
        made.add_row("✓" if finding.ok else "✗", cell(finding.name), cell(text))
    show(made)
    failing = sum(not finding.ok for finding in findings)
    say("Everything is there." if not failing else f"{plural(failing, 'check')} failed.")


def show_cleaned(cleaned: Cleaned, *, dry_run: bool) -> None:
    """What was removed and how much that freed."""
    verb = "would remove" if dry_run else "removed"
    for line in cleaned.lines:
        say(f"{verb} {line}")
    if not cleaned.lines:
        say("Nothing to clean.")
    if cleaned.kept:
        say(f"kept {plural(cleaned.kept, 'thing')} of berbench's: newer, needed by a task, or in use")
