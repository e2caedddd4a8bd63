"""`berbench --help` against the start of Python with typer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import BERBENCH, Result


def run(folder: Path) -> Iterator[Result]:
    """The ratio of both."""
    typer = [sys.executable, "-c", "import typer"]
    ours, bare = measure.best(
        lambda: measure.run([*BERBENCH, "--help"], folder, folder),
        lambda: measure.run(typer, folder, folder),
        rounds=7,
    )
    yield Result("berbench --help / import typer", ours / bare, 2, "x", f"{ours:.3f} s / {bare:.3f} s")
