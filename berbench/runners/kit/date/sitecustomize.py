# ruff: noqa: PTH100, PTH120
"""Started by Python itself in trials at another date, because berbench puts this folder on PYTHONPATH.

Under libfaketime 0.9.10 with a true monotonic clock, `time.sleep` of Python 3.11 and later fails. Where it does,
it gets back the way it worked before 3.11. Then the sitecustomize runs that would have run without this one.
"""

import importlib.machinery
import importlib.util
import os
import select
import sys
import time


def _sleep(seconds: float) -> None:
    """Suspend execution for a number of seconds."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    select.select([], [], [], seconds)


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    try:
        time.sleep(0.000001)
    except OSError:
        time.sleep = _sleep  # type: ignore[assignment]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_start()
