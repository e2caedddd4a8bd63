"""What a run is going to do, before it does any of it: the cells in their order, and the tasks it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from berbench.errors import UsageError
from berbench.experiments import found
from berbench.fingerprint import digest
from berbench.history.door import History
from berbench.matrix import Resolution, cell_inputs, cell_key
from berbench.matrix.hints import hint, shown
from berbench.matrix.invocation import agents_of
from berbench.model.cells import Cell, Configuration, ExperimentDocument
from berbench.model.task import Config, TaskFiles, TaskState
from berbench.stages.experiments import select
from berbench.stages.standing import Listed, stand
from berbench.stages.verifier import recipe_of
from berbench.store import Project

_WHERE_TASKS = "`berbench task list` shows those there are."


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What the command line asks of an experiment's tasks: these ids, those with one of these tags; () is all."""

    tasks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ground:
    """A fresh task as it was read when the run was planned: what every cell of it stands on."""

    files: TaskFiles
    dockerfile: bytes
    image_key: str
    timeout_s: int  # the agent's budget
    keep: tuple[str, ...] = ()  # paths that ignore rules don't keep out of a candidate
    test_patterns: tuple[str, ...] = ()  # what of a candidate is a test, and dropped

    @property
    def fingerprint(self) -> str:
        """Of the task's proof."""
        proof = self.files.task.validation
        return proof.fingerprint if proof else ""

    @property
    def platform(self) -> str:
        """Where it was proven, and where alone its cells are measured."""
        proof = self.files.task.validation
        return proof.platform if proof else ""

    @property
    def known_as(self) -> str:
        """The task in a cell's key: with its id, since two tasks of one content are still two rows of a report."""
        return f"{self.files.task.id} {self.fingerprint}"

    @property
    def task_inputs(self) -> Mapping[str, str]:
        """The named hashes behind the fingerprint."""
        proof = self.files.task.validation
        return proof.inputs if proof else {}

    def inputs(self, configuration: Configuration, attempt: int) -> dict[str, str]:
        """The named hashes behind a cell's key."""
        task = self.files.task
        return cell_inputs(
            configuration,
            task=self.known_as,
            prompt=self.files.prompt,
            limits=task.limits.limits(),
            timeout_s=self.timeout_s,
            image=self.image_key,
            attempt=attempt,
            config_path=task.config_path,
            setup=task.environment.setup,
            keep=self.keep,
            test_patterns=self.test_patterns,
            platform=self.platform,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """The cells in the order in which they are measured, and the tasks that are skipped, with their standing."""

    where: str
    experiment: ExperimentDocument
    resolution: Resolution
    cells: tuple[Cell, ...]
    grounds: Mapping[str, Ground] = field(repr=False)  # by task
    skipped: tuple[Listed, ...] = ()


def make_plan(
    project: Project,
    history: History,
    *,
    where: str,
    experiment: ExperimentDocument,
    resolution: Resolution,
    narrowing: Narrowing,
) -> Plan:
    """Everything a run comes to. ConfigError or UsageError for tasks and tags that there are none of, or for more cells
    than a run may have."""
    listed = stand(project, history, project.task_ids())
    selection = select(experiment, listed, where=where)
    fresh = tuple(_narrowed(selection.fresh, selection.skipped, narrowing))
    resolution.check_size(len(fresh), where)
    config = project.read_config()
    grounds = {item.id: _ground(project, history, experiment.cell_timeout_s, config, item) for item in fresh}
    cells = [
        Cell(cell_key(ground.inputs(one.configuration, attempt)), task_id, one.configuration, attempt)
        for task_id, ground in grounds.items()
        for one in resolution.chosen
        for attempt in range(1, one.attempts + 1)
    ]
    skipped = tuple(item for item in selection.skipped if _asked_for(item, narrowing))
    return Plan(where, experiment, resolution, shuffled(cells, experiment.seed), grounds, skipped)


def _narrowed(fresh: Sequence[Listed], skipped: Sequence[Listed], narrowing: Narrowing) -> Iterator[Listed]:
    ids = [item.id for item in (*fresh, *skipped)]
    for task_id in narrowing.tasks:
        if task_id not in ids:
            raise UsageError(
                f"--task: the experiment has no task {shown(task_id)}{hint(task_id, ids)}.",
                remedy=_WHERE_TASKS,
            )
    known = sorted({tag for item in (*fresh, *skipped) if item.files for tag in item.files.task.tags})
    for tag in narrowing.tags:
        if tag not in known:
            near = get_close_matches(tag, known, n=1)
            remedy = f"Did you mean {near[0]}?" if near else f"Tags there are: {', '.join(known) or 'none'}."
            raise UsageError(f"--tag: no task of the experiment has the tag {shown(tag)}.", remedy=remedy)
    return (item for item in fresh if _asked_for(item, narrowing))


def _asked_for(item: Listed, narrowing: Narrowing) -> bool:
    if narrowing.tasks and item.id not in narrowing.tasks:
        return False
    # A task whose documents can't be read may have any tag: it is told among the skipped.
    tags = set(item.files.task.tags) if item.files else set(narrowing.tags)
    return not narrowing.tags or bool(tags & set(narrowing.tags))


def fresh_grounds(project: Project, history: History) -> dict[str, Ground]:
    """Every task that is fresh, by its id."""
    listed = stand(project, history, project.task_ids())
    fresh = [item for item in listed if item.standing.state is TaskState.FRESH]
    config = project.read_config()
    return {item.id: _ground(project, history, None, config, item) for item in fresh}


def _ground(
    project: Project, history: History, timeout_s: int | None, config: Config, item: Listed
) -> Ground:
    assert item.files is not None  # a fresh task was read
    task = item.files.task
    dockerfile = project.read_dockerfile(task.environment.dockerfile)
    base = history.tree_of(task.source.base_commit)
    recipe = recipe_of(history, task, dockerfile, base, exact=False)
    return Ground(
        item.files,
        dockerfile,
        recipe.key,
        timeout_s or task.timeout_s,
        keep=config.candidates.keep,
        test_patterns=config.harvest.test_patterns,
    )


def shuffled(cells: Iterable[Cell], seed: int) -> tuple[Cell, ...]:
    """The cells in the seed's order. Where a cell stands does not hang on which others there are."""

    def place(cell: Cell) -> str:
        return digest("berbench.order", str(seed), cell.task, cell.configuration.label, str(cell.attempt))

    return tuple(sorted(cells, key=place))


def missing_auth(configurations: Iterable[Configuration], environ: Mapping[str, str]) -> tuple[str, ...]:
    """What tools need of the host and do not find, a sentence each. Never a value."""
    tools = {tool.name: tool for one in configurations for tool in agents_of(one)}
    return tuple(
        f"{tool.name} needs {name}, which is not there"
        for tool in tools.values()
        for name in found(tool.auth, environ).missing
    )
