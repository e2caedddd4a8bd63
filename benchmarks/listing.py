"""`task list` on 500 proven tasks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import BERBENCH, Result
from berbench.fingerprint import inputs_of, make_validation
from berbench.history import GitHistory
from berbench.model.trial import Evidence, Facts, Verdict, VerdictName
from berbench.stages.standing import build_arguments_of
from berbench.store import DataDir, Project
from berbench.verdicts import Trialed

TASKS = 500


def run(folder: Path) -> Iterator[Result]:
    """Wall time of the whole command."""
    root, data = one_task(folder, "list")
    proven_copies(root, data, TASKS)
    (ours,) = measure.best(lambda: measure.run([*BERBENCH, "task", "list", "--json"], root, data))
    yield Result("task list", ours, 1, "s", f"{TASKS} tasks, each with its proof")


def one_task(folder: Path, name: str) -> tuple[Path, Path]:
    """A repository with a task to make copies of, and its data folder."""
    root = measure.long_history(folder / name, 2_000, every=100)
    data = folder / f"{name}-data"
    issue = folder / "issue.md"
    issue.write_text(
        "# Case is wrong\n\nA case should be itself, whichever number it is given.\n", encoding="utf-8"
    )
    measure.run([*BERBENCH, "task", "create", "1000", "--no-api", "--issue-file", str(issue)], root, data)
    return root, data


def proven_copies(root: Path, data: Path, number: int) -> dict[str, str]:
    """Copies of one task under other ids, each with a block and a record of its own; the fingerprint of each."""
    project = Project(root, locks=data / "locks")
    history = GitHistory(root)
    try:
        files = project.read_task("1000")
        tree = history.tree_of(files.task.source.base_commit)
        kept = DataDir.of(root, history.remote_url("origin"), {"BERBENCH_DATA_DIR": str(data)})
    finally:
        history.close()
    dockerfile = project.read_dockerfile("Dockerfile.berbench")
    inputs = inputs_of(
        files, base_tree=tree, dockerfile=dockerfile, build_args=build_arguments_of(files.task)
    )
    verdict = Verdict(
        VerdictName.VALIDATED, "", fail_to_pass=("tests/test_all.py::test_1000",), stands_on="a report"
    )
    base, reference = (
        Trialed(Facts(name, code), Evidence()) for name, code in (("base", 1), ("reference", 0))
    )
    made_of = {}
    for copy in range(number):
        task = files.task.model_copy(update={"id": f"copy-{copy}"})
        made = type(files)(task, files.prompt, files.tests_patch, files.reference_patch)
        project.create_task(made)
        block = make_validation(
            task.id, inputs, verdict=verdict, base=base, reference=reference, validated_at=datetime.now(UTC)
        )
        project.write_validation(task.id, block)
        kept.save_validation(task.id, block.validated_at, verdict, {}, fingerprint=block.fingerprint)
        made_of[task.id] = block.fingerprint
    return made_of
