"""Runs on the sample repository: two proven tasks, trials that are played by content, agents that are scripted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sampleplace import SamplePlace, Scripted, sample_place

from berbench.documents import typed
from berbench.experiments import read_tools
from berbench.history import GitHistory
from berbench.matrix import resolve
from berbench.model.cells import AgentFacts, Cell, CellResult, ExperimentDocument, Usage
from berbench.model.tools import Telemetry, ToolDocument
from berbench.model.trial import Facts, Trial, VerdictName
from berbench.stages.crew import Forecast, Shown, forecast
from berbench.stages.measure import Makers, Say
from berbench.stages.plan import Ground, Narrowing, Plan, make_plan
from berbench.stages.run import Wishes, run
from berbench.stages.trees import trees_of
from berbench.stages.validate import validate_task
from berbench.store.cells import Cells
from berbench.yamlio import load

TITLES = ("Leave words out of top()", "Sort equally frequent words")
AGENT = ToolDocument(
    name="agent", version="1", invoke=("agent", "{prompt_file}", "{args}"), model_args=("--model", "{model}")
)
TELLING = AGENT.model_copy(update={"name": "telling", "telemetry": Telemetry(format="usage-json")})


class Played(Scripted):
    """Plays trials by what is in them: the hidden test passes where every file of the reference is as in it."""

    def __init__(self, solved: Mapping[str, Mapping[str, bytes]]) -> None:
        self.solved = solved  # by task: path → bytes
        self.ran: list[str] = []  # tasks of the trials, in order
        self.trouble: Exception | None = None

    def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
        """Facts as pytest would leave them."""
        if self.trouble:
            raise self.trouble
        return [self._play(trial) for trial in trials]

    def _play(self, trial: Trial) -> Facts:
        self.ran.append(trial.task)
        written = {entry.path: entry.data for entry in trial.delta.writes}
        whole = all(written.get(path) == data for path, data in self.solved[trial.task].items())
        [facts] = super().run([replace(trial, name="reference" if whole else "base")])
        return replace(facts, trial=trial.name)


Script = Callable[[Cell, Ground], AgentFacts]


@dataclass
class Work:
    """Scripted agents: by default one that finds the reference at each odd attempt and nothing at others."""

    script: Script | None = None
    asked: list[str] = field(default_factory=list)  # keys
    most: int = 0  # at once
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, cell: Cell, ground: Ground, say: Say) -> AgentFacts:
        with self._lock:
            self.asked.append(cell.key)
            self._now += 1
            self.most = max(self.most, self._now)
        try:
            return (self.script or finds_it_at_odd_attempts)(cell, ground)
        finally:
            with self._lock:
                self._now -= 1


def finds_it_at_odd_attempts(cell: Cell, ground: Ground) -> AgentFacts:
    """What an agent leaves."""
    found = ground.files.reference_patch if cell.attempt % 2 else b""
    return left(found, log=f"{cell.configuration.label} at attempt {cell.attempt}\n".encode())


def left(candidate: bytes | None, **more: Any) -> AgentFacts:
    """Facts of an agent that left this."""
    return AgentFacts(**{"exit_code": 0, "seconds": 1.5, "candidate": candidate, **more})


@dataclass
class Heard:
    """Keeps what a run tells while it runs."""

    ends: list[CellResult] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    def say(self, cell: Cell, line: str) -> None:
        """Nothing."""

    def ended(self, cell: Cell, result: CellResult, spent: float) -> None:
        """Kept."""
        self.ends.append(result)

    def left(self, cell: Cell, why: str) -> None:
        """Kept."""
        self.dropped.append(cell.key)


def _now() -> datetime:
    return datetime.now(UTC)


class RunPlace:
    """The sample with two proven tasks, and all that a run goes through."""

    def __init__(self, place: SamplePlace, folder: Path) -> None:
        self.place, self.folder = place, folder
        self.ids = [place.create(place.pull(title), force=True).id for title in TITLES]
        self.played = Played({task: self._solution(task) for task in self.ids})
        for task in self.ids:
            proven = validate_task(place.bench_with(self.played), task, say=lambda of, line: None)
            assert proven.verdict.name is VerdictName.VALIDATED, proven.verdict
        self.work = Work()
        self.environ: dict[str, str] = {}
        self.now: Callable[[], datetime] = _now
        self.cells = Cells(folder / "cells", locks=folder / "locks")
        self.read: Callable[[Any, AgentFacts], Usage] = lambda configuration, facts: Usage()

    def _solution(self, task: str) -> dict[str, bytes]:
        history, files = self.place.history, self.place.project.read_task(task)
        trees = trees_of(history, files)
        paths = [change.path for change in history.changes(trees.with_tests, trees.solved)]
        return dict(history.read(trees.solved, paths))

    def plan(self, text: str = "tools: [{tool: [oracle, nop]}]", narrowing: Narrowing | None = None) -> Plan:
        """The plan of an experiment in YAML, among the built-in tools and two scripted agents."""
        experiment = typed(ExperimentDocument, load(text.encode(), "x.yaml"), "x.yaml")
        experiment = experiment.model_copy(update={"name": "x"})
        tools = dict(read_tools(self.place.sample.root, self.folder / "none").documents)
        resolution = resolve(experiment, tools | {tool.name: tool for tool in (AGENT, TELLING)})
        return make_plan(
            self.place.project,
            self.place.history,
            where="x.yaml",
            experiment=experiment,
            resolution=resolution,
            narrowing=narrowing or Narrowing(),
        )

    def makers(self, run_id: str = "") -> Makers:
        """What cells are measured with."""
        bench = replace(self.place.bench_with(self.played), now=self.now)
        return Makers(bench, self.cells, self.work, self.read, run_id)

    def run(
        self,
        plan: Plan,
        *,
        shown: Shown | None = None,
        now: Callable[[], datetime] | None = None,
        **wishes: Any,
    ) -> dict[str, Any]:
        """Run a plan; the document."""
        self.now = now or _now
        asked = Wishes(**{"concurrency": 2, **wishes})
        coming: Forecast = forecast(self.cells, plan, fresh=asked.fresh)
        return run(
            self.cells,
            plan,
            coming,
            asked,
            makers=self.makers,
            environ=self.environ,
            now=self.now,
            shown=shown or Heard(),
        )

    def reopened(self) -> RunPlace:
        """The same with a git of its own, for a process of its own."""
        other = object.__new__(RunPlace)
        other.__dict__ |= self.__dict__
        place = object.__new__(SamplePlace)
        place.__dict__ |= self.place.__dict__
        place.history = GitHistory(self.place.sample.root)
        other.place, other.work = place, Work(self.work.script)
        other.cells = Cells(self.cells.folder, locks=self.folder / "locks")
        return other


def outcomes(document: Mapping[str, Any]) -> dict[tuple[str, str, int], str]:
    """Outcome by task, configuration and attempt."""
    return {(row["task"], row["label"], row["attempt"]): row["outcome"] for row in document["cells"]}


@contextmanager
def run_place(folder: Path) -> Iterator[RunPlace]:
    """A place that is closed whatever happens."""
    with sample_place(folder / "sample") as place:
        yield RunPlace(place, folder)
