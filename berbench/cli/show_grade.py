"""How the outcome of `task verify` looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berbench.cli.console import clipped, say, show
from berbench.cli.tables import cell, plural, table, verdict_text
from berbench.model.grading import GradeName
from berbench.model.trial import Outcome

if TYPE_CHECKING:  # the verb that shows it has loaded it already
    from berbench.stages.verify import Verified

_MOST = 40  # tests shown


def show_grade(verified: Verified) -> None:
    """The verdict with its reasons, what was dropped, and the needed tests that did not pass."""
    found = verified.grade
    if found.dropped:
        say(f"Dropped from the patch: {plural(len(found.dropped), 'path')}")
        for one in found.dropped:
            say(f"  {one.path}: {one.reason}")
    _tests(verified)
    say(found.name)
    for reason in filter(None, found.reasons):
        say(f"  {clipped(reason)}")
    if found.name is not GradeName.PASS:
        if found.details and found.name is not GradeName.ENGINE_ERROR:
            from berbench.reports.words import PLANTED

            say(f"  {PLANTED}")
        for line in found.details:
            say(f"  │ {clipped(line)}")
        if verified.logs:
            say(f"  logs: {verified.logs}")


def _tests(verified: Verified) -> None:
    found = verified.grade
    passed = [result for result in found.tests if result.outcome is Outcome.PASSED]
    if not found.tests and not found.missing:
        return
    say(f"{len(passed)} of {plural(len(found.tests) + len(found.missing), 'needed test')} passed")
    rows = [(result.outcome.value, result.id) for result in found.tests if result not in passed]
    rows += [("missing", name) for name in found.missing]
    if not rows:
        return
    made = table("outcome", "test", wide=("test",))
    for outcome, name in rows[:_MOST]:
        made.add_row(verdict_text(outcome), cell(name))
    show(made)
    if len(rows) > _MOST:
        say(f"… and {len(rows) - _MOST} more")
