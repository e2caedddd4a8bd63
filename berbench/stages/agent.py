"""From a cell to an agent at work: its image, the tree it sees, what it is run with, what it is given and may reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from berbench.agents import Agents, visible_tree
from berbench.errors import EngineError
from berbench.experiments.secrets import secret_files, variables
from berbench.matrix.invocation import Places, PlannedStep, agents_of, invocation, planned_steps, step_prompt
from berbench.matrix.spending import priced, together
from berbench.model.agent import AgentStep, AgentTrial, ToolLayer
from berbench.model.cells import AgentFacts, Cell, Configuration, StepFacts, Usage
from berbench.model.changes import REGULAR, FileEntry
from berbench.model.tools import TelemetryFormat
from berbench.model.trial import Image
from berbench.stages.grading import Grader
from berbench.stages.plan import Ground
from berbench.stages.trees import trees_of
from berbench.stages.validate import Bench

Say = Callable[[str], None]
ReadTelemetry = Callable[[TelemetryFormat, bytes], Usage]


def usage_of(read: ReadTelemetry, configuration: Configuration, facts: AgentFacts) -> Usage:
    """What all steps of a cell used, as far as their output tells."""
    planned = planned_steps(configuration)
    ran = facts.steps or (StepFacts("", facts.exit_code, facts.seconds, telemetry=facts.telemetry),)
    return together([_usage(read, step, one) for step, one in zip(planned, ran, strict=False)])


def _usage(read: ReadTelemetry, step: PlannedStep, facts: StepFacts) -> Usage:
    told = read(step.configuration.tool.telemetry.format, facts.telemetry)
    return priced(told, step.configuration)


@dataclass(frozen=True, slots=True)
class AgentWork:
    """Sets agents to work on tasks: the `Work` that cells are measured with."""

    bench: Bench
    agents: Agents
    read: ReadTelemetry
    layer: ToolLayer  # of all tools of the experiment
    environ: Mapping[str, str] = field(repr=False)
    run: str = ""
    _failed: dict[str, EngineError] = field(
        default_factory=dict
    )  # by the image's key: layers that can't be built

    def __call__(self, cell: Cell, ground: Ground, say: Say) -> AgentFacts:
        """What the agent's container recorded. EngineError when the engine or its isolation fails."""
        task, history = ground.files.task, self.bench.lint.history
        trees = trees_of(history, ground.files)
        image = Grader(self.bench.verifier, ground.files, ground.dockerfile, trees).image(say)
        held = self.bench.verifier.held_by(image)
        image = self._with_tools(image, say)
        places = self.agents.places(image, task.config_path)
        script = _Script(cell.configuration, places, ground.files.prompt, self.read)
        tools = agents_of(cell.configuration)
        trial = AgentTrial(
            task=task.id,
            image=image,
            tree=visible_tree(history, trees.base, task.hide),
            steps=script.steps(),
            timeout_s=ground.timeout_s,
            run=self.run,
            planted=script.planted(),
            secrets=tuple(pair for tool in tools for pair in variables(tool.auth, self.environ)),
            secret_files=tuple(
                file for tool in tools for file in secret_files(tool.auth, script.places.home)
            ),
            hosts=tuple(dict.fromkeys(host for tool in tools for host in tool.network.hosts)),
            forges=tuple(filter(None, (self.bench.lint.repository.host,))),
            limits=task.limits.limits(),
            keep=ground.keep,
            setup=task.environment.setup,
            setup_s=task.verify.timeout_s,
            altered=(*held.missing, *held.changed, *held.modes),
        )
        say(f"{cell.configuration.label} at work")
        return self.agents.run(trial, script.hand_over)

    def _with_tools(self, image: Image, say: Say) -> Image:
        """The image with the tools. A layer that failed once is not tried again for each cell of a run."""
        if image.key in self._failed:
            raise self._failed[image.key]
        try:
            return self.agents.with_tools(image, self.layer, say)
        except EngineError as error:
            self._failed[image.key] = error
            raise


@dataclass(frozen=True, slots=True)
class _Script:
    """The steps of one cell as they are run."""

    configuration: Configuration
    places: Places
    prompt: bytes
    read: ReadTelemetry

    def steps(self) -> tuple[AgentStep, ...]:
        """All of them; where a prompt takes what the step before said, it is still empty."""
        return tuple(self._step(planned, "") for planned in planned_steps(self.configuration))

    def hand_over(self, step: AgentStep, before: StepFacts) -> AgentStep:
        """A step with what the one before it said last."""
        planned = {one.name: one for one in planned_steps(self.configuration)}
        said = _usage(self.read, planned[before.name], before).final_message
        return self._step(planned[step.name], said)

    def planted(self) -> tuple[FileEntry, ...]:
        """Files of configuration that the chosen options bring."""
        files: dict[str, str] = {}
        for planned in planned_steps(self.configuration):
            files |= dict(invocation(planned.configuration, self.places, "").files)
        return tuple(FileEntry(path, REGULAR, text.encode()) for path, text in sorted(files.items()))

    def _step(self, planned: PlannedStep, handover: str) -> AgentStep:
        told = self.prompt.decode("utf-8", "surrogateescape")
        text = step_prompt(planned.prompt, prompt=told, workdir=self.places.workdir, handover=handover)
        run = invocation(planned.configuration, self.places, text)
        return AgentStep(
            argv=run.argv,
            prompt=text.encode("utf-8", "surrogateescape"),
            env=run.env,
            pre=run.pre,
            post=run.post,
            telemetry=run.telemetry.file,
            name=planned.name,
        )
