"""Remove what berbench made and no longer needs: by its own label or name, and by age. Nothing else.

Containers and networks go when their owner process is gone; images when no task needs their key; temporary
folders and old records when nobody touched them for long enough.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from berbench.engine.door import Engine, Leftover, Say
from berbench.errors import BerbenchError
from berbench.store.files import shown
from berbench.store.machine import OldFolder

SCHEMA = "berbench.clean/1"
# A folder need not name the process that works in it, so a young one stays whatever age was asked for.
FOLDER_GRACE_S = 6 * 3600.0


@dataclass(frozen=True, slots=True)
class Removed:
    """One thing that was removed, or would be."""

    kind: str  # container | network | image | temporary | record
    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What was removed, what was kept because it is in use or needed, and what refused to go."""

    removed: tuple[Removed, ...] = ()
    kept: int = 0
    failed: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """One line a thing removed, for people."""
        return tuple(_line(one) for one in self.removed)

    @property
    def freed_bytes(self) -> int:
        """How much that frees."""
        return sum(one.size_bytes for one in self.removed)


def clean(
    engine: Engine | None,
    folders: Iterable[OldFolder],
    *,
    older_than_s: float,
    keep_keys: Collection[str] | None,
    now_s: float,
    remove_folder: Callable[[OldFolder], None],
    dry_run: bool = False,
    say: Say,
) -> Cleaned:
    """Remove what is older than `older_than_s`. `engine` is None when none answers: only folders go then.

    `keep_keys` are the image keys that today's tasks need; None when they can't be told, and then every image
    stays. What refuses to go is told in `failed` and stops nothing.
    """
    due: list[tuple[Removed, Callable[[], None]]] = []
    kept = 0
    for leftover in engine.leftovers() if engine is not None else ():
        if engine is not None and _unneeded(leftover, now_s - older_than_s, keep_keys):
            one = Removed(leftover.kind, leftover.name or leftover.id, leftover.size_bytes)
            due.append((one, partial(engine.remove, leftover)))
        else:
            kept += 1
    for folder in folders:
        if folder.touched_s <= now_s - max(older_than_s, FOLDER_GRACE_S):
            due.append(
                (Removed(folder.kind, shown(folder.path), folder.size_bytes), partial(remove_folder, folder))
            )
        else:
            kept += 1
    return _carry_out(due, kept, dry_run, say)


def _carry_out(
    due: Iterable[tuple[Removed, Callable[[], None]]], kept: int, dry_run: bool, say: Say
) -> Cleaned:
    removed: list[Removed] = []
    refused: dict[Removed, str] = {}
    waiting = list(due)
    while waiting:
        again = []
        for one, remove in waiting:
            try:
                if not dry_run:
                    remove()
            except BerbenchError as error:
                refused[one] = f"{one.kind} {one.name}: {error.message}"
                again.append((one, remove))
            else:
                refused.pop(one, None)
                removed.append(one)
        # An image can't go before those that were built on it: another round, as long as rounds get anywhere.
        waiting = again if len(again) < len(waiting) else []
    for line in refused.values():
        say(f"could not remove {line}")
    return Cleaned(tuple(removed), kept, tuple(refused.values()))


def _unneeded(leftover: Leftover, before_s: float, keep_keys: Collection[str] | None) -> bool:
    if leftover.in_use or leftover.created_s > before_s:
        return False
    if leftover.kind == "image":
        return keep_keys is not None and bool(leftover.key) and leftover.key not in keep_keys
    return True


def _line(one: Removed) -> str:
    size = f" ({_size(one.size_bytes)})" if one.size_bytes else ""
    return f"{one.kind} {one.name}{size}"


def _size(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def document(cleaned: Cleaned) -> dict[str, Any]:
    """What `berbench clean --json` prints."""
    return {
        "schema": SCHEMA,
        "removed": [{"kind": one.kind, "name": one.name, "bytes": one.size_bytes} for one in cleaned.removed],
        "kept": cleaned.kept,
        "failed": list(cleaned.failed),
        "freed_bytes": cleaned.freed_bytes,
    }
