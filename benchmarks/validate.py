"""`task validate` with a warm image against two bare `docker run`s of the same command side by side."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import BERBENCH, Result
from berbench.history.seed import create_repository
from berbench.sample.stream import Stream

DOCKERFILE = "FROM berbench/base\nWORKDIR /src\nCOPY . .\n"


def run(folder: Path) -> Iterator[Result]:
    """Ratios for tests that take no time, and for tests that take five seconds."""
    for length in (0, 5):
        yield _ratio(folder / f"validate-{length}", length)


def _ratio(root: Path, length: int) -> Result:
    data = proven_task(root, length)
    validate = [*BERBENCH, "task", "validate", "2", "--json"]
    first = json.loads(measure.run(validate, root, data))["tasks"][0]
    bare = ["docker", "run", "--rm", "--network", "none", first["reference"]["image"], "sh", "-c"]

    def two_bare() -> None:
        running = [
            subprocess.Popen([*bare, bare_command(length)], stdout=subprocess.DEVNULL) for _ in range(2)
        ]
        for process in running:
            process.wait()

    ours, theirs = measure.best(lambda: measure.run(validate, root, data), two_bare)
    times = f"{ours:.2f} s / {theirs:.2f} s"
    name = f"task validate / two bare docker runs, {length} s of tests"
    return Result(name, ours / theirs, 1.25, "x", times)


def proven_task(root: Path, length: int) -> Path:
    """A repository at `root` with the proven task 2, whose hidden test takes `length` seconds; its data folder."""
    data = root.parent / f"{root.name}-data"
    _repository(root, length)
    issue = root.parent / "issue.md"
    issue.write_text(
        "# The answer is wrong\n\nThe answer should be 42, and it should stay so.\n", encoding="utf-8"
    )
    measure.run([*BERBENCH, "init"], root, data)
    measure.run([*BERBENCH, "task", "create", "2", "--no-api", "--issue-file", str(issue)], root, data)
    measure.run([*BERBENCH, "task", "validate", "2"], root, data)  # builds the image
    return data


def bare_command(length: int) -> str:
    """What the trial's command does, on the image's own tree: the same tests, and as long."""
    return f"python -m pytest -q tests/test_answer.py; sleep {length}"


def _repository(root: Path, length: int) -> None:
    stream = Stream()
    author = measure.AUTHOR
    test = "from answer import answer\n\n\ndef test_type():\n    assert isinstance(answer(), int)\n"
    more = f"\n\ndef test_answer():\n    import time\n\n    time.sleep({length})\n    assert answer() == 42\n"
    start = {
        "answer.py": "def answer():\n    return 41\n",
        "tests/test_answer.py": test,
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "Dockerfile.berbench": DOCKERFILE,
    }
    base = stream.commit("main", "Start", start, author=author)
    change = {"answer.py": "def answer():\n    return 42\n", "tests/test_answer.py": test + more}
    stream.commit("main", "Give the right answer (#2)\n\nFixes #1", change, author=author, parents=[base])
    create_repository(root, stream.bytes())
