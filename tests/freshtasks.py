"""A repository with proven tasks, without an engine: the proofs are honest in form and bind today's inputs."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from berbench.fingerprint import make_validation
from berbench.history import GitHistory
from berbench.model.changes import LandedBy
from berbench.model.task import Config, Source, Task, TaskFiles, Verify
from berbench.model.trial import Evidence, Facts, Outcome, Verdict, VerdictName
from berbench.stages.standing import inputs_today
from berbench.store import DataDir, Project
from gitrepo import RepoBuilder
from taskfiles import Trialed


def proven_repository(
    root: Path, tasks: Iterable[str], *, tags: Mapping[str, tuple[str, ...]] | None = None
) -> Project:
    """A repository at `root` whose tasks of these ids are fresh. Built once a session, copied for each test."""
    template = _template(tuple((task_id, (tags or {}).get(task_id, ())) for task_id in tasks))
    shutil.copytree(template, root, symlinks=True)
    return _project(root)


def _project(root: Path) -> Project:
    return Project(root, locks=DataDir.of(root, "", os.environ).locks)


@cache
def _template(tasks: tuple[tuple[str, tuple[str, ...]], ...]) -> Path:
    root = Path(tempfile.mkdtemp(prefix="fresh-")) / "repository"
    builder = RepoBuilder(root)
    base = builder.commit("Start", {"a.py": b"x = 1\n", "Dockerfile.berbench": b"FROM scratch\n"})
    landing = builder.commit("Fix x (#7)", {"a.py": b"x = 2\n"})
    (root / "Dockerfile.berbench").write_bytes(b"FROM scratch\n")
    source = Source(base_commit=base, landing_commit=landing, landed_by=LandedBy.SQUASH)
    history = GitHistory(root)
    try:
        project = _project(root)
        project.write_config(Config())
        for task_id, tags in tasks:
            task = Task(id=task_id, source=source, verify=Verify(command="true"), tags=tags)
            project.create_task(TaskFiles(task, b"Mend it.\n", b"tests\n", b"reference\n"))
            prove(project, history, task_id)
    finally:
        history.close()
    return root


def prove(project: Project, history: GitHistory, task_id: str) -> None:
    """Give a task a proof of its inputs as they are."""
    files = project.read_task(task_id)
    block = make_validation(
        task_id,
        inputs_today(project, history, files),
        verdict=Verdict(VerdictName.VALIDATED, "", stands_on="the report", fail_to_pass=("t::a",)),
        base=Trialed(Facts("base", 1), Evidence("junit", counts=((Outcome.FAILED, 1),))),
        reference=Trialed(Facts("reference", 0), Evidence("junit", counts=((Outcome.PASSED, 1),))),
        validated_at=datetime(2026, 1, 2, tzinfo=UTC),
    )
    project.write_validation(task_id, block)
