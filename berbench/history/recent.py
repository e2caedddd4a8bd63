"""What git said of objects that never change, kept for a while: each question costs a process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

V = TypeVar("V")

_IDS = (40, 64)  # digits of a full id


def is_fixed(name: str) -> bool:
    """Whether a name means the same object for ever: a full id, no branch."""
    return len(name) in _IDS and not name.strip("0123456789abcdef")


class Recent:
    """The last answers, by question. Long ones, as `length` counts, are not kept. Safe to use from several threads."""

    def __init__(self, most: int, longest: int, length: Callable[[Any], int] = len) -> None:
        self._most, self._longest, self._length = most, longest, length
        self._known: OrderedDict[Hashable, object] = OrderedDict()
        self._lock = Lock()

    def about(self, names: tuple[str, ...], make: Callable[[], V], *more: Hashable) -> V:
        """The answer to a question (`more`) about objects: remembered where all their names are fixed."""
        return self.get((*names, *more), make) if all(map(is_fixed, names)) else make()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The answer to a question, asked anew when it is not known. Of one question it is always one type."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]  # type: ignore[return-value]
        made = make()
        if self._length(made) <= self._longest:
            with self._lock:
                self._known[key] = made
                while len(self._known) > self._most:
                    self._known.popitem(last=False)
        return made
