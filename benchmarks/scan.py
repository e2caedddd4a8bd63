"""`task scan` against one bare `git log` over the same commits, and its memory over histories of two lengths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import BERBENCH, Result

VERB = ["task", "scan", "--json", "--no-api", "--limit", "200"]
SCAN = [*BERBENCH, *VERB]
COMMITS = 20_000


def run(folder: Path) -> Iterator[Result]:
    """Ratio of times over the whole history, and of peak memory over ten times as many commits."""
    long = measure.long_history(folder / "scan-long", COMMITS, every=COMMITS // 150)
    short = measure.long_history(
        folder / "scan-short", COMMITS // 10, every=COMMITS // 1500
    )  # as many candidates
    data = folder / "scan-data"
    log = ["git", "log", "--first-parent", "-m", "--raw"]
    ours, bare = measure.best(lambda: measure.run(SCAN, long, data), lambda: measure.run(log, long, data))
    times = f"{ours:.2f} s / {bare:.2f} s, {COMMITS} commits"
    yield Result("task scan / git log --first-parent -m --raw", ours / bare, 1.5, "x", times)
    more, less = measure.peak_memory(VERB, long, data), measure.peak_memory(VERB, short, data)
    yield Result("peak memory, 10 times the commits", more / less, 1.1, "x", f"{more:.0f} MB / {less:.0f} MB")
