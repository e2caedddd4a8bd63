"""Is everything here that berbench needs? Each check is a finding; what is missing is one, not a crash."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from berbench.engine.door import Engine
from berbench.errors import BerbenchError, ForgeError
from berbench.forge.door import Forge
from berbench.history.door import History
from berbench.model.task import Config
from berbench.store import DataDir, Project
from berbench.store.files import shown
from berbench.store.machine import OldFolder

SCHEMA = "berbench.doctor/1"

OLDEST_GIT = (2, 31)  # the first whose `git log` takes --diff-merges=first-parent
DISK_ROOM = 2 << 30
ENGINE_ROOM = 5 << 30  # an image with its build layers
OPEN_FILES = 1024


@dataclass(frozen=True, slots=True)
class Finding:
    """One check. `remedy` says what to do when it is not ok."""

    name: str
    ok: bool
    message: str
    remedy: str = ""


class Place(Protocol):
    """A repository and the doors around it. Each may raise a BerbenchError when it is asked for."""

    @property
    def history(self) -> History:
        """The repository."""

    @property
    def main(self) -> str:
        """The main branch's ref."""

    @property
    def project(self) -> Project:
        """Its `.ber/bench/`."""

    @property
    def config(self) -> Config:
        """Its settings."""

    @property
    def data(self) -> DataDir:
        """Its part of the user's data folder."""

    @property
    def engine(self) -> Engine:
        """The container engine."""

    def forge(self, *, no_api: bool) -> Forge | None:
        """The forge, None when the remote is none that is known."""


class Machine(Protocol):
    """What is asked of this machine; the module `berbench.store.machine` is one."""

    def free_bytes(self, path: Path) -> int | None:
        """Free bytes on the disk of a path."""

    def open_file_limit(self) -> int:
        """How many files may be open; -1 for no limit."""

    def writable(self, folder: Path) -> bool:
        """Whether files can be made in a folder."""

    def temporary_folders(self) -> tuple[OldFolder, ...]:
        """Temporary folders that were left behind."""


def examine(place: Place, machine: Machine) -> tuple[Finding, ...]:
    """All findings, in the order in which a person would mend them. Nothing is changed."""
    checks: list[tuple[str, Callable[[Place, Machine], Iterator[Finding]]]] = [
        ("repository", _repository),
        ("settings", _settings),
        ("main branch", _main),
        ("Dockerfile", _dockerfile),
        ("tasks", _tasks),
        ("engine", _engine),
        ("forge", _forge),
        ("data folder", _data),
        ("open files", _open_files),
        ("leftovers", _leftovers),
    ]
    findings: list[Finding] = []
    stopped_by: set[str] = set()
    for name, check in checks:
        try:
            findings.extend(check(place, machine))
        except BerbenchError as error:
            # One trouble (no repository, no settings) stops several checks, and is told once.
            if error.message not in stopped_by:
                stopped_by.add(error.message)
                message = error.message
                if error.details:
                    message = f"{message.rstrip('.')} ({'; '.join(error.details)})."
                findings.append(Finding(name, False, message, error.remedy))
    return tuple(findings)


def _repository(place: Place, machine: Machine) -> Iterator[Finding]:
    history = place.history
    if history.is_shallow():
        yield Finding(
            "repository",
            False,
            f"{shown(history.root)} is a shallow clone: landings below its depth can't be proven.",
            "Run `git fetch --unshallow`.",
        )
    else:
        yield Finding("repository", True, shown(history.root))
    numbers = tuple(int(part) for part in re.findall(r"\d+", history.git_version)[:2])
    oldest = ".".join(map(str, OLDEST_GIT))
    yield Finding(
        "git", numbers >= OLDEST_GIT, f"git {history.git_version}", f"Install git {oldest} or newer."
    )


def _main(place: Place, machine: Machine) -> Iterator[Finding]:
    yield Finding("main branch", True, place.main)


def _settings(place: Place, machine: Machine) -> Iterator[Finding]:
    patterns = place.config.harvest.test_patterns
    yield Finding(
        "settings",
        bool(patterns),
        f"{len(patterns)} test pattern{'s' * (len(patterns) != 1)}"
        if patterns
        else "no test patterns are set.",
        "Set harvest.test_patterns in .ber/bench/config.yaml: they tell tests from implementation.",
    )


