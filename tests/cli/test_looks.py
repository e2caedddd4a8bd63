"""How results look: nothing is cut off where a page is narrow, and a shell can complete what is there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from berbench.cli import console, show_error
from berbench.cli.show_health import show_findings
from berbench.cli.show_scan import show_scan
from berbench.cli.show_tasks import show_problems
from berbench.cli.show_validations import show_validations
from berbench.cli.tables import cell, lines, table
from berbench.errors import UsageError
from berbench.model.changes import LandedBy, Landing, NotLanding
from berbench.model.trial import Problem, Verdict, VerdictName
from berbench.ranking import Size
from berbench.stages.doctor import Finding
from berbench.stages.scan import NOT_FETCHED, Candidate, ScanReport
from berbench.stages.validate import Validated


@pytest.fixture(params=["80", "140"])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The page's width."""
    monkeypatch.setenv("COLUMNS", request.param)
    yield int(request.param)


def test_wide_columns_wrap_and_the_others_keep_their_words(
    width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    made = table("task", "pull request", "form", "state", wide=("pull request", "form"))
    title = "Keep apostrophes inside words and do not count a line after the last newline twice over"
    made.add_row(
        cell("a7ced7422af3"), lines(title, "why " * 30), cell("a merge " * 6), cell("reference-fails")
    )
    console.show(made)
    out = capsys.readouterr().out
    assert "a7ced7422af3" in out and "reference-fails" in out
    words = out.split()
    assert all(words.count(word) >= title.split().count(word) for word in title.split())
    assert words.count("why") == 30 and words.count("merge") == 6
    assert all(len(line) <= width and line == line.rstrip() for line in out.splitlines())


def test_a_problem_in_a_long_place_is_shown_whole(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    where = "reference.patch: " + "/".join(["folder"] * 12) + "/module.py"
    show_problems("5", [Problem("code", where, "it holds a test " * 8)])
    out = capsys.readouterr().out
    assert out.split().count("holds") == 8
    assert all(len(line) <= width for line in out.splitlines())


def test_what_differs_between_rejections_is_left_out_of_their_count(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reasons = [
        "changes 6 implementation files, more than the 2 allowed",
        "changes 17 implementation files, more than the 2 allowed",
        "a backport or cherry-pick of #12, which landed as 0a1b2c3",
    ]
    rejected = tuple(NotLanding(number, "f" * 40, reason) for number, reason in enumerate(reasons, 1))
    title = "Count [bold]every[/bold] sentence"
    merged = datetime(2026, 1, 1, tzinfo=UTC)
    landing = Landing(9, LandedBy.SQUASH, "e" * 40, "d" * 40, title, title, merged, ("e" * 40,))
    candidate = Candidate(landing, (8,), Size(1, 2, 3), Size(1, 2, 3), 50.0, ("small",))
    show_scan(ScanReport("r", "f" * 40, 4, (candidate,), rejected, unnamed=1), verbose=False)
    out = capsys.readouterr().out
    assert "2 × changes … implementation files, more than the … allowed" in out
    assert "1 × a backport or cherry-pick of #12, which landed as 0a1b2c3" in out
    assert "#9 for #8: Count [bold]every[/bold] sentence" in out
    assert "1 commit names no pull request" in out


def test_counts_of_what_was_rejected_leave_nothing_out(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "apples",
        "pears",
        "plums",
        "nuts",
        "figs",
        "dates",
        "limes",
        "peas",
        "beans",
        "corn",
        "rye",
        "oats",
        "wheat",
        "rice",
    ]
    rejected = tuple(NotLanding(number, "f" * 40, f"is about {word}") for number, word in enumerate(words, 1))
    show_scan(ScanReport("r", "f" * 40, 14, (), rejected), verbose=False)
    told = [line for line in capsys.readouterr().out.splitlines() if "×" in line]
    assert sum(int(line.split()[0]) for line in told) == 14
    assert told[-1].split() == ["2", "×", "something", "else"]


def test_a_proof_of_which_no_test_passed_before_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    proven = Verdict(VerdictName.VALIDATED, "It holds.", fail_to_pass=("a", "b"), stands_on="the report")
    show_validations([Validated("7", proven), Validated("8", Verdict(VerdictName.BASE_PASSES, "No."))])
    rows = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines() if line}
    assert rows["7"][1:4] == ["validated", "2", "0"]
    assert rows["8"][1:] == ["base-passes", "0.0"]


def test_what_doctor_advises_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    show_findings(
        [Finding("forge", False, "no host.", "check the network"), Finding("git", True, "git 2", "x")]
    )
    out = capsys.readouterr().out
    assert "no host → Check the network" in out and "git 2\n" in out


@pytest.mark.parametrize(("unlinked", "times"), [(0, 0), (1, 2)])
def test_a_forge_that_told_nothing_is_named_once(
    unlinked: int, times: int, capsys: pytest.CaptureFixture[str]
) -> None:
    merged = datetime(2026, 1, 1, tzinfo=UTC)
    landing = Landing(9, LandedBy.SQUASH, "e" * 40, "d" * 40, "Count", "Count", merged, ("e" * 40,))
    candidate = Candidate(landing, (), Size(1, 2, 3), Size(1, 2, 3), 50.0, ("small", NOT_FETCHED))
    show_scan(
        ScanReport("r", "f" * 40, 4, (candidate,) * 2, (), unlinked=unlinked, not_fetched=2), verbose=False
    )
    out = capsys.readouterr().out
    assert out.count(NOT_FETCHED) == times
    assert "2 candidates could not be asked about on the forge" in out


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["task", "show", ""], ["12", "17", "3"]),
        (["task", "lint", "1"], ["12", "17"]),
        (["task", "validate", "3", "17"], ["17"]),
        (["-C", "/nowhere", "task", "show", ""], []),
        (["schema", "va"], ["validation"]),
        (["task", "va"], ["validate"]),
        (["report", "l"], ["latest", "list"]),
        (["report", "c"], ["cell", "controls"]),
        (["regrade", "c"], ["controls"]),
        (["run", "controls", "--task", "1"], ["12", "17"]),
        (["experiment", "create", "mine", "c"], ["claude-code", "codex", "command", "copied"]),
        (["tool", "show", "o"], ["opencode", "oracle", "own"]),
    ],
)
def test_a_shell_can_complete_ids_and_names(words: list[str], offered: list[str], tmp_path: Path) -> None:
    for name in ("12", "17", "3"):
        folder = tmp_path / ".ber" / "bench" / "tasks" / name
        folder.mkdir(parents=True)
        (folder / "task.yaml").write_text("")
    (tmp_path / ".ber" / "bench" / "tasks" / "no-task").mkdir()
    for place in (
        tmp_path / ".ber" / "bench" / "tools" / "own.yaml",
        tmp_path / "mine" / "tools" / "copied.yaml",
    ):
        place.parent.mkdir(parents=True)
        place.write_text("")
    inside = tmp_path / "src"
    inside.mkdir()
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.argv = ['berbench']; from berbench.cli.app import main; main()",
        ],
        cwd=inside,
        env={
            "_BERBENCH_COMPLETE": "complete_bash",
            "BERBENCH_CONFIG_DIR": str(tmp_path / "mine"),
            "COMP_WORDS": " ".join(["berbench", *words]),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.stdout.split() == offered, said.stderr


def test_a_line_from_a_log_stays_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    noisy = "\x1b[91mnpm error\x1b[0m " + "word " * 400
    verdict = Verdict(VerdictName.IMAGE_FAILED, "The build failed at: " + noisy, "add it", (noisy,))
    show_validations([Validated("7", verdict)])
    out = capsys.readouterr().out
    assert "│ npm error word" in out and "→ Add it\n" in out
    assert max(map(len, out.splitlines())) < 300


def test_errors_are_sentences_whoever_wrote_them(capsys: pytest.CaptureFixture[str]) -> None:
    show_error.expected(UsageError("there is nothing", remedy="give something"))
    show_error.expected(UsageError("There is nothing.", remedy="berbench init makes it"))
    assert capsys.readouterr().err.splitlines() == [
        "berbench: there is nothing.",
        "  → Give something",
        "berbench: There is nothing.",
        "  → berbench init makes it",
    ]
