"""Whether an engine answers, and which of berbench's containers and networks are there. For tests alone."""

from __future__ import annotations

import gc
import warnings
from functools import cache
from typing import Any

import docker
from docker.errors import DockerException

LABEL = "berbench.owner"

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


def labelled() -> dict[str, str]:
    """Containers (running or not) and networks that carry berbench's label: id → "kind name (owner)"."""
    client = docker.from_env(timeout=60)
    try:
        filters = {"label": LABEL}
        containers: list[dict[str, Any]] = client.api.containers(all=True, filters=filters)
        networks: list[dict[str, Any]] = client.api.networks(filters=filters)
    finally:
        client.close()
    found = {c["Id"]: ("container", c["Names"][0].lstrip("/"), c["Labels"][LABEL]) for c in containers}
    found |= {n["Id"]: ("network", n["Name"], n["Labels"][LABEL]) for n in networks}
    return {id_: f"{kind} {name} (owner {owner})" for id_, (kind, name, owner) in found.items()}


def remember_what_is_there() -> None:
    """What other runs left or are using is not this session's."""
    if not trouble():
        _before.update(labelled())


def new_ones() -> dict[str, str]:
    """What has appeared since the session began."""
    return {id_: text for id_, text in labelled().items() if id_ not in _before}
