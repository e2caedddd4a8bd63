"""Documents in layers: a later one extends or replaces an earlier one, key by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# How a layer takes a key out again. An empty value is none of these: a variable may well be set to nothing.
REMOVED = ("null", "~", "Null", "NULL")


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`below` with the keys of `above`. Mappings merge, everything else is replaced, `null` takes a key out.

    Trees are as `yamlio.load` gives them. Lists are replaced whole: an argument vector that is mixed from two
    layers is nobody's.
    """
    result = dict(below)
    for key, value in above.items():
        if isinstance(value, str) and value in REMOVED:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            under = result.get(key)
            result[key] = merged(under if isinstance(under, Mapping) else {}, value)
        else:
            result[key] = value
    return result
