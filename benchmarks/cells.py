"""`run`: what a cell costs beyond its agent's and its verifier's own time, and memory beside five times the cells.

`python -m benchmarks.cells ROOT DATA N` runs N cells of an agent that says a megabyte and leaves nothing, and prints
the most resident memory of that, in MB: the measured half of the second number.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import BERBENCH, Result
from benchmarks.peak import own_peak
from benchmarks.validate import proven_task
from berbench.cli.run_progress import run_progress
from berbench.cli.wiring import workplace
from berbench.engine.executor import LocalExecutor
from berbench.engine.fake import FakeEngine
from berbench.matrix import resolve
from berbench.model.cells import AgentFacts, Cell, ExperimentDocument, ToolBlock, Usage
from berbench.model.tools import ToolDocument
from berbench.stages.crew import forecast
from berbench.stages.measure import Makers, Say
from berbench.stages.plan import Ground, Narrowing, make_plan
from berbench.stages.run import Wishes
from berbench.stages.run import run as run_plan
from berbench.stages.validate import Bench
from berbench.stages.verifier import Verifier

SECOND = "schema: berbench.tool/1\ninvoke: [sh, -c, 'sleep 1; echo \"# more\" >> answer.py']\n"
EXPERIMENT = "schema: berbench.experiment/1\nattempts: 5\nconcurrency: 1\ntools: [{tool: second}]\n"
FEW, MANY = 60, 300
SAID = b"x" * (1 << 20)


def run(folder: Path) -> Iterator[Result]:
    """Overhead of the quickest of five cells, the images warm; and the ratio of peak memory."""
    root = folder / "cells"
    data = proven_task(root, 1)
    for kind, name, text in (("tools", "second", SECOND), ("experiments", "five", EXPERIMENT)):
        place = root / ".ber" / "bench" / kind / f"{name}.yaml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    measure.run([*BERBENCH, "run", "five"], root, data)
    overheads = [_overhead(json.loads(path.read_bytes())) for path in data.glob("*/cells/*/cell.json")]
    detail = f"of {len(overheads)} cells one after the other; the slowest {max(overheads):.2f} s"
    yield Result("a cell beyond agent and verifier, warm", min(overheads), 1.5, "s", detail)
    small, large = (_peak(root, folder / f"data-{count}", count) for count in (FEW, MANY))
    yield Result(
        f"peak memory of {MANY} cells / {FEW}", large / small, 1.1, "x", f"{large:.0f} MB / {small:.0f} MB"
    )


def _overhead(cell: dict[str, str]) -> float:
    began, ended = (datetime.fromisoformat(cell[name]) for name in ("started_at", "finished_at"))
    return (ended - began).total_seconds() - float(cell["seconds"]) - float(cell["verify_seconds"])


def _peak(root: Path, data: Path, count: int) -> float:
    command = [sys.executable, "-m", "benchmarks.cells", str(root), str(data), str(count)]
    return float(measure.run(command, measure.ROOT, data).split()[-1])


def _many(root: Path, data: Path, count: int) -> float:
    tool = ToolDocument(name="talker", invoke=("talker",))
    experiment = ExperimentDocument(name="many", tools=(ToolBlock(tool=("talker",)),), attempts=count)
    with workplace(root, {"BERBENCH_DATA_DIR": str(data)}) as place:
        plan = make_plan(
            place.project,
            place.history,
            where="many",
            experiment=experiment,
            resolution=resolve(experiment, {"talker": tool}),
            narrowing=Narrowing(),
        )
        engine = FakeEngine()
        verifier = Verifier(place.history, engine, LocalExecutor(engine, 2), place.data)
        bench = Bench(place.lint_doors(), place.data, verifier, lambda: datetime.now(UTC))
        makers = Makers(bench, place.cells, _talk, lambda configuration, facts: Usage())
        with run_progress(count, quiet=True) as shown:
            document = run_plan(
                place.cells,
                plan,
                forecast(place.cells, plan, fresh=False),
                Wishes(2),
                makers=lambda run_id: replace(makers, run=run_id),
                environ={},
                now=lambda: datetime.now(UTC),
                shown=shown,
            )
        engine.close()
    assert document["measured"] == count, document["measured"]
    return own_peak()


def _talk(cell: Cell, ground: Ground, say: Say) -> AgentFacts:
    return AgentFacts(0, 1.0, log=SAID, candidate=b"")


if __name__ == "__main__":
    print(_many(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
