"""Every verb as a user gives it: what is printed where, and the exit code. No engine is needed here."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from said import Said

from berbench.cli.app import main
from berbench.sample import issue_text
from berbench.store import Project
from gitrepo import RepoBuilder
from samplecopy import sample_at


class Berbench:
    """Runs verbs in this process, on one repository."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.root, self._capsys, self._patch = root, capsys, patch

    def __call__(self, *args: str, at: Path | None = None) -> Said:
        self._patch.setattr(sys, "argv", ["berbench", "-C", str(at or self.root), *args])
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        try:
            with pytest.raises(SystemExit) as ended:
                main()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        out, err = self._capsys.readouterr()
        assert "Traceback" not in out + err
        assert isinstance(ended.value.code, int)
        return Said(ended.value.code, out, err)


@pytest.fixture
def berbench(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Berbench]:
    """The sample repository, not initialised."""
    root = tmp_path / "tally"
    sample_at(root)
    yield Berbench(root, capsys, monkeypatch)


@pytest.fixture
def begun(berbench: Berbench) -> Berbench:
    """The sample repository with settings."""
    assert berbench("init").code == 0
    return berbench


def test_init_writes_once_and_never_overwrites(berbench: Berbench) -> None:
    first = berbench("init")
    assert first.code == 0 and "wrote .ber/bench/config.yaml" in first.out
    config = berbench.root / ".ber" / "bench" / "config.yaml"
    config.write_text(config.read_text() + "# mine\n")
    second = berbench("init")
    assert second.code == 0 and "kept .ber/bench/config.yaml" in second.out
    assert config.read_text().endswith("# mine\n")


def test_init_drafts_a_dockerfile_where_there_is_none(berbench: Berbench) -> None:
    dockerfile = berbench.root / "Dockerfile.berbench"
    dockerfile.unlink()
    said = berbench("init", "--base-image", "berbench/base")
    assert "drafted Dockerfile.berbench" in said.out
    text = dockerfile.read_text()
    assert text.startswith("# DRAFT")
    assert "ARG BASE_IMAGE=berbench/base" in text


def test_scan_prints_one_document_of_the_promised_shape(begun: Berbench) -> None:
    said = begun("task", "scan", "--json")
    assert said.code == 0
    document = said.document
    assert list(document) == ["schema", "repository", "head", "considered", "candidates", "rejected"]
    assert document["schema"] == "berbench.scan/1"
    assert list(document["candidates"][0]) == [
        "pr",
        "title",
        "landing_commit",
        "base_commit",
        "landed_by",
        "merged_at",
        "issues",
        "tests",
        "reference",
        "score",
        "reasons",
    ]
    assert all(row["reason"] for row in document["rejected"])


def test_scan_since_a_date_leaves_out_what_is_older(begun: Berbench) -> None:
    everything = begun("task", "scan", "--json").document
    newer = begun("task", "scan", "--json", "--since", everything["candidates"][0]["merged_at"]).document
    assert 0 < newer["considered"] < everything["considered"]


def test_scan_for_people_says_why(begun: Berbench) -> None:
    said = begun("task", "scan", "--verbose")
    assert "an issue states the problem" in said.out
    assert "changes only tests" in said.out


@pytest.mark.parametrize(
    "args",
    [
        ("task", "scan", "--limit", "0"),
        ("task", "scan", "--limit", "201"),
        ("task", "scan", "--limit", "many"),
        ("task", "scan", "--since", "nonsense"),
        ("task", "skan"),
        ("task", "create"),
        ("task", "create", "twelve"),
        ("task", "create", "https://github.com/somebody/else/pull/8"),
        ("task", "validate"),
        ("task", "validate", "8", "--all"),
        ("task", "validate", "no-such-task"),
        ("task", "show", "../../etc"),
        ("task", "lint", "no-such-task"),
        ("schema", "nothing"),
        ("clean", "--older-than", "soon"),
        (),
    ],
)
def test_what_can_not_be_meant_is_a_usage_error_with_a_remedy(begun: Berbench, args: tuple[str, ...]) -> None:
    said = begun(*args)
    assert said.code == 2
    assert said.out == ""
    assert "→" in said.err or "Usage:" in said.err


def test_without_settings_the_remedy_is_init(berbench: Berbench) -> None:
    said = berbench("task", "scan")
    assert said.code == 2
    assert "berbench init" in said.err


