"""A hunk audit with a warm image against one trial of the same task: k hunks, two trials at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import BERBENCH, Result
from berbench.cli.wiring import Workplace, workplace
from berbench.history.seed import create_repository
from berbench.sample.stream import Stream
from berbench.stages.grading import Grader
from berbench.stages.trees import trees_of

HUNKS, JOBS, SECONDS = 8, 2, 4
DOCKERFILE = "FROM berbench/base\nWORKDIR /src\nCOPY . .\n"


def run(folder: Path) -> Iterator[Result]:
    """Wall time of the audit over that of (k / jobs + 1) trials."""
    root, data = folder / "audit", folder / "audit-data"
    _repository(root)
    issue = folder / "audit-issue.md"
    issue.write_text("# Wrong answers\n\nAll answers should be 42.\n", encoding="utf-8")
    measure.run([*BERBENCH, "init"], root, data)
    measure.run([*BERBENCH, "task", "create", "2", "--no-api", "--issue-file", str(issue)], root, data)
    measure.run([*BERBENCH, "task", "validate", "2"], root, data)
    audit = [*BERBENCH, "task", "audit", "2", "--jobs", str(JOBS), "--json"]
    [found] = json.loads(measure.run(audit, root, data))["tasks"]
    assert found["trials"] == HUNKS + 1, found
    with workplace(root, {**os.environ, "BERBENCH_DATA_DIR": str(data)}) as place:
        trial = _one_trial(place)
        ours, one = measure.best(lambda: measure.run(audit, root, data), trial, rounds=2)
    allowed = (HUNKS / JOBS + 1) * one
    times = f"{ours:.2f} s / {allowed:.2f} s, one trial {one:.2f} s"
    name = f"task audit, {HUNKS} hunks, {JOBS} jobs / ({HUNKS} / {JOBS} + 1) trials"
    yield Result(name, ours / allowed, 1.2, "x", times)


def _one_trial(place: Workplace) -> Callable[[], object]:
    """What one trial of the reference takes in the verifier, alone."""
    bench = place.bench(JOBS)
    files = place.project.read_task("2")
    dockerfile = place.project.read_dockerfile(files.task.environment.dockerfile)
    trees = trees_of(place.history, files)
    grader = Grader(bench.verifier, files, dockerfile, trees)
    image = grader.image(lambda line: None)
    return lambda: grader.grade(image, {"one": trees.solved}, canaries=False)


def _repository(root: Path) -> None:
    """A table of answers, wrong in k places far from each other, and a test that looks at all of them."""
    stream = Stream()
    rows = [f"{n},42" for n in range(HUNKS * 10)]
    wrong = [row.replace("42", "41") if n % 10 == 5 else row for n, row in enumerate(rows)]
    head = "import pathlib\nimport time\n\n\ndef answers():\n"
    head += "    return [row[-2:] for row in pathlib.Path('answers.csv').read_text().split()]\n"
    old = "\n\ndef test_there_are_answers():\n    assert answers()\n"
    new = f"\n\ndef test_all_are_right():\n    time.sleep({SECONDS})\n    assert set(answers()) == {{'42'}}\n"
    start = {
        "answers.csv": "\n".join(wrong) + "\n",
        "tests/test_answers.py": head + old,
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "Dockerfile.berbench": DOCKERFILE,
    }
    base = stream.commit("main", "Start", start, author=measure.AUTHOR)
    change = {"answers.csv": "\n".join(rows) + "\n", "tests/test_answers.py": head + old + new}
    message = "Give the right answers (#2)\n\nFixes #1"
    stream.commit("main", message, change, author=measure.AUTHOR, parents=[base])
    create_repository(root, stream.bytes())
