"""The one verifier: an image, a tree and a command become facts and evidence.

`validate` proves tasks with it; whatever grades a candidate later uses the same, so what proves a task is what
grades an agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from berbench.engine.door import Engine, Say
from berbench.engine.executor import Executor
from berbench.environments import matching_inputs, recipe
from berbench.errors import ConfigError
from berbench.evidence import read_evidence
from berbench.history.door import History
from berbench.model.changes import Delta, FileEntry
from berbench.model.grading import Planting
from berbench.model.task import Task
from berbench.model.trial import Build, Image, ImageRecipe, Instrumentation, Trial
from berbench.runners import instrument
from berbench.stages.imagetree import ImageTree, read_image_tree
from berbench.store import DataDir, Project
from berbench.verdicts import Trialed

# Harvested tasks and settings live here; no image and no trial may ever see them.
OWN_FOLDER = ".ber/"

BUILD_TIMEOUT_S = 1800.0


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a task's verify command: on this tree, with canaries, in another order, at another date."""

    tree: str
    planting: Planting | None = None
    shuffle: int | None = None  # seed of the order of the tests
    clock: str = ""  # offset of the clock, as faketime takes it: "+400d"


@dataclass(frozen=True, slots=True)
class Verifier:
    """Builds images of base trees and runs trials on them."""

    history: History
    engine: Engine
    executor: Executor
    data: DataDir

    def build(self, task: Task, dockerfile: bytes, base_tree: str, *, exact: bool, say: Say) -> Build:
        """The task's image. `exact` asks for one built from this very base tree, never a shared one."""
        wanted = recipe_of(self.history, task, dockerfile, base_tree, exact=exact)

        def context() -> Iterable[FileEntry]:
            return self.history.files(base_tree, exclude=(OWN_FOLDER,))

        build = self.engine.build(wanted, context, timeout_s=BUILD_TIMEOUT_S, say=say)
        if exact or build.image is None or self.history.trees_of([build.image.tree]):
            return build
        # Another clone, or another repository with the same manifests, built it: nothing can be said of its tree.
        return self.build(task, dockerfile, base_tree, exact=True, say=say)

    def held_by(self, image: Image) -> ImageTree:
        """How the image's work tree differs from the tree it was built from."""
        return read_image_tree(self.engine, self.history, self.data, image)

    def run(
        self,
        task: Task,
        image: Image,
        runs: Mapping[str, Run],
        later: Callable[[], Iterable[tuple[str, Run]]] = tuple,
    ) -> dict[str, Trialed]:
        """Named trials, side by side; `later` prepares more of them while the first are under way. EngineError when
        the engine fails in any of them."""
        instrumented: dict[str, Instrumentation] = {}

        def ready(some: Iterable[tuple[str, Run]]) -> Iterator[Trial]:
            for name, run in some:
                instrumented[name] = self._instrument(task, run)
                yield self._trial(task, image, name, run, instrumented[name])

        def trials() -> Iterator[Trial]:
            yield from ready(runs.items())
            yield from ready(later())  # asked for once the first have begun

        return {
            facts.trial: Trialed(facts, read_evidence(instrumented[facts.trial], facts))
            for facts in self.executor.run(trials())
        }

    def _trial(self, task: Task, image: Image, name: str, run: Run, instrumented: Instrumentation) -> Trial:
        return Trial(
            name=name,
            task=task.id,
            image=image,
            delta=self._delta(image.tree, run),
            command=instrumented.command,
            timeout_s=task.verify.timeout_s,
            setup=task.environment.setup,
            env=instrumented.env,
            kit=instrumented.kit,
            collect=instrumented.collect,
            network=task.verify.network,
            limits=task.limits.limits(),
        )

    def _instrument(self, task: Task, run: Run) -> Instrumentation:
        command = run.planting.command if run.planting else task.verify.command
        return instrument(command, task.verify.evidence, shuffle=run.shuffle, clock=run.clock)

    def _delta(self, old: str, run: Run) -> Delta:
        delta = self.history.delta(old, run.tree)
        planted = {entry.path: entry for entry in run.planting.writes} if run.planting else {}
        writes = {entry.path: entry for entry in delta.writes if not entry.path.startswith(OWN_FOLDER)}
        return Delta(
            writes=tuple((writes | planted).values()),
            deletes=tuple(
                path for path in delta.deletes if not path.startswith(OWN_FOLDER) and path not in planted
            ),
        )


def recipe_of(history: History, task: Task, dockerfile: bytes, base_tree: str, *, exact: bool) -> ImageRecipe:
    """The recipe of a task's image. ConfigError when `environment.inputs` match nothing."""
    patterns = () if exact else task.environment.inputs
    blobs = matching_inputs(patterns, history.list_tree(base_tree)) if patterns else {}
    if patterns and not blobs:
        raise ConfigError(
            "environment.inputs match no file of the base tree.",
            remedy="correct the globs, or leave the list empty: then the whole base tree decides the image",
        )
    return recipe(task, dockerfile, base_tree, blobs)


def image_keys(history: History, project: Project, ids: Iterable[str]) -> frozenset[str]:
    """Keys of all images that the tasks may be validated on."""
    keys: set[str] = set()
    for task_id in ids:
        task = project.read_task(task_id).task
        dockerfile = project.read_dockerfile(task.environment.dockerfile)
        base_tree = history.tree_of(task.source.base_commit)
        keys |= {recipe_of(history, task, dockerfile, base_tree, exact=exact).key for exact in (False, True)}
    return frozenset(keys)
