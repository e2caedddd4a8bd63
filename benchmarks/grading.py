"""A graded trial, with its canaries and evidence, against the same trial without either."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import Result
from benchmarks.validate import proven_task
from berbench.cli.wiring import workplace
from berbench.model.grading import GradeName
from berbench.stages.grading import Grader
from berbench.stages.trees import trees_of
from berbench.stages.verifier import Run

LENGTH_S = 1


def run(folder: Path) -> Iterator[Result]:
    """The ratio for a trial of one second."""
    root = folder / "grading"
    data = proven_task(root, LENGTH_S)
    with workplace(root, {"BERBENCH_DATA_DIR": str(data)}) as place:
        bench = place.bench(1)
        files = place.project.read_task("2")
        trees = trees_of(place.history, files)
        dockerfile = place.project.read_dockerfile(files.task.environment.dockerfile)
        grader = Grader(bench.verifier, files, dockerfile, trees)
        image = grader.image(lambda _: None)
        plain = files.task.model_copy(
            update={"verify": files.task.verify.model_copy(update={"evidence": "none"})}
        )

        def graded() -> None:
            found = grader.grade(image, {"candidate": trees.solved})["candidate"].grade
            assert found.name is GradeName.PASS, found
            assert not any("no canary" in reason for reason in found.reasons), found

        def bare() -> None:
            facts = bench.verifier.run(plain, image, {"candidate": Run(trees.solved)})["candidate"].facts
            assert facts.exit_code == 0, facts

        ours, theirs = measure.best(graded, bare, rounds=5)
        bench.verifier.executor.close()
    yield Result(
        f"graded trial / bare trial, {LENGTH_S} s of tests",
        ours / theirs,
        1.1,
        "x",
        f"{ours:.2f} s / {theirs:.2f} s",
    )
