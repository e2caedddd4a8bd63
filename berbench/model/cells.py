"""Experiments, configurations and cells: what is compared, on what, and what came of it.

A cell is one task × one configuration × one attempt. Its key is the content hash of everything that decides it, so
a cell that was measured once is never paid for again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from berbench.model.task import Document, Seconds
from berbench.model.tools import Step, ToolDocument

_TEXTS = {"type": "array", "items": {"type": "string"}}


def _listed(value: Any) -> Any:
    """A single text is a list of one."""
    return (value,) if isinstance(value, str) else value


def _sets(value: Any) -> Any:
    """`fast`, `[fast, deep+careful]` and `[[fast], [deep, careful], []]` are all lists of sets."""
    value = _listed(value)
    if not isinstance(value, (list, tuple)):
        return value
    return tuple(
        tuple(name for name in entry.split("+") if name) if isinstance(entry, str) else entry
        for entry in value
    )


Names = Annotated[
    tuple[str, ...], BeforeValidator(_listed), WithJsonSchema({"anyOf": [{"type": "string"}, _TEXTS]})
]
OptionSets = Annotated[
    tuple[tuple[str, ...], ...],
    BeforeValidator(_sets),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"anyOf": [{"type": "string"}, _TEXTS]}},
            ]
        }
    ),
]


class StepAxes(Document):
    """What is varied of one step of a workflow; an axis that is left out keeps what the workflow says."""

    tool: Names = ()
    model: Names = ()
    effort: Names = ()
    options: OptionSets = ()


class ToolBlock(Document):
    """A block of an experiment: lists inside it form a cross product, blocks are added."""

    tool: Names
    model: Names = ()
    effort: Names = ()
    options: OptionSets = ()  # each entry is a set of option names; () is none
    steps: dict[str, StepAxes] = Field(default_factory=dict)  # of a workflow, by the step's name
    attempts: Annotated[int, Field(gt=0, le=1000)] | None = None


class ExperimentDocument(Document):
    """`.ber/bench/experiments/<name>.yaml`."""

    schema_: Annotated[Literal["berbench.experiment/1"], Field(alias="schema")] = "berbench.experiment/1"
    name: str = ""
    description: str = ""
    tools: tuple[ToolBlock, ...]
    tasks: Names = ()  # ids; empty: every fresh task
    tags: Names = ()  # of those, the ones with one of these tags
    attempts: Annotated[int, Field(gt=0, le=1000)] = 1
    seed: int = 0  # order of the cells
    concurrency: Annotated[int, Field(gt=0, le=256)] = 2
    cell_timeout_s: Seconds | None = None  # instead of the task's own budget
    max_cost_usd: Annotated[float, Field(gt=0)] | None = None
    cell_cost_usd: Annotated[float, Field(gt=0)] | None = None  # guess of one cell's, until one is known


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way to use a tool.

    `label` is `tool/model/effort+option+option`, empty parts left out at the end. A model's name may hold slashes:
    then the slash before the effort stays, even where no effort is chosen. A workflow's is its name and the steps
    that differ from what it says itself: `flow,build=tool/model/effort,review=tool`.
    """

    tool: ToolDocument
    model: str = ""
    effort: str = ""
    options: tuple[str, ...] = ()
    steps: tuple[Configuration, ...] = ()  # of a workflow, in order

    @property
    def label(self) -> str:
        """The name by which reports call it, and by which the command line takes it."""
        if self.steps:
            pairs = zip(self.tool.steps, self.steps, strict=True)
            changed = [f"{step.name}={chosen.label}" for step, chosen in pairs if not chosen.is_as(step)]
            return ",".join((self.tool.name, *changed))
        name = self.tool.name
        if self.model or self.effort:
            name += f"/{self.model}"
        if self.effort or "/" in self.model:
            name += f"/{self.effort}"
        return "+".join((name, *self.options))

    def is_as(self, step: Step) -> bool:
        """Whether it is what a workflow's step says by itself."""
        chosen = (self.tool.name, self.model, self.effort, set(self.options))
        return chosen == (step.tool, step.model, step.effort, set(step.options))


@dataclass(frozen=True, slots=True)
class Cell:
    """One task × one configuration × one attempt (from 1)."""

    key: str  # hex; content hash of everything that decides it
    task: str
    configuration: Configuration
    attempt: int


class CellOutcome(StrEnum):
    """How a cell ended. Only ERROR is no measurement: it is retried, counted and never dropped in silence."""

    PASS = "pass"
    FAIL = "fail"
    TIMEOUT = "timeout"  # of the agent or the verifier; counts as a fail
    TAMPERED = "tampered"  # counts as a fail
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Usage:
    """What an agent used, as far as its output tells; None is unknown, and stays unknown."""

    input_tokens: int | None = None  # cached ones included
    cached_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    turns: int | None = None
    final_message: str = ""
    refused: str = ""  # the model's own refusal or API error that ended the run, "" when none is told
    unanswered: bool = False  # what ended it is that the provider gave no answer: no refusal, no measurement


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that the proxy did not let through."""

    host: str
    port: int
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StepFacts:
    """What one step of an agent's work recorded. `exit_code` is None when it never ended by itself."""

    name: str
    exit_code: int | None
    seconds: float
    timed_out: bool = False
    log: bytes = b""  # head and tail of both outputs, as written
    log_truncated: bool = False
    telemetry: bytes = b""  # the telemetry file, or standard output alone where the tool names none
    setup_failed: str = ""  # the pre line that failed


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """What an agent's container recorded. No opinion.

    `candidate` is the patch taken from outside (base tree → what the agent left); None when it could not be taken.
    """

    exit_code: int | None
    seconds: float
    timed_out: bool = False
    out_of_memory: bool = False
    log: bytes = b""  # head and tail of what the agent printed
    log_truncated: bool = False
    telemetry: bytes = b""  # the telemetry file, where the tool names one
    candidate: bytes | None = None
    left_out: tuple[
        str, ...
    ] = ()  # changed paths that the base tree's ignore rules keep out of the candidate
    refused: tuple[Refused, ...] = ()
    image: str = ""
    engine: str = ""
    setup_failed: str = ""  # the pre line that failed
    warnings: tuple[str, ...] = ()
    egress: bytes = b""  # the proxy's log, head and tail
    steps: tuple[StepFacts, ...] = ()  # each by itself; the fields above are of all together


@dataclass(frozen=True, slots=True)
class CellResult:
    """`cell.json`: how a cell ended, at which cost. The evidence lies beside it in the cell's folder."""

    key: str
    task: str
    fingerprint: str  # of the task
    label: str
    tool: str
    model: str
    effort: str
    options: tuple[str, ...]
    attempt: int
    outcome: CellOutcome
    reasons: tuple[str, ...] = ()
    verdict: str = ""  # the verifier's, "" when it never ran
    seconds: float = 0.0  # of the agent
    verify_seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    patch_bytes: int = 0
    files_changed: int = 0
    lines_added: int = 0
    lines_deleted: int = 0
    refused_requests: int = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None
    error: str = ""  # why there is no measurement
