"""`task create` offline in a history of 20,000 commits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import BERBENCH, Result

COMMITS = 20_000


def run(folder: Path) -> Iterator[Result]:
    """Wall time of the whole command, for a pull request in the middle of the history."""
    root = measure.long_history(folder / "create", COMMITS, every=100)
    data = folder / "create-data"
    issue = folder / "issue.md"
    issue.write_text(
        "# Case is wrong\n\nA case should be itself, whichever number it is given.\n", encoding="utf-8"
    )
    verb = [*BERBENCH, "task", "create", str(COMMITS // 2), "--no-api", "--force", "--issue-file", str(issue)]
    (ours,) = measure.best(lambda: measure.run(verb, root, data))
    yield Result("task create, offline", ours, 1, "s", f"{COMMITS} commits")
