"""Trials and their facts, evidence and verdicts: what a container is given and what it told.

Nothing here names a process, a folder or a host, so a trial can run anywhere and a verdict can be computed
again from what is on disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from berbench.model.changes import Delta, FileEntry

# Where berbench's own files live inside a container: outside the work tree, so no test collects them.
KIT_DIR = "/berbench/kit"  # read by the runner: reporters, plug-ins
OUT_DIR = "/berbench/out"  # written by the runner: reports; fetched when the process tree is gone
# Files in OUT_DIR that say why an extra trial is none: tests in their usual order, the clock as it was.
ORDER_NOTE = "order"
CLOCK_NOTE = "clock"

MOST_REPEATS = 100  # of one trial in a validation


@dataclass(frozen=True, slots=True)
class ImageRecipe:
    """All that decides an image. `key` is the content hash of the rest; equal keys mean equal recipes."""

    key: str
    dockerfile: bytes
    dockerfile_name: str  # as the user knows it, for messages
    build_args: tuple[tuple[str, str], ...]
    tree: str  # tree id that the build context holds


@dataclass(frozen=True, slots=True)
class Image:
    """An image in the engine. `tree` is the tree it was built from: a trial's delta is against it.

    `base` is the image it stands on, `name@digest` where a registry gave it, and `base_id` that image's id; both are ""
    where the engine can't tell.
    """

    id: str
    key: str
    tree: str
    workdir: str
    user: str
    platform: str = ""  # linux/amd64
    base: str = ""
    base_id: str = ""


@dataclass(frozen=True, slots=True)
class Build:
    """What a build recorded. `image` is None when it failed; then `failed_step` and `log` say where."""

    image: Image | None
    log: str
    seconds: float
    failed_step: str = ""
    timed_out: bool = False
    reused: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """What a container may use."""

    memory_bytes: int = 4 << 30
    cpus: float = 2.0
    pids: int = 1024


@dataclass(frozen=True, slots=True)
class Trial:
    """One verifier run in one fresh container: image and delta give the tree, then set-up, then the command.

    `setup` and `command` are shell lines run in the image's work tree; `env` is added to the image's own.
    `kit` paths are relative to KIT_DIR. `collect` are globs relative to the work tree; matching files that the
    command wrote are moved to OUT_DIR's `collected/` afterwards, and older ones stay where they are.
    """

    name: str  # base | reference | …
    task: str
    image: Image
    delta: Delta
    command: str
    timeout_s: float
    setup: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    kit: tuple[FileEntry, ...] = ()
    collect: tuple[str, ...] = ()
    network: str = "none"  # none | bridge
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file found under OUT_DIR after the process tree was gone. `name` is relative to OUT_DIR."""

    name: str
    data: bytes
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What a trial recorded. No opinion."""

    trial: str
    exit_code: int | None  # of the verify command; None when it never ended by itself
    setup_failed: str = ""  # the set-up line that failed, "" when all passed
    setup_exit_code: int | None = None
    timed_out: bool = False
    timed_out_in: str = ""  # setup | verify, when timed_out
    out_of_memory: bool = False
    seconds: float = 0.0  # of the verify command, where it could be told, else of the container
    log: bytes = b""  # head and tail of stdout and stderr, interleaved as written
    log_bytes: int = 0  # how much was written in all
    log_truncated: bool = False
    reports: tuple[ReportFile, ...] = ()
    image: str = ""  # image id
    engine: str = ""  # name and version
    started_at: datetime | None = None
    installed: tuple[str, ...] = ()  # "name==version" lines of what the image holds, where it could tell
    warnings: tuple[str, ...] = ()  # what went wrong beside the trial: a limit met, a container not removed


class Outcome(StrEnum):
    """A test's outcome. Only PASSED is a pass; XFAILED and SKIPPED are states of their own."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"  # could not be collected, imported, compiled, or set up
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test in one trial. `id` is the runner's own node id; `file` the repository path when it can be told."""

    __test__ = False  # not a pytest class

    id: str
    outcome: Outcome
    file: str = ""
    message: str = ""  # first lines of the failure, capped
    seconds: float | None = field(default=None, compare=False)  # set-up and tear-down included, where told


