"""The process in which one target is under fire: NAME FOUND SEED SECONDS, and `atheris` or nothing."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_MEMORY = 6 << 30  # bytes of address space: what asks for more is stopped
_SLOWER = 4.0  # code that tells where it is


def main(name: str, found: str, seed: str, seconds: str, way: str = "") -> None:
    """Fire, and say how often."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    if way == "atheris":
        import atheris  # type: ignore[import-not-found]

        with atheris.instrument_imports(include=["berbench"]):
            from benchmarks.fuzz import session
        session.by_coverage(session.Session(name, Path(found), int(seed), _SLOWER), float(seconds))
    from benchmarks.fuzz import session

    session.by_habits(session.Session(name, Path(found), int(seed), 1.0), float(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
