"""The documents people review: the task, its validation block, the project's config.

Scalars reach these models as text (`yamlio` parses nothing by itself) and are typed here, so a commit id
like `0123456` stays text. Unknown keys are errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from berbench.model.changes import LandedBy
from berbench.model.trial import MOST_REPEATS, Limits

AsOf = Literal["landing", "month", "off"]
Network = Literal["none", "bridge"]
Provider = Literal["auto", "github", "gitlab", "none"]

_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def memory_bytes(text: str) -> int:
    """Bytes of a size as Docker writes it: `4g`, `512m`, `1073741824`. ValueError when it is none."""
    number, unit = (text[:-1], text[-1].lower()) if text and not text[-1].isdigit() else (text, "")
    if unit not in _UNITS or not (number.isascii() and number.isdecimal()) or int(number) == 0:
        raise ValueError(f"{text!r} is no memory size; write it like 4g or 512m")
    return int(number) * _UNITS[unit]


def _memory(text: str) -> str:
    # Engines refuse less than 6 MiB, and nobody's machine has a pebibyte: either is a slip of the pen.
    if not 6 << 20 <= memory_bytes(text) <= 1 << 50:
        raise ValueError(f"{text!r} is no memory limit that a container can have; write it like 4g or 512m")
    return text


def _commit_id(text: str) -> str:
    # A name would move with its branch, and what the task was proven on with it.
    if not 4 <= len(text) <= 64 or text.strip("0123456789abcdef"):
        raise ValueError(f"{text[:80]!r} is no commit's id")
    return text


CommitId = Annotated[str, AfterValidator(_commit_id)]
Seconds = Annotated[int, Field(gt=0, le=1_000_000)]


class Document(BaseModel):
    """Base of all documents: frozen, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False)


class Source(Document):
    """Where the task comes from. Machine-written by `task create`; never shown to an agent."""

    remote: str = ""
    pull_request: int | None = None
    issues: tuple[int, ...] = ()
    base_commit: CommitId
    landing_commit: CommitId
    landed_by: LandedBy
    landed_at: datetime | None = None
    version: str = ""  # nearest tag at the base commit, offered to builds as BERBENCH_VERSION


class Environment(Document):
    """How the image is built."""

    dockerfile: str = "Dockerfile.berbench"
    build_args: dict[str, str] = Field(default_factory=dict)
    setup: tuple[str, ...] = ()
    as_of: AsOf = "landing"
    inputs: tuple[str, ...] = ()  # globs of manifests that decide the image; empty: the whole base tree


class Prompt(Document):
    """Where the only text an agent sees is."""

    file: str = "prompt.md"


class Verify(Document):
    """The verification contract."""

    command: str = ""
    timeout_s: Seconds = 600
    network: Network = "none"
    protected_paths: tuple[str, ...] = ()
    evidence: Annotated[str, Field(pattern=r"^(auto|junit:.+|go-json|tap|none)$")] = "auto"


class LimitsDocument(Document):
    """Container limits as people write them."""

    memory: Annotated[str, AfterValidator(_memory)] = "4g"
    cpus: Annotated[float, Field(ge=0.01)] = 2.0  # what engines take at least
    pids: Annotated[int, Field(gt=0, le=1 << 22)] = 1024  # the kernel knows no higher number

    def limits(self) -> Limits:
        """The same in bytes and numbers, as containers take them."""
        return Limits(memory_bytes(self.memory), self.cpus, self.pids)


class TrialSummary(Document):
    """One trial of a validation, in short."""

    exit_code: int | None
    seconds: float
    passed: int = 0
    failed: int = 0
    other: int = 0


class Control(Document):
    """The reference, graded with canaries as any candidate will be: which of them this task's command can carry."""

    places: tuple[
        Literal["inside", "beside", "twin"], ...
    ] = ()  # where canaries were seen to do as they must
    twins: tuple[str, ...] = ()  # `path::TestA.test_a` of hidden tests that are cheap enough to be run again
    exit_code: int | None = None  # with canaries that must fail among the tests
    log_agrees: bool = False  # whether the log's own summary counts the failures that the report has
    reason: str = ""  # why there are no canaries in a place


