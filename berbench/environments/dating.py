"""The language version of a task: the official image of the landing's day, where the Dockerfile builds on one."""

from __future__ import annotations

import re
from datetime import date

from berbench.environments.languages import language_image
from berbench.model.changes import Snapshot

_DEFAULT = re.compile(rb"^[ \t]*ARG[ \t]+BASE_IMAGE=[\"']?([^\s\"']+)", re.MULTILINE | re.IGNORECASE)


def dated_arguments(dockerfile: bytes, snapshot: Snapshot, day: date) -> dict[str, str]:
    """`{"BASE_IMAGE": …}` for the manifests of the landing and its day, or {} where the default should stand.

    The default stands when the Dockerfile names no image of the same official family: then somebody chose it.
    """
    found = _DEFAULT.search(dockerfile)
    if found is None:
        return {}
    default = found[1].decode("utf-8", "replace")
    dated = language_image(snapshot, day)
    if not dated or dated == default or _family(dated) != _family(default):
        return {}
    return {"BASE_IMAGE": dated}


def _family(image: str) -> str:
    return image.partition("@")[0].rpartition(":")[0] or image
