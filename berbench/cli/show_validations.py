"""How the outcome of `task validate` looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from berbench.cli.console import clipped, one_line, say, sentence, show
from berbench.cli.tables import cell, plural, table, verdict_text
from berbench.model.trial import VerdictName
from berbench.stages.lessening import NO_EXACT_WAY

if TYPE_CHECKING:  # the verb that shows it has loaded it already
    from berbench.stages.validate import Validated


def show_validations(outcomes: Sequence[Validated]) -> None:
    """A table of verdicts, then the diagnosis of each task that was not proven."""
    made = table(
        "task",
        "verdict",
        "fail→pass",
        "pass→pass",
        "seconds",
        "stands on",
        right=_NUMBERS,
        wide=("stands on",),
    )
    for outcome in outcomes:
        verdict = outcome.verdict
        proven = verdict.name is VerdictName.VALIDATED
        made.add_row(
            cell(outcome.id),
            verdict_text(verdict.name),
            cell(len(verdict.fail_to_pass) if verdict.fail_to_pass or proven else ""),
            cell(len(verdict.pass_to_pass) if verdict.pass_to_pass or proven else ""),
            f"{outcome.seconds:.1f}",
            cell(verdict.stands_on),
        )
    show(made)
    for outcome in outcomes:
        _diagnosis(outcome)
    counts = Counter(outcome.verdict.name for outcome in outcomes)
    say(
        ", ".join(f"{count} {name}" for name, count in counts.most_common())
        + f" of {plural(len(outcomes), 'task')}"
    )


def show_nothing_due(max_age: str | None, *, any_tasks: bool) -> None:
    """No task had to be proven."""
    if not any_tasks:
        say("No tasks yet. next: berbench task scan")
        return
    say("Nothing to validate: every task is fresh" + (f", proven within {max_age}." if max_age else "."))


_NUMBERS = ("fail→pass", "pass→pass", "seconds")


def _diagnosis(outcome: Validated) -> None:
    verdict = outcome.verdict
    proven = verdict.name is VerdictName.VALIDATED
    if proven and not verdict.warnings and not outcome.narrowed_command and not outcome.quarantined:
        return
    say(f"{outcome.id}: {clipped(verdict.reason)}" if not proven else f"{outcome.id}: validated")
    if outcome.narrowed_command:
        say(f"  verify.command is now: {outcome.narrowed_command}")
    if outcome.quarantined:
        say(f"  in quarantine, because flaky: {_some(outcome.quarantined)}")
    for line in verdict.details:
        say(f"  │ {clipped(line)}")
    for warning in verdict.warnings:
        say(f"  warning: {warning}")
    if verdict.noise and not proven:
        say(f"  fail in both trials: {_some(verdict.noise)}")
    if verdict.narrowable and NO_EXACT_WAY not in verdict.warnings:
        say(f"  → `berbench task validate {outcome.id} --narrow` deselects them and proves the task again")
    elif verdict.remedy:
        say(f"  → {sentence(verdict.remedy)}")
    if outcome.logs and not proven:
        say(f"  logs: {outcome.logs}")
    say()


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(one_line, names[:5])) + (" …" if len(names) > 5 else "")
