"""What every verb shares: the settings of the whole command and the options that mean the same everywhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from berbench.errors import UsageError


@dataclass(frozen=True, slots=True)
class Settings:
    """Options given before the verb."""

    repository: Path


JsonFlag = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
NoApi = Annotated[bool, typer.Option("--no-api", help="Use local history alone; never ask the forge.")]


def _known_ids(context: typer.Context, incomplete: str) -> list[str]:
    """What the shell offers for a task's id. Only names of folders are read: a key press can't wait for git."""
    start = Path(context.find_root().params.get("repository") or ".").absolute()
    folders = (folder / ".ber" / "bench" / "tasks" for folder in (start, *start.parents))
    tasks = next((folder for folder in folders if folder.is_dir()), None)
    names = sorted(folder.parent.name for folder in tasks.glob("*/task.yaml")) if tasks else []
    return [name for name in names if name.startswith(incomplete)]


TaskId = Annotated[str, typer.Argument(metavar="ID", help="The task's id.", autocompletion=_known_ids)]
TaskIds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ID", help="Ids of tasks, where no option chooses them.", autocompletion=_known_ids
    ),
]


def known_experiments(context: typer.Context, incomplete: str) -> list[str]:
    """What the shell offers for an experiment's name: names of files, and the built-in one."""
    start = Path(context.find_root().params.get("repository") or ".").absolute()
    folders = (folder / ".ber" / "bench" / "experiments" for folder in (start, *start.parents))
    found = next((folder for folder in folders if folder.is_dir()), None)
    names = sorted(path.stem for path in found.glob("*.yaml")) if found else []
    return [name for name in ("controls", *names) if name.startswith(incomplete)]


ExperimentName = Annotated[
    str, typer.Argument(metavar="NAME", help="The experiment's name.", autocompletion=known_experiments)
]


def listed(option: str, texts: list[str] | None) -> tuple[str, ...]:
    """What an option that may be given again, or hold several with commas, comes to: each text once.

    UsageError for one that names nothing, like `--task "$UNSET"`: it must not quietly mean all.
    """
    found: list[str] = []
    for text in texts or ():
        parts = [part.strip() for part in text.split(",")]
        if not any(parts):
            raise UsageError(f"{option} names nothing.", remedy=f"name what you mean, or leave {option} out")
        found += filter(None, parts)
    return tuple(dict.fromkeys(found))


_LONGEST_MOVE_S = 50 * 365 * 86400  # before 1970 there is no time, and after 2106 some programs have none

_MOVE = re.compile(r"([+-]?)(\d+)([smhd])")
_AGE = re.compile(r"(\d+)\s*([smhd]?)")
_UNITS_S = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds_of(age: str) -> float:
    """Seconds of an age as people write it: `0`, `90s`, `12h`, `7d`. UsageError when it is none."""
    found = _AGE.fullmatch(age.strip())
    if found is None:
        raise UsageError(f"{age!r} is no age.", remedy="write it like 0, 12h or 7d")
    return int(found[1]) * _UNITS_S[found[2]]


def share_of(rate: str) -> float:
    """A rate as people write it, `0.8` or `80%`, as a share from 0 to 1. UsageError when it is none."""
    text = rate.strip()
    number = text.removesuffix("%").strip()
    # The pattern keeps out what float() takes beside numbers: nan, inf, 1_0, and signs.
    if re.fullmatch(r"\d+(\.\d*)?|\.\d+", number, re.ASCII):
        share = float(number) / (100 if text.endswith("%") else 1)
        if share <= 1:
            return share
    raise UsageError(f"{rate!r} is no rate.", remedy="write it like 0.8 or 80%")


def clock_of(move: str) -> str:
    """How the clock is moved, as trials take it: `400d` and `+400d` → `+400d`, `-12h`. UsageError when it is none."""
    found = _MOVE.fullmatch(move.strip())
    if found is None or not 0 < int(found[2]) * _UNITS_S[found[3]] <= _LONGEST_MOVE_S:
        raise UsageError(
            f"{move!r} is no way to move the clock.",
            remedy="write it like +400d, -30d or 12h; at most 50 years either way",
        )
    return f"{found[1] or '+'}{int(found[2])}{found[3]}"
