"""`task scan` against one bare `git log` over the same commits, and its memory over histories of two lengths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import BERBENCH, Result

VERB = ["task", "scan", "--json", "--no-api", "--limit", "200"]
SCAN = [*BERBENCH, *VERB]
COMMITS = 20_000
MANY = 80_000  # where the fixed cost of a start no longer counts


def run(folder: Path) -> Iterator[Result]:
    """Ratio of times over the whole history, and of peak memory over ten times as many commits."""
    data = folder / "scan-data"
    long = measure.long_history(folder / "scan-long", COMMITS, every=COMMITS // 150)
    # As many candidates in each: what they cost is fixed, what commits cost grows.
    short = measure.long_history(folder / "scan-short", COMMITS // 10, every=COMMITS // 1500)
    yield _ratio(long, data, COMMITS)
    yield _ratio(measure.long_history(folder / "scan-many", MANY, every=MANY // 150), data, MANY)
    more, less = measure.peak_memory(VERB, long, data), measure.peak_memory(VERB, short, data)
    yield Result("peak memory, 10 times the commits", more / less, 1.1, "x", f"{more:.0f} MB / {less:.0f} MB")


def _ratio(root: Path, data: Path, commits: int) -> Result:
    log = ["git", "log", "--first-parent", "-m", "--raw"]
    ours, bare = measure.best(lambda: measure.run(SCAN, root, data), lambda: measure.run(log, root, data))
    times = f"{ours:.2f} s / {bare:.2f} s, {commits} commits"
    return Result("task scan / git log --first-parent -m --raw", ours / bare, 1.5, "x", times)
