"""Plantings for tests: made from texts, described in short, and run by the real runners."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runners"))

from hosted import trial_on_host

from berbench.canaries import plant, split
from berbench.model.changes import REGULAR, FileEntry
from berbench.model.grading import BESIDE, INSIDE, Planting
from berbench.model.trial import Facts

BOTH = (INSIDE, BESIDE)


def entries(files: dict[str, str]) -> dict[str, FileEntry]:
    """Texts as files of a tree."""
    return {path: FileEntry(path, REGULAR, text.encode()) for path, text in files.items()}


def planting(
    command: str,
    hidden: dict[str, str],
    *,
    seed: str = "5eed",
    places: tuple[str, ...] = BOTH,
    again: tuple[str, ...] | None = None,
    quick: float | None = None,
    failing: bool = True,
) -> Planting | None:
    """`plant` on texts."""
    how = {"places": places, "again": again, "quick": quick, "failing": failing}
    return plant(command, entries(hidden), seed=seed, **how)  # type: ignore[arg-type]


def told(planted: Planting) -> str:
    """The command with planted names in short: IN1P and IN1F inside the first file, BY1P and BY1F beside it, NEW1
    for the new file's name and CLASS for a class of unittest's."""
    command = planted.command
    files = list(dict.fromkeys(canary.file for canary in planted.canaries))
    numbers = {BESIDE: 0, INSIDE: 0}
    for file in files:
        own = [canary for canary in planted.canaries if canary.file == file]
        numbers[own[0].place] += 1
        mark = "BY" if own[0].place == BESIDE else "IN"
        for canary in own:
            short = f"{mark}{numbers[own[0].place]}{'P' if canary.passes else 'F'}"
            command = command.replace(canary.name, short)
        if own[0].place == BESIDE:
            stem = Path(file).name.partition(".")[0]
            command = re.sub(rf"\b{stem}\b", f"NEW{numbers[BESIDE]}", command)
    return re.sub(r"\.Test[A-Z]\w+", ".CLASS", command)


def run(
    room: Path,
    command: str,
    hidden: dict[str, str],
    others: dict[str, str] | None = None,
    *,
    failing: bool = True,
    places: tuple[str, ...] = BOTH,
    again: tuple[str, ...] | None = None,
    env: dict[str, str] | None = None,
) -> tuple[Facts, dict[str, str], Planting]:
    """(facts, the real tests' outcomes, the planting) of a run with canaries, each of which was seen once and did
    as it must."""
    planted = planting(command, hidden, failing=failing, places=places, again=again)
    assert planted is not None
    files = {**hidden, **(others or {}), **{entry.path: entry.data.decode() for entry in planted.writes}}
    facts, evidence = trial_on_host(room, planted.command, files, env=env)
    seen, real = split(evidence.results, planted.canaries)
    assert {name: [result.outcome.value for result in found] for name, found in seen.items()} == {
        canary.name: ["passed" if canary.passes or not failing else "failed"] for canary in planted.canaries
    }, facts.log.decode("utf-8", "replace")[-3000:]
    assert {canary.place for canary in planted.canaries} == set(places)
    return facts, {result.id: result.outcome.value for result in real}, planted