def test_without_test_patterns_no_landing_is_called_untested(begun: Berbench) -> None:
    config = begun.root / ".ber" / "bench" / "config.yaml"
    config.write_text("schema: berbench.config/1\n")
    said = begun("task", "scan", "--json")
    assert said.code == 2 and said.out == ""
    assert "harvest.test_patterns is empty" in said.err


def test_outside_a_repository_says_so(berbench: Berbench, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    for args in (("init",), ("task", "scan"), ("task", "list"), ("task", "create", "8")):
        said = berbench(*args, at=plain)
        assert said.code == 2
        assert "not inside a git repository" in said.err


def test_clean_needs_no_repository(
    berbench: Berbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{_closed_port()}")
    said = berbench("clean", "--dry-run", "--json", at=plain)
    assert said.code == 0
    assert said.document["schema"] == "berbench.clean/1"


def _closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_a_repository_with_no_commits_says_so(berbench: Berbench, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    subprocess.run(["git", "init", "-q", str(empty)], check=True)
    said = berbench("init", at=empty)
    assert said.code == 2
    assert "→" in said.err


def test_a_main_branch_that_can_not_be_found_can_be_named(berbench: Berbench, tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "odd", branch="plans/b")
    repo.commit("Begin", {"a.py": b"x = 1\n"})
    said = berbench("init", at=repo.path)
    assert said.code == 2 and "berbench init --main-branch NAME" in said.err
    assert berbench("init", "--main-branch", "plans/b", at=repo.path).code == 0
    assert berbench("task", "scan", at=repo.path).code == 2  # nothing looked like a test
    assert "main_branch: plans/b" in (repo.path / ".ber" / "bench" / "config.yaml").read_text()


def test_an_endless_issue_file_is_refused(begun: Berbench) -> None:
    said = begun("task", "create", "8", "--no-api", "--issue-file", "/dev/zero")
    assert said.code == 2
    assert "larger than" in said.err


def test_a_shallow_clone_names_the_command_that_completes_it(berbench: Berbench, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    url = f"file://{berbench.root}"
    subprocess.run(["git", "clone", "-q", "--depth", "2", url, str(shallow)], check=True)
    assert berbench("init", at=shallow).code == 0
    assert "git fetch --unshallow" in berbench("task", "scan", "--json", at=shallow).err
    said = berbench("task", "create", "2", "--no-api", at=shallow)
    assert said.code == 2
    assert "git fetch --unshallow" in said.err


def test_a_task_from_creation_to_list(begun: Berbench, tmp_path: Path) -> None:
    issue = tmp_path / "issue.md"
    issue.write_text(issue_text("7.md"))
    created = begun("task", "create", "8", "--issue-file", str(issue), "--no-api")
    assert created.code == 0
    assert "verify.command" in created.out and "Review before validating" in created.out
    assert begun("task", "lint", "8").code == 0
    shown = begun("task", "show", "8")
    assert "python -m pytest tests/test_words.py" in shown.out
    assert begun("task", "show", "8", "--json").document["state"] == "unvalidated"
    listed = begun("task", "list", "--json").document
    assert listed["schema"] == "berbench.tasks/1"
    assert [(row["id"], row["state"], row["changed"]) for row in listed["tasks"]] == [
        ("8", "unvalidated", [])
    ]
    assert "unvalidated" in begun("task", "list").out
    again = begun("task", "create", "8", "--issue-file", str(issue), "--no-api")
    assert again.code == 2
    assert "--force" in again.err
    assert begun("task", "create", "8", "--issue-file", str(issue), "--no-api", "--force").code == 0


def test_lint_finds_a_leak_and_fix_takes_it_out(begun: Berbench) -> None:
    begun("task", "create", "4", "--no-api")
    prompt = begun.root / ".ber" / "bench" / "tasks" / "4" / "prompt.md"
    prompt.write_text("Lines are counted wrong, see pull request #4, please mend the counting.\n")
    said = begun("task", "lint", "4", "--json")
    assert said.code == 1
    assert any(row["severity"] == "error" for row in said.document["problems"])
    begun("task", "lint", "4", "--fix")
    assert "#4" not in prompt.read_text()
    assert begun("task", "lint", "4").code == 0


def test_a_broken_document_costs_its_own_task_alone(begun: Berbench) -> None:
    begun("task", "create", "4", "--no-api")
    begun("task", "create", "8", "--no-api")
    path = begun.root / ".ber" / "bench" / "tasks" / "4" / "task.yaml"
    path.write_text(path.read_text().replace("timeout_s", "timeuot_s", 1))
    states = {row["id"]: row["state"] for row in begun("task", "list", "--json").document["tasks"]}
    assert states == {"4": "broken", "8": "unvalidated"}
    shown = begun("task", "show", "4")
    assert shown.code == 2
    assert "timeuot_s" in shown.err and "timeout_s" in shown.err


def test_schema_is_a_json_schema(berbench: Berbench) -> None:
    for name in ("task", "config", "validation"):
        document = berbench("schema", name).document
        assert "properties" in document


# The Docker client leaves the socket of a refused connection to the garbage collector.
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_absent_engine_is_exit_code_3_with_the_remedy(
    begun: Berbench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun("task", "create", "8", "--no-api")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    said = begun("task", "validate", "8")
    assert said.code == 3
    assert "→" in said.err
    doctor = begun("doctor", "--json")
    assert doctor.code == 1
    engine = next(row for row in doctor.document["findings"] if row["name"] == "engine")
    assert not engine["ok"] and engine["remedy"]
    assert begun("task", "list").code == 0
    gc.collect()


def test_names_that_no_terminal_likes_are_escaped(berbench: Berbench, tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "odd")
    repo.commit("Begin", {"a.py": b"x = 1\n", "tests/test_a.py": b"def test(): pass\n"})
    odd = os.fsdecode(b"tests/test_\xff\x1b[31m.py")
    repo.commit("Change (#5)", {"a.py": b"x = 2\n", odd: b"def test_b(): assert 1\n"})
    assert berbench("init", at=repo.path).code == 0
    said = berbench("task", "create", "5", "--no-api", at=repo.path)
    assert said.code == 0, said.err
    assert "\x1b" not in said.out
    assert berbench("task", "show", "5", at=repo.path).code == 0


def test_the_program_runs_as_a_module(berbench: Berbench) -> None:
    command = [sys.executable, "-m", "berbench", "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout.startswith("berbench ")


def test_a_signal_ends_the_command_where_errors_of_single_tasks_are_forgiven(
    begun: Berbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun("task", "create", "8", "--no-api")

    def stopped_meanwhile(project: Project, task_id: str) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(Project, "read_task", stopped_meanwhile)
    said = begun("task", "list", "--json")
    assert (said.code, said.out) == (130, "")
    assert "Stopped." in said.err


def test_options_against_luck_that_can_not_be_meant_are_one_clear_sentence(begun: Berbench) -> None:
    assert begun("task", "create", "4", "--no-api").code == 0
    task = begun.root / ".ber" / "bench" / "tasks" / "4" / "task.yaml"
    task.write_text(task.read_text().replace("evidence: auto", "evidence: none"))
    for words, said in (
        ("--repeat 0", "'--repeat'"),
        ("--repeat many", "'--repeat'"),
        ("--repeat 101", "'--repeat'"),
        ("--seed 0", "'--seed'"),
        ("--clock nonsense", "'nonsense' is no way to move the clock"),
        ("--clock +0d", "no way to move the clock"),
        ("--clock +999999d", "at most 50 years"),
        ("--clock +40y", "no way to move the clock"),
        ("--max-age abc", "'abc' is no age"),
        ("4 --max-age=", "--max-age is empty"),
        ("4 --clock=", "--clock is empty"),
        ("--max-age 30d --all", "--max-age chooses among all tasks"),
        ("--max-age 30d 4", "--max-age chooses among all tasks"),
        ("--stale-only --all", "one way"),
        ("4 --shuffle", "can't be shuffled: verify.evidence is none"),
        ("4 --seed 3", "can't be shuffled: verify.evidence is none"),
    ):
        ended = begun("task", "validate", *words.split())
        assert (ended.code, ended.out) == (2, ""), words
        assert said in ended.err, words
        assert "→" in ended.err, words


def test_a_default_of_repeats_that_is_none_names_its_key(begun: Berbench) -> None:
    config = begun.root / ".ber" / "bench" / "config.yaml"
    assert "repeat: 1" in config.read_text()
    config.write_text(config.read_text().replace("repeat: 1", "repeat: 0"))
    ended = begun("task", "validate", "--all")
    assert ended.code == 2 and "`validate.repeat` must be at least 1" in ended.err


def test_where_there_is_no_task_the_next_step_is_said_and_needs_no_engine(begun: Berbench) -> None:
    for words in ("--stale-only", "--stale", "--all", "--max-age 30d"):
        ended = begun("task", "validate", *words.split())
        assert (ended.code, ended.out) == (0, "No tasks yet. next: berbench task scan\n"), words
