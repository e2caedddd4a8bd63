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
    yield _ratio(long, data, f"{COMMITS} commits")
    # The worst that a history can be: every commit may be a landing, so git must compare for all of them.
    named = measure.long_history(folder / "scan-named", COMMITS, every=COMMITS // 150, named=True)
    yield _ratio(named, data, f"{COMMITS} commits, all of them pull requests")
    many = measure.long_history(folder / "scan-many", MANY, every=MANY // 150)
    yield _ratio(many, data, f"{MANY} commits")
    more, less = measure.peak_memory(VERB, long, data), measure.peak_memory(VERB, short, data)
    yield Result("peak memory, 10 times the commits", more / less, 1.1, "x", f"{more:.0f} MB / {less:.0f} MB")


def _ratio(root: Path, data: Path, history: str) -> Result:
    log = ["git", "log", "--first-parent", "-m", "--raw"]
    ours, bare = measure.best(
        lambda: measure.run(SCAN, root, data), lambda: measure.run(log, root, data), rounds=5
    )
    times = f"{ours:.2f} s / {bare:.2f} s, {history}"
    return Result("task scan / git log --first-parent -m --raw", ours / bare, 1.5, "x", times)