def _dockerfile(place: Place, machine: Machine) -> Iterator[Finding]:
    name = place.config.dockerfile
    empty = not place.project.read_dockerfile(name).strip()
    yield Finding(
        "Dockerfile",
        not empty,
        f"{shown(name)}{' is empty.' * empty}",
        f"Write {shown(name)}, or remove it and run `berbench init`.",
    )


def _tasks(place: Place, machine: Machine) -> Iterator[Finding]:
    ids = place.project.task_ids()
    broken = []
    for task_id in ids:
        try:
            place.project.read_task(task_id)
        except BerbenchError as error:
            broken.append(f"{task_id} ({error.message.rstrip('.')})")
    if broken:
        more = f" and {len(broken) - 3} more" * (len(broken) > 3)
        yield Finding(
            "tasks",
            False,
            f"{len(broken)} of {len(ids)} can't be read: {'; '.join(broken[:3])}{more}.",
            "Correct them; `berbench task show` tells what is wrong with each.",
        )
    else:
        yield Finding("tasks", True, f"{len(ids)}, all readable" if ids else "none yet")


def _engine(place: Place, machine: Machine) -> Iterator[Finding]:
    info = place.engine.info()
    yield Finding(
        "engine",
        True,
        f"{info.name}, API {info.api_version} (client {info.client_version}), {info.platform}, "
        f"storage {info.storage}, at {info.address}",
    )
    if info.free_bytes is not None:
        yield _room("engine disk", info.free_bytes, ENGINE_ROOM, "images and containers")


def _forge(place: Place, machine: Machine) -> Iterator[Finding]:
    forge = place.forge(no_api=False)
    if forge is None:
        yield Finding("forge", True, "the remote is no forge that is known; local history serves")
        return
    try:  # without a token too: a private repository shows itself by refusing
        yield Finding("forge", True, forge.check())
    except ForgeError as error:
        offline = "or work offline with `provider: none` in the settings"
        yield Finding(
            "forge", False, error.message, "; ".join(filter(None, (error.remedy.rstrip("."), offline)))
        )


def _data(place: Place, machine: Machine) -> Iterator[Finding]:
    folder = place.data.folder
    yield Finding(
        "data folder",
        machine.writable(folder),
        shown(folder),
        "Make it writable, or set BERBENCH_DATA_DIR to a folder that is.",
    )
    free = machine.free_bytes(folder)
    if free is not None:
        yield _room("disk", free, DISK_ROOM, "logs and records")


def _room(name: str, free: int, needed: int, what: str) -> Finding:
    return Finding(
        name,
        free >= needed,
        f"{free / 1e9:.1f} GB free for {what}",
        f"Free some space, {needed / 1e9:.0f} GB at least; `berbench clean` removes what it needs no more.",
    )


def _open_files(place: Place, machine: Machine) -> Iterator[Finding]:
    limit = machine.open_file_limit()
    enough = limit == -1 or limit >= OPEN_FILES
    yield Finding(
        "open files",
        enough,
        "no limit" if limit == -1 else f"at most {limit}",
        f"Raise the limit before large runs: `ulimit -n {OPEN_FILES}`.",
    )


def _leftovers(place: Place, machine: Machine) -> Iterator[Finding]:
    folders = machine.temporary_folders()
    things = [thing for thing in place.engine.leftovers() if not thing.in_use and thing.kind != "image"]
    counts = {
        "container": sum(thing.kind == "container" for thing in things),
        "network": sum(thing.kind == "network" for thing in things),
        "temporary folder": len(folders),
    }
    found = [f"{count} {kind}{'s' * (count != 1)}" for kind, count in counts.items() if count]
    yield Finding("leftovers", not things, ", ".join(found) or "none", "Run `berbench clean`.")


def document(findings: Sequence[Finding]) -> dict[str, Any]:
    """What `berbench doctor --json` prints."""
    return {
        "schema": SCHEMA,
        "ok": all(finding.ok for finding in findings),
        "findings": [
            {
                "name": finding.name,
                "ok": finding.ok,
                "message": finding.message,
                "remedy": "" if finding.ok else finding.remedy,
            }
            for finding in findings
        ],
    }
