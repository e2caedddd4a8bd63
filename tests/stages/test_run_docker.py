"""A run in real containers, killed with -9 at five moments and run again, against one that was left alone."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from berbench.engine.docker_engine import DockerEngine
from berbench.sample import issue_text
from samplecopy import sample_at

pytestmark = pytest.mark.docker

TITLES = ("Leave words out of top()", "Sort equally frequent words")
# Neither solves anything; they differ in what they leave.
TOOLS = {
    "writer": "sh, -c, 'wc -c {prompt_file}; git log --oneline; echo more >> README.md; echo x > new.txt'",
    "idler": "sh, -c, 'echo nothing to do'",
}
EXPERIMENT = "concurrency: 2\nattempts: 2\ntools: [{tool: [oracle, nop, writer, idler]}]\n"
PLANNED = 16


class Place:
    """The sample repository with two proven tasks and an experiment of two controls and two agents."""

    def __init__(self, room: Path) -> None:
        self.room = room
        sample = sample_at(room / "tally")
        self.root = sample.root
        self.berbench("init")
        pulls = [pull for pull in sample.pull_requests if pull.title in TITLES]
        for pull in pulls:
            issue = room / f"{pull.number}.md"
            issue.write_text(issue_text(pull.issue_file), encoding="utf-8")
            self.berbench("task", "create", str(pull.number), "--no-api", "--issue-file", str(issue))
        bench = self.root / ".ber" / "bench"
        for name, invoke in TOOLS.items():
            (bench / "tools").mkdir(exist_ok=True)
            (bench / "tools" / f"{name}.yaml").write_text(f"invoke: [{invoke}]\n", encoding="utf-8")
        (bench / "experiments").mkdir()
        (bench / "experiments" / "four.yaml").write_text(EXPERIMENT, encoding="utf-8")
        self.berbench("task", "validate", "--all", "--jobs", "2")

    def env(self, data: str = "data") -> dict[str, str]:
        return {**os.environ, "BERBENCH_DATA_DIR": str(self.room / data)}

    def line(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "berbench", "-C", str(self.root), *words]

    def berbench(self, *words: str, data: str = "data") -> str:
        done = subprocess.run(
            self.line(*words), env=self.env(data), capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def killed_after(self, seconds: float, data: str) -> bool:
        """A run that is killed; False when it got to its end before."""
        with subprocess.Popen(
            self.line("run", "four"), env=self.env(data), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as run:
            try:
                run.wait(seconds)
            except subprocess.TimeoutExpired:
                run.kill()
                return True
            return False

    def cells(self, data: str) -> list[Path]:
        return list((self.room / data).glob("*/cells/*/cell.json"))


def _compared(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    told = ("seconds", "verify_seconds")
    return [{name: value for name, value in row.items() if name not in told} for row in document["cells"]]


def test_a_run_killed_five_times_and_run_again_equals_one_that_was_not(tmp_path: Path) -> None:
    place = Place(tmp_path)
    began = time.monotonic()
    whole = json.loads(place.berbench("run", "four", "--json", data="whole"))
    took = time.monotonic() - began
    assert (whole["planned"], whole["measured"], whole["errors"]) == (PLANNED, PLANNED, 0)
    chance = random.Random(20)
    killed, had = 0, [0]
    while killed < 5 and had[-1] < PLANNED:
        killed += place.killed_after(0.5 + chance.random() * took / 6, "killed")
        had.append(len(place.cells("killed")))
    assert killed == 5 and had[-1] < PLANNED, had
    resumed = json.loads(place.berbench("run", "four", "--json", data="killed"))
    assert (resumed["measured"], resumed["reused"]) == (PLANNED - had[-1], had[-1])
    assert _compared(resumed) == _compared(whole)
    for cell in place.cells("killed"):
        twin = next(other for other in place.cells("whole") if other.parent.name == cell.parent.name)
        candidate = "candidate.patch"
        assert cell.with_name(candidate).read_bytes() == twin.with_name(candidate).read_bytes()
    by_label = {row["label"]: row["outcome"] for row in whole["cells"]}
    assert by_label == {"oracle": "pass", "nop": "fail", "writer": "fail", "idler": "fail"}
    _no_container_is_left()
    shutil.rmtree(tmp_path / "killed")


def _no_container_is_left() -> None:
    engine = DockerEngine()
    try:
        engine.sweep()
        assert [
            left.name for left in engine.leftovers() if left.kind == "container" and not left.in_use
        ] == []
    finally:
        engine.close()
