"""Experiments, configurations and cells: what is compared, on what, and what came of it.

A cell is one task × one configuration × one attempt. Its key is the content hash of everything that decides it, so
a cell that was measured once is never paid for again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from berbench.model.task import Document, Seconds
from berbench.model.tools import ToolDocument


class ToolBlock(Document):
    """A block of an experiment: lists inside it form a cross product, blocks are added."""

    tool: tuple[str, ...]
    model: tuple[str, ...] = ()
    effort: tuple[str, ...] = ()
    options: tuple[tuple[str, ...], ...] = ()  # each entry is a set of option names; () is none
    attempts: Annotated[int, Field(gt=0, le=1000)] | None = None


class ExperimentDocument(Document):
    """`.ber/bench/experiments/<name>.yaml`."""

    schema_: Annotated[Literal["berbench.experiment/1"], Field(alias="schema")] = "berbench.experiment/1"
    name: str = ""
    description: str = ""
    tools: tuple[ToolBlock, ...]
    tasks: tuple[str, ...] = ()  # ids; empty: every fresh task
    tags: tuple[str, ...] = ()  # tasks with one of these tags
    attempts: Annotated[int, Field(gt=0, le=1000)] = 1
    seed: int = 0  # order of the cells
    concurrency: Annotated[int, Field(gt=0, le=256)] = 2
    cell_timeout_s: Seconds | None = None  # instead of the task's own budget
    max_cost_usd: Annotated[float, Field(gt=0)] | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way to use a tool. `label` is `tool/model/effort+option+option`, empty parts left out at the end."""

    tool: ToolDocument
    model: str = ""
    effort: str = ""
    options: tuple[str, ...] = ()
    steps: tuple[Configuration, ...] = ()  # of a workflow, in order

    @property
    def label(self) -> str:
        """The name by which reports call it."""
        name = "/".join((self.tool.name, self.model, self.effort)).rstrip("/")
        return "+".join((name, *self.options))


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


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that the proxy did not let through."""

    host: str
    port: int
    at: datetime
    reason: str = ""


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
