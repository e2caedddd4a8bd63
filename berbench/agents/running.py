"""A trial of an agent: its workspace, its steps, and what it left, as facts."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from berbench.agents.candidate import Candidate, Sides, as_set_up, collect
from berbench.agents.layer import layer_recipe
from berbench.agents.secrets import check_secret_files, secret_words
from berbench.agents.setup import set_up
from berbench.engine.capture import Capture
from berbench.engine.door import Engine, Say
from berbench.engine.workspace import STDOUT, Ran, Workspace, WorkspaceSpec
from berbench.errors import EngineError
from berbench.history.door import History
from berbench.masking import Masked, holds, mask, mask_added
from berbench.matrix.invocation import Places
from berbench.matrix.reach import destinations
from berbench.model.agent import PROMPT_FILE, AgentStep, AgentTrial, ToolLayer
from berbench.model.cells import AgentFacts, Refused, StepFacts
from berbench.model.changes import ABSENT, REGULAR, Change, Delta, FileEntry, TreeEntry
from berbench.model.trial import Image

BUILD_S = 1800.0  # for a layer of tools
LINE_S = 300.0  # for each pre and post line
MASKED = "a secret that it was given was in the candidate's lines, and is masked there"
HELD = "a secret that it was given is in the candidate, where it can't be masked: look before you hand it on"
TELEMETRY_BYTES = 16 << 20  # its end is kept

HandOver = Callable[[AgentStep, StepFacts], AgentStep]


@dataclass(frozen=True, slots=True)
class Agents:
    """Runs agents of one repository's tasks on one engine. Safe to use from several threads."""

    history: History
    engine: Engine

    def places(self, image: Image, config_path: str) -> Places:
        """Where things will be in a workspace on this image: what invocations are written with."""
        return Places(PROMPT_FILE, image.workdir, self.engine.home(image), config_path)

    def with_tools(self, image: Image, layer: ToolLayer, say: Say) -> Image:
        """The task's image with the tools in it: the one that is there, or a new one. EngineError, with what the
        build said last, when they can't be put in: there is nothing to measure then."""
        if not layer.run and not layer.env and not layer.check:
            return image
        recipe = layer_recipe(image, layer)
        build = self.engine.build(recipe, lambda: (), timeout_s=BUILD_S, say=say)
        if build.image is None:
            took = " within its time" if build.timed_out else ""
            raise EngineError(
                f"The tools could not be put into the image{took}: {build.failed_step}.",
                remedy="see the lines below; `install` of the tool's document says what is run",
                details=build.log.splitlines()[-15:],
            )
        return build.image

    def run(self, trial: AgentTrial, hand_over: HandOver | None = None) -> AgentFacts:
        """One agent at work. `hand_over` is given each later step and what the one before it left, and returns the
        step as it is to be run: so a prompt can hold what was said last.

        EngineError when the engine fails or its isolation does not hold; what the agent itself does is in the facts.
        """
        spec = self._spec(trial)
        with self.engine.workspace(spec) as workspace:
            failed = set_up(workspace, trial.setup, trial.setup_s)
            sides = self._sides(trial, spec.delta)
            start = as_set_up(self.history, workspace, sides) if trial.setup else None
            steps = _Steps(trial, workspace, hand_over).run()
            candidate = collect(self.history, workspace, sides, start)
        return _facts(trial, workspace, steps, candidate, failed)

    def _spec(self, trial: AgentTrial) -> WorkspaceSpec:
        check_secret_files(trial.secret_files)
        planted = {entry.path: entry for entry in trial.planted}
        seen = self._with(trial.tree, planted)
        delta = self.history.delta(trial.image.tree, trial.tree)
        writes = {entry.path: entry for entry in delta.writes} | planted
        repository = self.history.one_commit(seen)
        first = trial.steps[0].prompt if trial.steps else b""
        return WorkspaceSpec(
            task=trial.task,
            run=trial.run,
            image=trial.image,
            delta=Delta(
                writes=(*writes.values(), *repository),
                deletes=(*(path for path in delta.deletes if path not in planted), ".git"),
            ),
            files=(_prompt(first),),
            secrets=trial.secrets,
            secret_files=trial.secret_files,
            destinations=destinations(trial.hosts, trial.forges),
            limits=trial.limits,
        )

    def _with(self, tree: str, planted: Mapping[str, FileEntry]) -> str:
        """The tree with planted files, so that an agent's own git shows them as nobody's change."""
        if not planted:
            return tree
        changes = [put(self.history, entry) for entry in planted.values()]
        return self.history.make_tree(tree, changes)

    def _sides(self, trial: AgentTrial, delta: Delta) -> Sides:
        laid_out = {entry.path for entry in delta.writes}

        def original(paths: frozenset[str]) -> Mapping[str, TreeEntry]:
            asked = paths - laid_out
            if trial.altered is not None:
                known = {entry.path for entry in self.history.list_tree(trial.tree)}
                asked = frozenset(path for path in asked if path in trial.altered or path not in known)
            if not asked:
                return {}
            return {entry.path: entry for entry in self.engine.work_tree(trial.image, asked)}

        return Sides(trial.tree, frozenset(entry.path for entry in trial.planted), trial.keep, original)


