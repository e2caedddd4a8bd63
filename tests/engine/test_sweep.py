"""What a sweep removes, and what it leaves for the next one, by the answers of an engine's API."""

from __future__ import annotations

from typing import Any, cast

import pytest

from berbench.engine import owner
from berbench.engine.api import Api, Refused
from berbench.engine.leftovers import Leftovers

DEAD = owner.this_process().rsplit("/", 1)[0] + "/1"  # this process's number, begun at another time


class Answers:
    """Networks that answer their removal in one way each: None is gone, else a status and a message."""

    def __init__(self, **removals: tuple[int, str] | None) -> None:
        self.removals = removals

    def call(self, method: str, path: str, query: object = None) -> Any:
        networks = [
            {"Id": name, "Name": name, "Created": "2026-01-02T03:04:05Z", "Labels": {owner.OWNER: DEAD}}
            for name in self.removals
        ]
        if path == "/containers/json":
            return []
        if path == "/networks":
            return networks
        name = path.rsplit("/", 1)[-1]
        if method == "GET":
            return next(one for one in networks if one["Name"] == name)
        if answer := self.removals[name]:
            raise Refused(*answer)
        return None


def _swept(**removals: tuple[int, str] | None) -> list[str]:
    return [one.name for one in Leftovers(cast(Api, Answers(**removals))).sweep()]


def test_a_network_that_something_hangs_on_keeps_no_one_from_working() -> None:
    busy = (403, "error while removing network: network one id 1 has active endpoints")
    assert _swept(one=busy, two=None, three=(404, "network three not found")) == ["two", "three"]


def test_any_other_refusal_is_the_engines_trouble() -> None:
    with pytest.raises(Refused, match="server error"):
        _swept(one=(500, "server error"))
