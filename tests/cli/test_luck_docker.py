"""Luck in real containers: a test that really is flaky, a pair that needs its order, a test that rots."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from berbench.history.seed import create_repository
from berbench.sample.stream import Stream

pytestmark = pytest.mark.docker

AUTHOR = "A Person <person@example.org>"
ISSUE = "# The answer is wrong\n\nThe answer should be 42, and it should stay so.\n"
STEADY = """from answer import answer


def test_type():
    assert isinstance(answer(), int)


def test_answer():
    assert answer() == 42
"""
BEYOND = {
    # Over 8 repeats at two sides, the odds that it never moves are one to sixteen thousand.
    "chance": "import os\n\n\ndef test_chance():\n    assert os.urandom(1)[0] % 2\n",
    "order": "seen = []\n\n\ndef test_first():\n    seen.append(1)\n\n\ndef test_then():\n    assert seen\n",
    "rot": "import time\n\n\ndef test_rot():\n    time.sleep(0.01)\n    assert time.time() < {soon}\n",
}


class Place:
    """One repository with a task whose change adds `test_answer`, and a file of old tests of a kind."""

    def __init__(self, room: Path, kind: str) -> None:
        self.root, self.data = room / "repository", room / "data"
        # Of a whole day, so that an image serves all runs of a day.
        soon = (datetime.now(UTC).replace(hour=0, minute=0, second=0) + timedelta(days=200)).timestamp()
        old = BEYOND[kind].replace("{soon}", f"{soon:.0f}")
        stream = Stream()
        files = {
            "answer.py": "def answer():\n    return 41\n",
            "tests/test_answer.py": STEADY.split("\n\n\ndef test_answer")[0] + "\n",
            f"tests/test_{kind}.py": old,
            "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n",
            "Dockerfile.berbench": f"# {kind}\nFROM berbench/base\nWORKDIR /src\nCOPY . .\n",
        }
        base = stream.commit("main", "Start", files, author=AUTHOR)
        change = {"answer.py": "def answer():\n    return 42\n", "tests/test_answer.py": STEADY}
        stream.commit("main", "Give the right answer (#2)\n\nFixes #1", change, author=AUTHOR, parents=[base])
        create_repository(self.root, stream.bytes())
        (room / "issue.md").write_text(ISSUE)
        self.berbench("init")
        self.berbench("task", "create", "2", "--no-api", "--issue-file", str(room / "issue.md"))
        path = self.root / ".ber" / "bench" / "tasks" / "2" / "task.yaml"
        command = "command: python -m pytest tests/test_answer.py"
        assert command in path.read_text()
        path.write_text(path.read_text().replace(command, f"{command} tests/test_{kind}.py"))

    def berbench(self, *words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "BERBENCH_DATA_DIR": str(self.data)}
        line = [sys.executable, "-m", "berbench", "-C", str(self.root), *words]
        return subprocess.run(line, env=env, capture_output=True, text=True, check=False)

    def validate(self, *words: str) -> tuple[int, Any]:
        said = self.berbench("task", "validate", "2", "--json", *words)
        assert said.stdout, said.stderr
        (row,) = json.loads(said.stdout)["tasks"]
        return said.returncode, row


def test_a_test_of_chance_is_found_and_the_task_proven_without_it(tmp_path: Path) -> None:
    place = Place(tmp_path, "chance")
    code, row = place.validate("--repeat", "8", "--quarantine-flaky")
    assert (code, row["verdict"]) == (0, "validated"), row
    assert row["quarantined"] == ["tests/test_chance.py::test_chance"]
    assert "--deselect" in row["narrowed_command"]
    assert len(list(Path(row["logs"]).glob("reference*"))) == 8


def test_a_pair_that_needs_its_order_is_refused_with_the_seed(tmp_path: Path) -> None:
    place = Place(tmp_path, "order")
    code, row = place.validate("--seed", "2")
    assert (code, row["verdict"], row["moved_by"]) == (1, "flaky", "order"), row
    assert row["moved"] == ["tests/test_order.py::test_then"]
    assert "--seed 2" in row["remedy"]


def test_a_test_that_rots_is_refused_and_the_true_date_proves_it(tmp_path: Path) -> None:
    place = Place(tmp_path, "rot")
    code, row = place.validate("--clock", "+400d")
    assert (code, row["verdict"], row["moved_by"]) == (1, "flaky", "clock"), row
    assert row["moved"] == ["tests/test_rot.py::test_rot"]
    code, row = place.validate("--clock", "30d")
    assert (code, row["verdict"], row["warnings"]) == (0, "validated", [])
