"""Whether what a stored document holds has the types that its value asks for: a disk may hand back anything."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

_WIDEST = 2**63  # a count beyond this is none, and no float can hold much more


def built(kind: type[T], values: Mapping[str, Any]) -> T:
    """The dataclass `kind` of these values, lists being tuples already.

    TypeError when one is not of its field's type, is a number that is none, or is missing; KeyError for a name that is
    no field.
    """
    hashable: Any = kind
    hints = _hints(hashable)
    for name, value in values.items():
        if not _is(value, hints[name]):
            raise TypeError(f"{name} of {kind.__name__}")
    return kind(**values)


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return typing.get_type_hints(kind)


def _is(value: Any, hint: Any) -> bool:
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_is(value, part) for part in parts)
    if origin is tuple:  # of any length, of one type: the only ones that are stored
        return isinstance(value, tuple) and all(_is(one, parts[0]) for one in value)
    if hint is float:
        return _is(value, int) or (isinstance(value, float) and math.isfinite(value))
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _WIDEST
    return isinstance(value, hint)
