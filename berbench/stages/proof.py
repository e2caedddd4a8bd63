"""One pair of trials of one task: its trees, its image, both runs side by side, and what is judged of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from berbench.evidence.reading import without_escapes
from berbench.model.task import Task, TaskFiles
from berbench.model.trial import Build, Image, Verdict, VerdictName
from berbench.stages.trees import Trees, hidden_paths
from berbench.stages.verifier import Run, Verifier
from berbench.verdicts import Hidden, Trialed, judge

Say = Callable[[str], None]

_STEP_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Proof:
    """One pair of trials and what was judged of it."""

    verdict: Verdict
    image: Image | None = None
    trials: dict[str, Trialed] = field(default_factory=dict)
    build_log: str = ""


def prove(verifier: Verifier, files: TaskFiles, dockerfile: bytes, trees: Trees, say: Say) -> Proof:
    """Trials on the task's image; a failure on a shared image is confirmed on an exact one before it counts."""
    proof = _attempt(verifier, files, dockerfile, trees, exact=False, say=say)
    shared = proof.image is not None and proof.image.tree != trees.base
    if shared and proof.verdict.name is not VerdictName.VALIDATED:
        say(f"{proof.verdict.name} on a shared image: confirming on one built from this base commit")
        proof = _attempt(verifier, files, dockerfile, trees, exact=True, say=say)
    return proof


def _attempt(
    verifier: Verifier,
    files: TaskFiles,
    dockerfile: bytes,
    trees: Trees,
    *,
    exact: bool,
    say: Say,
) -> Proof:
    task = files.task
    build = verifier.build(task, dockerfile, trees.base, exact=exact, say=say)
    if build.image is None:
        return Proof(_image_failed(task, build), build_log=build.log)
    held = verifier.held_by(build.image)
    if held.absent:
        return Proof(_image_without_tree(task, build.image), build.image, build_log=build.log)
    say("trials: base and reference side by side")
    trials = verifier.run(task, build.image, {"base": Run(trees.with_tests), "reference": Run(trees.solved)})
    hidden = Hidden(paths=hidden_paths(verifier.history, trees.base, trees.with_tests))
    verdict = judge(trials["base"], trials["reference"], hidden)
    verdict = replace(verdict, warnings=(*verdict.warnings, *held.warnings))
    return Proof(verdict, build.image, trials, build.log)


def _image_without_tree(task: Task, image: Image) -> Verdict:
    return Verdict(
        VerdictName.IMAGE_FAILED,
        f"The image's working folder {image.workdir} holds nothing of the base tree",
        f"{task.environment.dockerfile} must copy the tree into its last WORKDIR: `COPY . .`",
    )


def _image_failed(task: Task, build: Build) -> Verdict:
    what = "did not finish in time" if build.timed_out else "failed"
    first_line = without_escapes(build.failed_step).strip().partition("\n")[0]
    step = f" at: {first_line[:_STEP_SHOWN]}{'…' * (len(first_line) > _STEP_SHOWN)}" if first_line else ""
    return Verdict(
        VerdictName.IMAGE_FAILED,
        f"The image build {what}{step}",
        f"a build or test dependency is probably absent from {task.environment.dockerfile}; correct it and try again",
        tuple(without_escapes(line).rstrip() for line in build.log.splitlines()[-12:]),
    )
