"""The demo in real containers: every verdict of the sample is the one that it was built for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.docker

COMMAND = (sys.executable, "-m", "berbench")


def test_every_verdict_of_the_demo_is_as_expected(tmp_path: Path) -> None:
    folder = tmp_path / "tally"
    said = subprocess.run(
        [*COMMAND, "demo", "--folder", str(folder)], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert "11 of 11 verdicts as expected" in said.stdout

    def listed() -> dict[str, str]:
        command = [*COMMAND, "-C", str(folder), "task", "list", "--json"]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return {row["id"]: row["state"] for row in json.loads(out)["tasks"]}

    states = listed()
    assert sorted(states.values()).count("fresh") == 7
    assert set(states.values()) == {"fresh", "unvalidated"}


def test_a_killed_validation_leaves_nothing_that_the_next_does_not_clear(tmp_path: Path) -> None:
    """kill -9 while trials run: no proof, and the next validation removes the containers and proves the task."""
    folder = tmp_path / "tally"
    env = {**os.environ, "BERBENCH_DATA_DIR": str(tmp_path / "data")}
    subprocess.run(
        [
            sys.executable,
            "-c",
            f"import pathlib, berbench.sample as s; s.build(pathlib.Path({str(folder)!r}))",
        ],
        check=True,
    )
    place = [*COMMAND, "-C", str(folder)]
    subprocess.run([*place, "init"], check=True, capture_output=True)
    subprocess.run([*place, "task", "create", "4", "--no-api"], check=True, capture_output=True)
    task = folder / ".ber" / "bench" / "tasks" / "4" / "task.yaml"
    quick = task.read_text()
    task.write_text(quick.replace("command: ", "command: sleep 60; ", 1))
    with subprocess.Popen(
        [*place, "task", "validate", "4"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as killed:
        assert killed.stderr is not None
        for line in killed.stderr:
            if b"trials:" in line:
                break
        killed.kill()
    assert "validation:" not in task.read_text()
    task.write_text(quick)
    said = subprocess.run(
        [*place, "task", "validate", "4"], env=env, capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert "validation:" in task.read_text()
    assert not list(Path(tempfile.gettempdir()).glob(f"berbench-git-{killed.pid}-*"))
