"""From what was seen of a trial to its facts: a pure function, the same for every engine.

Three witnesses are heard: the record the script wrote, the exit state the engine saw, and the deadline
outside. Code under test can reach the first, so a zero in it counts only when the engine saw a zero as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from wcmatch import glob

from berbench.engine import script
from berbench.engine.archive import Taken, unsafe
from berbench.engine.capture import Capture
from berbench.engine.failures import image_fault
from berbench.engine.record import Record, Step, read_record
from berbench.errors import ConfigError
from berbench.model.trial import Facts, ReportFile, Trial

GLOB_FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.CASE


@dataclass(frozen=True, slots=True)
class Seen:
    """What an engine saw of a trial from outside."""

    log: Capture
    out: Taken  # the files of OUT_DIR
    code: int | None  # exit code of the container's main process, None when it was never seen to end
    killed: bool = False  # by the deadline outside
    refused: str = ""  # why the image can't be started at all
    out_of_memory: bool = False  # by the engine's own account
    seconds: float = 0.0  # from start to end
    started_at: datetime | None = None
    engine: str = ""
    installed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def check_globs(trial: Trial) -> None:
    """ConfigError when a glob of reports leaves the work tree."""
    for pattern in trial.collect:
        if pattern.startswith("/") or ".." in pattern.split("/") or not pattern.strip():
            raise ConfigError(
                f"The report pattern {pattern!r} is not relative to the work tree.",
                remedy="write it like build/reports/*.xml, without a leading / and without ..",
            )


def facts_of(trial: Trial, seen: Seen) -> Facts:
    """The facts of one trial."""
    notes = {file.name: file.data for file in seen.out.files if file.name.startswith(script.NOTES + "/")}
    record = read_record(notes.get(script.RECORD, b""))
    out_of_memory = seen.out_of_memory or record.out_of_memory
    setup_failed, setup_code, timed_out_in = _setup(trial, record, seen)
    if seen.killed and not timed_out_in and not _over(record):
        timed_out_in = "verify" if record.verify or not trial.setup else "setup"
    if _outran(record.verify, trial):
        timed_out_in = "verify"
    log = seen.log.value()
    if record.prepared not in (0, None):
        log += notes.get(script.PREPARE_LOG, b"")
    return Facts(
        trial=trial.name,
        exit_code=None if timed_out_in or setup_failed else _exit_code(record, seen),
        setup_failed=setup_failed,
        setup_exit_code=setup_code,
        timed_out=bool(timed_out_in),
        timed_out_in=timed_out_in,
        out_of_memory=out_of_memory,
        seconds=_seconds(record, seen),
        log=log,
        log_bytes=seen.log.total,
        log_truncated=seen.log.truncated,
        reports=tuple(file for file in seen.out.files if file.name not in notes and _wanted(file, trial)),
        image=trial.image.id,
        engine=seen.engine,
        started_at=seen.started_at,
        installed=seen.installed,
        warnings=(*seen.warnings, *_warnings(record, seen, trial)),
    )


def _setup(trial: Trial, record: Record, seen: Seen) -> tuple[str, int | None, str]:
    """(line that failed, its code, "setup" when it outran its time)."""
    if seen.refused or _never_began(record, seen):
        return "start the trial's shell", 127, ""
    if record.prepared not in (0, None):
        return "put the trial's files into the image's work tree", record.prepared, ""
    for number, step in sorted(record.setup.items()):
        if not 0 <= number < len(trial.setup):
            continue
        if _outran(step, trial):
            return "", None, "setup"
        if step.code not in (0, None):
            return trial.setup[number], step.code, ""
    return "", None, ""


def _never_began(record: Record, seen: Seen) -> bool:
    # Docker's init is there even where the shell or the user is not, and then says why it can't go on.
    if record.began or seen.code not in (126, 127):
        return False
    return bool(image_fault(seen.log.value()[:1000].decode("utf-8", "replace")))


def _outran(step: Step | None, trial: Trial) -> bool:
    # `timeout` itself says 124, or 143 in busybox, or whatever the command makes of TERM; the clock is clear.
    return step is not None and step.ended is not None and step.seconds >= script.limit_of(trial)


def _over(record: Record) -> bool:
    return record.verify is not None and record.verify.ended is not None


def _exit_code(record: Record, seen: Seen) -> int | None:
    noted = record.verify.code if record.verify else None
    if noted is None:
        return seen.code or None  # ended from within; a zero without a note proves nothing
    if noted == 0 and seen.code != 0 and not seen.killed:
        return seen.code
    return noted


def _seconds(record: Record, seen: Seen) -> float:
    return record.verify.seconds if _over(record) and record.verify else seen.seconds


def _wanted(file: ReportFile, trial: Trial) -> bool:
    folder, _, path = file.name.partition("/")
    if folder != script.COLLECTED:
        return True
    return not unsafe(path) and glob.globmatch(path, list(trial.collect), flags=GLOB_FLAGS)


def _warnings(record: Record, seen: Seen, trial: Trial) -> list[str]:
    found = []
    if record.out_of_processes:
        found.append(f"the limit of {trial.limits.pids} processes was reached")
    if record.collect_failed:
        found.append("not all reports could be collected; the image needs `find` and `mkdir`")
    if not seen.out.complete:
        found.append("more or larger reports were left than are kept")
    if seen.code is not None and not record.complete and not seen.killed and not seen.refused:
        found.append("the trial's main process was ended from within")
    return found
