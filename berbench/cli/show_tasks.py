"""How single tasks and lists of them look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from berbench.cli.console import clipped, one_line, say, show
from berbench.cli.show_audit import show_kept
from berbench.cli.tables import cell, lines, plural, table, verdict_text
from berbench.model.task import TaskState
from berbench.model.trial import VerdictName

if TYPE_CHECKING:  # the verb that shows it has loaded it already
    from rich.text import Text

    from berbench.diffs import PatchFile
    from berbench.model.task import Task
    from berbench.model.trial import Problem
    from berbench.stages.create import Created
    from berbench.stages.init import Begun
    from berbench.stages.show import Overview
    from berbench.stages.standing import Listed
    from berbench.store import Last

LONGEST_COMMAND = 80
_MOST_TESTS = 20  # named of those that the fix makes pass

# The source of the order: what a person must decide first stands first.
REVIEW = (
    "prompt.md asks for exactly what the hidden tests check, and tells nothing of where the answer is",
    "tests.patch holds tests only; reference.patch holds the whole known fix",
    "verify.command runs the changed tests and little else",
    "verify.protected_paths cover the hidden tests",
)


def show_begun(begun: Begun) -> None:
    """What `init` wrote, and what to look at."""
    for line in begun.lines:
        say(line)
    if begun.review:
        say("Review before creating tasks:")
        for line in begun.review:
            say(f"  {line}")
    say("next: berbench doctor, then berbench task scan")


def show_created(created: Created) -> None:
    """A new task, and the list of what to look at before it is validated."""
    task = created.files.task
    landing = created.landing
    say(f"Task {created.id} in {created.folder}")
    say(f"  landing  {landing.commit[:12]}, by {landing.landed_by}, base {landing.base[:12]}")
    say(
        f"  tests.patch      {_count(len(created.split.tests))}: {_names(c.path for c in created.split.tests)}"
    )
    say(
        f"  reference.patch  {_count(len(created.split.reference))}: {_names(c.path for c in created.split.reference)}"
    )
    say(f"  verify.command   {task.verify.command or '(none could be proposed: write it yourself)'}")
    for reason in created.proposal.reasons:
        say(f"                   {reason}")
    for note in created.notes:
        say(f"  note: {note}")
    if created.problems:
        say()
        show_problems(created.id, created.problems)
    say("Review before validating:")
    for number, line in enumerate(REVIEW, 1):
        say(f"  {number}. {line}")
    say(f"next: berbench task show {created.id}; then berbench task validate {created.id}")


def show_problems(task_id: str, problems: Sequence[Problem]) -> None:
    """What lint found, errors first."""
    if not problems:
        say(f"Task {task_id}: no problems found.")
        return
    made = table("severity", "where", "problem", wide=("where", "problem"))
    for problem in sorted(problems, key=lambda problem: problem.severity != "error"):
        told = not problem.fixable or "--fix" in problem.message
        text = problem.message if told else f"{problem.message} (--fix can mend it)"
        made.add_row(verdict_text(problem.severity), cell(problem.where), cell(text))
    show(made)


def show_list(listed: Sequence[Listed]) -> None:
    """Every task with its state and the age of its proof; a stale one with what changed."""
    if not listed:
        say("No tasks yet. next: berbench task scan")
        return
    made = table(
        "task",
        "state",
        "fail→pass",
        "pass→pass",
        "age",
        "command",
        right=("fail→pass", "pass→pass", "age"),
        wide=("command",),
    )
    now = datetime.now(UTC)
    for item in listed:
        task = item.files.task if item.files else None
        proof = task.validation if task else None
        proven = proof if item.standing.state in (TaskState.FRESH, TaskState.STALE) else None
        made.add_row(
            cell(item.id),
            verdict_text(item.standing.state),
            cell(len(proven.fail_to_pass) if proven else ""),
            cell(len(proven.pass_to_pass) if proven else ""),
            cell(_age(item.age_s(now)) if proven else ""),
            _about(item),
        )
    show(made)
    counts = Counter(item.standing.state.value for item in listed)
    say(
        ", ".join(f"{count} {state}" for state, count in counts.most_common())
        + f" of {plural(len(listed), 'task')}"
    )


def _age(seconds: float | None) -> str:
    """How long ago, in the unit that says enough: `3h`, `12d`."""
    if seconds is None:
        return ""
    return f"{seconds / 86400:.0f}d" if seconds >= 86400 else f"{max(0.0, seconds) / 3600:.0f}h"


def _about(item: Listed) -> Text:
    """What the task runs, why it stands where it stands, and what refused it last."""
    if item.files is None:
        return cell(item.standing.reason)
    why = item.standing.reason
    # What broke a proof is its reason already.
    if item.last and item.last.verdict.name is not VerdictName.VALIDATED and not _is_broken(item.files.task):
        told = _last(item.last, outdated=item.last_outdated)
        why = told if item.standing.state is TaskState.UNVALIDATED else f"{why}\n{told}".strip()
    return lines(_short(item.files.task.verify.command), *why.splitlines())


def _is_broken(task: Task) -> bool:
    return task.validation is not None and task.validation.broken is not None


def _last(last: Last, *, outdated: bool) -> str:
    """How the last validation on this machine ended."""
    return f"last validation here{_since(outdated)}: {last.verdict.name}: {clipped(last.verdict.reason)}"


def _since(outdated: bool) -> str:
    return " (the task has changed since)" if outdated else ""


def show_task(view: Overview) -> None:
    """One task in the order in which a reviewer reads."""
    task, source = view.files.task, view.files.task.source
    name = f"pull request {source.pull_request}" if source.pull_request is not None else "a commit"
    say(
        f"Task {task.id}: {view.standing.state}{' (' + view.standing.reason + ')' if view.standing.reason else ''}"
    )
    say(
        f"  from {name}, landed by {source.landed_by} as {source.landing_commit[:12]}, base {source.base_commit[:12]}"
    )
    say(f"  in {view.folder}")
    say()
    say("prompt.md")
    for line in view.files.prompt.decode("utf-8", "replace").splitlines():
        say(f"  │ {line}")
    say()
    _show_files("tests.patch", view.tests)
    _show_files("reference.patch", view.reference)
    say(f"verify.command          {task.verify.command}")
    say(f"verify.protected_paths  {' '.join(task.verify.protected_paths)}")
    if task.validation:
        proof = task.validation
        say(f"proof                   {proof.fingerprint}")
        say(
            f"                        {proof.validated_at:%Y-%m-%d %H:%M} on {proof.engine}, by {proof.stands_on}"
        )
        say(
            f"                        {len(proof.fail_to_pass)} fail→pass, {len(proof.pass_to_pass)} pass→pass"
        )
        if proof.user:
            say(
                f"                        as {one_line(proof.user)} on {proof.platform or 'an unknown platform'}"
            )
        if proof.repeats > 1:
            say(f"                        each trial ran {proof.repeats} times")
        if proof.base_failure == "collection":
            say(
                "                        the base fails before its tests: what is in their files can't be loaded there"
            )
        if proof.control.reason and not proof.control.places:
            say(
                f"                        no planted tests will watch candidates: {one_line(proof.control.reason)}"
            )
        for test in proof.fail_to_pass[:_MOST_TESTS]:
            say(f"    {test}")
        if len(proof.fail_to_pass) > _MOST_TESTS:
            say(f"    … and {len(proof.fail_to_pass) - _MOST_TESTS} more in task.yaml")
        for test in proof.quarantined:
            say(f"in quarantine           {one_line(test)}")
        if proof.broken:
            say(f"broken                  since {proof.broken.at:%Y-%m-%d %H:%M}; against the proof:")
            for line in proof.broken.difference:
                say(f"    {one_line(line)}")
    if view.last:
        verdict = view.last.verdict
        say(f"last validation here    {verdict.name}{_since(view.last_outdated)}: {clipped(verdict.reason)}")
        say(f"                        logs in {view.last.logs}")
    if view.audit:
        show_kept(view.audit, outdated=view.audit_outdated)


def _show_files(name: str, files: Sequence[PatchFile]) -> None:
    say(f"{name} ({_count(len(files))})")
    for file in files:
        say(f"  {_change(file)} {one_line(file.path)}")
    say()


def _change(file: PatchFile) -> str:
    if file.is_binary:
        return f"{'binary':>12}"
    return f"{'+' + str(file.added):>6}{'−' + str(file.deleted):>6}"


def _count(count: int) -> str:
    return plural(count, "file")


def _names(paths: Iterable[str]) -> str:
    every = list(paths)
    return ", ".join(map(one_line, every[:4])) + (f" and {len(every) - 4} more" if len(every) > 4 else "")


def _short(command: str) -> str:
    return command if len(command) <= LONGEST_COMMAND else command[: LONGEST_COMMAND - 1] + "…"
