"""Plain `pytest` uses the cores there are: how many processes a run is worth, and where their files lie."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

MOST = 8  # a container says how many cores its host has, not how many are its own; more bring little
MEMORY = Path("/dev/shm")
ENOUGH = 1 << 30  # bytes free; a run of all tests takes a quarter at most


# Options that choose from the suite, want to be watched, or count in one process. Some come with a plug-in.
ALONE = ("keyword", "markexpr", "lf", "failedfirst", "newfirst", "stepwise", "usepdb", "trace", "collectonly")
ALONE += ("setupplan", "setuponly", "setupshow", "cov_source")


def processes(config: pytest.Config) -> int:
    """As many as there are cores for the whole suite; 0 for a choice of it, or where one asked otherwise.

    Workers take seconds to start, so that a file or a word is tried sooner without.
    """
    option = config.option
    if not config.pluginmanager.hasplugin("xdist") or hasattr(config, "workerinput"):
        return 0
    asked = option.numprocesses is not None or option.dist != "no" or bool(option.tx)
    alone = option.capture == "no" or any(getattr(option, name, None) for name in ALONE)
    if asked or alone or not _is_all(config):
        return 0
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST) if usable > 1 else 0


def _is_all(config: pytest.Config) -> bool:
    """Whether the arguments name the root or the folder of all tests, or nothing."""
    whole = {config.rootpath, *(config.rootpath / name for name in config.getini("testpaths"))}
    return all((config.invocation_params.dir / name).resolve() in whole for name in config.args)


def temp_root(wanted: str) -> str:
    """A folder in memory in place of `wanted` where there is room and programs may run: no test waits for a disk."""
    try:
        flags = os.statvfs(MEMORY).f_flag
        free = shutil.disk_usage(MEMORY).free
    except OSError:
        return wanted
    usable = os.access(MEMORY, os.W_OK | os.X_OK) and not flags & os.ST_NOEXEC and free >= ENOUGH
    return str(MEMORY) if usable else wanted
