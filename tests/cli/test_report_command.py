"""`berbench report` as a user gives it, on stored runs: what is printed where, and the exit code."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from said import Said, give

from berbench.cli.wiring import workplace
from berbench.errors import StoreError, UsageError
from berbench.model.cells import CellOutcome, CellResult
from berbench.reports.marks import letters
from berbench.store import cellfiles
from berbench.store.cells import RUN, Cells
from berbench.store.stream import write_pieces
from freshtasks import proven_repository
from reportcells import BEGAN, ERROR, FAIL, HOSTILE, PASS, PATCH, evidence, key_of, result
from reportstore import keep, keep_run

A, B = "claude-code/sonnet", "codex/gpt"


class Place:
    """A repository with fresh tasks 7 and 8, and what was measured on them."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.root, self._capsys, self._patch = root, capsys, patch
        self.project = proven_repository(root, ("7", "8"))
        with workplace(root, os.environ) as place:
            self.cells: Cells = place.cells

    def __call__(self, *args: str, width: int = 100) -> Said:
        self._patch.setenv("COLUMNS", str(width))
        return give(self.root, args, self._capsys, self._patch)

    def result(
        self, task: str, label: str, outcome: CellOutcome = PASS, attempt: int = 1, **more: Any
    ) -> CellResult:
        """A result on the task as it is."""
        proof = self.project.read_task(task).task.validation
        assert proof is not None
        return result(task, label, outcome, attempt, fingerprint=proof.fingerprint, **more)

    def results(self) -> list[CellResult]:
        return [
            *(self.result("7", A, PASS, cost=0.5), self.result("8", A, FAIL, cost=0.7)),
            *(self.result("7", B, FAIL), self.result("8", B, ERROR, error="The API answered 500.")),
            *(self.result("7", "oracle", PASS), self.result("8", "oracle", PASS)),
            *(self.result("7", "nop", FAIL), self.result("8", "nop", FAIL)),
        ]


