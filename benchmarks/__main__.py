"""`python -m benchmarks [NAME…]`: run all benchmarks, or those named."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks import audit, cells, create, grading, listing, report, scan, start, validate

ALL = {
    "start": start,
    "scan": scan,
    "create": create,
    "listing": listing,
    "validate": validate,
    "grading": grading,
    "audit": audit,
    "cells": cells,
    "report": report,
}


def main(names: list[str]) -> int:
    """Print one line per measurement; 1 when a budget is missed."""
    unknown = sorted(set(names) - ALL.keys())
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(ALL)}", file=sys.stderr)
        return 2
    missed = 0
    with tempfile.TemporaryDirectory(prefix="bb-bench-") as folder:
        for name in names or ALL:
            for result in ALL[name].run(Path(folder)):
                print(result, flush=True)
                missed += result.missed
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
