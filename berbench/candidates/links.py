"""Where symbolic links of a tree lead, told from their targets alone. Nothing is followed on any disk."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

_MOST_HOPS = 40  # what kernels allow


def destination(path: str, target: str, links: Mapping[str, str]) -> str | None:
    """The path in the tree that a link at `path` leads to, through other links (path → target) on the way.

    "" is the top. None when it leaves the tree at any point, or leads round in circles.
    """
    reached = [part for part in posixpath.dirname(path).split("/") if part]
    waiting = _parts(target)
    hops = 0
    if waiting is None:
        return None
    while waiting:
        part = waiting.pop(0)
        if part == "..":
            if not reached:
                return None
            reached.pop()
            continue
        reached.append(part)
        through = links.get("/".join(reached))
        if through is not None:
            hops += 1
            further = _parts(through)
            if hops > _MOST_HOPS or further is None:
                return None
            reached.pop()
            waiting = further + waiting
    return "/".join(reached)


def _parts(target: str) -> list[str] | None:
    if not target or target.startswith("/") or "\0" in target:
        return None
    return [part for part in target.split("/") if part not in ("", ".")]
