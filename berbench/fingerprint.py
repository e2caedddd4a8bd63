"""Inputs → hash, and what a validation block is worth today.

The fingerprint binds every input that decides the two trials, by name, so a stale task can say which of them
changed. The seal binds the block itself and the task's id, so a block that was copied or edited is told from
one that berbench wrote. Both are plain hashes: they find accidents and shortcuts. Who is set on forging a
proof can compute them too, and only a new validation tells.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from berbench import __version__
from berbench.model.task import Broken, Control, Standing, TaskFiles, TaskState, TrialSummary, Validation
from berbench.model.trial import Evidence, Facts, Image, Outcome, Verdict, VerdictName

RECIPE = 1  # raise when an input's canonical form changes; every older proof then goes stale by name
GRADING = 1  # raise when canaries are planted so differently that the control of an older proof tells nothing

_NOTHING_KNOWN = Control()


def inputs_of(
    files: TaskFiles, *, base_tree: str, dockerfile: bytes, build_args: Sequence[tuple[str, str]]
) -> dict[str, str]:
    """Name → SHA-256 (hex) of each input that decides the two trials, names in order.

    `base_tree` is the base commit's tree id, `build_args` all (name, value) pairs offered to the build.
    Layout and comments of task.yaml, description, tags and weight are no inputs.
    """
    task = files.task
    limits = task.limits.limits()
    values: dict[str, Sequence[str | bytes]] = {
        "as_of": (task.environment.as_of,),
        "assertions": tuple(_assertion(assertion) for assertion in task.assert_),
        "base_tree": (base_tree,),
        "build_args": tuple(part for pair in sorted(build_args) for part in pair),
        "dockerfile": (dockerfile,),
        "environment_inputs": task.environment.inputs,
        "evidence": (task.verify.evidence,),
        "grading": (str(GRADING),),
        "hide": task.hide,
        "limits": (str(limits.memory_bytes), repr(limits.cpus), str(limits.pids)),
        "network": (task.verify.network,),
        "prompt": (files.prompt,),
        "protected_paths": task.verify.protected_paths,
        "reference_patch": (files.reference_patch,),
        "setup": task.environment.setup,
        "tests_patch": (files.tests_patch,),
        "timeouts": (str(task.verify.timeout_s), str(task.timeout_s)),
        "verify_command": (task.verify.command,),
    }
    return {name: digest("berbench.input", str(RECIPE), name, *parts) for name, parts in values.items()}


def fingerprint(inputs: Mapping[str, str]) -> str:
    """`sha256:…` over the named input hashes, whatever their order."""
    return "sha256:" + digest(
        "berbench.fingerprint", *(part for item in sorted(inputs.items()) for part in item)
    )


def seal(validation: Validation) -> str:
    """`sha256:…` over every key of the block but the seal itself.

    Keys that hold their default are left out, so a later berbench that knows more keys finds the same seal.
    """
    document = validation.model_dump(mode="json", by_alias=True, exclude={"seal"}, exclude_defaults=True)
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + digest("berbench.seal", canonical)


class Trialed(Protocol):
    """A trial's facts and what was read from them."""

    @property
    def facts(self) -> Facts:
        """What the trial recorded."""

    @property
    def evidence(self) -> Evidence:
        """Its tests, as far as they could be told apart."""


