"""Whose fault was it? Pure functions from what an engine said to: the task's image, or the engine's world.

A failed command is a value, a broken world an exception. Neither can become a proof, so an unknown word in a
build's error is taken for the Dockerfile's fault: its text is shown, and a person can tell.
"""

from __future__ import annotations

import re

# A command of the Dockerfile that ran and failed. Looked at first: its text may hold any of the words below.
_COMMAND = re.compile(
    r"returned a non-zero code: \d+|did not complete successfully: exit code: \d+"
    r"|executor failed running \[.*\]: exit code: \d+",
    re.S,
)

# The world around the engine: registries, networks, disks. Never a task's result.
_WORLD = re.compile(
    r"toomanyrequests|too many requests|unauthorized|authentication required|incorrect username or password"
    r"|no basic auth credentials|no route to host|network is unreachable|connection refused|connection reset"
    r"|i/o timeout|TLS handshake timeout|Client\.Timeout|context deadline exceeded|deadline exceeded"
    r"|no such host|name resolution|server misbehaving|x509:|proxyconnect|unexpected EOF|: EOF"
    r"|status(?: code)?:? (?:429|5\d\d)|service unavailable|bad gateway"
    r"|no space left on device|disk quota exceeded|read-only file system|input/output error"
    r"|context canceled|cannot connect to the docker daemon|error during connect|buildx component is missing"
    r"|cannot allocate memory",
    re.I,
)

# A registry that asks to be asked again later, or is not itself for a moment.
_BUSY = re.compile(
    r"toomanyrequests|too many requests|status(?: code)?:? (?:429|50[0234])\b"
    r"|service (?:temporarily )?unavailable|bad gateway|gateway time-?out",
    re.I,
)

# A base image that does not exist is the Dockerfile's fault, even where the registry says so oddly.
_NO_SUCH_IMAGE = re.compile(
    r"manifest (for .* )?(unknown|not found)|manifest unknown|repository does not exist|pull access denied"
    r"|no match for platform|no matching manifest|invalid reference format|does not exist or no pull access"
    r"|: not found$|failed to resolve source metadata for .*: not found",
    re.I | re.M,
)

_DISK_FULL = re.compile(rb"no space left on device", re.I)


def world_broke(message: str) -> bool:
    """Whether a build's error tells of the engine's world and not of the Dockerfile."""
    if _COMMAND.search(message) or _NO_SUCH_IMAGE.search(message):
        return False
    return bool(_WORLD.search(message))


def is_busy(message: str) -> bool:
    """Whether a build's error tells of a registry that may well answer in a moment."""
    return world_broke(message) and _BUSY.search(message) is not None


def image_fault(message: str) -> str:
    """Why the image can't start a trial, from what the engine said; "" when the engine is at fault."""
    said = message.lower()
    if "exec format error" in said:
        return "the image is for another kind of processor"
    if "/bin/sh" in said and ("no such file" in said or "not found" in said or "permission denied" in said):
        return "the image has no usable /bin/sh"
    if "unable to find user" in said or "unable to find group" in said:
        return "the image's USER does not exist in it"
    if "chdir to cwd" in said or "working directory" in said:
        return "the image's user may not enter its WORKDIR"
    return ""


def too_little_memory(message: str) -> bool:
    """Whether a container could not start since its memory limit is too low for any process."""
    said = message.lower()
    return "oom-killed" in said or "minimum memory limit" in said or "memory limit too low" in said


def says_disk_full(log: bytes) -> bool:
    """Whether a log tells of a full disk."""
    return bool(_DISK_FULL.search(log))
