"""Measured cells and the records of runs, in the user's data folder.

cells/<key>/               a measurement, which appears complete or not at all
work/<key>/                an agent's work that is not graded yet
errors/<key>/<stamp>/      a try that gave no measurement; the next run tries again
runs/<stamp>-<name>/       run.json: what was planned; result.json: what came of it

One lock per key keeps two runs from paying twice for one cell. Errors: StoreError.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from berbench.errors import ConfigError, StoreError, UsageError
from berbench.model.trial import Facts
from berbench.store import cellfiles, placing, records
from berbench.store import files as disk
from berbench.store.cellfiles import CellRecord
from berbench.store.locks import Locks

RUN, RESULT = "run.json", "result.json"
KEPT_ERRORS = 3  # tries of one cell without a measurement that stay

_KEY = re.compile(r"[0-9a-f]{64}")
_RUN = re.compile(r"\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{4}-.+")
# Keys that begin alike share a lock, so that there are never more lock files than this many digits can count.
_LOCK_DIGITS = 3
_RUNS = "runs"  # the lock of those that write a new run's record


@dataclass(frozen=True, slots=True)
class StoredCell:
    """A cell's folder, for whoever wants to see what lies in it."""

    folder: Path
    record: CellRecord

    def read(self, name: str) -> bytes:
        """A file of it. FileNotFoundError when it has none of that name."""
        return disk.read_file(self.folder / name)

    def names(self) -> tuple[str, ...]:
        """All of its files, by their paths in it."""
        with disk.translated("read", self.folder):
            found = [path for path in self.folder.rglob("*") if path.is_file()]
        return tuple(sorted(path.relative_to(self.folder).as_posix() for path in found))

    def trials(self) -> tuple[str, ...]:
        """Names of the verifier's trials, in order."""
        return _names(self.folder / cellfiles.TRIALS)

    def facts(self, trial: str) -> Facts:
        """What a trial of the verifier recorded."""
        return records.facts_from(lambda name: self.read(f"{cellfiles.TRIALS}/{trial}/{name}"))


