"""What became of a proof that does not reproduce any more: its evidence and the newer one, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from berbench.model.task import TrialSummary, Validation
from berbench.model.trial import Facts, Image, Outcome
from berbench.verdicts.comparison import NAMES_SHOWN, Trialed

PACKAGES_SHOWN = 40
_LONGEST_NAME = 300


@dataclass(frozen=True, slots=True)
class Before:
    """What is still known of the proof: its block, and what its image had installed, where that was kept."""

    block: Validation
    installed: tuple[str, ...] | None = None


def difference(before: Before, base: Trialed, reference: Trialed) -> tuple[str, ...]:
    """A line for each thing that is no longer as it was, the tests first, then what may be the cause."""
    block = before.block
    tests = (
        *_not_failing(block.fail_to_pass, base),
        *_not_passing((*block.fail_to_pass, *block.pass_to_pass), reference, "with the reference"),
        *_not_passing(block.pass_to_pass, base, "at the base"),
    )
    return (
        *_first(tests, NAMES_SHOWN, "tests"),
        *_exit_code("base", block.base, base.facts),
        *_exit_code("reference", block.reference, reference.facts),
        *_changed("image", block.image, reference.facts.image),
        *_changed("engine", block.engine, reference.facts.engine),
        *_first(packages(before.installed, reference.facts.installed), PACKAGES_SHOWN, "packages"),
    )


def _not_failing(names: Sequence[str], base: Trialed) -> tuple[str, ...]:
    passing = {result.id for result in base.evidence.results if result.outcome is Outcome.PASSED}
    return tuple(f"passes at the base now: {_short(name)}" for name in names if name in passing)


def _not_passing(names: Sequence[str], trial: Trialed, where: str) -> tuple[str, ...]:
    if not trial.evidence.readable:
        return ()
    outcomes = {result.id: result.outcome.value for result in trial.evidence.results}
    now = {name: outcomes.get(name, "missing") for name in names}
    return tuple(
        f"passed {where}, now {outcome}: {_short(name)}"
        for name, outcome in now.items()
        if outcome != "passed"
    )


def _exit_code(name: str, before: TrialSummary, facts: Facts) -> tuple[str, ...]:
    if before.exit_code == facts.exit_code:
        return ()
    return (f"exit code of the {name} trial: {before.exit_code} → {facts.exit_code}",)


def _changed(what: str, before: str, now: str) -> tuple[str, ...]:
    return (f"{what}: {before or 'unknown'} → {now or 'unknown'}",) if before != now else ()


def elsewhere(block: Validation, image: Image) -> str:
    """Why nothing that is measured on this image can stand beside the proof; "" when it can.

    What a registry gives under a name may be another image tomorrow. A base that was made here differs from machine
    to machine even where it holds the same: that is told, and is no error.
    """
    if block.platform and image.platform and block.platform != image.platform:
        return f"its proof is of {block.platform}, and this image is for {image.platform}"
    published = "@" in block.base_image and "@" in image.base
    if published and block.base_id != image.base_id:
        return f"its proof stands on {block.base_image}, and this image on {image.base}"
    return ""


def moved(before: Before, image: Image, installed: Sequence[str]) -> tuple[str, ...]:
    """A line for each thing of a proof's environment that is another one by now, though the proof still holds."""
    block = before.block
    if block.image == image.id:
        return ()
    known = block.base_id and image.base_id
    return (
        f"the image was built again since the last proof: {block.image} → {image.id}",
        *(
            _changed(
                "its base image", _base(block.base_image, block.base_id), _base(image.base, image.base_id)
            )
            if known
            else ()
        ),
        *_first(packages(before.installed, installed), PACKAGES_SHOWN, "packages"),
    )


def _base(name: str, image: str) -> str:
    return name if "@" in name else f"{name} {image}"


def packages(before: Sequence[str] | None, now: Sequence[str]) -> tuple[str, ...]:
    """`name==version` lines before and now → a line for each package that differs; () where one side is unknown."""
    if not before or not now:
        return ()
    old, new = _versions(before), _versions(now)
    return tuple(
        f"package {name}: {', '.join(old.get(name, ())) or 'absent'} → {', '.join(new.get(name, ())) or 'absent'}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    )


def _versions(lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in sorted(lines):
        name, _, version = line.partition("==")
        found[name] = (*found.get(name, ()), version)
    return found


def _first(lines: Sequence[str], most: int, what: str) -> tuple[str, ...]:
    more = len(lines) - most
    return (*lines[:most], f"and {more} more {what}") if more > 0 else tuple(lines)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
