"""An audit as a value, and as the document that `--json` prints and the data folder keeps. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from berbench.checks import Demands
from berbench.strength.cuts import Cut
from berbench.strength.mutants import Mutant
from berbench.strength.score import Score, score_of
from berbench.strength.seen import Noticed, Sight
from berbench.strength.sides import Checked

SCHEMA = "berbench.audit/1"

Thing = TypeVar("Thing", Cut, Mutant)


@dataclass(frozen=True, slots=True)
class Seen(Generic[Thing]):
    """A changed part of the reference, and what the verifier made of the change."""

    thing: Thing
    sight: Sight


@dataclass(frozen=True, slots=True)
class Faced:
    """What became of an adversary. `verdict` is a grade's name, or "absent" where there is none for this task."""

    name: str
    verdict: str
    told: str

    @property
    def passed(self) -> bool:
        """Whether it won."""
        return self.verdict == "pass"


@dataclass(frozen=True, slots=True)
class Audit:
    """All that was found of one task. `fingerprint` is of the proof that it was made under."""

    id: str
    fingerprint: str
    at: datetime
    hunks: tuple[Seen[Cut], ...]
    files: tuple[Seen[Cut], ...]
    mutants: tuple[Seen[Mutant], ...]
    adversaries: tuple[Faced, ...]
    demands: Demands
    prompt: tuple[str, ...]  # its sentences
    tests: tuple[Checked, ...]
    mutants_asked: int = 0
    seed: int = 0
    trials: int = 0
    seconds: float = 0.0

    @property
    def score(self) -> Score:
        """See `strength.score`."""
        return score_of(
            (seen.sight.noticed for seen in self.hunks),
            (seen.sight.noticed for seen in self.mutants),
            self.demands.count,
            passed_by_adversary=any(faced.passed for faced in self.adversaries),
        )


def unnoticed(found: Iterable[Seen[Thing]]) -> tuple[Seen[Thing], ...]:
    """Those whose change no test noticed."""
    return tuple(seen for seen in found if seen.sight.noticed is Noticed.NO)


def row(audit: Audit) -> dict[str, Any]:
    """One task's audit as a document."""
    return {
        "id": audit.id,
        "fingerprint": audit.fingerprint,
        "audited_at": audit.at.isoformat(),
        "score": audit.score.total,
        "parts": {"hunks": audit.score.hunks, "mutants": audit.score.mutants, "scope": audit.score.scope},
        "hunks": [_cut(seen) for seen in audit.hunks],
        "files": [_cut(seen) for seen in audit.files],
        "mutants": {
            "asked": audit.mutants_asked,
            "seed": audit.seed,
            "survivors": [_mutant(seen) for seen in unnoticed(audit.mutants)],
            "all": [_mutant(seen) for seen in audit.mutants],
        },
        "scope": {
            "unspecified": {kind: list(names) for kind, names in asdict(audit.demands).items()},
            "prompt": list(audit.prompt),
            "tests": [
                {"file": one.file, "name": one.name, "asserts": list(one.asserts)} for one in audit.tests
            ],
        },
        "adversaries": [
            {"name": one.name, "verdict": one.verdict, "passed": one.passed, "told": one.told}
            for one in audit.adversaries
        ],
        "trials": audit.trials,
        "seconds": round(audit.seconds, 2),
    }


def _cut(seen: Seen[Cut]) -> dict[str, Any]:
    cut = seen.thing
    return {
        "path": cut.path,
        "header": cut.header,
        "lines": list(cut.lines),
        "added": cut.added,
        "deleted": cut.deleted,
        "noticed": seen.sight.noticed.value,
        "told": seen.sight.told,
    }


def _mutant(seen: Seen[Mutant]) -> dict[str, Any]:
    return {**asdict(seen.thing), "noticed": seen.sight.noticed.value, "told": seen.sight.told}
