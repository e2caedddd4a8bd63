"""Who made a container: a label that tells a live process from a dead one, on this host and since this boot.

Form: `host/boot/pid/start`. A process number alone would be reused; with its start time (clock ticks since
boot, `proc(5)`) it is unique. An owner on another host can't be looked up from here and counts as alive.
"""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path

from berbench.process import process_space

TASK = "berbench.task"
TRIAL = "berbench.trial"
RUN = "berbench.run"
OWNER = "berbench.owner"
KEY = "berbench.key"
TREE = "berbench.tree"
PLATFORM = "berbench.platform"


def this_process() -> str:
    """The owner label of the running process."""
    pid = os.getpid()
    return f"{_host()}/{_boot()}/{pid}/{_start_of(pid) or 0}"


def alive(owner: str) -> bool:
    """Whether the process behind a label may still be there. Labels that can't be read count as alive."""
    parts = owner.rsplit("/", 3)
    if len(parts) != 4 or not parts[2].isdigit():
        return True
    host, boot, pid, start = parts
    if host != _host():
        return True
    if boot != _boot():
        return False
    now = _start_of(int(pid))
    return now is not None and start in ("0", str(now))


@cache
def _host() -> str:
    # Two containers may share a host name and an engine; their process numbers don't mean the same.
    return f"{socket.gethostname()}+{process_space()}".replace("/", "_")


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"


def _start_of(pid: int) -> int | None:
    """Start time in clock ticks since boot; 0 where it can't be told; None when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except FileNotFoundError:
        return None if Path("/proc/self/stat").exists() else _probe(pid)
    except OSError:
        return 0
    fields = stat.rpartition(b")")[2].split()  # the name before it may hold anything
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def _probe(pid: int) -> int | None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return 0
