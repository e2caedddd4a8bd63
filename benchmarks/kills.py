"""A run of two controls and two real agent CLIs on the scripted model, killed with -9 and run again, against one whole.

`PYTHONPATH=tests/clis python -m benchmarks.kills FOLDER [TASKS [ATTEMPTS]]`: no benchmark of time, and not part of
`make bench`, since the images with the CLIs are gigabytes and the whole takes many minutes. FOLDER is made, and kept
for a look.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from cli_bench import KEY, MODELS, built_in, pointed, scripted_model

from benchmarks.measure import BERBENCH, ROOT
from berbench.agents import Agents, tool_layer
from berbench.cli.run_progress import run_progress
from berbench.cli.wiring import workplace
from berbench.engine.docker_engine import DockerEngine
from berbench.engine.executor import LocalExecutor
from berbench.matrix import resolve
from berbench.matrix.invocation import agents_of
from berbench.model.cells import ExperimentDocument, ToolBlock
from berbench.model.trial import VerdictName
from berbench.sample import build, issue_text
from berbench.stages.agent import AgentWork, usage_of
from berbench.stages.crew import forecast
from berbench.stages.measure import Makers
from berbench.stages.plan import Narrowing, make_plan
from berbench.stages.run import Wishes, run
from berbench.stages.validate import Bench
from berbench.stages.verifier import Verifier
from berbench.store import machine
from berbench.telemetry import read_usage

CLIS = ("claude-code", "codex")
KILLS = 5
CELLS_AT_ONCE = 3
MOMENT_S = 20.0
TIMES = ("seconds", "verify_seconds")  # what no two runs have alike


def main(folder: Path, tasks: int, attempts: int) -> int:
    """0 when both runs are equal cell by cell, candidates included, and no container is left."""
    root = _proven_sample(folder, tasks)
    with scripted_model() as (network, _):
        began = time.monotonic()
        whole = _whole(root, folder / "whole", network, attempts)
        took = time.monotonic() - began
        skipped, planned = len(whole["skipped"]), whole["planned"]
        print(
            f"whole: {whole['measured']} of {planned} cells in {took:.0f} s, {skipped} tasks skipped",
            flush=True,
        )
        chance = random.Random(7)
        # Spread over the whole run: from cell to cell at random, and then at any moment of those at work.
        for number, cells in enumerate(sorted(chance.sample(range(len(whole["cells"]) - 1), KILLS)), 1):
            after = chance.random() * MOMENT_S
            ended = _killed(root, folder / "killed", network, attempts, cells, after)
            left = ", ".join(f"{many} {kind}s" for kind, many in Counter(kind for kind, _ in _left()).items())
            said = f"at {len(_patches(folder / 'killed'))} cells; it left {left or 'nothing'}"
            print(f"kill {number}{' came too late' * ended} {said}", flush=True)
        resumed = _whole(root, folder / "killed", network, attempts)
        print(f"resumed: {resumed['measured']} measured, {resumed['reused']} reused", flush=True)
    equal = _compared(whole) == _compared(resumed)
    same = _patches(folder / "whole") == _patches(folder / "killed")
    left = [name for _, name in _left()] + _half_written(folder / "killed")
    count, errors = len(whole["cells"]), whole["errors"] + resumed["errors"]
    print(
        f"cells equal: {equal}, {count} of {planned}; candidates equal: {same}; errors: {errors}; left: {left}"
    )
    return 0 if equal and same and not skipped and count == planned and not left and not errors else 1


def _proven_sample(folder: Path, count: int) -> Path:
    """The sample with so many of its tasks proven; one of them is refused only for a line that is not added here."""
    folder.mkdir(parents=True)
    sample = build(folder / "tally")
    _berbench(folder, "init")
    good = (VerdictName.VALIDATED, VerdictName.PROMPT_LEAKS)
    for pull in [pull for pull in sample.pull_requests if pull.expected_verdict in good][:count]:
        which = (str(pull.number),) if pull.number else ("--commit", pull.landing_commit)
        if pull.issue_file:
            issue = folder / pull.issue_file
            issue.write_text(issue_text(pull.issue_file), encoding="utf-8")
            which += ("--issue-file", str(issue))
        _berbench(folder, "task", "create", *which, "--no-api")
    _berbench(folder, "task", "validate", "--all", "--jobs", "2")
    return sample.root


def _berbench(folder: Path, *words: str) -> None:
    env = {**os.environ, "BERBENCH_DATA_DIR": str(folder / "proofs"), "PYTHONPATH": str(ROOT)}
    subprocess.run([*BERBENCH, "-C", str(folder / "tally"), *words], env=env, check=False, stdout=sys.stderr)


def _command(root: Path, data: Path, network: str, attempts: int) -> list[str]:
    return [sys.executable, "-m", "benchmarks.kills", "--run", str(root), str(data), network, str(attempts)]


def _whole(root: Path, data: Path, network: str, attempts: int) -> dict[str, Any]:
    done = subprocess.run(
        _command(root, data, network, attempts),
        cwd=ROOT,
        env=_environment(data),
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _killed(root: Path, data: Path, network: str, attempts: int, cells: int, after: float) -> bool:
    """A run that is killed when so many cells are kept and so many seconds more have passed; True when it had ended."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        _command(root, data, network, attempts), cwd=ROOT, env=_environment(data), stdout=quiet, stderr=quiet
    ) as child:
        while child.poll() is None and len(_patches(data)) < cells:
            time.sleep(0.2)
        try:
            child.wait(after)
        except subprocess.TimeoutExpired:
            child.kill()
            return False
        return True


