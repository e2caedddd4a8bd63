"""What a report is told, and what it comes to. Nothing here reads a file; text is made of it elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from berbench.model.cells import CellOutcome, CellResult
from berbench.model.trial import Outcome
from berbench.stats import Amount, Paired, Rate

# What is known beforehand of the built-in controls: the share of their cells that must pass.
CONTROLS: Mapping[str, float] = {"oracle": 1.0, "nop": 0.0}

ALL_PASS = "all-pass"
ALL_FAIL = "all-fail"


@dataclass(frozen=True, slots=True)
class Planned:
    """A cell that a run was to measure."""

    key: str
    task: str
    label: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A task that a run left out, and why; `changed` names the inputs of a stale one."""

    task: str
    reason: str
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run as it was recorded. `planned` is every cell of it, measured or not."""

    id: str
    experiment: str
    started_at: datetime | None = None
    finished_at: datetime | None = None
    planned: tuple[Planned, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()  # what the run itself has to say, such as a ceiling of cost that was met


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """A task as it is today; `fingerprint` is "" where it can't be told."""

    id: str
    weight: float = 1.0
    fingerprint: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class TestLine:
    """One needed test as the grade has it; `outcome` is a test's outcome, or `missing`."""

    __test__ = False  # not a pytest class

    id: str
    outcome: str
    message: str = ""

    @property
    def passed(self) -> bool:
        """Whether it is a pass."""
        return self.outcome == Outcome.PASSED


@dataclass(frozen=True, slots=True)
class CellFiles:
    """The evidence beside a `cell.json`. What is not there is empty, or None where empty would mean something.

    `reference` is the task's known implementation, None when the task has changed since the cell was measured.
    `where` is the folder that holds all of it, uncut.
    """

    transcript: bytes = b""
    candidate: bytes | None = None
    reference: bytes | None = None
    tests: tuple[TestLine, ...] = ()
    log: bytes = b""
    prompt: bytes = b""
    final_message: str = ""
    remarks: tuple[str, ...] = ()  # refused requests, changes that were dropped or not taken: a sentence each
    where: str = ""


@dataclass(frozen=True, slots=True)
class Square:
    """One task × one configuration."""

    cells: tuple[CellResult, ...] = ()  # by attempt; errors are among them
    missing: int = 0  # planned and not there

    @property
    def measured(self) -> int:
        """Cells that are a measurement."""
        return sum(cell.outcome is not CellOutcome.ERROR for cell in self.cells)

    @property
    def passed(self) -> int:
        """Cells that passed."""
        return sum(cell.outcome is CellOutcome.PASS for cell in self.cells)

    @property
    def errors(self) -> int:
        """Cells that are no measurement."""
        return len(self.cells) - self.measured

    @property
    def share(self) -> float | None:
        """Passed of measured; None where nothing was measured."""
        return self.passed / self.measured if self.measured else None


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task's results. `information` is all-pass or all-fail where the task tells no configuration from another.

    `outdated`: the task has changed since it was measured.
    """

    id: str
    weight: float
    fingerprint: str
    squares: Mapping[str, Square]  # by the configuration's label
    information: str = ""
    outdated: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class ConfigurationRow:
    """A configuration's results. All amounts are over its measured cells; `errors` and `missing` count the others."""

    label: str
    tool: str
    model: str
    effort: str
    options: tuple[str, ...]
    rate: Rate
    outcomes: Mapping[CellOutcome, int]
    missing: int
    cost: Amount
    seconds: Amount
    input_tokens: Amount
    output_tokens: Amount
    lines: Amount  # added and deleted
    files: Amount
    on_front: bool = False  # no configuration of known cost passes as much for less

    @property
    def is_control(self) -> bool:
        """Whether it shows that the measuring works, rather than measuring anything."""
        return self.tool in CONTROLS

    @property
    def measured(self) -> int:
        """Cells that are a measurement."""
        return sum(number for outcome, number in self.outcomes.items() if outcome is not CellOutcome.ERROR)

    @property
    def errors(self) -> int:
        """Cells that are no measurement."""
        return self.outcomes.get(CellOutcome.ERROR, 0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two configurations over the tasks that both were measured on."""

    first: str
    second: str
    paired: Paired


@dataclass(frozen=True, slots=True)
class Report:
    """A run as it is told. Configurations come best first, controls last; tasks in natural order of their ids.

    `cost` is of all cells, errors too, whichever run paid for them. `aside` counts, by task, results of another state
    of the task: they are in no number. `warnings` are sentences that a reader must see before any number.
    """

    run: RunFacts
    tasks: tuple[TaskRow, ...]
    configurations: tuple[ConfigurationRow, ...]
    comparisons: tuple[Comparison, ...]
    planned: int
    measured: int
    errors: int
    missing: int
    cost: Amount
    warnings: tuple[str, ...] = ()
    aside: Mapping[str, int] = field(default_factory=dict)

    @property
    def contestants(self) -> tuple[ConfigurationRow, ...]:
        """The configurations that are no controls."""
        return tuple(row for row in self.configurations if not row.is_control)

    @property
    def controls(self) -> tuple[ConfigurationRow, ...]:
        """The sanity lines."""
        return tuple(row for row in self.configurations if row.is_control)
