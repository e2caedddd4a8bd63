from __future__ import annotations

import errno
import fcntl
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from berbench.errors import StoreError
from berbench.fingerprint import standing
from berbench.model.task import TaskState
from berbench.store import Project, locks
from taskfiles import ended, in_child, make_block, make_files, make_inputs


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "repo", locks=tmp_path / "locks")
    made.create_task(make_files())
    return made


def holder(project: Project, ready: Path, seconds: float) -> int:
    def hold() -> None:
        with project.lock("7"):
            ready.touch()
            time.sleep(seconds)

    pid = in_child(hold)
    while not ready.exists():
        assert os.waitpid(pid, os.WNOHANG) == (0, 0), "the holder died"
        time.sleep(0.002)
    return pid


def test_a_waiting_command_says_so_and_then_goes_on(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "QUIET_WAIT_S", 0.05)
    pid = holder(project, tmp_path / "ready", 0.4)
    said: list[str] = []
    with project.lock("7", say=said.append):
        assert ended(pid) == 0
    assert said == [f"task 7 is in use by process {pid}; waiting until it is done"]


def test_the_lock_of_a_killed_process_is_free(project: Project, tmp_path: Path) -> None:
    pid = holder(project, tmp_path / "ready", 60)
    os.kill(pid, signal.SIGKILL)
    ended(pid)
    said: list[str] = []
    with project.lock("7", say=said.append):
        project.update_prompt("7", b"mine")
    assert said == []


def test_threads_keep_each_other_out_and_one_may_nest(project: Project) -> None:
    inside, most = [0], [0]

    def work() -> None:
        for _ in range(5):
            with project.lock("7"), project.lock("7"):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(0.001)
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_locks_of_two_tasks_are_two(project: Project) -> None:
    with project.lock("a"), project.lock("A"):
        assert len(list((project.root.parent / "locks").glob("*.lock"))) == 3


def test_two_writers_of_one_task_leave_both_changes(project: Project) -> None:
    files = project.read_task("7")
    pids = [
        in_child(lambda: [project.write_validation("7", make_block(files, f"t::{n}")) for n in range(8)]),
        in_child(lambda: [project.update_verify_command("7", "x" * (n + 1)) for n in range(8)]),
    ]
    assert [ended(pid) for pid in pids] == [0, 0]
    read = project.read_task("7")
    assert read.task.verify.command == "x" * 8
    assert read.task.validation is not None
    assert read.task.validation.fail_to_pass == ("t::7",)
    assert standing(read, make_inputs(read)).state is TaskState.STALE


def test_two_creators_of_one_task_leave_one_of_them(project: Project) -> None:
    files = [make_files("7", description=who * 200) for who in "ab"]

    def create(number: int) -> None:
        for _ in range(8):
            project.create_task(files[number], force=True)

    pids = [in_child(lambda number=number: create(number)) for number in (0, 1)]
    assert [ended(pid) for pid in pids] == [0, 0]
    assert project.read_task("7") in files
    assert [path.name for path in project.tasks_folder.iterdir()] == ["7"]


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_told_and_no_lock_of_another_kind_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    held = locks.Locks(tmp_path)
    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(StoreError, match="can't lock files"), held.hold("7"):
        pass
    with pytest.raises(StoreError, match="can't lock files"), held.hold_if_free("7"):
        pass
    monkeypatch.undo()
    with held.hold_if_free("7") as free:
        assert free
