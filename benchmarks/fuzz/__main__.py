"""`python -m benchmarks.fuzz [--seconds N] [TARGET…]`: each target for so long, one after another.

Inputs are changed by a grammar of habits (lines, numbers, runs); with `--atheris`, and that package installed, the
code that they reach leads the way as well. Every input that breaks a rule is cut down and kept in `--found`, one
for each place in the code; the exit code is 1 when there is any. What was mended belongs into tests/fuzz/corpus.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.fuzz.limits import MAX_BYTES, SECONDS, Failure, smaller, try_input
from benchmarks.fuzz.mutation import mutate
from benchmarks.fuzz.targets import TARGETS, Target, name_of_input

_MEMORY = 6 << 30  # bytes of address space: what asks for more is stopped
_STUCK_S = 120  # beyond its time, a worker hangs where no limit reaches it


class Session:
    """One target under fire in this process."""

    def __init__(self, target: Target, found: Path, seed: int, slack: float) -> None:
        self.target, self.found, self.slack = target, found, slack
        self.dice = random.Random(seed)
        self.pool = target.inputs()
        self.seen: set[str] = set()
        self.inputs = 0
        found.mkdir(parents=True, exist_ok=True)
        self._current = os.open(found / "current", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)

    def next(self) -> bytes:
        """A fresh input."""
        return mutate(self.dice, self.dice.choice(self.pool), self.pool, self.target.words)

    def fire(self, data: bytes) -> None:
        """One input; what it breaks is cut down and kept."""
        self.inputs += 1
        os.pwrite(self._current, data, 0)  # what a process that is killed was at
        os.ftruncate(self._current, len(data))
        memory = len(data) > 4096 and self.inputs % 8 == 0
        failure = self._try(data, memory=memory)
        if failure is None or failure.key in self.seen:
            return
        if failure.kind != "raises" and self._try(data, memory=memory) is None:
            return  # the machine's hiccup
        self.seen.add(failure.key)
        self._keep(data, failure, memory)

    def _try(self, data: bytes, *, memory: bool = False) -> Failure | None:
        return try_input(self.target.check, data, seconds=SECONDS * self.slack, memory=memory)

    def _keep(self, data: bytes, failure: Failure, memory: bool) -> None:
        def same(shorter: bytes) -> bool:
            again = self._try(shorter, memory=memory)
            return again is not None and again.key == failure.key

        data = smaller(data, same, rounds=400 if failure.kind == "raises" else 25)
        name = name_of_input(data)
        (self.found / name).write_bytes(data)
        (self.found / f"{name}.txt").write_text(
            f"{failure.key}\n{failure.detail}", encoding="utf-8", errors="replace"
        )
        print(f"  {self.target.name}: {failure.key} ({len(data)} bytes, {name})", flush=True)


def work(session: Session, seconds: float) -> None:
    """Fire at one target for so long."""
    for data in session.pool:
        session.fire(data)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        session.fire(session.next())


def work_by_coverage(name: str, make: Callable[[Target], Session], seconds: float) -> None:
    """The same, led by the code that inputs reach. Never returns: libFuzzer ends the process."""
    import atheris  # type: ignore[import-not-found]

    session = make(TARGETS[name])
    folder = session.found / "reached"
    folder.mkdir(exist_ok=True)
    for number, data in enumerate(session.pool):
        (folder / f"seed-{number}").write_bytes(data)

    def change(data: bytes, room: int, seed: int) -> bytes:
        if seed % 3 == 0:
            return bytes(atheris.Mutate(data, room))
        return mutate(random.Random(seed), data, session.pool, session.target.words)[:room]

    options = [
        f"-max_total_time={int(seconds)}",
        f"-max_len={MAX_BYTES}",
        "-timeout=100",
        "-rss_limit_mb=0",
        "-verbosity=0",
    ]
    sys.stderr.flush()
    atheris.Setup(
        [sys.argv[0], *options, "-print_final_stats=1", str(folder)], session.fire, custom_mutator=change
    )
    atheris.Fuzz()


def run(name: str, given: argparse.Namespace) -> int:
    """One target in a process of its own; how many places it broke."""
    found = given.found / name
    command = [sys.executable, "-m", "benchmarks.fuzz", "--worker", name, "--seconds", str(given.seconds)]
    command += [
        "--found",
        str(given.found),
        "--seed",
        str(given.seed),
        *(["--atheris"] if given.atheris else []),
    ]
    print(f"{name}:", flush=True)
    try:
        subprocess.run(command, timeout=given.seconds + _STUCK_S, check=False)
    except subprocess.TimeoutExpired:
        stuck = (found / "current").read_bytes()
        (found / name_of_input(stuck)).write_bytes(stuck)
        (found / f"{name_of_input(stuck)}.txt").write_text(
            "hangs where no limit reaches it\n", encoding="utf-8"
        )
    return len(list(found.glob("*.txt")))


def main() -> int:
    """Fire at all targets, or those named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument(
        "--found", type=Path, default=Path("fuzz-found"), help="where inputs that break a rule go"
    )
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--atheris", action="store_true", help="let the reached code lead the way")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if unknown := sorted(set(given.targets) - TARGETS.keys()):
        parser.error(f"no such target: {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    if given.worker:
        [name] = given.targets
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))

        def make(target: Target) -> Session:
            return Session(target, given.found / name, given.seed, 4.0 if given.atheris else 1.0)

        if given.atheris:
            work_by_coverage(name, make, given.seconds)
        session = make(TARGETS[name])
        work(session, given.seconds)
        print(f"  {name}: {session.inputs} inputs, {len(session.seen)} places", flush=True)
        return 0
    return 1 if sum(run(name, given) for name in given.targets or TARGETS) else 0


if __name__ == "__main__":
    sys.exit(main())
