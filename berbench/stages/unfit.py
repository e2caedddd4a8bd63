"""Why no task can be made of a landing, told early: a list should name none that `create` refuses."""

from __future__ import annotations

from collections.abc import Sequence

from berbench.model.changes import Split
from berbench.ranking.signs import changed_lines
from berbench.split import LFS_POINTER, added_links, problems


def ruled_out(split: Split, max_files: int | None) -> str:
    """Why the split alone rules a landing out; "" when it does not."""
    if not split.tests:
        return "changes no tests" if split.reference else "changes nothing"
    if not split.reference:
        return "changes only tests"
    if max_files is not None and len(split.reference) > max_files:
        return f"changes {len(split.reference)} implementation files, more than the {max_files} allowed"
    return _first(problems(split))


def obstacle(split: Split, patch: bytes) -> str:
    """Why the contents rule it out, as far as the text of the change tells; "" when they don't."""
    lfs: set[str] = set()
    firsts: dict[str, str] = {}  # the first new line of each file: all that a link consists of
    for path, sign, line in changed_lines(patch):
        if sign != " " and line.startswith(LFS_POINTER):
            lfs.add(path)
        if sign == "+":
            firsts.setdefault(path, line)
    links = {change.path: firsts[change.path] for change in added_links(split) if change.path in firsts}
    return _first(problems(split, lfs=lfs, links=links))


def _first(found: Sequence[str]) -> str:
    return found[0].removeprefix("it ") if found else ""
