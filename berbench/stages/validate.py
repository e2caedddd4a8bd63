"""Prove a task: lint, image, trials side by side, verdict, and the fingerprint that binds them.

A task is proven by itself; several at once share the engine and the images. Nothing is written into the
repository but the `validation:` block of a task that was proven, or whose proof does not reproduce any more, and
a narrower command, when asked for one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from time import monotonic

from berbench.errors import BerbenchError, EngineError, Interrupted, PatchConflict, StoreError
from berbench.fingerprint import inputs_of, make_validation
from berbench.model.task import TaskFiles, Validation
from berbench.model.trial import Verdict, VerdictName
from berbench.stages.drift import mark_broken, moved_since
from berbench.stages.lessening import PLAIN, Attempts, Wishes, left_out, prove_lessened, with_command
from berbench.stages.lint import LintDoors, leaks_in, lint_task
from berbench.stages.proof import Subject
from berbench.stages.standing import build_arguments_of, fingerprint_today, inputs_today, stand_one
from berbench.stages.trees import Trees, trees_of
from berbench.stages.verifier import Verifier
from berbench.store import DataDir
from berbench.verdicts import Trialed

SCHEMA = "berbench.validate/1"

Say = Callable[[str, str], None]  # task id, one line


@dataclass(frozen=True, slots=True)
class Bench:
    """The doors that a validation goes through."""

    lint: LintDoors
    data: DataDir
    verifier: Verifier
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Validated:
    """How the validation of one task ended. Trials are absent where none was run."""

    id: str
    verdict: Verdict
    fingerprint: str = ""
    trials: Mapping[str, Trialed] = field(default_factory=dict)  # by name: base, reference, base-2, …
    logs: Path | None = None
    narrowed_command: str = ""
    quarantined: tuple[str, ...] = ()
    wishes: Wishes = PLAIN
    seconds: float = 0.0


def validate(
    bench: Bench, ids: Sequence[str], *, jobs: int, wishes: Wishes = PLAIN, say: Say
) -> Iterator[Validated]:
    """Prove the tasks, `jobs` at a time, and give each as it ends. One task's trouble is never another's."""
    with ThreadPoolExecutor(max_workers=max(1, jobs), thread_name_prefix="validate") as pool:
        pending: set[Future[Validated]] = {
            pool.submit(validate_task, bench, task_id, wishes=wishes, say=say) for task_id in ids
        }
        try:
            while pending:
                # In short waits: a signal that another thread receives does not wake this one.
                done, pending = wait(pending, 0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BaseException:
            for future in pending:
                future.cancel()
            bench.verifier.engine.interrupt()  # leaving the pool waits for its threads: not for a test's own end
            raise


def validate_task(bench: Bench, task_id: str, *, wishes: Wishes = PLAIN, say: Say) -> Validated:
    """Prove one task. What goes wrong with it is its verdict; only a failing disk and an interrupt are exceptions."""
    started = monotonic()
    with bench.lint.project.lock(task_id, say=lambda line: say(task_id, line)):
        try:
            outcome = _validate(bench, task_id, wishes, lambda line: say(task_id, line))
        except (StoreError, Interrupted):
            raise
        except EngineError as error:
            verdict = Verdict(VerdictName.ENGINE_ERROR, error.message, error.remedy, error.details)
            outcome = Validated(task_id, verdict)
        except BerbenchError as error:
            verdict = Verdict(VerdictName.INVALID_TASK, error.message, error.remedy, error.details)
            logs = bench.data.save_validation(task_id, bench.now(), verdict, {})
            outcome = Validated(task_id, verdict, logs=logs)
    return replace(outcome, wishes=wishes, seconds=monotonic() - started)


def _validate(bench: Bench, task_id: str, wishes: Wishes, say: Callable[[str], None]) -> Validated:
    project, history = bench.lint.project, bench.lint.history
    files = project.read_task(task_id)
    dockerfile = project.read_dockerfile(files.task.environment.dockerfile)
    try:
        trees = trees_of(history, files)
    except PatchConflict as conflict:
        return _refused(bench, files, _conflict(conflict))
    refusal = _refused_by_lint(bench, files)
    if refusal is not None:
        return _refused(bench, files, refusal)

    subject = Subject(files, dockerfile, trees, bench.lint.config.harvest.test_patterns)
    attempts = prove_lessened(bench.verifier, subject, wishes, say)
    proof, verdict = attempts.proof, attempts.proof.verdict
    if verdict.name is VerdictName.VALIDATED and proof.image is not None:
        now = proof.trials["reference"].facts
        moved = moved_since(project, history, bench.data, files, proof.image, now)
        verdict = replace(verdict, warnings=(*verdict.warnings, *moved))
    judged = with_command(files, attempts.command) if attempts.command else files
    logs = bench.data.save_validation(
        task_id,
        bench.now(),
        verdict,
        proof.trials,
        proof.build_log,
        fingerprint=fingerprint_today(project, history, judged),
    )
    outcome = Validated(task_id, verdict, trials=proof.trials, logs=logs)
    if verdict.name is VerdictName.VALIDATED:
        block = _write(bench, files, dockerfile, trees, attempts, wishes)
        return replace(
            outcome,
            fingerprint=block.fingerprint,
            quarantined=block.quarantined,
            narrowed_command=attempts.command,
        )
    first = attempts.first  # with the command that the older proof was made with
    told = mark_broken(project, history, bench.data, files, first.verdict, first.trials, bench.now())
    if not told:
        return outcome
    return replace(outcome, verdict=replace(verdict, warnings=(*verdict.warnings, told)))


def _refused(bench: Bench, files: TaskFiles, verdict: Verdict) -> Validated:
    """A refusal that took no trial is remembered like any other."""
    today = fingerprint_today(bench.lint.project, bench.lint.history, files)
    logs = bench.data.save_validation(files.task.id, bench.now(), verdict, {}, fingerprint=today)
    return Validated(files.task.id, verdict, logs=logs)


def _refused_by_lint(bench: Bench, files: TaskFiles) -> Verdict | None:
    problems = lint_task(bench.lint, files)
    errors = [problem for problem in problems if problem.severity == "error"]
    leaks = leaks_in(problems)
    shown = leaks or errors
    if not shown:
        return None
    return Verdict(
        VerdictName.PROMPT_LEAKS if leaks else VerdictName.INVALID_TASK,
        f"{shown[0].where}: {shown[0].message}",
        f"`berbench task lint {files.task.id}` lists every problem; --fix mends what can be derived",
        tuple(f"{problem.where}: {problem.message}" for problem in shown[1:]),
    )


def _conflict(conflict: PatchConflict) -> Verdict:
    return Verdict(
        VerdictName.PATCH_CONFLICT,
        conflict.message,
        "the patches and the base commit do not describe the same change: recreate the task with --force",
    )


def _write(
    bench: Bench, files: TaskFiles, dockerfile: bytes, trees: Trees, attempts: Attempts, wishes: Wishes
) -> Validation:
    """Write the proof, unless what was proven is no longer what is on disk."""
    project, history, proof = bench.lint.project, bench.lint.history, attempts.proof
    task_id = files.task.id
    if attempts.command:
        project.update_verify_command(task_id, attempts.command)
    proven = with_command(files, attempts.command) if attempts.command else files
    inputs = inputs_of(
        proven, base_tree=trees.base, dockerfile=dockerfile, build_args=build_arguments_of(proven.task)
    )
    now = inputs_today(project, history, project.read_task(task_id))
    if now != inputs:
        changed = ", ".join(sorted(name for name in inputs if now.get(name) != inputs[name]))
        raise BerbenchError(
            f"The task was edited while it was being validated ({changed}); the proof is of the older text.",
            remedy=f"run `berbench task validate {task_id}` again",
        )
    block = make_validation(
        task_id,
        inputs,
        verdict=proof.verdict,
        base=proof.trials["base"],
        reference=proof.trials["reference"],
        validated_at=bench.now(),
        repeats=wishes.luck.repeat,
        control=proof.control,
        image=proof.image,
        quarantined=(*left_out(files, stand_one(project, history, files)), *attempts.quarantined),
    )
    project.write_validation(task_id, block)
    return block


def exit_code(outcomes: Sequence[Validated]) -> int:
    """0 when all were validated, 3 when the engine failed for any, else 1."""
    names = {outcome.verdict.name for outcome in outcomes}
    if VerdictName.ENGINE_ERROR in names:
        return EngineError.exit_code
    return 0 if names <= {VerdictName.VALIDATED} else 1


def document(outcomes: Sequence[Validated]) -> dict[str, object]:
    """The outcomes as `--json` prints them."""
    return {"schema": SCHEMA, "tasks": [_row(outcome) for outcome in outcomes]}


def _row(outcome: Validated) -> dict[str, object]:
    verdict, luck = outcome.verdict, outcome.wishes.luck
    return {
        "id": outcome.id,
        "verdict": verdict.name.value,
        "reason": verdict.reason,
        "remedy": verdict.remedy,
        "details": list(verdict.details),
        "fingerprint": outcome.fingerprint,
        "base": _trial(outcome.trials.get("base")),
        "reference": _trial(outcome.trials.get("reference")),
        "others": {
            name: _trial(trialed)
            for name, trialed in outcome.trials.items()
            if name not in ("base", "reference")
        },
        "fail_to_pass": list(verdict.fail_to_pass),
        "pass_to_pass": list(verdict.pass_to_pass),
        "noise": list(verdict.noise),
        "moved": list(verdict.moved),
        "moved_by": verdict.moved_by,
        "stands_on": verdict.stands_on,
        "base_failure": verdict.base_failure,
        "narrowed_command": outcome.narrowed_command,
        "quarantined": list(outcome.quarantined),
        "repeats": luck.repeat,
        "seed": luck.seed,
        "clock": luck.clock,
        "warnings": list(verdict.warnings),
        "seconds": round(outcome.seconds, 2),
        "logs": str(outcome.logs) if outcome.logs else "",
    }


def _trial(trialed: Trialed | None) -> dict[str, object] | None:
    if trialed is None:
        return None
    facts = trialed.facts
    return {
        "exit_code": facts.exit_code,
        "seconds": round(facts.seconds, 2),
        "timed_out": facts.timed_out,
        "out_of_memory": facts.out_of_memory,
        "evidence": trialed.evidence.source,
        "tests": dict(sorted(Counter(result.outcome.value for result in trialed.evidence.results).items())),
        "image": facts.image,
        "engine": facts.engine,
        "installed": list(facts.installed),
    }
