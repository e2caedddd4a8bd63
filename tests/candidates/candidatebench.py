"""A task on a real repository, and candidates as trees: what tests of the preparation stand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from berbench.history import GitHistory
from berbench.model.changes import TreeEntry
from berbench.model.task import TaskFiles
from berbench.split import classify
from berbench.stages.candidate import Prepared, prepare
from berbench.stages.trees import Trees, trees_of
from gitrepo import File, RepoBuilder
from taskfiles import make_files

Files = Mapping[str | bytes, File]
PATTERNS = ("tests/**",)

BASE: Files = {
    "src/app.py": b"x = 1\n",
    "src/other.py": b"y = 1\n",
    "tests/test_old.py": b"def test_old(): pass\n",
    "conftest.py": b"# base\n",
    "pyproject.toml": b'[project]\nname = "app"\n\n[tool.pytest.ini_options]\naddopts = "-ra"\n',
}
LANDED: Files = {
    "src/app.py": b"x = 2\n",
    "tests/test_new.py": b"from app import x\n\ndef test_new(): assert x == 2\n",
}


class CandidateBench:
    """A repository of a base and a landing, split by `patterns` into a task's patches."""

    def __init__(
        self,
        folder: Path,
        base: Files = BASE,
        landed: Files = LANDED,
        *,
        patterns: Sequence[str] = PATTERNS,
        **task: Any,
    ) -> None:
        self.repo = RepoBuilder(folder / "repo")
        self.repo.commit("Base", base)
        self.repo.branch("landing")
        self.repo.commit("Landing", landed)
        self.repo.branch("candidate", at="main")
        self.history = GitHistory(self.repo.path, scratch=folder)
        self.patterns = patterns
        base_tree = self.history.tree_of("main")
        split = classify(self.history.changes("main", "landing"), patterns)
        tests, reference = (
            self.history.make_tree(base_tree, side) for side in (split.tests, split.reference)
        )
        files = make_files(**task)
        source = files.task.source.model_copy(update={"base_commit": self.repo.resolve("main")})
        self.files = TaskFiles(
            files.task.model_copy(update={"source": source}),
            files.prompt,
            self.history.diff(base_tree, tests),
            self.history.diff(base_tree, reference),
        )
        self._trees_with: dict[tuple[tuple[str | bytes, File], ...], str] = {}
        self.trees: Trees = trees_of(self.history, self.files)

    def patch(self, changes: Files) -> bytes:
        """A candidate's patch: the base with these changes."""
        self.repo.branch("candidate", at="main")
        self.repo.commit("Candidate", changes)
        return self.history.diff("main", "candidate")

    def prepare(self, changes: Files | bytes) -> Prepared:
        """The candidate with these changes, or this patch, made ready for a trial."""
        patch = changes if isinstance(changes, bytes) else self.patch(changes)
        return prepare(self.history, self.files, self.trees, patch, self.patterns)

    def tree_with(self, changes: Files) -> str:
        """The hidden tests' tree with a candidate's changes put in, none of them dropped."""
        key = tuple(changes.items())
        if key not in self._trees_with:
            self.repo.branch("candidate", at="main")
            self.repo.commit("Candidate", changes)
            made = self.history.changes("main", "candidate")
            self._trees_with[key] = self.history.make_tree(self.trees.with_tests, made)
        return self._trees_with[key]

    def entries(self, tree: str) -> dict[str, TreeEntry]:
        """A tree's leaves by path."""
        return {entry.path: entry for entry in self.history.list_tree(tree)}

    def content(self, tree: str, path: str) -> bytes | None:
        """A file's bytes, None when it is not there."""
        return self.history.read(tree, [path]).get(path)
