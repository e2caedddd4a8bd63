"""Tasks for tests: small, complete, and proven when asked for."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from berbench.fingerprint import inputs_of, make_validation
from berbench.model.changes import LandedBy
from berbench.model.task import Source, Task, TaskFiles, Validation, Verify
from berbench.model.trial import Evidence, Facts, Outcome, Verdict, VerdictName
from berbench.store import Project
from berbench.yamledit import replace_block

BASE_TREE = "4" * 40
DOCKERFILE = b"FROM scratch\n"
BUILD_ARGS = (("BERBENCH_AS_OF", "2024-01-01"),)


@dataclass(frozen=True)
class Trialed:
    """A trial as the fingerprint sees it."""

    facts: Facts
    evidence: Evidence


def unprove(project: Project, task_id: str) -> None:
    """Take a task's proof away, as a hand would."""
    path = project.folder(task_id) / "task.yaml"
    path.write_bytes(replace_block(path.read_bytes(), "validation", b""))


def make_files(task_id: str = "7", **changes: Any) -> TaskFiles:
    """A task's files; `changes` replace fields of the task."""
    task = Task(
        id=task_id,
        source=Source(base_commit="a" * 40, landing_commit="0123456" * 5, landed_by=LandedBy.SQUASH),
        verify=Verify(command="python -m pytest tests/test_x.py", protected_paths=("tests/",)),
    ).model_copy(update=changes)
    return TaskFiles(task, b"Mend it.\n", b"tests\xff patch\r\n", b"reference patch ")


def make_inputs(files: TaskFiles) -> dict[str, str]:
    """Its inputs as they are now."""
    return inputs_of(files, base_tree=BASE_TREE, dockerfile=DOCKERFILE, build_args=BUILD_ARGS)


def make_block(files: TaskFiles, *tests: str) -> Validation:
    """An honest validation block."""
    failed, passed = ((Outcome.FAILED, 1),), ((Outcome.PASSED, 1), (Outcome.SKIPPED, 2))
    return make_validation(
        files.task.id,
        make_inputs(files),
        verdict=Verdict(
            VerdictName.VALIDATED, "", stands_on="pytest's report", fail_to_pass=tests or ("t::a",)
        ),
        base=Trialed(Facts("base", 1, seconds=1.23456), Evidence("junit", counts=failed)),
        reference=Trialed(
            Facts("reference", 0, image="sha256:1", engine="Docker 20.10"), Evidence("junit", counts=passed)
        ),
        validated_at=datetime(2024, 5, 1, 12, 30, 0, 123456, UTC),
    )


def proven(files: TaskFiles) -> TaskFiles:
    """The same with a block."""
    return replace(files, task=files.task.model_copy(update={"validation": make_block(files)}))


def in_child(work: Callable[[], object]) -> int:
    """Start a forked process that does `work`; its id. It ends with 0, or 1 and a traceback."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads, from Python 3.12
        pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(code)


def ended(pid: int) -> int:
    """Wait for a child: its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
