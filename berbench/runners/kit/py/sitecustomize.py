# ruff: noqa: PTH100, PTH120
"""Started by Python itself, because berbench puts this folder on PYTHONPATH.

Loads the recorder, takes this folder off the path again, and hands over to the sitecustomize that would have
run without it. Keeps to old syntax: it runs under whatever Python the project has.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        importlib.import_module("berbench_unittest").install(here)
    finally:
        sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_start()
