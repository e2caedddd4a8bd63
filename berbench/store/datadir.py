"""The user's data folder: locks, caches, records of validations. Outside the repository, never committed.

<data folder>/locks/<hash of the repository's path>/     one lock per task
<data folder>/<repository>/cache/                        what forges answered
<data folder>/<repository>/images/                       how images differ from the trees they were built from
<data folder>/<repository>/validations/<task>/<run>/     verdict.json, build.log, and a folder for each trial
<data folder>/<repository>/grades/<task>/<run>/          grade.json, candidate.patch, and a folder for each trial
<data folder>/<repository>/audits/<task>.json            the last audit
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import platformdirs

from berbench.errors import StoreError
from berbench.model.trial import Facts, Verdict, VerdictName
from berbench.store import files as disk
from berbench.store import placing, records

OVERRIDE = "BERBENCH_DATA_DIR"
KEEP = 10  # records of one task that stay


class Recorded(Protocol):
    """Anything that carries a trial's facts."""

    @property
    def facts(self) -> Facts:
        """What the trial recorded."""


@dataclass(frozen=True, slots=True)
class Last:
    """The newest validation of a task on this machine: what came of it, and where its logs are."""

    verdict: Verdict
    fingerprint: str  # of the task as it was then; "" where that was not noted
    logs: Path


