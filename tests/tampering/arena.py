"""A subject made real: a repository, a task proven in containers, and candidates graded side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from berbench.engine.door import Engine
from berbench.engine.executor import LocalExecutor
from berbench.history import GitHistory
from berbench.model.changes import LandedBy, Repository
from berbench.model.task import Environment, LimitsDocument, Source, Task, TaskFiles, Verify
from berbench.model.trial import VerdictName
from berbench.stages.init import initialise
from berbench.stages.lint import LintDoors
from berbench.stages.validate import Bench, validate
from berbench.stages.verifier import Verifier, image_keys
from berbench.stages.verify import Verified, verify
from berbench.store import DataDir, Project
from gitrepo import RepoBuilder
from tampering.candidate import Candidate, Subject

DOCKERFILE = "Dockerfile.berbench"
PROMPT = b"The middle of an even number of values is the mean of the middle two; no values are a mistake.\n"


class Arena:
    """One subject's repository with a proven task in it."""

    def __init__(self, subject: Subject, root: Path, engine: Engine, jobs: int) -> None:
        self.subject = subject
        self.jobs = jobs
        self.builder = RepoBuilder(root / subject.name)
        # The Dockerfile is the user's own, beside the repository's files.
        self.base = self.builder.commit("Start", dict(subject.base))
        self.landing = self.builder.commit("Mend the middle (#1)", {**subject.tests, **subject.fix})
        self.builder.checkout()
        (self.builder.path / DOCKERFILE).write_text(subject.dockerfile, encoding="utf-8")
        self.history = GitHistory(self.builder.path)
        self.data = DataDir.of(
            self.builder.path, "", {"BERBENCH_DATA_DIR": str(root / "data" / subject.name)}
        )
        self.project = Project(self.builder.path, locks=self.data.locks)
        nowhere = Repository()
        initialise(
            self.history,
            self.project,
            remote="origin",
            repository=nowhere,
            base_image="",
            today=date(2026, 1, 2),
        )
        self.engine = engine
        self.executor = LocalExecutor(engine, jobs)
        self.verifier = Verifier(self.history, engine, self.executor, self.data)
        config = self.project.read_config()
        lint = LintDoors(self.history, self.project, config, nowhere, "refs/heads/main")
        self.bench = Bench(lint, self.data, self.verifier, lambda: datetime.now(UTC))
        self.project.create_task(self._files())

    def _files(self) -> TaskFiles:
        subject, history = self.subject, self.history
        base = history.tree_of(self.base)
        with_tests = self.tree(subject.tests)
        limits = LimitsDocument(memory=subject.memory, cpus=1)
        task = Task(
            id="1",
            source=Source(base_commit=self.base, landing_commit=self.landing, landed_by=LandedBy.SQUASH),
            environment=Environment(dockerfile=DOCKERFILE, as_of="off"),
            verify=Verify(
                command=subject.command, timeout_s=subject.timeout_s, protected_paths=subject.protected
            ),
            limits=limits,
        )
        return TaskFiles(
            task,
            PROMPT,
            history.diff(base, with_tests),
            history.diff(with_tests, history.tree_of(self.landing)),
        )

    def tree(self, files: Mapping[Any, Any]) -> str:
        """Tree id of the base with `files` put in."""
        branch = self.builder.current
        self.builder.branch("candidate", self.base)
        commit = self.builder.commit("Candidate", dict(files))
        self.builder.switch(branch)
        return self.history.tree_of(commit)

    def prove(self) -> None:
        """Validate the task; an AssertionError shows why it can't be proven."""
        (done,) = validate(self.bench, ["1"], jobs=1, say=lambda *_: None)
        assert done.verdict.name is VerdictName.VALIDATED, done.verdict

    def patch(self, candidate: Candidate) -> bytes:
        """What a candidate hands in."""
        if candidate.patch is not None:
            return candidate.patch
        return self.history.diff(self.history.tree_of(self.base), self.tree(candidate.files))

    def grade(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, Verified]]:
        """Each candidate graded as `task verify` does it, as many at a time as there are workers."""
        patches = [self.patch(candidate) for candidate in candidates]  # the builder serves one thread
        with ThreadPoolExecutor(self.jobs) as pool:
            graded = pool.map(lambda patch: verify(self.bench, "1", patch, lambda _: None), patches)
            yield from zip(candidates, graded, strict=True)

    def close(self) -> None:
        """End the workers, remove the image."""
        self.executor.close()
        keys = image_keys(self.history, self.project, ["1"])
        for leftover in self.engine.leftovers():
            if leftover.kind == "image" and leftover.key in keys:
                self.engine.remove(leftover)
        self.history.close()
