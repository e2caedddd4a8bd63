"""What every verb shares: the settings of the whole command and the options that mean the same everywhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
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


def _bench(context: typer.Context, kind: str) -> Path | None:
    """The folder of the repository's tasks, experiments or tools. A key press can't wait for git: names must do."""
    start = Path(context.find_root().params.get("repository") or ".").absolute()
    folders = (folder / ".ber" / "bench" / kind for folder in (start, *start.parents))
    return next((folder for folder in folders if folder.is_dir()), None)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def known_tasks(context: typer.Context, incomplete: str) -> list[str]:
    """What the shell offers for a task's id."""
    folder = _bench(context, "tasks")
    return _beginning(
        sorted(path.parent.name for path in folder.glob("*/task.yaml")) if folder else (), incomplete
    )


def known_experiments(context: typer.Context, incomplete: str) -> list[str]:
    """What the shell offers for an experiment's name: names of files, and the built-in one."""
    folder = _bench(context, "experiments")
    names = sorted(path.stem for path in folder.glob("*.yaml")) if folder else ()
    return _beginning(("controls", *names), incomplete)


def known_tools(context: typer.Context, incomplete: str) -> list[str]:
    """What the shell offers for a tool: built in, of the project, and of the user."""
    from importlib.resources import files

    from berbench.experiments.tools import user_tools_folder

    folders = (files("berbench.tools"), _bench(context, "tools"), user_tools_folder(os.environ))
    names = (one.name for folder in folders if folder and folder.is_dir() for one in folder.iterdir())
    return _beginning(sorted({name[:-5] for name in names if name.endswith(".yaml")}), incomplete)


TaskId = Annotated[str, typer.Argument(metavar="ID", help="The task's id.", autocompletion=known_tasks)]
TaskIds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ID", help="Ids of tasks, where no option chooses them.", autocompletion=known_tasks
    ),
]
Tasks = Annotated[
    list[str] | None,
    typer.Option(
        "--task", metavar="ID", help="Only these tasks: a,b, or given again.", autocompletion=known_tasks
    ),
]
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