def make_validation(
    task_id: str,
    inputs: Mapping[str, str],
    *,
    verdict: Verdict,
    base: Trialed,
    reference: Trialed,
    validated_at: datetime,
    repeats: int = 1,
    quarantined: Sequence[str] = (),
    control: Control = _NOTHING_KNOWN,
    image: Image | None = None,
) -> Validation:
    """A sealed block. ValueError when verdict or trials are not those of a proof."""
    if verdict.name is not VerdictName.VALIDATED:
        raise ValueError(f"task {task_id} can't be sealed: its verdict is {verdict.name}")
    unsealed = Validation(
        task=task_id,
        fingerprint=fingerprint(inputs),
        inputs=dict(inputs),
        base=_summary(base),
        reference=_summary(reference),
        stands_on=verdict.stands_on,
        base_failure=verdict.base_failure or "tests",
        fail_to_pass=verdict.fail_to_pass,
        pass_to_pass=verdict.pass_to_pass,
        quarantined=tuple(dict.fromkeys(quarantined)),
        repeats=repeats,
        control=control,
        validated_at=validated_at,
        image=reference.facts.image,
        platform=image.platform if image else "",
        base_image=image.base if image else "",
        base_id=image.base_id if image else "",
        user=(image.user or "root") if image else "",
        engine=reference.facts.engine,
        berbench=__version__,
        seal="",
    )
    if reason := _contradiction(unsealed):
        raise ValueError(f"task {task_id} can't be sealed: {reason}")
    return unsealed.model_copy(update={"seal": seal(unsealed)})


def _summary(trialed: Trialed) -> TrialSummary:
    counts = dict(trialed.evidence.counts)
    passed = counts.get(Outcome.PASSED, 0)
    failed = counts.get(Outcome.FAILED, 0) + counts.get(Outcome.ERROR, 0)
    return TrialSummary(
        exit_code=trialed.facts.exit_code,
        seconds=round(trialed.facts.seconds, 3),
        passed=passed,
        failed=failed,
        other=sum(counts.values()) - passed - failed,
    )


def standing(files: TaskFiles, inputs: Mapping[str, str]) -> Standing:
    """What the task's proof is worth, given its inputs as they are now (`inputs_of`).

    A block that can't be believed says nothing else. A proof that does not reproduce stays broken until there is a
    new one, whatever was edited since: only a validation shows whether that mended it.
    """
    if files.validation_problem:
        return _forged(f"its validation block is not one that berbench wrote ({files.validation_problem})")
    block = files.task.validation
    if block is None:
        return Standing(TaskState.UNVALIDATED, reason="it was never proven")
    if block.task != files.task.id:
        return _forged(f"its validation block was written for task {block.task}")
    if block.seal != seal(block):
        return _forged("its validation block was edited by hand")
    if block.fingerprint != fingerprint(block.inputs):
        return _forged("its fingerprint is not the hash of its own inputs")
    if reason := _contradiction(block):
        return _forged(reason)
    changed = tuple(
        name for name in sorted({*block.inputs, *inputs}) if block.inputs.get(name) != inputs.get(name)
    )
    if block.broken is not None:
        return Standing(TaskState.BROKEN, changed, _broken(block.broken, changed))
    if changed:
        return Standing(TaskState.STALE, changed, "changed since the proof: " + ", ".join(changed))
    return Standing(TaskState.FRESH)


def _broken(broken: Broken, changed: Sequence[str]) -> str:
    since = f"; changed since the proof: {', '.join(changed)}" if changed else ""
    return f"its proof did not reproduce on {broken.at:%Y-%m-%d}: {broken.verdict}, {broken.reason}{since}"


def _forged(reason: str) -> Standing:
    return Standing(TaskState.FORGED, reason=reason)


def _contradiction(block: Validation) -> str:
    """Why no honest validation can have ended so; "" when it can."""
    if not block.inputs:
        return "its validation block binds no inputs"
    if block.base.exit_code in (0, None):
        return "its validation block says that the base trial did not fail"
    if block.reference.exit_code != 0:
        return "its validation block says that the reference trial did not pass"
    return ""


def _assertion(assertion: Mapping[str, str | tuple[str, ...]]) -> str:
    """One assertion in canonical form; the order of its keys means nothing."""
    return json.dumps(assertion, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest(*parts: str | bytes) -> str:
    """SHA-256 (hex) over a counted, length-prefixed listing, so that no two listings read the same."""
    listing = hashlib.sha256(b"%d:" % len(parts))
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        listing.update(b"%d:" % len(data))
        listing.update(data)
    return listing.hexdigest()
