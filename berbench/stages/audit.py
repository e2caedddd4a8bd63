"""How strong the hidden tests of proven tasks are, and how fair their prompts: found by running, not by opinion.

Parts of the reference are left out, its lines are changed, and candidates that solve nothing are tried; each is
one trial of the verifier that grades agents. All trials of a task share its image and run side by side.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

from berbench import mutators
from berbench.checks import Demands, demands_of
from berbench.diffs import read_patch
from berbench.errors import BerbenchError, Interrupted, Refusal, StoreError
from berbench.history.door import History
from berbench.model.grading import GradeName
from berbench.model.task import TaskFiles, TaskState
from berbench.model.trial import Image
from berbench.stages.auditplan import Plan, Run, Saw, Wanted, make_plan
from berbench.stages.grading import Grader
from berbench.stages.standing import stand, stand_one
from berbench.stages.trees import trees_of
from berbench.stages.validate import Bench
from berbench.store import Project
from berbench.strength.audit import SCHEMA, Audit, row
from berbench.strength.cuts import FILE, HUNK
from berbench.strength.seen import sight
from berbench.strength.sides import checked, sentences

Say = Callable[[str, str], None]  # task id, one line


@dataclass(frozen=True, slots=True)
class Audited:
    """How the audit of one task ended: with an audit, or with why there is none."""

    id: str
    audit: Audit | None = None
    skipped: str = ""  # its standing and the reason
    failed: BerbenchError | None = None


def choose(
    project: Project, history: History, ids: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Audited, ...]]:
    """The tasks to audit: those named, or all whose proof holds, and the others with why they are left out.

    Refusal for a named task that is not fresh: what its hidden tests notice could not be told from what is broken.
    """
    if ids:
        for task_id in ids:
            _require_fresh(project, history, project.read_task(task_id))
        return tuple(dict.fromkeys(ids)), ()
    chosen: list[str] = []
    skipped: list[Audited] = []
    for listed in stand(project, history, project.task_ids()):
        if listed.standing.state is TaskState.FRESH:
            chosen.append(listed.id)
        else:
            why = f": {listed.standing.reason}" if listed.standing.reason else ""
            skipped.append(Audited(listed.id, skipped=f"{listed.standing.state}{why}"))
    return tuple(chosen), tuple(skipped)


def _require_fresh(project: Project, history: History, files: TaskFiles) -> None:
    standing = stand_one(project, history, files)
    if standing.state is not TaskState.FRESH:
        raise Refusal(
            f"Task {files.task.id} is {standing.state}: {standing.reason or 'its proof does not hold'}.",
            remedy=f"prove it first: `berbench task validate {files.task.id}`",
        )


def audit(bench: Bench, ids: Sequence[str], wanted: Wanted, say: Say) -> Iterator[Audited]:
    """Audit the tasks one after the other, and give each as it ends. One task's trouble is never another's."""
    if wanted.mutants:
        mutators.require()
    for task_id in ids:
        try:
            yield Audited(task_id, audit_task(bench, task_id, wanted, partial(say, task_id)))
        except (StoreError, Interrupted):
            raise
        except BerbenchError as error:
            yield Audited(task_id, failed=error)


def audit_task(bench: Bench, task_id: str, wanted: Wanted, say: Callable[[str], None]) -> Audit:
    """Audit one task, and keep what was found. Refusal when its proof does not hold, or does not repeat now."""
    started = monotonic()
    files = bench.lint.project.read_task(task_id)
    history = bench.lint.history
    _require_fresh(bench.lint.project, history, files)
    trees = trees_of(history, files)
    say("putting the trees together")
    plan = make_plan(history, files, trees, bench.lint.config.harvest.test_patterns, wanted)
    dockerfile = bench.lint.project.read_dockerfile(files.task.environment.dockerfile)
    seen = _run(Grader(bench.verifier, files, dockerfile, trees), plan, wanted.jobs, say)
    proof = files.task.validation
    found = Audit(
        id=task_id,
        fingerprint=proof.fingerprint if proof else "",
        at=bench.now(),
        hunks=plan.seen_cuts(HUNK, seen),
        files=plan.seen_cuts(FILE, seen),
        mutants=plan.seen_mutants(seen),
        adversaries=plan.faced(seen),
        demands=unspecified(history, files, trees.base),
        prompt=sentences(files.prompt.decode("utf-8", "replace")),
        tests=checked(read_patch(files.tests_patch)),
        mutants_asked=wanted.mutants,
        seed=wanted.seed,
        trials=len(seen),
        seconds=monotonic() - started,
    )
    kept = json.dumps({"schema": SCHEMA, **row(found)}, indent=1)
    bench.data.keep_audit(task_id, kept.encode("ascii"))
    return found


def unspecified(history: History, files: TaskFiles, base: str) -> Demands:
    """What the hidden tests need and neither the prompt nor the base tree mentions."""
    demands = demands_of(files)
    held = history.read(base, history.files_with(base, demands.literals))
    text = b"\n".join(held.values())
    known = frozenset(one for one in demands.literals if one.encode("utf-8", "surrogateescape") in text)
    return demands.without(history.words_in(base, demands.names), known)


def _run(grader: Grader, plan: Plan, jobs: int, say: Callable[[str], None]) -> Mapping[Run, Saw]:
    """What was seen of every tree. The reference itself must pass under the same conditions."""
    image = grader.image(say)
    seen = _side_by_side(grader, image, plan.runs, jobs, say)
    if seen[plan.control].grade.name is not GradeName.PASS and image.tree != grader.trees.base:
        say("the reference does not pass on a shared image: trying one built from this base commit")
        seen = _side_by_side(grader, grader.image(say, exact=True), plan.runs, jobs, say)
    control = seen[plan.control].grade
    if control.name is not GradeName.PASS:
        raise Refusal(
            f"The reference itself does not pass now ({control.name}): nothing can be told from changes of it.",
            remedy="its proof does not repeat; see why with `berbench task validate`",
            details=(*control.reasons, *control.details),
        )
    return seen


def _side_by_side(
    grader: Grader, image: Image, runs: Mapping[Run, str], jobs: int, say: Callable[[str], None]
) -> dict[Run, Saw]:
    """One trial for each, `jobs` at a time. EngineError when the engine fails in any of them."""

    def one(run: Run, name: str) -> Saw:
        graded = grader.grade(image, {name: run.tree}, canaries=run.watched)[name]
        return Saw(graded.grade, sight(graded.grade, tuple(graded.trials.values())))

    seen: dict[Run, Saw] = {}
    with ThreadPoolExecutor(max_workers=max(1, jobs), thread_name_prefix="audit") as pool:
        pending = {pool.submit(one, run, name): run for run, name in runs.items()}
        waiting: set[Future[Saw]] = set(pending)
        say(f"trials: 0 of {len(runs)}")
        try:
            while waiting:
                # In short waits: a signal that another thread receives does not wake this one.
                done, waiting = wait(waiting, 0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    run = pending[future]
                    seen[run] = future.result()
                    say(f"trials: {len(seen)} of {len(runs)} ({runs[run]}: {seen[run].grade.name})")
        except BaseException as error:
            for future in waiting:
                future.cancel()
            if not isinstance(error, Exception):
                grader.verifier.engine.interrupt()  # leaving the pool waits for its threads: not for a test's own end
            raise
    return seen


def exit_code(outcomes: Sequence[Audited], *, min_score: float | None = None) -> int:
    """0 when all were audited, 1 for a score below `min_score`, else what failed says: 3 for the engine.

    What was left out, and what could not be measured, is below no mark.
    """
    failed = [outcome.failed for outcome in outcomes if outcome.failed is not None]
    if failed:
        return max(error.exit_code for error in failed)
    scores = (outcome.audit.score.total for outcome in outcomes if outcome.audit)
    below = [score for score in scores if score is not None and min_score is not None and score < min_score]
    return 1 if below else 0


def document(outcomes: Sequence[Audited]) -> dict[str, Any]:
    """The audits as `--json` prints them, weakest first, then what has none."""
    return {"schema": SCHEMA, "tasks": [_row(outcome) for outcome in weakest_first(outcomes)]}


def weakest_first(outcomes: Sequence[Audited]) -> list[Audited]:
    """By score; those that could not be measured, were left out or failed stand last."""

    def rank(outcome: Audited) -> tuple[int, float]:
        score = outcome.audit.score.total if outcome.audit else None
        return (0, score) if score is not None else (1 + (outcome.audit is None), 0.0)

    return sorted(outcomes, key=rank)


def _row(outcome: Audited) -> dict[str, Any]:
    if outcome.audit is not None:
        return {"state": "audited", "reason": "", **row(outcome.audit)}
    if outcome.failed is not None:
        reason = " ".join(filter(None, (outcome.failed.message, *outcome.failed.details[:3])))
        return {"id": outcome.id, "state": "failed", "reason": reason, "score": None}
    return {"id": outcome.id, "state": "skipped", "reason": outcome.skipped, "score": None}
