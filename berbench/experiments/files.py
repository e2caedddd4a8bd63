"""`.ber/bench/experiments/` of a repository: the project's experiments, as files.

Errors: ConfigError when a document can't be read, UsageError for a name that can't be meant, StoreError when the
file system refuses.
"""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from pathlib import Path

from berbench.emit import dump
from berbench.errors import ConfigError, UsageError
from berbench.matrix.resolve import CONTROLS_EXPERIMENT
from berbench.model.cells import ExperimentDocument, StepAxes, ToolBlock
from berbench.store import files as disk
from berbench.yamlio import load, typed

FOLDER = ".ber/bench/experiments"
SUFFIX = ".yaml"
CONTROLS = CONTROLS_EXPERIMENT.name

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_WORDS = ("latest", "list", "cell")  # what a report is asked for in an experiment's place

_COMMENTS = {
    "tools": "blocks are added; lists inside a block form a cross product",
    "tasks": "ids; empty: every fresh task",
    "tags": "of those, only tasks with one of these tags",
    "attempts": "of each configuration on each task",
    "seed": "decides the order of the cells",
    "concurrency": "cells at once",
    "cell_timeout_s": "seconds, instead of each task's own budget",
    "max_cost_usd": "no cell is started that could exceed it",
    "cell_cost_usd": "guess of what one cell costs, until one is known",
}


class Experiments:
    """The experiments of one repository, and the one that is built in."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def folder(self) -> Path:
        """Where they are. It may be absent. ConfigError when a link lies there."""
        return disk.real_folder(self._root, ".ber", "bench", "experiments")

    def names(self) -> tuple[str, ...]:
        """All names in order, the built-in one first."""
        found = (name.removesuffix(SUFFIX) for name in self._files() if name.endswith(SUFFIX))
        return (CONTROLS, *sorted(name for name in found if _NAME.fullmatch(name) and name != CONTROLS))

    def strays(self) -> tuple[tuple[str, str], ...]:
        """Files that look like experiments and are never read: the path of each, and why."""
        return tuple((f"{FOLDER}/{disk.shown(name)}", why) for name in self._files() if (why := _stray(name)))

    def _files(self) -> list[str]:
        folder = self.folder
        with disk.translated("read", folder):
            try:
                return sorted(path.name for path in folder.iterdir())
            except FileNotFoundError:
                return []

    def where(self, name: str) -> str:
        """How messages call the document: its path from the repository's top, or that it is built in."""
        return "built in" if name == CONTROLS else f"{FOLDER}/{name}{SUFFIX}"

    def read(self, name: str) -> ExperimentDocument:
        """An experiment, with its name. UsageError with the nearest one when there is none."""
        self._check_name(name)
        where = self.where(name)
        path = self.folder / f"{name}{SUFFIX}"
        if name in (CONTROLS, *_WORDS) and os.path.lexists(path):
            raise ConfigError(
                f"{FOLDER}/{name}{SUFFIX} has a name that is berbench's own.", remedy="Rename it."
            )
        if name == CONTROLS:
            return CONTROLS_EXPERIMENT
        try:
            text = disk.read_file(path)
        except FileNotFoundError:
            raise self._no_such_experiment(name) from None
        document = typed(ExperimentDocument, load(text, where), where)
        if document.name not in ("", name):
            raise ConfigError(
                f"{where}: `name` is {document.name[:80]!r}, but the file is {name}{SUFFIX}.",
                remedy="Make the two equal, or leave `name` out.",
            )
        return document.model_copy(update={"name": name})

    def check_free(self, name: str, *, force: bool = False) -> None:
        """UsageError when the name can't be given to a new experiment."""
        self._check_name(name)
        if name == CONTROLS or name in _WORDS:
            raise UsageError(f"The name {name} is berbench's own.", remedy="Choose another.")
        if os.path.lexists(self.folder / f"{name}{SUFFIX}") and not force:
            raise UsageError(
                f"Experiment {name} exists already.",
                remedy="Give `--force` to replace it, its edits included.",
            )

    def create(self, experiment: ExperimentDocument, *, force: bool = False) -> Path:
        """Write a new experiment; its path. With `force` an old one is replaced."""
        self.check_free(experiment.name, force=force)
        path = self.folder / f"{experiment.name}{SUFFIX}"
        disk.make_folder(path.parent)
        disk.write_file(path, experiment_text(experiment))
        return path

    def _check_name(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{disk.shown(name)[:120]!r} can't be an experiment's name.",
                remedy="Use letters, digits, `.`, `_` and `-`, at most 100, not starting with `.` or `-`.",
            )

    def _no_such_experiment(self, name: str) -> UsageError:
        if f"{name}.yml" in self._files():
            raise ConfigError(f"{FOLDER}/{name}.yml is not read.", remedy=f"Name it {name}{SUFFIX}.")
        near = get_close_matches(name, self.names(), n=1)
        known = "`berbench experiment list` shows those there are."
        return UsageError(
            f"There is no experiment {name}.", remedy=f"Did you mean {near[0]}?" if near else known
        )


def _stray(name: str) -> str:
    """Why a file of the folder is no experiment's, where somebody may take it for one."""
    if name.startswith("."):
        return ""
    if name.endswith(".yml"):
        return f"it is not read: its name must end in {SUFFIX}"
    if not name.endswith(SUFFIX):
        return ""
    if _NAME.fullmatch(name.removesuffix(SUFFIX)):
        return ""
    return "it is not read: use letters, digits, `.`, `_` and `-` in its name"


def experiment_text(experiment: ExperimentDocument) -> bytes:
    """An experiment's YAML, with a comment for each key that a person may want to change."""
    document = experiment.model_dump(mode="json", by_alias=True)
    document["tools"] = [_block(block) for block in experiment.tools]
    return dump(document, comments=_COMMENTS)


def _block(block: ToolBlock) -> dict[str, object]:
    """What a block says, single values as such."""
    said: dict[str, object] = _axes(block)
    if block.steps:
        said["steps"] = {name: _axes(step) for name, step in block.steps.items()}
    if block.attempts is not None:
        said["attempts"] = block.attempts
    return said


def _axes(axes: ToolBlock | StepAxes) -> dict[str, object]:
    said: dict[str, object] = {}
    for key, values in (("tool", axes.tool), ("model", axes.model), ("effort", axes.effort)):
        if values:
            # An empty text alone would be read as nothing said; in a list it says that nothing is chosen.
            said[key] = values[0] if len(values) == 1 and values[0] else list(values)
    if axes.options:
        said["options"] = ["+".join(chosen) if chosen else [] for chosen in axes.options]
    return said