@pytest.fixture
def berbench(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    yield Place(tmp_path / "repository", capsys, monkeypatch)


def test_without_a_run_it_says_how_to_get_one(berbench: Place) -> None:
    said = berbench("report", "latest")
    assert (said.code, said.out) == (2, "")
    assert "Nothing was run yet." in said.err and "berbench run controls" in said.err
    assert berbench("report", "list").out == "Nothing was run yet: `berbench run controls` costs nothing.\n"


@pytest.mark.parametrize("width", [80, 200])
def test_a_run_is_told_in_the_terminal(berbench: Place, width: int) -> None:
    keep_run(berbench.cells, berbench.results())
    said = berbench("report", width=width)
    assert (said.code, said.err) == (0, "")
    assert "7 of 8 cells measured, 1 in error; 2 tasks; cost of all cells: ≥ $1.20" in said.out
    assert "WARNING: 1 cell ended in an error" in said.out
    line = next(line for line in said.out.splitlines() if A in line)
    assert "50 %" in line and re.match(r"A +claude-code/sonnet ◆ +50 % +9–91 % +2 ", line)
    assert "control: ok" in said.out
    assert re.search(r"A against B +1 +1 +0 +0 +\+100", said.out)
    assert re.search(r"^7 +1/1 +0/1 +1/1 +0/1", said.out, re.MULTILINE)
    assert re.search(r"^8 +0/1 +– E +1/1 +0/1", said.out, re.MULTILINE)
    assert max(map(len, said.out.splitlines())) <= width
    assert "unknown" in said.out


@pytest.mark.parametrize("width", [20, 80, 200])
@pytest.mark.parametrize("configurations", [3, 30, 90])
def test_no_configuration_vanishes_from_the_map_without_a_word(
    berbench: Place, width: int, configurations: int
) -> None:
    labels = [f"codex/m{number}" for number in range(configurations)]
    cells = [
        berbench.result(task, label, (PASS, FAIL)[task == "8"]) for label in labels for task in ("7", "8")
    ]
    keep_run(berbench.cells, cells)
    said = berbench("report", "latest", width=width)
    rows = [line.split() for line in said.out.splitlines()]
    heads = [row[1:] for row in rows if row[:1] == ["task"]]
    shown = [letter for head in heads for letter in head]
    assert shown == [letters(number) for number in range(len(shown))]
    left_out = re.search(r"^(\d+) more configurations? in the other forms$", said.out, re.MULTILINE)
    assert len(shown) + (int(left_out[1]) if left_out else 0) == configurations
    for task, told in (("7", "1/1"), ("8", "0/1")):
        squares = [row.count(told) for row in rows if row[:1] == [task]]
        assert squares == [len(head) for head in heads]


def test_all_names_of_a_run_lead_to_it(berbench: Place) -> None:
    first = keep_run(berbench.cells, berbench.results()[:1], name="other")
    second = keep_run(berbench.cells, berbench.results(), after=timedelta(days=1))
    for wanted, run in (("latest", second), ("smoke", second), ("other", first), (first, first)):
        assert berbench("report", wanted, "--json").document["run"] == run
    listed = berbench("report", "list", "--json").document
    assert [row["run"] for row in listed["runs"]] == [second, first]
    assert [row["planned"] for row in listed["runs"]] == [8, 1]
    shown = berbench("report", "list").out
    assert shown.index(second) < shown.index(first)
    missing = berbench("report", "nothing")
    assert missing.code == 2 and "nothing" in missing.err


def test_the_document_is_all_there_is_on_standard_output(berbench: Place) -> None:
    keep_run(berbench.cells, berbench.results())
    document = berbench("report", "latest", "--json").document
    assert document["schema"] == "berbench.report/1"
    assert {cell["outcome"] for cell in document["cells"]} == {"pass", "fail", "error"}
    assert document["set_aside"] == {}
    assert [task["outdated"] for task in document["tasks"]] == [False, False]


def test_markdown_goes_to_standard_output(berbench: Place) -> None:
    keep_run(berbench.cells, berbench.results())
    said = berbench("report", "latest", "--markdown")
    assert said.out.startswith("# smoke\n") and "| `7` |" in said.out
    one = berbench("report", "cell", key_of("7", A, 1)[:8], "--markdown")
    assert one.out.startswith("# 7: claude-code/sonnet, attempt 1\n") and "```diff" in one.out


def test_the_html_file_has_the_evidence_and_its_size_is_told(berbench: Place, tmp_path: Path) -> None:
    keep_run(berbench.cells, berbench.results())
    path = tmp_path / "report.html"
    said = berbench("report", "latest", "--html", str(path))
    assert said.code == 0
    assert f"{path}: {path.stat().st_size / 1e6:.1f} MB, 8 cells" in said.out
    assert "warning: 1 cell ended in an error" in said.out
    data = json.loads(
        re.findall(r'<script type="application/json" id="d0">(.*?)</script>', path.read_text())[0]
    )
    assert data["candidate"] == PATCH.decode()
    assert data["tests"][0][0] == "tests/test_count.py::test_words"
    assert data["log"].endswith("tests/test_count.py F.E\n")
    assert data["where"].endswith(f"cells/{data['key']}")
    reference = json.loads(re.findall(r' id="t0">(.*?)</script>', path.read_text())[0])
    assert reference["reference"] == "reference\n"


def test_one_cell_is_shown_with_its_evidence(berbench: Place) -> None:
    keep_run(berbench.cells, berbench.results())
    key = key_of("8", A, 1)
    said = berbench("report", "cell", key[:10])
    assert said.code == 0
    assert said.out.startswith("8: claude-code/sonnet, attempt 1\n")
    for told in ("$0.70", key, "test_apostrophe[don't]", "+# Notes", "--- reference", "collected 3 items"):
        assert told in said.out
    document = berbench("report", "cell", key, "--json").document
    assert document["schema"] == "berbench.cell-report/1" and document["candidate"] == PATCH.decode()


def test_refused_requests_and_dropped_changes_are_told(berbench: Place) -> None:
    cell = berbench.result("7", A, FAIL, refused_requests=3)
    keep_run(berbench.cells, [cell])
    folder = berbench.cells.folder / "cells" / cell.key
    at = BEGAN.isoformat()
    refused = [{"host": "github.com", "port": 443, "at": at, "reason": "a code forge"}] * 2
    (folder / cellfiles.EGRESS).write_text(json.dumps(refused), encoding="ascii")
    dropped = [
        {"path": "conftest.py", "reason": "steers pytest"},
        {"path": "package.json", "reason": "jest: put back as in the base; the rest is kept"},
    ]
    grade = {"schema": "berbench.verify/1", "tests": [], "dropped_paths": dropped}
    (folder / cellfiles.GRADE).write_text(json.dumps(grade), encoding="ascii")
    remarks = [
        "The request to github.com:443 was refused: a code forge (2 times)",
        "Dropped from the candidate: conftest.py, which steers pytest",
        "A part of package.json was dropped from the candidate: jest: put back as in the base; the rest is kept",
    ]
    assert berbench("report", "cell", cell.key, "--json").document["remarks"] == remarks
    for form in ((), ("--markdown",)):
        assert "(2 times)" in berbench("report", "cell", cell.key, *form).out


def test_P28_P02_what_was_not_taken_into_a_candidate_is_told(berbench: Place) -> None:
    """A file that the repository ignores may be the one that the change needs: whoever reads the cell must know."""
    cell = berbench.result("7", A, FAIL)
    keep_run(berbench.cells, [cell])
    agent = berbench.cells.folder / "cells" / cell.key / cellfiles.AGENT
    left = ["build/gen.py", *(f"build/{number}.o" for number in range(30))]
    warnings = ["the container was ended from within"]
    agent.write_text(
        json.dumps({**json.loads(agent.read_bytes()), "left_out": left, "warnings": warnings}), "utf-8"
    )
    remarks = berbench("report", "cell", cell.key, "--json").document["remarks"]
    assert remarks[0].startswith("build/gen.py was not taken into the candidate: ")
    assert remarks[-2:] == [
        "11 more paths were not taken; agent.json has them all",
        "The agent's container: the container was ended from within",
    ]
    for form in ((), ("--markdown",)):
        assert "not taken into the candidate" in berbench("report", "cell", cell.key, *form).out
    agent.write_text("[]", "utf-8")
    assert berbench("report", "cell", cell.key, "--json").document["remarks"] == []


def test_P29_files_that_an_agent_left_at_the_top_are_told(berbench: Place) -> None:
    cell = berbench.result("7", A, FAIL)
    keep_run(berbench.cells, [cell])
    new = b"diff --git a/%b b/%b\nnew file mode 100644\n--- /dev/null\n+++ b/%b\n@@ -0,0 +1 @@\n+x\n"
    names = (b"test_repro.py", b"src/new.py", b"notes.log")
    candidate = berbench.cells.folder / "cells" / cell.key / cellfiles.CANDIDATE
    candidate.write_bytes(b"".join(new % (name, name, name) for name in names))
    told = ["New at the top of the tree: test_repro.py, notes.log"]
    assert berbench("report", "cell", cell.key, "--json").document["remarks"] == told
    for form in ((), ("--markdown",)):
        assert "test_repro.py, notes.log" in berbench("report", "cell", cell.key, *form).out


def test_a_cell_that_gave_no_measurement_is_shown_as_well(berbench: Place, tmp_path: Path) -> None:
    keep_run(berbench.cells, berbench.results())
    said = berbench("report", "cell", key_of("8", B, 1)[:10])
    assert said.code == 0 and "The API answered 500." in said.out and "no measurement" in said.out
    path = tmp_path / "cell.html"
    assert berbench("report", "cell", key_of("8", B, 1), "--html", str(path)).code == 0
    assert "The API answered 500." in path.read_text()


@pytest.mark.parametrize("key", ["abc", "", "../x", "ffffffffffff", "ABCDEF"])
def test_a_key_that_is_none_is_refused(berbench: Place, key: str) -> None:
    keep_run(berbench.cells, berbench.results())
    said = berbench("report", "cell", key)
    assert said.code == 2 and said.out == "" and "→" in said.err


@pytest.mark.parametrize(
    "args",
    [
        ("latest", "--json", "--markdown"),
        ("latest", "abcdef"),
        ("list", "--markdown"),
        ("list", "--html", "x.html"),
        ("cell",),
    ],
)
def test_what_can_not_be_meant_is_refused(berbench: Place, args: tuple[str, ...]) -> None:
    keep_run(berbench.cells, berbench.results())
    said = berbench("report", *args)
    assert said.code == 2 and said.out == ""


def test_a_file_that_can_not_be_written_is_said(berbench: Place, tmp_path: Path) -> None:
    keep_run(berbench.cells, berbench.results())
    for path, words in ((tmp_path / "no" / "x.html", "There is no folder"), (tmp_path, "is a folder")):
        said = berbench("report", "latest", "--html", str(path))
        assert said.code == 2 and words in said.err


def test_a_task_that_changed_since_is_said_and_its_reference_not_shown(berbench: Place) -> None:
    keep_run(berbench.cells, berbench.results())
    prompt = berbench.root / ".ber" / "bench" / "tasks" / "7" / "prompt.md"
    prompt.write_text("Mend it otherwise.\n", encoding="utf-8")
    document = berbench("report", "latest", "--json").document
    assert [task["outdated"] for task in document["tasks"]] == [True, False]
    assert any("1 task changed since it was measured: 7." in warning for warning in document["warnings"])
    assert berbench("report", "cell", key_of("7", A, 1), "--json").document["reference"] is None
    assert berbench("report", "cell", key_of("8", A, 1), "--json").document["reference"] == "reference\n"


def test_a_task_that_is_gone_keeps_its_results(berbench: Place) -> None:
    gone = [result("gone", A, PASS), result("gone", B, FAIL)]
    keep_run(berbench.cells, [*berbench.results(), *gone])
    document = berbench("report", "latest", "--json").document
    assert [task["task"] for task in document["tasks"]] == ["7", "8", "gone"]


def test_a_control_that_is_wrong_is_loud(berbench: Place) -> None:
    keep_run(berbench.cells, [berbench.result("7", "oracle", FAIL), berbench.result("8", "nop", PASS)])
    said = berbench("report", "latest")
    assert "WARNING: The control oracle is not at 100%" in said.out
    assert "WARNING: The control nop is not at 0%" in said.out
    assert "control: WRONG: must be 100 %" in said.out


def test_a_run_that_was_stopped_is_told_as_far_as_it_came(berbench: Place) -> None:
    planned = [{"key": "f" * 64, "task": "7", "label": A, "attempt": 2}]
    keep_run(berbench.cells, berbench.results()[:1], planned=planned, ended=False)
    document = berbench("report", "latest", "--json").document
    assert (document["planned"], document["measured"], document["missing"]) == (2, 1, 1)
    assert document["notes"] == ["The run has not come to its end: what is measured so far is shown."]
    assert document["started_at"].startswith("2026-03-01T02:00:00")


def test_skipped_tasks_are_told_with_what_changed(berbench: Place) -> None:
    skipped = [{"task": "9", "state": "stale", "reason": "inputs changed", "changed": ["prompt"]}]
    keep_run(berbench.cells, berbench.results(), skipped=skipped)
    assert "skipped: 9: stale: inputs changed (prompt)" in berbench("report", "latest").out


def test_a_run_that_measures_anew_shows_nothing_older(berbench: Place) -> None:
    old = berbench.result("7", A, PASS)
    keep_run(berbench.cells, [old], name="old")
    failed = replace(old, outcome=ERROR, error="boom", finished_at=BEGAN + timedelta(days=1, minutes=5))
    planned = [{"key": old.key, "task": "7", "label": A, "attempt": 1}]
    keep_run(berbench.cells, [], name="new", fresh=True, after=timedelta(days=1), planned=planned)
    assert berbench("report", "new", "--json").document["missing"] == 1
    where = berbench.cells.folder / "errors" / old.key / "20260302T020500.000000Z-abc123"
    keep(where, failed, evidence(failed), "new")
    assert berbench("report", "new", "--json").document["errors"] == 1
    assert berbench("report", "old", "--json").document["measured"] == 1


def test_a_run_that_took_up_a_stopped_one_shows_what_that_one_measured(berbench: Place) -> None:
    old = berbench.result("7", A, PASS)
    first = keep_run(berbench.cells, [old], fresh=True, ended=False)
    planned = [{"key": old.key, "task": "7", "label": A, "attempt": 1}]
    more: dict[str, Any] = {"name": "new", "fresh": True, "planned": planned}
    keep_run(berbench.cells, [], after=timedelta(days=1), takes_up=[first], **more)
    assert berbench("report", "new", "--json").document["measured"] == 1
    keep_run(berbench.cells, [], after=timedelta(days=2), takes_up=[], **more)
    assert berbench("report", "new", "--json").document["missing"] == 1


def test_a_reused_cell_goes_by_the_name_that_the_run_gives_it(berbench: Place) -> None:
    one, other = berbench.result("7", A, PASS), berbench.result("7", A, FAIL, attempt=2)
    keep_run(berbench.cells, [one, other], name="old")
    # A workflow's own choice has changed: what goes by its bare name now is the other configuration.
    planned = [
        {"key": one.key, "task": "7", "label": "flow,build=tool/a", "attempt": 1},
        {"key": other.key, "task": "7", "label": A, "attempt": 1},
    ]
    keep_run(berbench.cells, [], name="new", after=timedelta(days=1), planned=planned)
    rows = berbench("report", "new", "--json").document["cells"]
    assert {(row["key"], row["configuration"], row["outcome"]) for row in rows} == {
        (one.key, "flow,build=tool/a", "pass"),
        (other.key, A, "fail"),
    }


def test_results_that_are_newer_than_the_run_are_said_to_be(berbench: Place) -> None:
    cells = berbench.results()[:2]
    keep_run(berbench.cells, cells, name="old")
    again = replace(cells[0], finished_at=BEGAN + timedelta(days=3))
    keep_run(berbench.cells, [again, cells[1]], name="new", after=timedelta(days=3))
    assert "1 of its cells were measured or graded again since it ended" in berbench("report", "old").out
    assert "again since" not in berbench("report", "new").out


def test_evidence_that_is_damaged_or_gone_leaves_the_rest(berbench: Place, tmp_path: Path) -> None:
    cells = berbench.results()[:2]
    keep_run(berbench.cells, cells)
    folder = berbench.cells.folder / "cells" / cells[0].key
    (folder / cellfiles.GRADE).write_bytes(b"{broken")
    (folder / cellfiles.TRANSCRIPT).unlink()
    document = berbench("report", "cell", cells[0].key, "--json").document
    assert document["tests"] == [] and document["transcript"] == "" and document["candidate"]
    assert berbench("report", "latest", "--html", str(tmp_path / "x.html")).code == 0


@pytest.mark.parametrize("name", [cellfiles.AGENT, cellfiles.GRADE, cellfiles.EGRESS, cellfiles.TRANSCRIPT])
@pytest.mark.parametrize(
    "damage",
    [b"", b"\xff", b"[" * 100_000, b'{"warnings": 1, "tests": {"a": 1}, "dropped_paths": [[]]}', b"[[1]]"],
)
def test_evidence_of_any_bytes_leaves_the_rest(
    berbench: Place, tmp_path: Path, name: str, damage: bytes
) -> None:
    cells = berbench.results()[:2]
    keep_run(berbench.cells, cells)
    (berbench.cells.folder / "cells" / cells[0].key / name).write_bytes(damage)
    assert berbench("report", "cell", cells[0].key, "--json").document["candidate"]
    assert berbench("report", "cell", cells[0].key).code == 0
    assert berbench("report", "latest", "--html", str(tmp_path / "x.html")).code == 0


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"[" * 100_000, b'{"schema": "berbench.cell/1"}'])
def test_a_damaged_cell_counts_as_missing_and_is_named(berbench: Place, damage: bytes) -> None:
    cells = berbench.results()
    keep_run(berbench.cells, cells)
    folder = berbench.cells.folder / "cells" / cells[0].key
    (folder / cellfiles.CELL).write_bytes(damage)
    document = berbench("report", "latest", "--json").document
    assert (document["measured"], document["missing"]) == (6, 1)
    assert any(str(folder) in note and "can't be read" in note for note in document["notes"])
    assert str(folder) in "".join(berbench("report", "latest").out.replace("\n  ", "").split())
    said = berbench("report", "cell", cells[0].key)
    assert said.code == 3 and "measured anew" in said.err


