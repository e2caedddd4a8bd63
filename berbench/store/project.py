"""`.ber/bench/` of a repository: the project's settings and its tasks, as files.

A task's folder appears at once and is replaced at once; edits touch one value or one block of one file.
Whatever a killed command left half-done is put right by the next one that meets it. Errors: ConfigError when
a document can't be read, UsageError for an id that can't be meant, StoreError when the file system refuses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path

from berbench.errors import ConfigError, StoreError, UsageError
from berbench.model.task import Config, TaskFiles, Validation
from berbench.store import files as disk
from berbench.store import placing
from berbench.store.locks import Locks, Say
from berbench.store.taskfolder import (
    REFERENCE_PATCH,
    TASK,
    TESTS_PATCH,
    checked_prompt_name,
    config_text,
    read_folder,
    task_text,
    validation_text,
)
from berbench.yamledit import replace_block, set_value
from berbench.yamlio import load, typed

CONFIG = ".ber/bench/config.yaml"

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_DIGITS = re.compile(r"(\d+)")
_LOOKS = 3  # without a lock, at what another command may be replacing


def checked_id(task_id: str) -> str:
    """The id, when it is a safe name for a folder. UsageError otherwise."""
    if _ID.fullmatch(task_id):
        return task_id
    raise UsageError(
        f"{disk.shown(task_id)[:120]!r} can't be a task's id.",
        remedy="Use letters, digits, `.`, `_` and `-`, at most 100, not starting with `.` or `-`.",
    )


class Project:
    """The documents of one repository. `locks` is the folder its locks lie in (`DataDir.locks`)."""

    def __init__(self, root: Path, *, locks: Path) -> None:
        self.root = root
        self._locks = Locks(locks)

    @property
    def config_path(self) -> Path:
        """Where the settings are."""
        return self.root / CONFIG

    @property
    def tasks_folder(self) -> Path:
        """Where the tasks are. It may be absent."""
        return disk.real_folder(self.root, ".ber", "bench", "tasks")

    # Settings

    def read_config(self) -> Config:
        """The settings. ConfigError when there are none yet or they can't be read."""
        disk.real_folder(self.root, ".ber", "bench")
        try:
            text = disk.read_file(self.config_path)
        except FileNotFoundError:
            raise ConfigError(
                f"There is no {CONFIG} in {disk.shown(self.root)}.", remedy="Run `berbench init`."
            ) from None
        return typed(Config, load(text, CONFIG), CONFIG)

    def write_config(self, config: Config) -> bool:
        """Write the settings unless there are some; whether they were written."""
        return self._write_if_absent(self.config_path, config_text(config))

    def read_dockerfile(self, name: str) -> bytes:
        """A Dockerfile of the repository, by its path from the top."""
        path = self.inside(name)
        try:
            return disk.read_file(path.resolve())
        except FileNotFoundError:
            raise ConfigError(
                f"There is no {disk.shown(name)} in {disk.shown(self.root)}.",
                remedy="Run `berbench init` to draft one, or correct `dockerfile`.",
            ) from None

    def write_dockerfile(self, name: str, text: bytes) -> bool:
        """Write a Dockerfile unless there is one; whether it was written."""
        return self._write_if_absent(self.inside(name), text)

    def inside(self, name: str) -> Path:
        """A path given from the repository's top. ConfigError when it leads out of the repository."""
        path = self.root / name
        if not name or Path(name).is_absolute() or not path.resolve().is_relative_to(self.root.resolve()):
            raise ConfigError(
                f"{disk.shown(name)!r} is no path inside {disk.shown(self.root)}.",
                remedy="Give the path from the repository's top.",
            )
        return path

    def _write_if_absent(self, path: Path, text: bytes) -> bool:
        disk.real_folder(self.root, ".ber", "bench")
        with disk.translated("read", path):
            if os.path.lexists(path):
                return False
        disk.make_folder(path.parent)
        disk.write_file(path, text)
        return True

    # Tasks, read

    def task_ids(self) -> tuple[str, ...]:
        """All ids in natural order: 9 before 10."""
        for _ in range(_LOOKS):
            self._repair_all()
            ids = self._listed()
            moving = placing.unfinished(self.tasks_folder) - set(ids)
            if not moving:
                return ids  # else one may have stepped aside between the two looks
        return tuple(sorted({*ids, *filter(self._stands, moving)}, key=_natural))

    def _listed(self) -> tuple[str, ...]:
        folder = self.tasks_folder
        try:
            with disk.translated("read", folder), os.scandir(folder) as entries:
                names = [entry.name for entry in entries if _ID.fullmatch(entry.name)]
                return tuple(sorted((name for name in names if (folder / name).is_dir()), key=_natural))
        except StoreError:
            if not folder.exists():
                return ()
            raise

    def folder(self, task_id: str) -> Path:
        """Where a task is or would be. ConfigError when a link lies there."""
        return disk.real_folder(self.root, ".ber", "bench", "tasks", checked_id(task_id))

    def read_task(self, task_id: str) -> TaskFiles:
        """A task's four files, all from the same folder even while another command replaces it."""
        folder = self.folder(task_id)
        for _ in range(_LOOKS):
            try:
                files = read_folder(folder, task_id)
                if placing.has_leavings(folder):
                    self._repair_if_free(folder)
                return files
            except FileNotFoundError:
                if not folder.is_dir():
                    self._repair_all(task_id)
        # Nothing can move it while its lock is held, so what is not there now is nowhere.
        with self.lock(task_id):
            try:
                return read_folder(folder, task_id)
            except FileNotFoundError:
                pass
        raise self._no_such_task(task_id)

    def read_task_bytes(self, task_id: str) -> bytes:
        """task.yaml as it lies on disk, for what a parsed document no longer shows."""
        return disk.read_file(self.folder(task_id) / TASK)

    def _stands(self, task_id: str) -> bool:
        """Whether there is such a task, asked when nobody can move it."""
        if not _ID.fullmatch(task_id):
            return False
        with self.lock(task_id):
            return self.folder(task_id).is_dir()

    def _repair_all(self, only: str = "") -> None:
        """Put right what killed commands left. Waits for a living one only between its two renames."""
        for task_id in placing.unfinished(self.tasks_folder):
            if only not in ("", task_id) or not _ID.fullmatch(task_id):
                continue
            folder = self.folder(task_id)
            if not self._repair_if_free(folder) and placing.stepped_aside(folder):
                with self.lock(task_id):
                    pass

    def _repair_if_free(self, folder: Path) -> bool:
        """Put a task right unless somebody is writing it; whether nobody is."""
        with suppress(StoreError):  # what can't be put right fails where it matters
            with self._locks.hold_if_free(folder.name) as free:
                if free:
                    placing.repair(folder)
            return free
        return True

    def _no_such_task(self, task_id: str) -> UsageError:
        near = get_close_matches(task_id, self.task_ids(), n=1)
        hint = f"Did you mean {near[0]}?" if near else "`berbench task list` shows those there are."
        return UsageError(f"There is no task {task_id}.", remedy=hint)

    # Tasks, written

    @contextmanager
    def lock(self, task_id: str, *, say: Say | None = None) -> Iterator[None]:
        """Keep other commands from writing the task. The writes below take it themselves; nesting is fine."""
        with self._locks.hold(checked_id(task_id), say) as first:
            if first:
                with suppress(StoreError):  # what can't be put right fails where it matters
                    placing.repair(self.folder(task_id))
            yield

    def check_free(self, task_id: str, *, force: bool = False) -> None:
        """UsageError when the task exists and may not be replaced."""
        folder = self.folder(task_id)
        if not os.path.lexists(folder):
            return
        if folder not in folder.parent.iterdir():
            raise StoreError(
                f"Task {task_id} differs from another in case only, and this file system can't keep both.",
                remedy="Move the repository to a file system that tells case apart.",
            )
        if not folder.is_dir():
            raise ConfigError(f"{disk.shown(folder)} is no folder.", remedy="Move it away.")
        if not force:
            raise UsageError(
                f"Task {task_id} exists already.", remedy="Give `--force` to replace it, its edits included."
            )

    def create_task(self, files: TaskFiles, *, force: bool = False) -> Path:
        """Write a new task, without a validation; its folder, which appears complete or not at all.

        With `force` an old one is replaced, and only when the new one is complete on disk.
        """
        task_id = checked_id(files.task.id)
        fresh = files.task.model_copy(update={"validation": None})
        contents = {
            TASK: task_text(fresh),
            checked_prompt_name(fresh.prompt.file, task_id): files.prompt,
            TESTS_PATCH: files.tests_patch,
            REFERENCE_PATCH: files.reference_patch,
        }
        with self.lock(task_id):
            self.check_free(task_id, force=force)
            folder = self.folder(task_id)
            with placing.new_folder(folder, contents) as new:
                if read_folder(new, task_id).task != fresh:
                    raise StoreError(f"Task {task_id} did not read back from the disk as it was written.")
        return folder

    def write_validation(self, task_id: str, validation: Validation) -> None:
        """Set the `validation:` block; no other byte of task.yaml changes."""
        self._edit(
            task_id,
            lambda text, name: replace_block(text, "validation", validation_text(validation), name=name),
        )

    def update_verify_command(self, task_id: str, command: str) -> None:
        """Set `verify.command`; comments and layout stay."""
        self._edit(task_id, lambda text, name: set_value(text, ("verify", "command"), command, name=name))

    def update_protected_paths(self, task_id: str, paths: Sequence[str]) -> None:
        """Set `verify.protected_paths`; comments and layout around it stay."""
        self._edit(
            task_id, lambda text, name: set_value(text, ("verify", "protected_paths"), paths, name=name)
        )

    def update_prompt(self, task_id: str, prompt: bytes) -> None:
        """Set the prompt's text."""
        with self.lock(task_id):
            name = self.read_task(task_id).task.prompt.file
            disk.write_file(self.folder(task_id) / name, prompt)

    def _edit(self, task_id: str, edit: Callable[[bytes, str], bytes]) -> None:
        with self.lock(task_id):
            path = self.folder(task_id) / TASK
            try:
                text = disk.read_file(path)
            except FileNotFoundError:
                raise self._no_such_task(task_id) from None
            edited = edit(text, f"{task_id}/{TASK}")
            if edited != text:
                disk.write_file(path, edited)


def _natural(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    parts = (part for part in _DIGITS.split(name) if part)
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts), name
