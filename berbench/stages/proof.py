"""The trials of one task: its image, the runs side by side, and what is judged of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from berbench.diagnosis import diagnose_build
from berbench.evidence.reading import without_escapes
from berbench.model.task import Control, Task, TaskFiles
from berbench.model.trial import Build, Image, Verdict, VerdictName
from berbench.stages.luck import Luck, Proven, pairs_of, repeats, shake
from berbench.stages.trees import Trees, hidden_paths
from berbench.stages.verifier import Verifier
from berbench.verdicts import Hidden, Trialed
from berbench.verdicts.luck import judge_repeats

if TYPE_CHECKING:
    from berbench.stages.control import Controls

Say = Callable[[str], None]

_STEP_SHOWN = 160
_NOTHING_KNOWN = Control()


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be proven: a task with its Dockerfile and trees, and what the project calls a test."""

    files: TaskFiles
    dockerfile: bytes
    trees: Trees
    test_patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """The trials by name (`base`, `reference`, `base-2`, …) and what was judged of them."""

    verdict: Verdict
    image: Image | None = None
    trials: dict[str, Trialed] = field(default_factory=dict)
    build_log: str = ""
    control: Control = _NOTHING_KNOWN  # of a proof: how the reference does with canaries


def prove(verifier: Verifier, subject: Subject, luck: Luck, say: Say) -> Proof:
    """Trials on the task's image; a failure on a shared image is confirmed on an exact one before it counts.

    A disagreement needs no confirmation: a lucky run on another image would only hide it."""
    proof = _attempt(verifier, subject, luck, exact=False, say=say)
    shared = proof.image is not None and proof.image.tree != subject.trees.base
    if shared and proof.verdict.name not in (VerdictName.VALIDATED, VerdictName.FLAKY):
        say(f"{proof.verdict.name} on a shared image: confirming on one built from this base commit")
        proof = _attempt(verifier, subject, luck, exact=True, say=say)
    return proof


def _attempt(verifier: Verifier, subject: Subject, luck: Luck, *, exact: bool, say: Say) -> Proof:
    files, trees = subject.files, subject.trees
    task = files.task
    build = verifier.build(task, subject.dockerfile, trees.base, exact=exact, say=say)
    if build.image is None:
        return Proof(_image_failed(task, build), build_log=build.log)
    held = verifier.held_by(build.image)
    if held.absent:
        return Proof(_image_without_tree(task, build.image), build.image, build_log=build.log)
    times = f", {luck.repeat} times each" if luck.repeat > 1 else ""
    say(f"trials: base and reference side by side{times}")
    controls = cache(partial(_controls, verifier, subject, build.image))
    trials = verifier.run(task, build.image, repeats(trees, luck.repeat), lambda: controls().runs())
    hidden = Hidden(paths=hidden_paths(verifier.history, trees.base, trees.with_tests))
    verdict = judge_repeats(pairs_of(trials, luck.repeat), hidden)
    verdict = replace(verdict, warnings=(*verdict.warnings, *held.warnings))
    shaken = shake(verifier, task, build.image, trees, Proven(verdict, trials, hidden), luck, say)
    proven = Proof(shaken.verdict, build.image, shaken.trials, build.log)
    if proven.verdict.name is not VerdictName.VALIDATED:
        return proven
    control, verdict = controls().judge(proven.verdict, trials, say)
    return replace(proven, control=control, verdict=verdict)


def _controls(verifier: Verifier, subject: Subject, image: Image) -> Controls:
    # Loaded while the proof's own trials run, which are to begin as soon as they can: it takes some 50 ms.
    from berbench.stages.control import Controls

    return Controls(verifier, subject.files, subject.trees, subject.test_patterns, image)


def _image_without_tree(task: Task, image: Image) -> Verdict:
    return Verdict(
        VerdictName.IMAGE_FAILED,
        f"The image's working folder {image.workdir} holds nothing of the base tree",
        f"{task.environment.dockerfile} must copy the tree into its last WORKDIR: `COPY . .`",
    )


def _image_failed(task: Task, build: Build) -> Verdict:
    what = "did not finish in time" if build.timed_out else "failed"
    cause = diagnose_build(build.log)
    world = f"; the log says that {cause}" if cause else ""
    where = task.environment.dockerfile
    remedy = f"a build or test dependency is probably absent from {where}; correct it and try again"
    first_line = without_escapes(build.failed_step).strip().partition("\n")[0]
    step = f" at: {first_line[:_STEP_SHOWN]}{'…' * (len(first_line) > _STEP_SHOWN)}" if first_line else ""
    return Verdict(
        VerdictName.IMAGE_FAILED,
        f"The image build {what}{step}{world}",
        "mend that, or wait, then try again" if world else remedy,
        tuple(without_escapes(line).rstrip() for line in build.log.splitlines()[-12:]),
    )
