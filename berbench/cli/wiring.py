"""Opens the doors a verb needs, lazily: a verb that needs no engine never loads one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from berbench.cli.console import note

if TYPE_CHECKING:
    from berbench.engine.door import Engine, Say
    from berbench.experiments import Experiments, Tools
    from berbench.forge.door import Forge
    from berbench.history.door import History
    from berbench.model.cells import Configuration
    from berbench.model.changes import Repository
    from berbench.model.task import Config
    from berbench.stages.create import Doors as CreateDoors
    from berbench.stages.init import Begun
    from berbench.stages.lint import LintDoors
    from berbench.stages.measure import Makers
    from berbench.stages.validate import Bench
    from berbench.store import DataDir, Project
    from berbench.store.cells import Cells
    from berbench.store.machine import OldFolder

TRIALS_OF_A_TASK = 4  # base, reference, the reference with canaries, and a candidate that solves nothing


class Workplace:
    """One repository and the doors around it, each opened at first use. Use as a context manager."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder = folder
        self._environ = environ
        self._closing: list[Engine | Forge | History] = []

    @cached_property
    def history(self) -> History:
        """The repository's git history; RepositoryError when the folder is in none."""
        from berbench.history import GitHistory

        history = GitHistory(self._folder)
        self._closing.append(history)
        return history

    @cached_property
    def project(self) -> Project:
        """`.ber/bench/` of the repository."""
        from berbench.store import Project

        return Project(self.history.root, locks=self.data.locks)

    @cached_property
    def config(self) -> Config:
        """The project's settings; ConfigError with `berbench init` as the remedy when there are none."""
        return self.project.read_config()

    @cached_property
    def data(self) -> DataDir:
        """The repository's folder in the user's data directory."""
        from berbench.store import DataDir

        return DataDir.of(self.history.root, self.history.remote_url("origin"), self._environ)

    @cached_property
    def experiments(self) -> Experiments:
        """The repository's experiments, and the one that is built in."""
        from berbench.experiments import Experiments

        return Experiments(self.history.root)

    @cached_property
    def tools(self) -> Tools:
        """The tools that there are: built in, the repository's, and the user's."""
        from berbench.experiments import read_tools, user_tools_folder

        return read_tools(self.history.root, user_tools_folder(self._environ))

    @cached_property
    def cells(self) -> Cells:
        """Measured cells and records of runs; all clones of one remote share them, locks included."""
        from berbench.store.cells import Cells

        return Cells(self.data.folder, locks=self.data.base / "locks" / f"cells-{self.data.folder.name}")

    @cached_property
    def main(self) -> str:
        """The main branch's ref."""
        return self.history.main_branch(self.config.main_branch, self.config.remote)

    @cached_property
    def repository(self) -> Repository:
        """Where the repository lives on a forge; provider "" when it is none that is known."""
        from berbench.forge.remote import parse_remote

        return parse_remote(self.history.remote_url(self.config.remote), self.config.provider)

    @cached_property
    def engine(self) -> Engine:
        """The container engine; EngineError with the remedy when none answers."""
        from berbench.engine.docker_engine import DockerEngine

        engine = DockerEngine()
        self._closing.append(engine)
        engine.info()
        return engine

    def forge(self, *, no_api: bool) -> Forge | None:
        """The forge, or None: no API wanted, or the remote is no forge that is known."""
        if no_api or not self.repository.provider:
            return None
        from berbench.forge.opening import open_forge
        from berbench.process import ask

        forge = open_forge(
            self.repository,
            api_url=self.config.api_url,
            cache=self.data.cache,
            environ=self._environ,
            ask=ask,
        )
        self._closing.append(forge)
        return forge

    def engine_or_none(self, say: Say) -> Engine | None:
        """The engine, or None with a line that says why."""
        from berbench.errors import EngineError

        try:
            return self.engine
        except EngineError as error:
            say(f"{error.message} Containers and images are left as they are.")
            return None

    def old_folders(self) -> tuple[OldFolder, ...]:
        """Temporary folders, and the records of validations where a repository tells where they are."""
        from berbench.errors import RepositoryError
        from berbench.store import machine

        try:
            records = machine.record_folders(self.data.base)
        except RepositoryError:
            records = ()
        return (*machine.temporary_folders(), *records)

    def needed_images(self, engine: Engine | None) -> frozenset[str] | None:
        """Keys of the images that today's tasks and experiments need; None when that can't be told."""
        from berbench.errors import BerbenchError
        from berbench.stages.needed import needed_keys

        if engine is None:
            return None
        try:
            return needed_keys(engine, self.history, self.project, self.experiments, self.tools)
        except BerbenchError as error:
            note(f"{error.message} Images are left as they are.")
            return None

    def begin(self, *, base_image: str, main_branch: str = "") -> Begun:
        """Write what `init` writes."""
        from datetime import UTC, datetime

        from berbench.forge.remote import parse_remote
        from berbench.stages.init import initialise

        remote = "origin"
        return initialise(
            self.history,
            self.project,
            remote=remote,
            repository=parse_remote(self.history.remote_url(remote), "auto"),
            base_image=base_image,
            today=datetime.now(UTC).date(),
            main_branch=main_branch,
        )

    def lint_doors(self) -> LintDoors:
        """What `task lint` goes through."""
        from berbench.stages.lint import LintDoors

        return LintDoors(self.history, self.project, self.config, self.repository, self.main)

    def create_doors(self, *, no_api: bool) -> CreateDoors:
        """What `task create` goes through."""
        from berbench.stages.create import Doors

        return Doors(self.lint_doors(), self.forge(no_api=no_api))

    def bench(self, jobs: int) -> Bench:
        """What `task validate` goes through. What a killed berbench left behind is removed first."""
        from datetime import UTC, datetime

        from berbench.engine.executor import LocalExecutor
        from berbench.stages.validate import Bench
        from berbench.stages.verifier import Verifier
        from berbench.store import machine

        for orphan in machine.orphans():
            machine.remove(orphan)
        for leftover in self.engine.sweep():
            note(f"removed {leftover.kind} {leftover.name}, left by a berbench that was stopped")
        # All trials of every task side by side, and no more than that.
        executor = LocalExecutor(self.engine, jobs * TRIALS_OF_A_TASK)
        verifier = Verifier(self.history, self.engine, executor, self.data)
        return Bench(self.lint_doors(), self.data, verifier, lambda: datetime.now(UTC))

    def makers(self, run: str, concurrency: int, configurations: Iterable[Configuration]) -> Makers:
        """What the cells of a run are measured with; all tools of the configurations go into one layer."""
        from berbench.agents import Agents, tool_layer
        from berbench.matrix.invocation import agents_of
        from berbench.stages.agent import AgentWork, usage_of
        from berbench.stages.measure import Makers
        from berbench.telemetry import read_usage

        bench = self.bench(concurrency)
        layer = tool_layer(tool for one in configurations for tool in agents_of(one))
        agents = Agents(self.history, self.engine)
        work = AgentWork(bench, agents, read_usage, layer, self._environ, run)
        return Makers(bench, self.cells, work, partial(usage_of, read_usage), run)

    def close(self) -> None:
        """Close what was opened, last first."""
        while self._closing:
            self._closing.pop().close()


@contextmanager
def workplace(folder: Path, environ: Mapping[str, str] | None = None) -> Iterator[Workplace]:
    """A workplace that is closed whatever happens."""
    place = Workplace(folder, os.environ if environ is None else environ)
    try:
        yield place
    finally:
        place.close()
