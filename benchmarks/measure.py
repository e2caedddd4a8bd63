"""Wall time and memory of commands, and a large history to measure on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from berbench.history.seed import create_repository
from berbench.sample.stream import Stream

BERBENCH = (sys.executable, "-m", "berbench")
ROOT = Path(__file__).resolve().parents[1]
AUTHOR = "Ada Marsh <ada@tally.example>"


@dataclass(frozen=True, slots=True)
class Result:
    """One measurement against its budget, both in `unit`; budget None only informs."""

    what: str
    value: float
    budget: float | None
    unit: str
    detail: str

    @property
    def missed(self) -> bool:
        """Whether the budget was not kept."""
        return self.budget is not None and self.value > self.budget

    def __str__(self) -> str:
        budget = (
            ""
            if self.budget is None
            else f"budget {self.budget:g} {self.unit}: {'MISSED' if self.missed else 'kept'}"
        )
        return f"{self.what:<46} {self.value:7.2f} {self.unit:<2} {budget:<22} {self.detail}"


def seconds(action: Callable[[], object]) -> float:
    """Wall time of one call."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def best(*actions: Callable[[], object], rounds: int = 3) -> list[float]:
    """The least time of each, taken in turns, so that what else the machine does hits all alike."""
    times = [[seconds(action) for action in actions] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def run(command: Sequence[str], cwd: Path, data: Path) -> bytes:
    """Output of a command that must succeed, with a data folder of its own for berbench."""
    environment = {**os.environ, "BERBENCH_DATA_DIR": str(data), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr.decode(errors='replace')}")
    return done.stdout


_PEAK = """
import sys
from berbench.cli.app import app
from benchmarks.peak import own_peak
app(sys.argv[1:], standalone_mode=False)
print(own_peak(), file=sys.stderr)
"""


def peak_memory(verb: Sequence[str], cwd: Path, data: Path) -> float:
    """Most resident memory in MB of berbench itself, without the git processes that it reads from."""
    environment = {**os.environ, "BERBENCH_DATA_DIR": str(data), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _PEAK, *verb]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=True)
    return float(done.stderr.split()[-1])


FILES, FOLDERS = 3_000, 150


def long_history(path: Path, commits: int, every: int, *, named: bool = False) -> Path:
    """A repository of `commits` on one line, with a tree of a size that goes with such a history.

    Each commit changes three files; each `every`-th is a pull request with a fix and a test. With `named`, all
    others are pull requests too, without a test.
    """
    stream = Stream()
    files = {_module(n): f"a = {n}\n" for n in range(FILES)}
    files |= {"tests/test_all.py": "", "Dockerfile.berbench": "FROM berbench/base\nWORKDIR /src\nCOPY . .\n"}
    files["pyproject.toml"] = "[tool.pytest.ini_options]\n"
    mark = stream.commit("main", "Start", files, author=AUTHOR)
    for n in range(1, commits):
        changed = {_module(n * 7 + k * 911): f"a = {n}\n" for k in range(3)}
        message = f"Change {n} (#{n})" if named else f"Change {n}"
        if n % every == 0:
            message = f"Fix case {n} (#{n})"
            changed["tests/test_all.py"] = f"def test_{n}():\n    assert case({n}) == {n}\n"
        mark = stream.commit("main", message, changed, author=AUTHOR, parents=[mark])
    create_repository(path, stream.bytes())
    run([*BERBENCH, "init"], path, path.parent / "data")
    return path


def _module(number: int) -> str:
    number %= FILES
    folder = number % FOLDERS
    return f"src/part{folder % 10}/p{folder}/m{number}.py"
