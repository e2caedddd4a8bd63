"""`berbench task validate`: prove tasks in fresh containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from berbench.cli.options import JsonFlag, Settings, TaskIds, clock_of, seconds_of
from berbench.model.trial import MOST_REPEATS

if TYPE_CHECKING:
    from berbench.cli.wiring import Workplace

LARGEST_SEED = 2**31 - 1  # what every runner takes


Every = Annotated[bool, typer.Option("--all", help="Prove every task.")]
Stale = Annotated[bool, typer.Option("--stale-only", "--stale", help="Prove every task that is not fresh.")]
MaxAge = Annotated[
    str | None,
    typer.Option(
        metavar="AGE", help="Prove every task that is not fresh or was proven longer ago, like 30d."
    ),
]
Narrow = Annotated[
    bool,
    typer.Option(
        "--narrow",
        help="Where other tests fail in both trials, deselect them in verify.command and prove again.",
    ),
]
Repeat = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, max=MOST_REPEATS, help="Run each trial N times [default: validate.repeat, 1]."
    ),
]
Quarantine = Annotated[
    bool,
    typer.Option(
        "--quarantine-flaky",
        help="Where tests are flaky, deselect them in verify.command and prove again.",
    ),
]
Shuffle = Annotated[bool, typer.Option("--shuffle", help="Also run the tests in another order.")]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=LARGEST_SEED, help="Which order; implies --shuffle."),
]
Clock = Annotated[
    str | None,
    typer.Option(metavar="OFFSET", help="Also run the tests at another date, like +400d or -12h."),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", min=1, max=64, help="Tasks proven at once.")]


def validate(
    context: typer.Context,
    task_ids: TaskIds = None,
    every: Every = False,
    stale: Stale = False,
    max_age: MaxAge = None,
    narrow: Narrow = False,
    repeat: Repeat = None,
    quarantine: Quarantine = False,
    shuffle: Shuffle = False,
    seed: Seed = None,
    clock: Clock = None,
    jobs: Jobs = 1,
    json: JsonFlag = False,
) -> int:
    """Prove tasks by two trials each, in fresh containers.

    The hidden tests must fail at the base commit and pass with the reference patch. Only then the proof is written.

    Exit code 0 when every task was validated, 1 when one was not, 3 when the engine failed.
    """
    from datetime import UTC, datetime

    from berbench.cli.console import emit, note
    from berbench.cli.progress import progress
    from berbench.cli.show_validations import show_nothing_due, show_validations
    from berbench.cli.wiring import workplace
    from berbench.stages.choosing import Choice, choose
    from berbench.stages.lessening import Wishes
    from berbench.stages.luck import Luck
    from berbench.stages.validate import Validated, document, exit_code
    from berbench.stages.validate import validate as run

    settings: Settings = context.obj
    # An option that is there and empty, like --clock "$UNSET", must not quietly be no option at all.
    choice = Choice(task_ids or (), every, stale, None if max_age is None else seconds_of(max_age))
    offset = "" if clock is None else clock_of(clock)
    with workplace(settings.repository) as place:
        ids = choose(place.project, place.history, choice, datetime.now(UTC))
        any_tasks = bool(ids or place.project.task_ids())
        luck = Luck(repeat or place.config.validate_.repeat, _seed(seed, shuffle=shuffle), offset)
        if luck.seed is not None:
            _check_evidence(place, task_ids or [])
            note(f"shuffle: seed {luck.seed}; `--seed {luck.seed}` gives the same order again")
        outcomes: list[Validated] = []
        if ids:
            wishes = Wishes(narrow, quarantine, luck)
            with progress(ids, quiet=json) as shown:
                proven = run(place.bench(jobs), ids, jobs=jobs, wishes=wishes, say=shown.say)
                outcomes.extend(shown.done(outcome) for outcome in proven)
    ordered = sorted(outcomes, key=lambda outcome: ids.index(outcome.id))
    if json:
        emit(document(ordered))
    elif ordered:
        show_validations(ordered)
    else:
        show_nothing_due(max_age, any_tasks=any_tasks)
    return exit_code(ordered)


def _seed(seed: int | None, *, shuffle: bool) -> int | None:
    from secrets import randbelow

    return seed if seed is not None or not shuffle else 1 + randbelow(LARGEST_SEED)


def _check_evidence(place: Workplace, task_ids: list[str]) -> None:
    """A task that is named and leaves no evidence can't be meant. Among many, it gets a warning instead."""
    from berbench.errors import UsageError

    for task_id in task_ids:
        if place.project.read_task(task_id).task.verify.evidence == "none":
            raise UsageError(
                f"The tests of task {task_id} can't be shuffled: verify.evidence is none, so nothing would show it.",
                remedy="leave --shuffle out, or set verify.evidence to auto",
            )
