"""The value a proposal is, and what all languages' proposers ask of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from posixpath import dirname, relpath

from berbench.model.changes import Snapshot
from berbench.runners.shell import quote_path


@dataclass(frozen=True, slots=True)
class Proposal:
    """A verify command, its runner's row name, and why it was chosen. `command` is "" when none can be told."""

    command: str
    runner: str
    reasons: tuple[str, ...] = ()


def ancestors(path: str) -> Iterable[str]:
    """The folders of a path from the innermost to "" (the root)."""
    folder = dirname(path)
    while folder:
        yield folder
        folder = dirname(folder)
    yield ""


def inside(folder: str, name: str) -> str:
    """`name` below `folder`; "" is the root."""
    return f"{folder}/{name}" if folder else name


def nearest(snapshot: Snapshot, path: str, names: tuple[str, ...]) -> str | None:
    """The innermost folder above `path` that holds one of the files, or None."""
    paths = set(snapshot.paths)
    return next((f for f in ancestors(path) if any(inside(f, name) in paths for name in names)), None)


def files_beside(
    snapshot: Snapshot, changed: Iterable[str], is_test: Callable[[str], bool]
) -> tuple[str, ...]:
    """Test files of the innermost folder above the changed paths that holds any, at most twenty."""
    folders = {dirname(path) for path in changed}
    found: set[str] = set()
    for folder in folders:
        for above in (folder, *(f for f in ancestors(folder) if f)):
            prefix = f"{above}/" if above else ""
            near = [path for path in snapshot.paths if path.startswith(prefix) and is_test(path)]
            if near and above:
                found.update(near)
                break
    return tuple(sorted(found)) if len(found) <= 20 else ()


def within(folder: str, command: str) -> str:
    """The command run in a folder of the tree."""
    return f"cd {quote_path(folder)} && {command}" if folder else command


def relative(paths: Iterable[str], folder: str) -> tuple[str, ...]:
    """Paths as seen from a folder that holds them."""
    return tuple(relpath(path, folder) if folder else path for path in paths)


def quoted(paths: Iterable[str]) -> str:
    """Paths as shell words, none of which can be taken for an option."""
    return " ".join(quote_path(path) for path in paths)


def files(count: int) -> str:
    """A count of changed test files in words."""
    return "1 changed test file" if count == 1 else f"{count} changed test files"
