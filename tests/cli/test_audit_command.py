"""`task audit` as a user gives it, in real containers; and how an audit looks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import engine_probe
from auditplace import PROMPT, land_unchecked
from berbench.checks import Demands
from berbench.cli.show_audit import show_audits
from berbench.errors import Refusal
from berbench.stages.audit import Audited
from berbench.strength.audit import Audit, Faced, Seen
from berbench.strength.cuts import FILE, HUNK, Cut
from berbench.strength.mutants import Mutant
from berbench.strength.seen import Noticed, Sight
from berbench.strength.sides import Checked
from samplecopy import sample_at

CUT = Cut(HUNK, ("src/\udcff.py",), "@@ -1,2 +1,3 @@ def f", ("+    return \x1b[31mred",), 1, 0)
AUDIT = Audit(
    id="7",
    fingerprint="sha256:1",
    at=datetime(2026, 1, 2, tzinfo=UTC),
    hunks=(
        Seen(CUT, Sight(Noticed.NO)),
        Seen(replace(CUT, header="@@ -9 +9 @@"), Sight(Noticed.TESTS, "1 failed")),
    ),
    files=(Seen(replace(CUT, kind=FILE, header="2 hunks"), Sight(Noticed.WHOLE, "the proof shows it")),),
    mutants=(Seen(Mutant("src/a.py", 12, "comparison", "  a < b", "  a <= b"), Sight(Noticed.NO)),),
    adversaries=(Faced("nothing", "fail", "known"), Faced("stubs", "absent", "no function")),
    demands=Demands(names=("render_tree",), flags=("--as-tree",)),
    prompt=("The first wish.", "The second wish."),
    tests=(Checked("tests/test_a.py", "test_one", ("assert render_tree() == 1",)),),
    mutants_asked=1,
    trials=5,
    seconds=12.3,
)


@pytest.mark.parametrize("width", ["80", "140"])
def test_an_audit_shows_what_is_weak(
    width: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    show_audits([Audited("7", AUDIT)], in_full=True)
    out = capsys.readouterr().out
    assert "Task 7: score 0.32 (1 of 2 hunks noticed; 0 of 1 mutant killed; 2 things to guess)" in out
    for part in ("@@ -1,2 +1,3 @@ def f", "src/a.py:12  comparison", "a < b  →  a <= b", "name render_tree"):
        assert part in out
    assert "option --as-tree" in out and "5 trials in 12.3 s" in out
    assert "\x1b" not in out and "\udcff" not in out
    side = next(line for line in out.splitlines() if "The first wish." in line)
    assert side.index("test_one") > side.index("The first wish.")
    assert "tests/test_b.py" not in out and "PASSES" not in out


def test_an_adversary_that_wins_is_not_overlooked(capsys: pytest.CaptureFixture[str]) -> None:
    show_audits(
        [Audited("7", replace(AUDIT, adversaries=(Faced("exits-0", "pass", "all pass"),)))], in_full=True
    )
    out = capsys.readouterr().out
    assert "score 0.00" in out and "won by exits-0" in out and "PASSES" in out


def test_a_table_over_all_tasks_weakest_first(capsys: pytest.CaptureFixture[str]) -> None:
    strong = replace(AUDIT, id="good", demands=Demands(), mutants=(), hunks=AUDIT.hunks[1:])
    none = replace(AUDIT, id="none", hunks=(), mutants=())
    outcomes = [
        Audited("old", skipped="stale: the prompt changed"),
        Audited("none", none),
        Audited("good", strong),
        Audited("7", AUDIT),
        Audited("bad", failed=Refusal("It does not pass now.", remedy="validate it")),
    ]
    show_audits(outcomes, in_full=False)
    out = capsys.readouterr().out
    first = [line.split()[0] for line in out.splitlines() if line.strip()]
    assert [name for name in first if name in ("7", "good", "none")] == ["7", "good", "none"]
    assert "0.32" in out and "1.00" in out and "–" in out
    assert "old: skipped: stale: the prompt changed" in out
    assert "bad: failed: It does not pass now." in out and "→ Validate it" in out
    show_audits([], in_full=False)
    assert "No tasks yet" in capsys.readouterr().out


COMMAND = (sys.executable, "-m", "berbench")


class Place:
    """The sample with the task that has an unchecked hunk, as on a user's machine."""

    def __init__(self, folder: Path) -> None:
        self.root = sample_at(folder / "tally").root
        self.env = {**os.environ, "BERBENCH_DATA_DIR": str(folder / "data")}
        commit = land_unchecked(self.root)
        (folder / "issue.md").write_text(PROMPT)
        self.run("init", "--base-image", "berbench/base")
        self.run("task", "create", "--commit", commit, "--no-api", "--issue-file", str(folder / "issue.md"))
        self.run("task", "create", "4", "--no-api")
        [self.id] = {path.name for path in (self.root / ".ber/bench/tasks").iterdir()} - {"4"}

    def command(self, *args: str) -> list[str]:
        return [*COMMAND, "-C", str(self.root), *args]

    def run(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        said = subprocess.run(self.command(*args), env=self.env, capture_output=True, text=True, check=False)
        assert said.returncode == code, said.stdout + said.stderr
        return said


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("audit"))
    place.run("task", "validate", place.id)
    yield place


