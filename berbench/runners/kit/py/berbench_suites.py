"""Another order of the tests of a unittest suite, told by a seed.

Suites within a suite change places as a whole. Among tests that stand side by side, those of a class stay
together, and Django's kinds of tests keep their order: the ones that empty the database come last.
"""

import random
from typing import Any


def _kind(test: Any) -> str:
    for cls in type(test).__mro__:
        if cls.__module__.startswith("django.test"):
            return str(cls.__name__)
    return ""


def _owner(test: Any) -> Any:
    return id(test) if hasattr(test, "_tests") else type(test)


def _groups(tests: Any, key: Any) -> Any:
    found = {}  # type: Any
    for test in tests:
        found.setdefault(key(test), []).append(test)
    return list(found.values())


def _reorder(chance: Any, suite: Any) -> None:
    tests = getattr(suite, "_tests", None)
    if not isinstance(tests, list):
        return
    for test in tests:
        _reorder(chance, test)
    order = []  # type: Any
    for kind in _groups(tests, _kind):
        owners = _groups(kind, _owner)
        shuffled = owners[:]
        chance.shuffle(shuffled)
        for group in shuffled if shuffled != owners else owners[::-1]:
            mixed = group[:]
            chance.shuffle(mixed)
            order += mixed if mixed != group else group[::-1]
    suite._tests = order


def reorder(suite: Any, seed: str) -> None:
    """Give a suite, and all suites in it, another order."""
    _reorder(random.Random(int(seed)), suite)
