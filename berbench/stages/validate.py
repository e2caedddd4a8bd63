"""Prove a task: lint, image, two trials side by side, verdict, and the fingerprint that binds them.

A task is proven by itself; several at once share the engine and the images. Nothing is written into the
repository but the `validation:` block of a task that was proven (and a narrower command, when asked to narrow).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from time import monotonic

from berbench.errors import BerbenchError, EngineError, Interrupted, PatchConflict, StoreError, UsageError
from berbench.fingerprint import inputs_of, make_validation
from berbench.history.door import History
from berbench.model.task import Task, TaskFiles, TaskState
from berbench.model.trial import Verdict, VerdictName
from berbench.runners import narrow, runner_of
from berbench.stages.lint import LintDoors, leaks_in, lint_task
from berbench.stages.proof import Proof, prove
from berbench.stages.standing import build_arguments_of, stand
from berbench.stages.trees import Trees, trees_of
from berbench.stages.verifier import Verifier
from berbench.store import DataDir, Project
from berbench.verdicts import Trialed

SCHEMA = "berbench.validate/1"
# Verdicts of whole trials that contradict an earlier proof. A time-out or a failing build says nothing of the kind.
REFUTES = frozenset(
    {
        VerdictName.BASE_PASSES,
        VerdictName.REFERENCE_FAILS,
        VerdictName.NO_TESTS_RAN,
        VerdictName.WRONG_TESTS,
    }
)

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
    base: Trialed | None = None
    reference: Trialed | None = None
    logs: Path | None = None
    narrowed_command: str = ""
    seconds: float = 0.0


def validate(
    bench: Bench, ids: Sequence[str], *, jobs: int, narrowing: bool, say: Say
) -> Iterator[Validated]:
    """Prove the tasks, `jobs` at a time, and give each as it ends. One task's trouble is never another's."""
    with ThreadPoolExecutor(max_workers=max(1, jobs), thread_name_prefix="validate") as pool:
        pending: set[Future[Validated]] = {
            pool.submit(validate_task, bench, task_id, narrowing=narrowing, say=say) for task_id in ids
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


def validate_task(bench: Bench, task_id: str, *, narrowing: bool, say: Say) -> Validated:
    """Prove one task. What goes wrong with it is its verdict; only a failing disk and an interrupt are exceptions."""
    started = monotonic()
    with bench.lint.project.lock(task_id, say=lambda line: say(task_id, line)):
        try:
            outcome = _validate(bench, task_id, narrowing=narrowing, say=lambda line: say(task_id, line))
        except (StoreError, Interrupted):
            raise
        except EngineError as error:
            verdict = Verdict(VerdictName.ENGINE_ERROR, error.message, error.remedy, error.details)
            outcome = Validated(task_id, verdict)
        except BerbenchError as error:
            verdict = Verdict(VerdictName.INVALID_TASK, error.message, error.remedy, error.details)
            outcome = Validated(task_id, verdict)
    return replace(outcome, seconds=monotonic() - started)


def _validate(bench: Bench, task_id: str, *, narrowing: bool, say: Callable[[str], None]) -> Validated:
    files = bench.lint.project.read_task(task_id)
    dockerfile = bench.lint.project.read_dockerfile(files.task.environment.dockerfile)
    try:
        trees = trees_of(bench.lint.history, files)
    except PatchConflict as conflict:
        return Validated(task_id, _conflict(conflict))
    refusal = _refused_by_lint(bench, files)
    if refusal is not None:
        return Validated(task_id, refusal)

    proof = prove(bench.verifier, files, dockerfile, trees, say)
    narrowed = ""
    if narrowing and proof.verdict.narrowable:
        narrowed = _narrower(files.task, proof) or ""
        if narrowed:
            say("narrowing: deselecting the tests that fail in both trials, then proving again")
            files = replace(files, task=_with_command(files.task, narrowed))
            proof = prove(bench.verifier, files, dockerfile, trees, say)
    proven = proof.verdict.name is VerdictName.VALIDATED
    logs = bench.data.save_validation(task_id, bench.now(), proof.verdict, proof.trials, proof.build_log)
    fingerprint = ""
    verdict = proof.verdict
    if proven:
        fingerprint = _write(bench, files, dockerfile, trees, proof, narrowed)
    elif verdict.name in REFUTES and files.task.validation is not None:
        bench.lint.project.drop_validation(task_id)
        told = "the proof that the task had was withdrawn: it could not be repeated"
        verdict = replace(verdict, warnings=(*verdict.warnings, told))
    return Validated(
        task_id,
        verdict,
        fingerprint,
        proof.trials.get("base"),
        proof.trials.get("reference"),
        logs,
        narrowed if proven else "",
    )


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


def _narrower(task: Task, proof: Proof) -> str | None:
    """The command without the environment's noise, None when the runner has no exact way to say it."""
    reference = proof.trials["reference"].evidence
    return narrow(
        task.verify.command,
        runner_of(task.verify.command),
        noise=proof.verdict.noise,
        passing=(*proof.verdict.fail_to_pass, *proof.verdict.pass_to_pass),
        results=reference.results,
    )


def _with_command(task: Task, command: str) -> Task:
    return task.model_copy(update={"verify": task.verify.model_copy(update={"command": command})})


def _write(
    bench: Bench, files: TaskFiles, dockerfile: bytes, trees: Trees, proof: Proof, narrowed: str
) -> str:
    """Write the proof, unless what was proven is no longer what is on disk."""
    task_id = files.task.id
    if narrowed:
        bench.lint.project.update_verify_command(task_id, narrowed)
    inputs = inputs_of(
        files, base_tree=trees.base, dockerfile=dockerfile, build_args=build_arguments_of(files.task)
    )
    on_disk = bench.lint.project.read_task(task_id)
    now = inputs_of(
        on_disk,
        base_tree=bench.lint.history.tree_of(on_disk.task.source.base_commit),
        dockerfile=bench.lint.project.read_dockerfile(on_disk.task.environment.dockerfile),
        build_args=build_arguments_of(on_disk.task),
    )
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
    )
    bench.lint.project.write_validation(task_id, block)
    return block.fingerprint


def choose(
    project: Project, history: History, ids: Sequence[str], *, every: bool, stale: bool
) -> tuple[str, ...]:
    """The tasks to prove: those named, all, or all that are not fresh. UsageError unless asked for in one way."""
    if bool(ids) + every + stale != 1:
        raise UsageError(
            "Say which tasks to validate, one way.", remedy="name task ids, or give --all, or give --stale"
        )
    if ids:
        for task_id in ids:
            project.read_task(task_id)  # a name that is no task is a usage error, before anything runs
        return tuple(dict.fromkeys(ids))
    known = project.task_ids()
    if every:
        return known
    listed = stand(project, history, known)
    return tuple(item.id for item in listed if item.standing.state is not TaskState.FRESH)


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
    verdict = outcome.verdict
    return {
        "id": outcome.id,
        "verdict": verdict.name.value,
        "reason": verdict.reason,
        "remedy": verdict.remedy,
        "details": list(verdict.details),
        "fingerprint": outcome.fingerprint,
        "base": _trial(outcome.base),
        "reference": _trial(outcome.reference),
        "fail_to_pass": list(verdict.fail_to_pass),
        "pass_to_pass": list(verdict.pass_to_pass),
        "noise": list(verdict.noise),
        "stands_on": verdict.stands_on,
        "base_failure": verdict.base_failure,
        "narrowed_command": outcome.narrowed_command,
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
