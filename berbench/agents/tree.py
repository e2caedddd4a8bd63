"""The tree that an agent sees: the base tree without what is hidden and without berbench's own folder."""

from __future__ import annotations

from collections.abc import Iterable

from berbench.history.door import History
from berbench.model.changes import ABSENT, Change
from berbench.split import matcher

OWN_FOLDER = ".ber/"


def visible_tree(history: History, base: str, hide: Iterable[str] = ()) -> str:
    """Tree id of `base` without the paths that `hide` names. Its patterns mean what they mean everywhere else:
    one that is read otherwise here than by lint would leave an answer in the agent's sight."""
    is_hidden = matcher(tuple(hide))
    gone = [
        Change(entry.path, entry.mode, ABSENT, entry.id, "0" * len(entry.id))
        for entry in history.list_tree(base)
        if entry.path.startswith(OWN_FOLDER) or is_hidden(entry.path)
    ]
    return history.make_tree(base, gone) if gone else history.tree_of(base)