class DataDir:
    """One repository's part of the data folder. Nothing is made before it is written into."""

    def __init__(self, base: Path, repository: str, *, locks: Path) -> None:
        self.base = base
        self.folder = base / repository
        self.locks = locks

    @classmethod
    def of(cls, root: Path, remote_url: str, environ: Mapping[str, str]) -> DataDir:
        """The part of the repository at `root`: told by its remote, or by its path when it has none.

        Clones of one remote share their records; locks are each clone's own.
        """
        override = environ.get(OVERRIDE, "")
        usual = platformdirs.user_data_dir("berbench", appauthor=False)
        base = Path(override or usual).absolute()
        place = _hash(os.fsencode(root.resolve()))
        remote = remote_url.rstrip("/").removesuffix(".git")
        name = re.split(r"[/:\\]", remote)[-1] if remote else root.name
        repository = _folder_name(name, _hash(os.fsencode(remote)) if remote else place)
        return cls(base, repository, locks=base / "locks" / place)

    @property
    def cache(self) -> Path:
        """Where answers of forges are kept."""
        return self.folder / "cache"

    def task_folder(self, task_id: str, kind: str = "validations") -> Path:
        """Where a task's records of a kind are. Ids that differ in case only have different ones on any disk."""
        name = task_id if task_id == task_id.lower() else _folder_name(task_id, _hash(os.fsencode(task_id)))
        return self.folder / kind / name

    def save_validation(
        self,
        task_id: str,
        at: datetime,
        verdict: Verdict,
        trials: Mapping[str, Recorded],
        build_log: str = "",
        *,
        fingerprint: str = "",
        keep: int = KEEP,
    ) -> Path:
        """Record a validation; its folder, which appears complete or not at all. Older ones go, the last proof's never.

        `fingerprint` is that of the task as it was judged.
        """
        contents = {records.VERDICT: records.verdict_file(records.Judged(verdict, fingerprint))}
        if build_log:
            contents["build.log"] = build_log.encode("utf-8", "surrogateescape")
        run = _record(self.task_folder(task_id), at, contents, trials)
        runs = self.validations(task_id)
        if len(runs) > keep:
            proof = next(filter(self._proves, reversed(runs)), None)
            for old in runs[:-keep]:
                with suppress(StoreError):
                    if old != proof:
                        disk.remove_tree(old)
        return run

    def _proves(self, run: Path) -> bool:
        with suppress(StoreError):  # a record that is gone or spoilt proves nothing
            return self.load_verdict(run).name is VerdictName.VALIDATED
        return False

    def save_grade(
        self, task_id: str, at: datetime, grade: bytes, candidate: bytes, trials: Mapping[str, Recorded]
    ) -> Path:
        """Record the grading of a candidate: `grade` is its document. The folder appears complete or not at all."""
        contents = {"grade.json": grade, "candidate.patch": candidate}
        return _record(self.task_folder(task_id, "grades"), at, contents, trials)

    def keep_audit(self, task_id: str, audit: bytes) -> None:
        """Remember a task's last audit, as its document."""
        path = self._audit_file(task_id)
        disk.make_folder(path.parent)
        disk.write_file(path, audit)

    def last_audit(self, task_id: str) -> dict[str, Any] | None:
        """The document of a task's last audit, None when there is none that can be read."""
        try:
            kept = json.loads(disk.read_file(self._audit_file(task_id)))
        except (FileNotFoundError, RecursionError, ValueError):
            return None
        return kept if isinstance(kept, dict) else None

    def _audit_file(self, task_id: str) -> Path:
        folder = self.task_folder(task_id, "audits")
        return folder.with_name(folder.name + ".json")

    def validations(self, task_id: str) -> tuple[Path, ...]:
        """Folders of a task's records, oldest first. What a kill left half-written is not among them."""
        folder = self.task_folder(task_id)
        try:
            with disk.translated("read", folder):
                return tuple(sorted(path for path in folder.iterdir() if not path.name.startswith(".")))
        except StoreError:
            if not folder.exists():
                return ()
            raise

    def load_verdict(self, run: Path) -> Verdict:
        """The verdict of a record."""
        return self._judged(run).verdict

    def last_validation(self, task_id: str) -> Last | None:
        """The newest record that can be read: a spoilt one is no reason to keep an older one from its reader."""
        for run in reversed(self.validations(task_id)):
            with suppress(StoreError):
                judged = self._judged(run)
                return Last(judged.verdict, judged.fingerprint, run)
        return None

    def _judged(self, run: Path) -> records.Judged:
        return records.verdict_from(self._reader(run)(records.VERDICT))

    def load_facts(self, run: Path, trial: str) -> Facts:
        """The facts of one trial of a record, byte for byte."""
        return records.facts_from(self._reader(run / trial))

    def image_differences(self, image: str) -> dict[str, list[str]] | None:
        """Paths by kind of difference between an image and its tree, as they were kept; None if never looked at."""
        try:
            kept = json.loads(disk.read_file(self._image_file(image)))
        except (FileNotFoundError, RecursionError, ValueError):
            return None
        if not isinstance(kept, dict) or not all(isinstance(paths, list) for paths in kept.values()):
            return None
        return kept

    def keep_image_differences(self, image: str, differences: Mapping[str, list[str]]) -> None:
        """Remember what an image was found to hold: an image id never comes to mean other contents."""
        path = self._image_file(image)
        disk.make_folder(path.parent)
        disk.write_file(path, json.dumps(differences).encode("ascii"))

    def _image_file(self, image: str) -> Path:
        return self.folder / "images" / f"{_hash(image.encode())}.json"

    def _reader(self, folder: Path) -> Callable[[str], bytes]:
        def read(name: str) -> bytes:
            try:
                return disk.read_file(folder / name)
            except FileNotFoundError:
                raise StoreError(
                    f"The record {disk.shown(folder / name)} is gone.", remedy="Validate the task again."
                ) from None

        return read


def _record(folder: Path, at: datetime, contents: dict[str, bytes], trials: Mapping[str, Recorded]) -> Path:
    stamp = at.astimezone(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    run = folder / f"{stamp}-{secrets.token_hex(3)}"
    for name, trial in trials.items():
        for file, data in records.facts_files(trial.facts).items():
            contents[f"{name}/{file}"] = data
    with placing.new_folder(run, contents):
        return run


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def _folder_name(name: str, known_by: str) -> str:
    """Something a person recognises, and a hash that keeps it apart from all others."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-").lower()[:60]
    return f"{safe}-{known_by}" if safe else known_by
