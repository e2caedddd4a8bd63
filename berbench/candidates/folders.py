"""The folders that paths of a tree stand in."""

from __future__ import annotations

from collections.abc import Iterable


def folders(path: str) -> list[str]:
    """The folders above a path, topmost first."""
    return [path[:at] for at, character in enumerate(path) if character == "/"]


def all_folders(paths: Iterable[str]) -> frozenset[str]:
    """The folders above any of the paths."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)
