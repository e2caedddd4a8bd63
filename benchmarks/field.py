"""Harvest and validate the best-ranked pull requests of real repositories, with no hand edit at all.

    python benchmarks/field.py --base-image berbench/base --top 10 --out report.json CLONE [CLONE ...]

Every CLONE is a local clone with an `origin`; its `.ber/` and drafted Dockerfile are made anew. For each: `init`,
`scan --no-api`, `create` of the best candidates, `validate --narrow`. Prints a table of verdicts per project and
writes all outcomes to the report, from which docs/field-report.md is told.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ENVIRONMENT = {"image-failed", "setup-failed", "reference-fails"}


def berbench(repository: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """One command of the product, as a user would give it."""
    command = [sys.executable, "-m", "berbench", "-C", str(repository), *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def harvest(clone: Path, *, base_image: str, top: int, limit: int, jobs: int) -> dict[str, Any]:
    """One project: what was scanned, created and proven, and why not."""
    shutil.rmtree(clone / ".ber", ignore_errors=True)
    (clone / "Dockerfile.berbench").unlink(missing_ok=True)
    begun = berbench(clone, "init", "--base-image", base_image)
    if begun.returncode:
        return {"project": clone.name, "failed": begun.stderr.strip()}
    scanned = json.loads(berbench(clone, "task", "scan", "--json", "--no-api", "--limit", str(limit)).stdout)
    refused: dict[str, str] = {}
    ids: list[str] = []
    for candidate in scanned["candidates"]:
        if len(ids) == top:
            break
        pr = str(candidate["pr"])
        made = berbench(clone, "task", "create", pr, "--no-api")
        if made.returncode:
            refused[pr] = made.stderr.strip().splitlines()[0]
        else:
            ids.append(pr)
    started = time.monotonic()
    proven = berbench(clone, "task", "validate", *ids, "--narrow", "--json", "--jobs", str(jobs))
    tasks = json.loads(proven.stdout)["tasks"] if proven.stdout else []
    return {
        "project": clone.name,
        "considered": scanned["considered"],
        "candidates": len(scanned["candidates"]),
        "refused": refused,
        "seconds": round(time.monotonic() - started),
        "tasks": [
            {
                key: task[key]
                for key in (
                    "id",
                    "verdict",
                    "reason",
                    "narrowed_command",
                    "seconds",
                    "stands_on",
                    "details",
                    "logs",
                )
            }
            for task in tasks
        ],
        "stderr": proven.stderr[-2000:] if not tasks else "",
    }


def show(project: dict[str, Any]) -> None:
    """The project's row and its unproven tasks."""
    if "failed" in project:
        print(f"{project['project']}: {project['failed']}")
        return
    counts = Counter(task["verdict"] for task in project["tasks"])
    total = len(project["tasks"]) or 1
    environment = sum(counts[name] for name in ENVIRONMENT)
    print(
        f"{project['project']}: {project['considered']} considered, {len(project['tasks'])} created, "
        f"{counts['validated'] / total:.0%} validated, {environment / total:.0%} for the environment's sake "
        f"({dict(counts)}) in {project['seconds']} s"
    )
    for task in project["tasks"]:
        if task["verdict"] != "validated":
            print(f"  {task['id']:>7} {task['verdict']}: {task['reason'][:160]}")
    for pr, reason in project["refused"].items():
        print(f"  {pr:>7} not created: {reason[:160]}")
    if project["stderr"]:
        print(project["stderr"])


def main() -> None:
    """Harvest every clone that is named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--base-image", default="berbench/base")
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    projects = []
    for clone in given.clones:
        projects.append(
            harvest(clone, base_image=given.base_image, top=given.top, limit=given.limit, jobs=given.jobs)
        )
        show(projects[-1])
        if given.out:
            given.out.write_text(json.dumps(projects, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