@pytest.mark.docker
def test_V26_S11_an_audit_in_containers(proven: Place) -> None:
    said = proven.run("task", "audit", proven.id, "--mutants", "4", "--json")
    [task] = json.loads(said.stdout)["tasks"]
    assert [(one["path"], one["noticed"]) for one in task["hunks"]] == [
        ("README.md", "no-code"),
        ("tally/words.py", "unnoticed"),
        ("tally/words.py", "no-code"),
        ("tally/words.py", "tests-fail"),
    ]
    added = {"text = text or", "return round(sum("}
    assert len(task["mutants"]["all"]) == 4
    assert {one["before"].strip()[:14] for one in task["mutants"]["all"]} <= {line[:14] for line in added}
    assert "tests-fail" in {one["noticed"] for one in task["mutants"]["all"]}
    verdicts = {one["name"]: one["verdict"] for one in task["adversaries"]}
    assert set(verdicts) == {"nothing", "deletes-tests", "edits-conftest", "exits-0", "stubs"}
    assert "pass" not in verdicts.values() and "absent" not in verdicts.values()
    assert verdicts["exits-0"] in ("tampered", "no-tests-ran")
    assert f"trials: {task['trials']} of {task['trials']}" in said.stderr
    assert 0 < task["score"] < 1
    shown = json.loads(proven.run("task", "show", proven.id, "--json").stdout)
    assert shown["audit"]["score"] == task["score"] and not shown["audit"]["outdated"]


@pytest.mark.docker
def test_all_tasks_are_audited_and_the_others_named(proven: Place) -> None:
    said = proven.run("task", "audit", "--all", "--min-score", "0.99", code=1)
    assert "4: skipped: unvalidated" in said.stdout
    assert "`berbench task show ID`" in said.stdout
    refused = proven.run("task", "audit", "4", code=1)
    assert "unvalidated" in refused.stderr and "berbench task validate 4" in refused.stderr


@pytest.mark.docker
def test_ctrl_c_leaves_no_container(proven: Place) -> None:
    with subprocess.Popen(
        proven.command("task", "audit", proven.id),
        env=proven.env,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as stopped:
        assert stopped.stderr is not None
        for line in stopped.stderr:
            if b"trials: 0 of" in line:
                stopped.send_signal(signal.SIGINT)
                break
        stopped.communicate()
    assert stopped.returncode == 130
    assert engine_probe.left_behind() == []


def test_what_is_asked_for_must_be_told_one_way(tmp_path: Path) -> None:
    said = subprocess.run(
        [*COMMAND, "-C", str(tmp_path), "task", "audit"], capture_output=True, text=True, check=False
    )
    assert said.returncode == 2 and "--all" in said.stderr
