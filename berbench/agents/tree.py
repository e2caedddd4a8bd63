"""The tree that an agent sees: the base tree without what is hidden and without berbench's own folder."""

from __future__ import annotations

from collections.abc import Iterable

from wcmatch import glob

from berbench.history.door import History
from berbench.model.changes import ABSENT, Change

OWN_FOLDER = ".ber/"
_FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.CASE


def visible_tree(history: History, base: str, hide: Iterable[str] = ()) -> str:
    """Tree id of `base` without the paths that `hide` names: globs, or folders that end in a slash."""
    patterns = [pattern + "**" if pattern.endswith("/") else pattern for pattern in hide]
    entries = history.list_tree(base)
    gone = [
        Change(entry.path, entry.mode, ABSENT, entry.id, "0" * len(entry.id))
        for entry in entries
        if entry.path.startswith(OWN_FOLDER)
        or (patterns and glob.globmatch(entry.path, patterns, flags=_FLAGS))
    ]
    return history.make_tree(base, gone) if gone else history.tree_of(base)