@pytest.mark.parametrize(
    "change",
    [
        {"planned": [{"key": "../../x", "task": "7", "label": "a", "attempt": 1}]},
        {"planned": [{"key": "a" * 64, "task": "7", "label": "a", "attempt": "1"}]},
        {"planned": [{"key": "a" * 64, "task": 7, "label": "a", "attempt": 1}]},
        {"planned": {"a": 1}},
        {"skipped": ["7"]},
        {"skipped": [{"task": "7", "changed": [1]}]},
        {"experiment": ["x"]},
        {"schema": "berbench.run-record/9"},
        {"schema": None},
    ],
)
def test_a_record_that_no_run_can_have_written_is_told_and_keeps_no_other_from_being_listed(
    berbench: Place, change: dict[str, Any]
) -> None:
    good = keep_run(berbench.cells, berbench.results())
    bad = keep_run(berbench.cells, [], name="bad", after=timedelta(days=1))
    path = berbench.cells.folder / "runs" / bad / RUN
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}), encoding="ascii")
    said = berbench("report", "bad")
    assert said.code == 3 and bad in said.err and said.out == ""
    assert ("another version" in said.err or "version of berbench" in said.err) == ("/9" in str(change))
    listed = berbench("report", "list", "--json")
    assert [row["run"] for row in listed.document["runs"]] == [good] and bad in listed.err


