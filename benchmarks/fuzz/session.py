"""One target under fire, in a process of its own."""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path

from benchmarks.fuzz.limits import SECONDS, Failure, smaller, try_input
from benchmarks.fuzz.mutation import mutate
from benchmarks.fuzz.targets import TARGETS, name_of_input

_LONGEST_LED = 1 << 13  # inputs led by coverage: it grows with short ones


class Session:
    """One target under fire in this process."""

    def __init__(self, name: str, found: Path, seed: int, slack: float) -> None:
        target = TARGETS[name]
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

    def report(self) -> None:
        """How often this process fired."""
        spent = time.process_time()
        print(
            f"  {self.target.name}: {self.inputs} inputs, {len(self.seen)} places, {spent:.0f} s", flush=True
        )

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


def by_habits(session: Session, seconds: float) -> None:
    """Fire changed inputs for so much processor time, so that a busy machine tries as many as an idle one."""
    for data in session.pool:
        session.fire(data)
    end = time.process_time() + seconds
    while time.process_time() < end:
        session.fire(session.next())
    session.report()


def by_coverage(session: Session, seconds: float) -> None:
    """The same, led by the code that inputs reach. Never returns: libFuzzer would not, so the process ends."""
    import atheris  # type: ignore[import-not-found]

    folder = session.found / "reached"
    folder.mkdir(exist_ok=True)
    for number, data in enumerate(session.pool):
        (folder / f"seed-{number}").write_bytes(data)

    def change(data: bytes, room: int, seed: int) -> bytes:
        if seed % 3 == 0:
            return bytes(atheris.Mutate(data, room))
        return mutate(random.Random(seed), data, session.pool, session.target.words)[:room]

    end = time.process_time() + seconds

    def fire(data: bytes) -> None:
        session.fire(data)
        if time.process_time() > end:
            session.report()
            os._exit(0)

    # Its own limit counts the time of day, and would end the target on a busy machine.
    options = (f"-max_len={_LONGEST_LED}", "-timeout=100000", "-rss_limit_mb=0", "-verbosity=0")
    atheris.Setup([sys.argv[0], *options, str(folder)], fire, custom_mutator=change)
    atheris.Fuzz()
