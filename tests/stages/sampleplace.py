"""The sample repository with the doors around it, and the fake engine in place of containers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

from berbench.engine.executor import Executor, LocalExecutor
from berbench.engine.fake import FakeEngine
from berbench.history import GitHistory
from berbench.model.changes import Repository
from berbench.model.trial import Facts, ReportFile, Trial
from berbench.sample import Sample, SamplePR, issue_text
from berbench.stages.create import Created, Doors, Request, create
from berbench.stages.init import initialise
from berbench.stages.lint import LintDoors
from berbench.stages.validate import Bench
from berbench.stages.verifier import Verifier
from berbench.store import DataDir, Project
from berbench.strength.adversaries import CONFTEST, DELETES, EXITS
from samplecopy import sample_at

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def _report(outcome: str) -> ReportFile:
    case = '<testcase classname="tests.test_words" name="{}" file="tests/test_words.py">{}</testcase>'
    cases = case.format("test_old", "") + case.format("test_new", outcome)
    text = f'<testsuites><testsuite name="pytest" tests="2">{cases}</testsuite></testsuites>'
    return ReportFile("pytest.xml", text.encode())


def is_unsolved(trial: str) -> bool:
    """The base, and the controls that solve nothing."""
    return trial.startswith(("base", f"control-{EXITS}", f"control-{DELETES}", f"control-{CONFTEST}"))


class Scripted:
    """An executor that plays the trials of a sound task: the new test fails at the base and passes when solved."""

    def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
        """Facts as pytest would leave them; no process is started."""
        told = {"base": (1, '<failure message="assert 0">no</failure>'), "reference": (0, "")}
        # The control is played as one whose planted tests never run: such a task is proven, and graded without them.
        trials = list(trials)
        parts = [told["base" if is_unsolved(trial.name) else "reference"] for trial in trials]
        return [
            Facts(
                trial.name,
                code,
                log=b"played\n",
                reports=(_report(outcome),),
                image=trial.image.id,
                engine="Scripted",
            )
            for trial, (code, outcome) in zip(trials, parts, strict=True)
        ]

    def close(self) -> None:
        """Nothing to end."""


class SamplePlace:
    """What a test needs of the sample: its doors, and tasks made of its pull requests."""

    def __init__(self, root: Path, engine: FakeEngine) -> None:
        self.sample: Sample = sample_at(root / "tally")
        self.history = GitHistory(self.sample.root)
        self.data = DataDir.of(self.sample.root, "", {"BERBENCH_DATA_DIR": str(root / "data")})
        self.project = Project(self.sample.root, locks=self.data.locks)
        initialise(
            self.history,
            self.project,
            remote="origin",
            repository=Repository(),
            base_image="",
            today=date(2026, 1, 2),
        )
        self.engine = engine
        self.executor = LocalExecutor(engine, 4)

    @property
    def lint(self) -> LintDoors:
        """Doors of lint, with the settings as they are now."""
        return LintDoors(
            self.history, self.project, self.project.read_config(), Repository(), "refs/heads/main"
        )

    @property
    def quick(self) -> Bench:
        """Doors of a validation whose trials are played: for what happens around them."""
        return self.bench_with(Scripted())

    def bench_with(self, executor: Executor) -> Bench:
        """Doors of a validation with another executor."""
        verifier = Verifier(self.history, self.engine, executor, self.data)
        return Bench(self.lint, self.data, verifier, lambda: NOW)

    @property
    def bench(self) -> Bench:
        """Doors of a validation."""
        return self.bench_with(self.executor)

    def pull(self, title: str) -> SamplePR:
        """A pull request by its title."""
        return next(pull for pull in self.sample.pull_requests if pull.title == title)

    def create(self, pull: SamplePR, *, force: bool = False) -> Created:
        """The task of a pull request of the sample."""
        commit = "" if pull.number is not None else pull.landing_commit
        text = issue_text(pull.issue_file) if pull.issue_file else None
        request = Request(pull.number, commit, text, force=force)
        return create(Doors(self.lint, None), request, lambda line: None)

    def close(self) -> None:
        """End the workers, remove what was made for them."""
        self.executor.close()
        self.history.close()


@contextmanager
def sample_place(root: Path) -> Iterator[SamplePlace]:
    """A place that is closed whatever happens. `python` means the interpreter that runs the tests."""
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{path}"
    engine = FakeEngine()
    place = SamplePlace(root, engine)
    try:
        yield place
    finally:
        place.close()
        engine.close()
        os.environ["PATH"] = path
