"""An agent at work on a cell, as a real program: what it is told and given, and what comes of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest
from runplace import RunPlace, left, run_place

from berbench.agents import Agents, tool_layer
from berbench.errors import EngineError
from berbench.matrix import resolve
from berbench.model.agent import AgentTrial
from berbench.model.cells import AgentFacts, ExperimentDocument, ToolBlock
from berbench.model.changes import Repository
from berbench.model.task import LimitsDocument
from berbench.model.tools import Auth, Install, Option, Reach, StagedFile, Step, Telemetry, ToolDocument
from berbench.stages.agent import AgentWork, usage_of
from berbench.stages.imagetree import ImageTree
from berbench.stages.plan import Narrowing, Plan, make_plan
from berbench.stages.verifier import Verifier
from berbench.store import cellfiles
from berbench.store.cells import Cells, StoredCell
from berbench.store.taskfolder import config_text
from berbench.telemetry import read_usage

SAID = '{"input_tokens": 100, "output_tokens": 10, "turns": 2, "final_message": "change words"}'
USAGE = Path(gettempdir()) / f"agent-usage-{os.getpid()}.json"  # the fake's agents write where they say
TELLS = Telemetry(format="usage-json", file=str(USAGE))


def _tool(script: str, name: str = "mine", **more: Any) -> ToolDocument:
    plain = ToolDocument(name=name, invoke=("sh", "-c", script, "mine", "{args}"), model_args=("{model}",))
    return plain.model_copy(update=more)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunPlace]:
    with run_place(tmp_path_factory.mktemp("agent")) as place:
        yield place
    USAGE.unlink(missing_ok=True)


class Workbench:
    """Runs one tool on one task of the sample, for real."""

    def __init__(self, place: RunPlace, folder: Path) -> None:
        self.place, self.environ = place, {"KEY": "sesame-opens-all", "OTHER": "not asked for"}
        place.environ = self.environ
        place.cells = Cells(folder / "cells", locks=folder / "locks")

    def plan(self, tools: dict[str, ToolDocument], block: ToolBlock) -> Plan:
        place = self.place.place
        experiment = ExperimentDocument(name="x", tools=(block,), cell_timeout_s=30)
        return make_plan(
            place.project,
            place.history,
            where="x",
            experiment=experiment,
            resolution=resolve(experiment, tools),
            narrowing=Narrowing(tasks=("8",)),
        )

    def run(self, *tools: ToolDocument, **block: Any) -> StoredCell:
        """The cell of the last of the tools."""
        place = self.place
        plan = self.plan({tool.name: tool for tool in tools}, ToolBlock(tool=(tools[-1].name,), **block))
        makers = place.makers()
        agents = Agents(place.place.history, place.place.engine)
        work = AgentWork(makers.bench, agents, read_usage, tool_layer(tools[:-1]), self.environ)
        place.work, place.read = work, partial(usage_of, read_usage)  # type: ignore[assignment]
        row = place.run(plan)["cells"][0]
        if row["outcome"] == "error":
            stored = place.cells.last_error(row["key"])
            assert stored is not None
            return stored
        return place.cells.open(row["key"])


@pytest.fixture
def bench(shared: RunPlace, tmp_path: Path) -> Workbench:
    return Workbench(shared, tmp_path)


def test_it_is_told_the_prompt_and_what_it_leaves_is_graded(bench: Workbench) -> None:
    patch = bench.place.place.project.read_task("8").reference_patch.decode()
    stored = bench.run(_tool(f"cat {{prompt_file}}; git apply <<'END'\n{patch}END\n"))
    result = stored.record.result
    assert (result.outcome, result.verdict, result.usage.cost_usd) == ("pass", "pass", None), result
    prompt = stored.read(cellfiles.PROMPT)
    assert prompt.strip() in stored.read(cellfiles.TRANSCRIPT)
    assert result.seconds > 0
    assert b"tally/words.py" in stored.read(cellfiles.CANDIDATE)


def test_it_sees_neither_berbench_nor_the_hidden_tests(bench: Workbench) -> None:
    stored = bench.run(_tool("ls -A; git log --oneline --all; git status --short; cat tests/test_words.py"))
    told = stored.read(cellfiles.TRANSCRIPT)
    assert b".ber" not in told.split(b"\n")
    assert b"test_ignored_words" not in told
    assert stored.record.result.outcome == "fail"
    assert stored.record.result.reasons == ("the patch changes nothing: there is nothing to grade",)


@pytest.mark.parametrize("keep", ["", "__pycache__/made/", "__pycache__"])
def test_P28_what_the_tree_ignores_is_its_work_where_the_settings_say_so(bench: Workbench, keep: str) -> None:
    project = bench.place.place.project
    path = project.config_path
    before = path.read_bytes()
    if keep:
        settings = project.read_config()
        candidates = settings.candidates.model_copy(update={"keep": (keep,)})
        path.write_bytes(config_text(settings.model_copy(update={"candidates": candidates})))
    try:
        stored = bench.run(
            _tool("mkdir -p __pycache__/made; echo made > __pycache__/made/one; echo x > other.txt")
        )
    finally:
        path.write_bytes(before)
    assert b"other.txt" in stored.read(cellfiles.CANDIDATE)
    assert (b"__pycache__/made/one" in stored.read(cellfiles.CANDIDATE)) == bool(keep)
    assert ("__pycache__/made/one" in str(stored.read(cellfiles.AGENT))) == (not keep)


def test_usage_costs_and_choices_are_recorded(bench: Workbench) -> None:
    tool = _tool(
        f"echo '{SAID}' > {TELLS.file}; echo model is $1", telemetry=TELLS, prices={"big": (5000.0, 10000.0)}
    )
    result = bench.run(tool, model=("big",)).record.result
    assert (result.label, result.model) == ("mine/big", "big")
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.turns) == (100, 10, 2)
    assert result.usage.cost_usd == pytest.approx(0.6)


def test_secrets_are_given_and_told_nowhere(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hush", encoding="utf-8")
    auth = Auth(
        env=("KEY", "MISSING?"), files=(StagedFile(source=str(tmp_path / "token"), target="{home}/token"),)
    )
    stored = bench.run(
        _tool('test "$KEY" = "sesame-"opens-all && echo "got $KEY"; echo "<$OTHER>"', auth=auth)
    )
    told = stored.read(cellfiles.TRANSCRIPT)
    assert b"got " in told and b"<>" in told
    for name in stored.names():
        assert b"sesame-opens-all" not in stored.read(name), name


def test_planted_configuration_is_not_its_work(bench: Workbench) -> None:
    tool = _tool(
        "cat CLAUDE.md; echo more >> README.md", options={"care": Option(files={"{config_path}": "Care.\n"})}
    )
    stored = bench.run(tool, options=(("care",),))
    assert b"Care." in stored.read(cellfiles.TRANSCRIPT)
    candidate = stored.read(cellfiles.CANDIDATE)
    assert b"README.md" in candidate and b"CLAUDE.md" not in candidate


def test_a_workflow_hands_over_what_was_said_last(bench: Workbench) -> None:
    plans = _tool(f"echo '{SAID}' > {TELLS.file}", "plans", telemetry=TELLS)
    builds = _tool(f"cat {{prompt_file}}; echo '{SAID}' > {TELLS.file}", "builds", telemetry=TELLS)
    steps = (
        Step(name="plan", tool="plans"),
        Step(name="build", tool="builds", prompt="Do: {handover} in {workdir}"),
    )
    flow = ToolDocument(name="flow", type="workflow", steps=steps)
    stored = bench.run(plans, builds, flow)
    assert b"Do: change words in " in stored.read(cellfiles.TRANSCRIPT)
    assert stored.record.result.usage.input_tokens == 200
    facts = cellfiles.agent_from(stored.read)
    assert facts is not None and [step.name for step in facts.steps] == ["plan", "build"]


def test_a_tool_that_is_not_there_is_no_measurement(bench: Workbench) -> None:
    stored = bench.run(ToolDocument(name="gone", invoke=("no-such-program-at-all",)))
    assert stored.record.result.outcome == "error"
    assert "could not be run (exit code 127)" in stored.record.result.error


def test_tools_that_can_not_be_installed_fail_once_for_all_cells(bench: Workbench) -> None:
    broken = _tool("true", "broken", install=Install(run=("no-such-installer",)))
    work = AgentWork(
        bench.place.makers().bench,
        Agents(bench.place.place.history, bench.place.place.engine),
        read_usage,
        tool_layer([broken]),
        {},
    )
    tried = []

    def fails(self: Agents, *args: Any) -> Any:
        tried.append(args)
        raise EngineError("The tools could not be put into the image.")

    plan = bench.plan({"broken": broken}, ToolBlock(tool=("broken",), attempts=3))
    bench.place.work = work  # type: ignore[assignment]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Agents, "with_tools", fails)
        document = bench.place.run(plan, concurrency=1)
    assert (document["errors"], len(tried)) == (3, 1)


def test_a_container_is_given_what_the_task_and_its_own_tools_say(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not another tool's hosts or keys, nothing that is hidden, the task's limits, and never the repository's forge."""
    place = bench.place.place
    tools = {
        name: _tool(
            "true", name, network=Reach(hosts=(f"{name}.test",)), auth=Auth(env=(f"{name.upper()}_KEY?",))
        )
        for name in ("mine", "yours")
    }
    plan = bench.plan(tools, ToolBlock(tool=("mine", "yours")))
    ground = plan.grounds["8"]
    limits = LimitsDocument(memory="123m", cpus=1.5, pids=77)
    task = ground.files.task
    environment = task.environment.model_copy(update={"setup": ("make",)})
    task = task.model_copy(
        update={"hide": ("README.md", "tests"), "limits": limits, "environment": environment}
    )
    ground = replace(ground, files=replace(ground.files, task=task))
    changed = ImageTree(9, missing=("LICENSE",), changed=("tally/words.py",), modes=("setup.py",))
    monkeypatch.setattr(Verifier, "held_by", lambda self, image: changed)
    given: list[AgentTrial] = []

    def keep(self: Agents, trial: AgentTrial, hand_over: object) -> AgentFacts:
        given.append(trial)
        return left(b"")

    monkeypatch.setattr(Agents, "run", keep)
    makers = bench.place.makers()
    lint = replace(makers.bench.lint, repository=Repository(host="code.example.test"))
    environ = {"MINE_KEY": "one-secret-key", "YOURS_KEY": "another-secret"}
    work = AgentWork(
        replace(makers.bench, lint=lint),
        Agents(place.history, place.engine),
        read_usage,
        tool_layer(()),
        environ,
        "run-7",
    )
    [cell] = [one for one in plan.cells if one.configuration.tool.name == "mine"]
    work(cell, ground, lambda line: None)
    [trial] = given
    assert trial.hosts == ("mine.test",)
    assert trial.secrets == (("MINE_KEY", "one-secret-key"),)
    assert trial.forges == ("code.example.test",)
    assert trial.limits == limits.limits() and trial.timeout_s == 30
    assert {"LICENSE", "tally/words.py", "setup.py"} <= set(trial.altered or ())
    assert (trial.setup, trial.setup_s) == (("make",), task.verify.timeout_s)
    assert (trial.task, trial.run) == ("8", "run-7")
    base = {entry.path for entry in place.history.list_tree(task.source.base_commit)}
    seen = {entry.path for entry in place.history.list_tree(trial.tree)}
    gone = base - seen
    assert "README.md" in gone and any(path.startswith("tests/") for path in gone)
    assert all(path == "README.md" or path.startswith(("tests/", ".ber/")) for path in gone)
