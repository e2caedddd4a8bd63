"""A pytest plug-in that runs the tests in another order, told by a seed.

Modules change places, within each its classes and functions, and within a class its tests. What belongs
together stays together, so fixtures of a module or a class are set up once, as before. Keeps to old syntax: it
runs under whatever Python the project has.
"""

import os
import random
from typing import Any

import pytest


def _groups(items: Any, key: Any) -> Any:
    found = {}  # type: Any
    for item in items:
        found.setdefault(key(item), []).append(item)
    return list(found.values())


def _module(item: Any) -> str:
    return str(item.nodeid).split("::")[0]


def _owner(item: Any) -> str:
    cls = getattr(item, "cls", None)
    return str(item.nodeid if cls is None else cls.__module__ + "." + cls.__name__)


def _shuffled(chance: Any, items: Any) -> Any:
    modules = _groups(items, _module)
    chance.shuffle(modules)
    order = []  # type: Any
    for module in modules:
        owners = _groups(module, _owner)
        chance.shuffle(owners)
        for tests in owners:
            chance.shuffle(tests)
            order += tests
    return order


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: Any) -> Any:
    """Last of all: what the project's own plug-ins do to the order is done by then."""
    yield
    order = _shuffled(random.Random(int(os.environ["BERBENCH_SHUFFLE"])), items)
    items[:] = order if order != items else order[::-1]
