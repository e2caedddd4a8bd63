"""Whether an engine answers, and which of berbench's containers and networks are there. For tests alone."""

from __future__ import annotations

import gc
import warnings
from functools import cache
from typing import Any

import docker
from docker.errors import DockerException

from berbench.engine.owner import OWNER, alive, this_process

_before: set[str] = set()


@cache
def trouble() -> str:
    """Why no engine answers, in one line; "" when one does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the client forgets its socket when nobody answers
        try:
            docker.from_env(timeout=20).close()  # asks for the API version
        except (DockerException, OSError) as error:
            return (str(error).splitlines() or [type(error).__name__])[0][:200]
        finally:
            gc.collect()
    return ""


def labelled() -> dict[str, tuple[str, str]]:
    """Containers (running or not) and networks that carry berbench's label: id → (kind and name, owner)."""
    client = docker.from_env(timeout=60)
    try:
        filters = {"label": OWNER}
        containers: list[dict[str, Any]] = client.api.containers(all=True, filters=filters)
        networks: list[dict[str, Any]] = client.api.networks(filters=filters)
    finally:
        client.close()
    found = {c["Id"]: (f"container {c['Names'][0].lstrip('/')}", c["Labels"][OWNER]) for c in containers}
    return found | {n["Id"]: (f"network {n['Name']}", n["Labels"][OWNER]) for n in networks}


def remember_what_is_there() -> None:
    """What other runs left or are using is not this session's."""
    if not trouble():
        _before.update(labelled())


def left_behind() -> list[str]:
    """What appeared since the session began and belongs to it, or to a process that is gone."""
    own = this_process()
    return sorted(
        f"{name} (owner {owner})"
        for id_, (name, owner) in labelled().items()
        if id_ not in _before and (owner == own or not alive(owner))
    )
