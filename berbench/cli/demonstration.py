"""`berbench demo`, told step by step: the same stages as the real verbs, on a sample made by code."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from berbench.cli.console import clipped, say, sentence, show
from berbench.cli.progress import progress
from berbench.cli.show_scan import show_scan
from berbench.cli.tables import cell, lines, plural, table, verdict_text
from berbench.cli.wiring import Workplace, workplace
from berbench.errors import EngineError, UsageError
from berbench.model.trial import Verdict, VerdictName
from berbench.process import scratch_prefix
from berbench.sample import Sample, SamplePR, build, issue_text
from berbench.stages.create import Request, create
from berbench.stages.lint import lint_task
from berbench.stages.scan import scan
from berbench.stages.validate import Validated, validate


@dataclass(frozen=True, slots=True)
class _Demonstrated:
    pull: SamplePR
    task_id: str
    warnings: int
    errors: int


def run(folder: Path | None, *, base_image: str, jobs: int) -> int:
    """Exit code 0 when every verdict is the one that the sample was built for, 3 when the engine failed, else 1."""
    started = monotonic()
    with _place(folder) as (root, environ):
        sample = build(root)
        _on_base_image(root, base_image)
        with workplace(root, environ) as place:
            count = len(sample.pull_requests)
            say(
                f"1. A sample repository, with {plural(count, 'change')} that landed in different forms: {root}"
            )
            for line in place.begin(base_image="").lines:
                say(f"   berbench init: {line}")
            tasks, outcomes = _walk(place, sample, jobs)
    code = _conclude(tasks, outcomes, base_image=base_image, seconds=monotonic() - started)
    say(
        f"next: berbench -C {root} task show 26"
        if folder
        else "`berbench demo --folder FOLDER` keeps the sample, to look at"
    )
    return code


def _walk(place: Workplace, sample: Sample, jobs: int) -> tuple[list[_Demonstrated], dict[str, Validated]]:
    say("\n2. berbench task scan: which of them could be tasks?")
    _scan(place)
    say("\n3. berbench task create, task lint: each pull request becomes a task for review")
    tasks = _create(place, sample)
    say("4. berbench task validate: two trials of each, in fresh containers")
    return tasks, _validate(place, tasks, jobs)


@contextmanager
def _place(folder: Path | None) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """A folder for the sample and the environment to work in: the one asked for, which stays, or a temporary one."""
    if folder is not None:
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty.", remedy="give a folder that does not exist yet")
        yield folder, os.environ
        return
    temporary = Path(tempfile.mkdtemp(prefix=scratch_prefix("demo")))
    try:
        yield temporary / "tally", {**os.environ, "BERBENCH_DATA_DIR": str(temporary / "data")}
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _on_base_image(root: Path, base_image: str) -> None:
    """Let the sample's Dockerfile build on another image."""
    dockerfile = root / "Dockerfile.berbench"
    text = dockerfile.read_text(encoding="utf-8")
    dockerfile.write_text(
        text.replace("BASE_IMAGE=berbench/base", f"BASE_IMAGE={base_image}"), encoding="utf-8"
    )


def _scan(place: Workplace) -> None:
    report = scan(
        place.history,
        patterns=place.config.harvest.test_patterns,
        main=place.main,
        repository=place.repository,
        say=lambda line: None,
    )
    show_scan(report, verbose=False)


def _create(place: Workplace, sample: Sample) -> list[_Demonstrated]:
    tasks: list[_Demonstrated] = []
    doors = place.create_doors(no_api=True)
    made = table("task", "lint", "pull request", wide=("pull request",))
    for pull in sample.pull_requests:
        text = issue_text(pull.issue_file) if pull.issue_file else None
        request = Request(pull.number, "" if pull.number is not None else pull.landing_commit, text)
        created = create(doors, request, lambda line: None)
        if pull.prompt_edit:
            place.project.update_prompt(created.id, created.files.prompt + pull.prompt_edit.encode())
        problems = lint_task(place.lint_doors(), place.project.read_task(created.id))
        errors = sum(problem.severity == "error" for problem in problems)
        tasks.append(_Demonstrated(pull, created.id, len(problems) - errors, errors))
        made.add_row(
            cell(created.id),
            cell(_lint(errors, len(problems) - errors)),
            lines(pull.title, f"{pull.form}: {pull.lesson}"),
        )
    show(made)
    return tasks


def _lint(errors: int, warnings: int) -> str:
    found = [plural(errors, "error")] if errors else []
    found += [plural(warnings, "warning")] if warnings else []
    return ", ".join(found) or "clean"


def _validate(place: Workplace, tasks: list[_Demonstrated], jobs: int) -> dict[str, Validated]:
    ids = [task.task_id for task in tasks]
    with progress(ids, quiet=False) as shown:
        ended = [
            shown.done(outcome) for outcome in validate(place.bench(jobs), ids, jobs=jobs, say=shown.say)
        ]
    return {outcome.id: outcome for outcome in ended}


def _outcome(verdict: Verdict) -> str:
    if verdict.name is not VerdictName.VALIDATED:
        return clipped(verdict.reason)
    return f"{len(verdict.fail_to_pass)} fail→pass, {len(verdict.pass_to_pass)} pass→pass"


def _conclude(
    tasks: list[_Demonstrated], outcomes: dict[str, Validated], *, base_image: str, seconds: float
) -> int:
    made = table("task", "verdict", "expected", "", "pull request", wide=("pull request",))
    right = 0
    for task in tasks:
        verdict = outcomes[task.task_id].verdict
        as_expected = verdict.name == task.pull.expected_verdict
        right += as_expected
        made.add_row(
            cell(task.task_id),
            verdict_text(verdict.name),
            cell(task.pull.expected_verdict),
            "✓" if as_expected else "✗",
            lines(task.pull.title, _outcome(verdict)),
        )
    show(made)
    say(f"{right} of {plural(len(tasks), 'verdict')} as expected, in {seconds:.0f} s")
    broken = [one.verdict for one in outcomes.values() if one.verdict.name is VerdictName.ENGINE_ERROR]
    if broken:
        _tell_engine(broken[0], base_image)
        return EngineError.exit_code
    return 0 if right == len(tasks) else 1


def _tell_engine(verdict: Verdict, base_image: str) -> None:
    """Why the engine failed, once for all tasks: they share their image's base."""
    say(sentence(verdict.reason))
    for line in verdict.details:
        say(f"  │ {clipped(line)}")
    say(
        f"  → The sample builds on {base_image}. `make base` makes berbench/base; --base-image NAME takes another "
        "image with Python and git. `berbench doctor` checks the engine"
    )
