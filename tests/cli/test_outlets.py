"""What is printed reaches whoever listens, and nobody's not listening changes what was done or its exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from berbench.cli.show_tasks import show_list
from berbench.model.task import Standing, TaskState
from berbench.stages.standing import Listed
from gitrepo import RepoBuilder

ODD = "tests/test_e\u0301\nx.py"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with settings and one pull request, #5, whose test file has a name for the patient."""
    repo = RepoBuilder(tmp_path_factory.mktemp("outlets") / "r")
    repo.commit("Begin", {"a.py": b"x = 1\n", "tests/test_a.py": b"def test(): pass\n"})
    repo.commit("Change (#5)", {"a.py": b"x = 2\n", ODD: b"def test_b(): assert 1\n"})
    (repo.path / "Dockerfile.berbench").write_text("FROM scratch\n")
    assert _berbench(repo.path, "init").returncode == 0
    assert _berbench(repo.path, "task", "create", "5", "--no-api").returncode == 0
    return repo.path


def _berbench(root: Path, *args: str, redirect: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    data = {"BERBENCH_DATA_DIR": str(root / ".git" / "data")}
    script = f'"$@" {redirect}'
    return subprocess.run(
        ["bash", "-c", script, "-", sys.executable, "-m", "berbench", "-C", str(root), *args],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **data, **env},
        check=False,
    )


@pytest.mark.parametrize("verb", [("task", "list", "--json"), ("task", "show", "5")])
def test_a_reader_that_goes_away_changes_no_exit_code(place: Path, verb: tuple[str, ...]) -> None:
    said = _berbench(place, *verb, redirect="| true; exit ${PIPESTATUS[0]}")
    assert (said.returncode, said.stderr) == (0, "")


def test_streams_that_the_caller_closed_are_done_without(place: Path) -> None:
    assert _berbench(place, "task", "list", redirect="<&- >&- 2>&-").returncode == 0


def test_an_impatient_person_sees_no_traceback() -> None:
    """Ctrl-C while the program is still loading, when nothing can answer it yet."""
    command = [sys.executable, "-X", "importtime", "-m", "berbench", "--help"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        assert started.stderr is not None
        loaded = [
            line for line in iter(started.stderr.readline, "") if not _names(line, "berbench.errors", started)
        ]
    assert not any("Traceback" in line or "KeyboardInterrupt" in line for line in loaded)
    assert started.returncode == -signal.SIGINT


def _names(line: str, module: str, started: subprocess.Popen[str]) -> bool:
    """Whether the line tells that the module is loaded; the process gets a Ctrl-C then."""
    if not line.endswith(f" {module}\n"):
        return False
    started.send_signal(signal.SIGINT)
    return True


def test_a_result_that_could_not_be_written_is_an_error(place: Path) -> None:
    said = _berbench(place, "init", redirect=">/dev/full")
    assert said.returncode == 3
    assert "No space left" in said.stderr and "→" in said.stderr


def test_a_diagnosis_that_could_not_be_written_is_none(place: Path) -> None:
    assert _berbench(place, "task", "show", "no-such", redirect="2>/dev/full").returncode == 2


def test_a_stream_of_few_characters_gets_the_rest_as_escapes(place: Path) -> None:
    said = _berbench(place, "task", "show", "5", PYTHONIOENCODING="ascii")
    assert said.returncode == 0, said.stderr
    assert "\\u2212" in said.stdout
    assert "test_e\\u0301\\nx.py\n" in said.stdout  # and a name stays in its line


def test_a_locale_that_is_not_utf8_changes_no_name_and_no_byte(place: Path) -> None:
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    patch = place / ".ber" / "bench" / "tasks" / "5" / "tests.patch"
    before = patch.read_bytes()
    said = _berbench(place, "task", "create", "5", "--no-api", "--force", **locale)
    assert said.returncode == 0, said.stderr
    assert patch.read_bytes() == before


@pytest.mark.parametrize("columns", ["0", "20", "wide"])
def test_no_width_hides_a_state(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    listed = Listed("12345", Standing(TaskState.UNVALIDATED, reason="it was never proven"))
    show_list([listed])
    shown = capsys.readouterr().out
    assert "12345" in shown and "unvalidated  " in shown