class Cells:
    """The cells and runs of one repository. Nothing is made before it is written into."""

    def __init__(self, folder: Path, *, locks: Path) -> None:
        self.folder = folder
        self._cells, self._work = folder / "cells", folder / "work"
        self._errors, self._runs = folder / "errors", folder / "runs"
        self._locks = Locks(locks)

    # Measurements

    def find(self, key: str) -> CellRecord | None:
        """The measurement of a cell, None when there is none. Unreadable when what lies there is damaged,
        OtherVersion when another berbench wrote it."""
        try:
            return _record(self._cells / key, key)
        except FileNotFoundError:
            return None

    def stored(self, key: str) -> StoredCell | None:
        """The measurement of a cell with its folder, None when there is none."""
        record = self.find(key)
        return StoredCell(self._cells / key, record) if record else None

    def find_readable(self, key: str) -> CellRecord | None:
        """As `find`; a cell that can't be read is none. For what may do without it."""
        with suppress(records.Unreadable):
            return self.find(key)
        return None

    def open(self, key: str) -> StoredCell:
        """A measured cell by its key, or by the first letters of it. UsageError unless there is exactly one."""
        found = [name for name in self.measured() if name.startswith(key)] if key else []
        if len(found) != 1:
            many = f"{len(found)} cells have keys that begin with" if found else "There is no cell"
            raise UsageError(
                f"{many} {disk.shown(key)[:64]}.", remedy="`berbench run NAME --json` lists the keys."
            )
        record = self.find(found[0])
        if record is None:
            raise StoreError(f"The cell {found[0]} is gone.", remedy="Run the experiment again.")
        return StoredCell(self._cells / found[0], record)

    def measured(self) -> tuple[str, ...]:
        """Keys of all measured cells, in order."""
        return tuple(name for name in _names(self._cells) if _KEY.fullmatch(name))

    def save(self, record: CellRecord, files: Mapping[str, bytes]) -> Path:
        """Keep a measurement; its folder takes the place of an older one. The caller holds the key's lock."""
        folder = self._cells / record.result.key
        with placing.new_folder(folder, {**files, cellfiles.CELL: cellfiles.cell_file(record)}):
            pass
        disk.remove_tree(self._work / record.result.key)
        return folder

    def save_work(self, key: str, files: Mapping[str, bytes]) -> None:
        """Keep an agent's work until it is graded. The caller holds the key's lock."""
        with placing.new_folder(self._work / key, files):
            pass

    def find_work(self, key: str) -> Callable[[str], bytes] | None:
        """Reads the files of an agent's work that is not graded yet; None when there is none."""
        folder, graded = self._work / key, self._cells / key
        done = _maybe(folder / cellfiles.AGENT)
        # The same work as that of the cell: a kill fell between the keeping of the grade and its removal.
        if done is None or done == _maybe(graded / cellfiles.AGENT):
            return None
        return lambda name: disk.read_file(folder / name)

    def save_error(self, record: CellRecord, files: Mapping[str, bytes], at: datetime) -> Path:
        """Keep a try that gave no measurement, aside; the oldest tries of the same cell go."""
        parent = self._errors / record.result.key
        _finish(parent)
        folder = parent / f"{_stamp(at)}-{secrets.token_hex(3)}"
        with placing.new_folder(folder, {**files, cellfiles.CELL: cellfiles.cell_file(record)}):
            pass
        for old in _names(parent)[:-KEPT_ERRORS]:
            with suppress(StoreError):
                disk.remove_tree(parent / old)
        return folder

    def last_error(self, key: str) -> StoredCell | None:
        """The last try of a cell that gave no measurement, of those that can be read."""
        for name in reversed(_names(self._errors / key)):
            folder = self._errors / key / name
            with suppress(FileNotFoundError, records.Unreadable):
                return StoredCell(folder, _record(folder, key))
        return None

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Keep everyone else from measuring the cell: True. False at once when somebody else is at it."""
        with self._locks.hold_if_free(key[:_LOCK_DIGITS]) as free:
            yield free

    def sweep(self) -> None:
        """Remove what killed runs left half-written."""
        for parent in (self._cells, self._work):
            for key in placing.unfinished(parent):
                with self.claim(key) as free:
                    if free:
                        placing.repair(parent / key)
        for key in _names(self._work):
            with self.claim(key) as free:
                # It was graded, and the kill came before it was removed.
                if free and self.find_work(key) is None:
                    disk.remove_tree(self._work / key)
        for key in _names(self._errors):
            if placing.unfinished(self._errors / key):
                with self.claim(key) as free:
                    if free:
                        _finish(self._errors / key)
        with self._locks.hold_if_free(_RUNS) as free:
            if free:
                _finish(self._runs)
                for run in filter(placing.has_leavings, (self._runs / run for run in self.runs())):
                    placing.repair(run)

    # Runs

    def begin_run(self, name: str, at: datetime, document: Mapping[str, Any]) -> str:
        """Record what a run is about to do; the run's id."""
        run = f"{_stamp(at)}-{secrets.token_hex(2)}-{name}"
        record = _json({**document, "run": run, "started_at": at.isoformat()})
        with self._locks.hold(_RUNS), placing.new_folder(self._runs / run, {RUN: record}):
            pass
        return run

    def end_run(self, run: str, document: Mapping[str, Any]) -> None:
        """Record what came of a run."""
        with self._locks.hold(_RUNS):
            disk.write_file(self._runs / run / RESULT, _json(document))

    def runs(self) -> tuple[str, ...]:
        """Ids of all runs, oldest first."""
        return tuple(name for name in _names(self._runs) if _RUN.fullmatch(name))

    def read_run(self, run: str, name: str = RUN) -> dict[str, Any] | None:
        """A run's document, None when it has none (a run that was killed has no result). Unreadable when it is
        damaged."""
        damaged = records.Unreadable(f"The record of run {run} can't be read.", remedy="Run it again.")
        try:
            document = json.loads(disk.read_file(self._runs / run / name))
        except FileNotFoundError:
            return None
        except (ConfigError, RecursionError, ValueError) as error:
            raise damaged from error
        if not isinstance(document, dict):
            raise damaged
        return document

    def find_run(self, wanted: str, *, ended: bool = False) -> str:
        """A run's id from `latest`, an experiment's name, or the id itself. UsageError when there is none.

        With `ended` only runs that came to their end count.
        """
        known = [run for run in self.runs() if not ended or (self._runs / run / RESULT).exists()]
        for run in reversed(known):
            if wanted in ("latest", run, experiment_of(run)):
                return run
        what = "no run that came to its end" if ended else "no run"
        raise UsageError(
            f"There is {what} {disk.shown(wanted)[:100]}.",
            remedy="Name an experiment that was run, a run's id, or `latest`.",
        )


def _record(folder: Path, key: str) -> CellRecord:
    """What `cell.json` of a folder says of the cell of this key. FileNotFoundError, or Unreadable."""
    try:
        record = cellfiles.cell_from(disk.read_file(folder / cellfiles.CELL))
    except records.OtherVersion as error:
        raise records.OtherVersion(
            f"The stored cell in {disk.shown(folder)}: {error.message}",
            remedy="Use the version of berbench that wrote it, or measure again with `--fresh`.",
        ) from error
    except (ConfigError, records.Unreadable) as error:
        why = error.message
    else:
        if record.result.key == key:
            return record
        why = "it is another cell's."
    raise records.Unreadable(
        f"The stored cell in {disk.shown(folder)} can't be read. {why}",
        remedy="Run the experiment again: the cell is measured anew.",
    )


def is_key(text: str) -> bool:
    """Whether it can be a cell's key."""
    return _KEY.fullmatch(text) is not None


def experiment_of(run: str) -> str:
    """The name of the experiment, from a run's id."""
    return run.split("-", 2)[-1]


def _finish(parent: Path) -> None:
    """Finish or take back all that a kill left half-written in a folder that nobody else writes into now."""
    for name in placing.unfinished(parent):
        placing.repair(parent / name)


def _maybe(path: Path) -> bytes | None:
    try:
        return disk.read_file(path)
    except FileNotFoundError:
        return None


def _names(folder: Path) -> tuple[str, ...]:
    """What lies in a folder, in order; what is being written is left out."""
    with disk.translated("read", folder):
        try:
            return tuple(sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")))
        except FileNotFoundError:
            return ()


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y%m%dT%H%M%S.%fZ")


def _json(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=True) + "\n").encode("ascii")