@dataclass(slots=True)
class _Steps:
    """The steps of a trial, one after the other, until one can't be or the time is over."""

    trial: AgentTrial
    workspace: Workspace
    hand_over: HandOver | None
    done: list[StepFacts] = field(default_factory=list)

    def run(self) -> tuple[StepFacts, ...]:
        deadline = time.monotonic() + self.trial.timeout_s
        for number, planned in enumerate(self.trial.steps):
            step = planned
            if time.monotonic() >= deadline:
                self.done.append(StepFacts(step.name, None, 0.0, timed_out=True))
                break
            if number:
                if self.hand_over is not None:
                    step = self.hand_over(planned, self.done[-1])
                self.workspace.put([_prompt(step.prompt)])
            self.done.append(self._one(step, deadline))
            if self.done[-1].timed_out or self.done[-1].setup_failed or self.done[-1].exit_code is None:
                break
        return tuple(self.done)

    def _one(self, step: AgentStep, deadline: float) -> StepFacts:
        secrets = secret_words(self.trial.secrets, self.trial.secret_files)
        log = Capture()
        told = Capture(head=1 << 20, tail=TELEMETRY_BYTES)
        both, alone = Masked(log.feed, secrets), Masked(told.feed, secrets)

        def sink(stream: int, piece: bytes) -> None:
            both.feed(piece)
            if stream == STDOUT:
                alone.feed(piece)

        def line(text: str) -> Ran:
            limit = min(LINE_S, max(0.1, deadline - time.monotonic()))
            argv = ("/bin/sh", "-c", text)
            return self.workspace.run(argv, lambda _, piece: both.feed(piece), env=step.env, timeout_s=limit)

        def facts(ran: Ran, failed: str = "") -> StepFacts:
            both.close()
            alone.close()
            telemetry = self._read(step.telemetry, secrets) if step.telemetry else told.value()
            return StepFacts(
                name=step.name,
                exit_code=ran.code,
                seconds=ran.seconds,
                timed_out=ran.timed_out,
                log=log.value(),
                log_truncated=log.truncated,
                telemetry=telemetry,
                setup_failed=failed,
            )

        before = (f"rm -rf -- {shlex.quote(step.telemetry)}",) if step.telemetry else ()
        for text in (*before, *step.pre):
            ran = line(text)
            if ran.code != 0:
                return facts(replace(ran, timed_out=False), failed=text)
        limit = max(0.1, deadline - time.monotonic())
        ran = self.workspace.run(step.argv, sink, stdin=PROMPT_FILE, env=step.env, timeout_s=limit)
        if not ran.timed_out and ran.code is not None:
            for text in step.post:
                line(text)
        return facts(ran)

    def _read(self, path: str, secrets: Sequence[str]) -> bytes:
        kept = Capture(head=0, tail=TELEMETRY_BYTES)
        masked = Masked(kept.feed, secrets)
        masked.feed(self.workspace.read(path, TELEMETRY_BYTES) or b"")
        masked.close()
        return kept.value()


def put(history: History, entry: FileEntry) -> Change:
    """A planted file as a change of a tree."""
    id_ = history.write_blob(entry.data)
    return Change(entry.path, ABSENT, entry.mode, "0" * len(id_), id_)


def _masked(data: bytes, words: Sequence[str]) -> bytes:
    kept = Capture()
    masked = Masked(kept.feed, words)
    masked.feed(data)
    masked.close()
    return kept.value()


def _prompt(text: bytes) -> FileEntry:
    return FileEntry(PROMPT_FILE.lstrip("/"), REGULAR, text)


def _facts(
    trial: AgentTrial,
    workspace: Workspace,
    steps: tuple[StepFacts, ...],
    candidate: Candidate,
    failed: tuple[str, ...],
) -> AgentFacts:
    last = steps[-1] if steps else StepFacts("", 0, 0.0)
    words = secret_words(trial.secrets, trial.secret_files)
    patch = mask_added(candidate.patch, words)
    told = (HELD,) if holds(patch, words) else (MASKED,) if patch != candidate.patch else ()
    return AgentFacts(
        exit_code=last.exit_code,
        seconds=sum(step.seconds for step in steps),
        timed_out=last.timed_out,
        out_of_memory=workspace.out_of_memory,
        log=b"".join(step.log for step in steps),
        log_truncated=any(step.log_truncated for step in steps),
        telemetry=last.telemetry,
        candidate=patch,
        left_out=tuple(mask(path, words) for path, _ in candidate.left_out),
        refused=tuple(
            Refused(mask(one.host, words), one.port, one.at, one.reason) for one in workspace.refused
        ),
        image=trial.image.id,
        engine=workspace.engine,
        setup_failed=last.setup_failed,
        warnings=(*failed, *told, *workspace.warnings),
        steps=steps,
        egress=_masked(workspace.egress, words),
    )
