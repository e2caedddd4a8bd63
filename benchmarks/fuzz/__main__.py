"""`python -m benchmarks.fuzz [--seconds N] [TARGET…]`: each target for so long, one after another.

Inputs are changed by a grammar of habits (lines, numbers, runs); with `--atheris`, and that package installed, the
code that they reach leads the way as well. Every input that breaks a rule is cut down and kept in `--found`, one
for each place in the code; the exit code is 1 when there is any. What was mended belongs into tests/fuzz/corpus.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.fuzz.targets import TARGETS, name_of_input

_STUCK = 10  # times its processor time, and then a worker hangs where no limit reaches it


def run(name: str, given: argparse.Namespace) -> int:
    """One target in a process of its own; how many places it broke."""
    found = given.found / name
    words = [name, str(found), str(given.seed), str(given.seconds), *(["atheris"] if given.atheris else [])]
    print(f"{name}:", flush=True)
    try:
        command = [sys.executable, "-m", "benchmarks.fuzz.worker", *words]
        subprocess.run(command, timeout=given.seconds * _STUCK + 60, check=False)
    except subprocess.TimeoutExpired:
        stuck = (found / "current").read_bytes()
        name_of_it = name_of_input(stuck)
        (found / name_of_it).write_bytes(stuck)
        (found / f"{name_of_it}.txt").write_text("hangs where no limit reaches it\n", encoding="utf-8")
    return len(list(found.glob("*.txt")))


def main() -> int:
    """Fire at all targets, or those named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=float, default=60.0, help="of processor time, for each target")
    parser.add_argument(
        "--found", type=Path, default=Path("fuzz-found"), help="where inputs that break a rule go"
    )
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--atheris", action="store_true", help="let the reached code lead the way")
    given = parser.parse_args()
    if unknown := sorted(set(given.targets) - TARGETS.keys()):
        parser.error(f"no such target: {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    return 1 if sum([run(name, given) for name in given.targets or TARGETS]) else 0


if __name__ == "__main__":
    sys.exit(main())
