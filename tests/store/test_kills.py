"""Whatever moment a command is killed at, the next one finds the old state or the new one, whole."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from berbench.fingerprint import standing
from berbench.model.task import TaskFiles, TaskState
from berbench.store import Project, taskfolder
from berbench.store import project as project_module
from taskfiles import ended, in_child, make_block, make_files, make_inputs, unprove

OLD = make_files("7", description="old")
NEW = replace(make_files("7", description="new"), prompt=b"new", tests_patch=b"new", reference_patch=b"new")
EVENTS = frozenset({"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree", "os.chmod"})


@pytest.fixture
def project() -> Iterator[Project]:
    """In memory where that is possible: it is the order of steps that is tried here, a thousand times."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="bb-kills-", dir=memory if os.access(memory, os.W_OK) else None))
    yield Project(folder / "repo", locks=folder / "locks")
    shutil.rmtree(folder)


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Do `work` in a child that is killed before its `step`-th touch of the file system; False when it got through."""

    def counted() -> None:
        left = step

        def watch(event: str, _: object) -> None:
            nonlocal left
            if event in EVENTS:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        work()

    code = ended(in_child(counted))
    assert code in (0, -signal.SIGKILL)
    return code != 0


def strays(project: Project) -> list[str]:
    found = [path.name for path in project.tasks_folder.iterdir() if path.name.startswith(".")]
    return found + [path.name for path in project.folder("7").glob(".*")]


def test_C04_a_kill_at_any_step_of_replacing_a_task_leaves_the_old_or_the_new(project: Project) -> None:
    seen, step = [], 1
    project.create_task(OLD)
    while killed_at(step, lambda: project.create_task(NEW, force=True)):
        assert project.task_ids() == ("7",)
        read = project.read_task("7")
        assert read in (OLD, NEW)
        assert strays(project) == []
        seen.append(read == NEW)
        if read == NEW:
            project.create_task(OLD, force=True)
        step += 1
    assert step > 10
    assert {False, True} == set(seen), "no kill fell before, or none after, the moment of the change"
    assert project.read_task("7") == NEW


def test_C04_a_kill_at_any_step_of_a_first_create_leaves_nothing_or_all(project: Project) -> None:
    step = 1
    while killed_at(step, lambda: project.create_task(NEW)):
        ids = project.task_ids()
        if ids:
            assert project.read_task("7") == NEW
            break
        if project.tasks_folder.exists():
            assert list(project.tasks_folder.iterdir()) == []
        step += 1
    assert step > 8
    assert project.read_task("7") == NEW


def test_C04_a_kill_at_any_step_of_writing_a_validation_leaves_one_that_stands(project: Project) -> None:
    path = project.create_task(OLD) / "task.yaml"
    before, block, step, changed = path.read_bytes(), make_block(OLD), 1, False
    while killed_at(step, lambda: project.write_validation("7", block)):
        read: TaskFiles = project.read_task("7")
        assert strays(project) == []
        state = standing(read, make_inputs(read)).state
        assert state is (TaskState.FRESH if path.read_bytes() != before else TaskState.UNVALIDATED)
        changed = changed or state is TaskState.FRESH
        unprove(project, "7")
        assert path.read_bytes() == before
        step += 1
    assert step > 3
    assert project.read_task("7").task.validation == block


def test_kills_at_random_moments_of_a_busy_writer(project: Project) -> None:
    project.create_task(OLD)
    moments = random.Random(7)

    def busy() -> None:
        while True:
            project.create_task(NEW, force=True)
            project.write_validation("7", make_block(NEW))
            project.create_task(OLD, force=True)

    for _ in range(12):
        pid = in_child(busy)
        time.sleep(moments.uniform(0.005, 0.05))
        os.kill(pid, signal.SIGKILL)
        assert ended(pid) == -signal.SIGKILL
        assert project.task_ids() == ("7",)
        read = project.read_task("7")
        bare = replace(read, task=read.task.model_copy(update={"validation": None}))
        assert bare in (OLD, NEW)
        if read.task.validation is not None:
            assert standing(read, make_inputs(NEW)).state is TaskState.FRESH
        assert strays(project) == []


def test_a_reader_beside_a_busy_writer_never_sees_a_mixture(project: Project) -> None:
    project.create_task(OLD)

    def busy() -> None:
        while True:
            project.create_task(NEW, force=True)
            project.create_task(OLD, force=True)

    pid = in_child(busy)
    try:
        for _ in range(100):
            assert project.read_task("7") in (OLD, NEW)
            assert project.task_ids() == ("7",)
    finally:
        os.kill(pid, signal.SIGKILL)
        ended(pid)


def test_a_task_that_is_replaced_at_every_look_is_there_all_the_same(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often a reader comes between the two renames of others, it says no task is missing."""
    project.create_task(OLD)
    read, listed, held = taskfolder.read_folder, Project._listed, Project.lock
    locked = []

    @contextmanager
    def lock(self: Project, task_id: str) -> Iterator[None]:
        with held(self, task_id):
            locked.append(task_id)
            yield

    def between(folder: Path, task_id: str) -> TaskFiles:
        if not locked:
            raise FileNotFoundError(folder)
        return read(folder, task_id)

    monkeypatch.setattr(Project, "lock", lock)
    monkeypatch.setattr(project_module, "read_folder", between)
    assert project.read_task("7") == OLD and locked == ["7"]

    monkeypatch.setattr(Project, "_listed", lambda _: ())
    monkeypatch.setattr(project_module.placing, "unfinished", lambda _: frozenset({"7", "8", ".x"}))
    assert project.task_ids() == ("7",)
    monkeypatch.setattr(Project, "_listed", listed)
    assert project.task_ids() == ("7",)