class Broken(Document):
    """Why a proof does not reproduce any more."""

    at: datetime
    verdict: str
    reason: str
    difference: tuple[str, ...] = ()  # between the proof's evidence and the newer one, a line each


class Validation(Document):
    """The proof, written by `task validate` alone. `seal` binds every other key and the task id."""

    schema_: Annotated[Literal["berbench.validation/1"], Field(alias="schema")] = "berbench.validation/1"
    task: str
    fingerprint: str
    inputs: dict[str, str]
    base: TrialSummary
    reference: TrialSummary
    stands_on: str
    base_failure: str = "tests"
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()  # flaky tests that the command leaves out
    repeats: int = 1  # how often each trial was run
    control: Control = Control()
    broken: Broken | None = None
    validated_at: datetime
    image: str
    platform: str = ""  # what the image is for: linux/amd64
    base_image: str = ""  # what it stands on, and that one's id: see `Image`
    base_id: str = ""
    user: str = ""  # whom the tests ran as
    engine: str
    berbench: str
    seal: str


class Task(Document):
    """`task.yaml`. Section 3 of the design; JSON Schema by `berbench schema task`."""

    schema_: Annotated[Literal["berbench.task/1"], Field(alias="schema")] = "berbench.task/1"
    id: str
    description: str = ""
    source: Source
    environment: Environment = Environment()
    prompt: Prompt = Prompt()
    timeout_s: Seconds = 600
    hide: tuple[str, ...] = ()
    config_path: str = "CLAUDE.md"
    verify: Verify = Verify()
    limits: LimitsDocument = LimitsDocument()
    assert_: Annotated[tuple[dict[str, str | tuple[str, ...]], ...], Field(alias="assert")] = ()
    weight: Annotated[float, Field(ge=0)] = 1.0
    tags: tuple[str, ...] = ()
    validation: Validation | None = None


class Harvest(Document):
    """How pull requests are turned into tasks."""

    test_patterns: tuple[str, ...] = ()
    prompt_source: Literal["issue", "pr_description", "commit_message"] = "issue"


class Validating(Document):
    """How tasks are proven where the command line says nothing else."""

    repeat: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = 1


class Candidates(Document):
    """What of an agent's work is its candidate."""

    keep: tuple[str, ...] = ()  # files and folders that are part of it although ignore rules name them


class Config(Document):
    """`.ber/bench/config.yaml`."""

    schema_: Annotated[Literal["berbench.config/1"], Field(alias="schema")] = "berbench.config/1"
    remote: str = "origin"
    provider: Provider = "auto"
    api_url: str = ""  # for enterprise hosts whose API address can't be derived
    main_branch: str = ""  # "" : found from the remote's HEAD, then main, master, trunk, develop
    dockerfile: str = "Dockerfile.berbench"
    harvest: Harvest = Harvest()
    validate_: Annotated[Validating, Field(alias="validate")] = Validating()
    candidates: Candidates = Candidates()


@dataclass(frozen=True, slots=True)
class TaskFiles:
    """A task with the bytes beside it, as read in one go."""

    task: Task
    prompt: bytes
    tests_patch: bytes
    reference_patch: bytes
    validation_problem: str = ""  # why the `validation:` block is unreadable; the task is forged then


class TaskState(StrEnum):
    """Whether a run may use a task. Only FRESH ones are used."""

    FRESH = "fresh"
    STALE = "stale"
    UNVALIDATED = "unvalidated"
    FORGED = "forged"
    BROKEN = "broken"  # the documents can't be read, or the proof does not reproduce any more


@dataclass(frozen=True, slots=True)
class Standing:
    """A task's state and the named inputs that changed since the proof, or why it is forged or broken."""

    state: TaskState
    changed: tuple[str, ...] = ()
    reason: str = ""