def _compared(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in TIMES} for row in document["cells"]]


def _patches(data: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in data.glob("*/cells/*/candidate.patch")}


def _left() -> list[tuple[str, str]]:
    """Kind and name of the containers and networks whose process is gone."""
    engine = DockerEngine()
    try:
        found = engine.leftovers()
    finally:
        engine.close()
    return [(one.kind, one.name) for one in found if one.kind != "image" and not one.in_use]


def _half_written(data: Path) -> list[str]:
    """What a killed process was writing, agents' work that was not graded, and temporary folders."""
    found = (
        data.rglob(".new.*"),
        data.rglob(".old.*"),
        data.glob("*/work/*"),
        _scratch(data).glob("berbench-*"),
    )
    return [path.name for path in chain(*found)]


def _scratch(data: Path) -> Path:
    return data.with_name(data.name + "-tmp")


def _environment(data: Path) -> dict[str, str]:
    _scratch(data).mkdir(exist_ok=True)
    return {**os.environ, "TMPDIR": str(_scratch(data))}


def _run(root: Path, data: Path, network: str, attempts: int) -> None:
    """The run itself, in a process of its own: `berbench run` with the model's network outside the proxy."""
    tools = {name: pointed(built_in(name), "edit") for name in CLIS}
    tools |= {name: built_in(name) for name in ("oracle", "nop")}
    blocks = [ToolBlock(tool=(name,), model=(MODELS[name],), options=(("scripted",),)) for name in CLIS]
    controls = ToolBlock(tool=("oracle", "nop"))
    experiment = ExperimentDocument(name="kills", tools=(controls, *blocks), attempts=attempts)
    environ = {"ANTHROPIC_API_KEY": KEY, "CODEX_API_KEY": KEY}
    with workplace(root, {"BERBENCH_DATA_DIR": str(data)}) as place:
        resolution = resolve(experiment, tools)
        plan = make_plan(
            place.project,
            place.history,
            where="kills",
            experiment=experiment,
            resolution=resolution,
            narrowing=Narrowing(),
        )
        for orphan in machine.orphans():
            machine.remove(orphan)
        engine = DockerEngine(outside=network)
        engine.sweep()
        verifier = Verifier(place.history, engine, LocalExecutor(engine, 3 * CELLS_AT_ONCE), place.data)
        bench = Bench(place.lint_doors(), place.data, verifier, lambda: datetime.now(UTC))
        agents = Agents(place.history, engine)
        layer = tool_layer(tool for one in resolution.configurations for tool in agents_of(one))

        def makers(run_id: str) -> Makers:
            work = AgentWork(bench, agents, read_usage, layer, environ, run_id)
            return Makers(bench, place.cells, work, partial(usage_of, read_usage), run_id)

        coming = forecast(place.cells, plan, fresh=False)
        with run_progress(len(coming.due), quiet=True) as shown:
            document = run(
                place.cells,
                plan,
                coming,
                Wishes(CELLS_AT_ONCE),
                makers=makers,
                environ=environ,
                now=bench.now,
                shown=shown,
            )
        engine.close()
    print(json.dumps(document))


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        _run(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
    else:
        numbers = [int(text) for text in sys.argv[2:]]
        sys.exit(main(Path(sys.argv[1]).absolute(), *numbers, *(8, 2)[len(numbers) :]))
