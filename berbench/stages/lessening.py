"""Prove a task, and where some tests alone stand in the way, again without them.

Tests that fail in both trials are the environment's noise, those whose outcome moves are flaky. Both are deselected
by the runner's own means, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from berbench.model.task import Standing, TaskFiles, TaskState
from berbench.model.trial import TestResult, Verdict
from berbench.runners import narrow, runner_of
from berbench.stages.luck import ONCE, Luck
from berbench.stages.proof import Proof, Subject, prove
from berbench.stages.verifier import Verifier

Say = Callable[[str], None]

# Tests that rarely fail come to light one after another; a task that needs more rounds is no fair measurement.
ROUNDS = 3

NO_EXACT_WAY = "the runner has no exact way to leave these tests out and keep the others, so they stay"
_BY_HAND = "write verify.command so that it runs the steady tests alone, or mend what the others depend on"


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a task is to be proven."""

    narrowing: bool = False  # deselect the noise and prove again
    quarantining: bool = False  # deselect the flaky tests and prove again
    luck: Luck = ONCE


PLAIN = Wishes()


@dataclass(frozen=True, slots=True)
class Attempts:
    """The first proof and the last, with the command of the last where it is a narrower one."""

    first: Proof
    proof: Proof
    command: str = ""
    quarantined: tuple[str, ...] = ()


def prove_lessened(verifier: Verifier, subject: Subject, wishes: Wishes, say: Say) -> Attempts:
    """The proof, with fewer tests where that is wished for and helps."""
    files = subject.files
    proof = prove(verifier, subject, wishes.luck, say)
    attempts = Attempts(proof, proof)
    for _ in range(ROUNDS):
        verdict = attempts.proof.verdict
        out = _unwanted(verdict, wishes)
        if not out:
            break
        command = _without(out, with_command(files, attempts.command), attempts.proof)
        if command is None:
            verdict = replace(verdict, warnings=(*verdict.warnings, NO_EXACT_WAY), remedy=_BY_HAND)
            return replace(attempts, proof=replace(attempts.proof, verdict=verdict))
        kind = "flaky tests" if verdict.moved else "tests that fail in both trials"
        say(f"deselecting {len(out)} {kind}, then proving again")
        again = replace(subject, files=with_command(files, command))
        attempts = Attempts(
            proof,
            prove(verifier, again, wishes.luck, say),
            command,
            (*attempts.quarantined, *verdict.moved),
        )
    return attempts


def _unwanted(verdict: Verdict, wishes: Wishes) -> tuple[str, ...]:
    if wishes.narrowing and verdict.narrowable:
        return verdict.noise
    return verdict.moved if wishes.quarantining and verdict.quarantinable else ()


def _without(out: tuple[str, ...], files: TaskFiles, proof: Proof) -> str | None:
    """The command without some tests, None when the runner has no exact way to say it."""
    command = files.task.verify.command
    seen: dict[str, TestResult] = {}
    for name, trial in proof.trials.items():
        if name.partition("-")[0] not in ("base", "reference"):
            continue
        results = {result.id: result for result in trial.evidence.results}
        seen = seen | results if name.startswith("reference") else results | seen
    passing = (*proof.verdict.fail_to_pass, *proof.verdict.pass_to_pass)
    return narrow(command, runner_of(command), noise=out, passing=passing, results=tuple(seen.values()))


def with_command(files: TaskFiles, command: str) -> TaskFiles:
    """The task with another verify command; "" leaves it as it is."""
    if not command:
        return files
    verify = files.task.verify.model_copy(update={"command": command})
    return replace(files, task=files.task.model_copy(update={"verify": verify}))


def left_out(files: TaskFiles, standing: Standing) -> tuple[str, ...]:
    """Flaky tests that the task's command leaves out since an earlier proof, if the command is still that one."""
    block = files.task.validation
    if block is None or standing.state is TaskState.FORGED or "verify_command" in standing.changed:
        return ()
    return block.quarantined
