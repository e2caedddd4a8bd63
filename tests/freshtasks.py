"""A repository with proven tasks, without an engine: the proofs are honest in form and bind today's inputs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
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
    root: Path, tasks: Iterable[str], *, tags: dict[str, tuple[str, ...]] | None = None
) -> Project:
    """A repository at `root` whose tasks of these ids are fresh."""
    builder = RepoBuilder(root)
    base = builder.commit("Start", {"a.py": b"x = 1\n", "Dockerfile.berbench": b"FROM scratch\n"})
    landing = builder.commit("Fix x (#7)", {"a.py": b"x = 2\n"})
    (root / "Dockerfile.berbench").write_bytes(b"FROM scratch\n")
    history = GitHistory(root)
    try:
        project = Project(root, locks=DataDir.of(root, "", {}).locks)
        project.write_config(Config())
        for task_id in tasks:
            source = Source(base_commit=base, landing_commit=landing, landed_by=LandedBy.SQUASH)
            task = Task(
                id=task_id, source=source, verify=Verify(command="true"), tags=(tags or {}).get(task_id, ())
            )
            files = TaskFiles(task, b"Mend it.\n", b"tests\n", b"reference\n")
            project.create_task(files)
            prove(project, history, task_id)
    finally:
        history.close()
    return project


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