@dataclass(frozen=True, slots=True)
class Evidence:
    """A machine-readable per-test report as read, or what the log's own summary says.

    `source` is junit, go-json, tap, unittest, jest, … ; "summary" when only the log's closing lines could be
    read; "" when nothing could. `results` have unique ids (repeats are numbered). `counts` is by outcome.
    """

    source: str = ""
    results: tuple[TestResult, ...] = ()
    counts: tuple[tuple[Outcome, int], ...] = ()
    none_ran: bool = False  # readable and empty, or the runner said that nothing ran
    collection_failed: bool = False  # the runner stopped, or lost files, before their tests could run
    command_missing: bool = False  # the shell could not find or run the command
    problems: tuple[str, ...] = ()  # reports that could not be read, and why
    runner: str = ""  # row name in the runner table, "" when none is known
    report_missing: bool = False  # the runner was asked for a report and left none, or one without its end
    retried: tuple[str, ...] = ()  # ids of tests that passed only when they were run again
    named: tuple[str, ...] = ()  # files that the command names, where the results name none

    @property
    def readable(self) -> bool:
        """Whether single tests can be told apart."""
        return self.source not in ("", "summary")


class VerdictName(StrEnum):
    """Design section 6; the names are part of every document."""

    VALIDATED = "validated"
    BASE_PASSES = "base-passes"
    REFERENCE_FAILS = "reference-fails"
    PATCH_CONFLICT = "patch-conflict"
    IMAGE_FAILED = "image-failed"
    SETUP_FAILED = "setup-failed"
    TIMEOUT = "timeout"
    NO_TESTS_RAN = "no-tests-ran"
    WRONG_TESTS = "wrong-tests"
    INCONSISTENT = "inconsistent"
    HACKABLE = "hackable"
    FLAKY = "flaky"
    OUT_OF_MEMORY = "out-of-memory"
    PROMPT_LEAKS = "prompt-leaks"
    INVALID_TASK = "invalid-task"
    ENGINE_ERROR = "engine-error"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of a validation, a pure function of facts and evidence.

    `reason` is one sentence with its cause, `remedy` what to do, `details` further lines (log tails, test names).
    `noise` are tests that failed in both trials while others gave the signal: narrowing deselects them.
    """

    name: VerdictName
    reason: str
    remedy: str = ""
    details: tuple[str, ...] = ()
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    stands_on: str = ""  # "pytest's JUnit report", "the log's summary", "the exit code alone"
    base_failure: str = ""  # tests | collection: how the base trial failed
    warnings: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()  # tests whose outcome was not the same in all trials of one tree
    moved_by: str = ""  # repeat | order | clock: what was different in the trials that disagree

    @property
    def narrowable(self) -> bool:
        """Whether deselecting the noise could prove the task."""
        return self.name is VerdictName.REFERENCE_FAILS and bool(self.noise and self.fail_to_pass)

    @property
    def quarantinable(self) -> bool:
        """Whether deselecting the flaky tests could prove the task on the steady ones."""
        return self.name is VerdictName.FLAKY and bool(self.moved and self.fail_to_pass)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something lint found: where, what, how bad, and whether `--fix` can derive the mend."""

    code: str  # stable slug, e.g. "prompt-url"
    where: str  # "prompt.md:12", "task.yaml: verify.command"
    message: str
    severity: str = "error"  # error | warning
    fixable: bool = False


@dataclass(frozen=True, slots=True)
class Instrumentation:
    """How a verify command is run so that it leaves evidence. See `runners`."""

    runner: str  # row name in the runner table, "" when none is known
    command: str
    env: tuple[tuple[str, str], ...] = ()
    kit: tuple[FileEntry, ...] = ()
    collect: tuple[str, ...] = ()
    format: str = "none"  # junit | go-json | tap | unittest | jest | summary | none
    notes: tuple[str, ...] = field(default=())