def test_a_run_whose_record_is_damaged_is_named(berbench: Place) -> None:
    good = keep_run(berbench.cells, berbench.results())
    bad = keep_run(berbench.cells, [], name="bad", after=timedelta(days=1))
    (berbench.cells.folder / "runs" / bad / RUN).write_text('{"planned": 3}', encoding="ascii")
    said = berbench("report", "bad")
    assert said.code == 3 and bad in said.err
    assert [row["run"] for row in berbench("report", "list", "--json").document["runs"]] == [good]


def test_hostile_names_reach_no_terminal(berbench: Place) -> None:
    cell = replace(berbench.result("7", A, FAIL), label=HOSTILE, reasons=(HOSTILE,))
    keep_run(berbench.cells, [cell])
    for args in (("latest",), ("latest", "--markdown"), ("cell", cell.key), ("cell", cell.key, "--markdown")):
        out = berbench("report", *args).out
        assert "alert(1)" in out and not set(out) & {"\x1b", "\x00", "\u202e", "\udce9"}


def test_what_is_no_plain_file_is_written_into_and_never_replaced(tmp_path: Path) -> None:
    """As root, a report to /dev/stdout or /dev/null would otherwise take the device's place."""
    pipe, target, link = tmp_path / "pipe", tmp_path / "target", tmp_path / "link"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert write_pieces(pipe, (b"ab", b"c")) == 3
        assert os.read(reader, 10) == b"abc" and pipe.is_fifo()
    finally:
        os.close(reader)
    target.write_bytes(b"old")
    link.symlink_to(target)
    assert write_pieces(link, (b"new",)) == 3
    assert link.is_symlink() and target.read_bytes() == b"new"
    link.unlink()
    link.symlink_to(tmp_path / "none" / "file")
    with pytest.raises(UsageError, match="no folder"):
        write_pieces(link, (b"new",))


def test_pieces_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert write_pieces(path, (b"ab", b"c")) == 3
    assert path.read_bytes() == b"abc"

    def failing() -> Iterator[bytes]:
        yield b"half"
        raise StoreError("no more")

    with pytest.raises(StoreError):
        write_pieces(path, failing())
    assert path.read_bytes() == b"abc" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(UsageError):
        write_pieces(tmp_path / "none" / "file", [b""])
