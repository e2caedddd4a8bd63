"""What berbench left in an engine: found by label, never by name, and nothing else is ever touched."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from berbench.engine import owner
from berbench.engine.api import Api, Refused
from berbench.engine.container import filters
from berbench.engine.door import Leftover
from berbench.errors import EngineError

_PATHS = {"container": "/containers/{}", "network": "/networks/{}", "image": "/images/{}"}

# A container inherits its image's labels, so one that a person started from a task's image has some of them.
_LABELS = {"container": [owner.OWNER, owner.TRIAL], "network": [owner.OWNER], "image": [owner.KEY]}


class Leftovers:
    """Lists and removes by label."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def all(self) -> tuple[Leftover, ...]:
        """Containers, networks and images that carry berbench's label."""
        return (*self._containers(), *self._networks(), *self._images())

    def sweep(self) -> tuple[Leftover, ...]:
        """Remove containers and networks whose owner is gone; what was removed."""
        gone = [left for left in (*self._containers(), *self._networks()) if not left.in_use]
        return tuple(left for left in gone if self._swept(left))

    def _swept(self, left: Leftover) -> bool:
        """Whether it is gone now. A network that something still hangs on stays for the next sweep."""
        try:
            self.remove(left)
        except Refused as error:
            if left.kind == "network" and "active endpoints" in error.reason:
                return False
            raise
        return True

    def remove(self, leftover: Leftover) -> None:
        """Remove one. EngineError when it isn't berbench's, or the engine won't; one that is gone is fine."""
        path = _PATHS[leftover.kind].format(leftover.id)
        wanted = _LABELS[leftover.kind]
        try:
            said = self._api.call("GET", path + ("" if leftover.kind == "network" else "/json"))
            labels = said.get("Labels") or (said.get("Config") or {}).get("Labels") or {}
            if any(label not in labels for label in wanted):
                raise EngineError(f"The {leftover.kind} {leftover.name} is not berbench's; it stays.")
            query = {"container": {"force": "1", "v": "1"}, "image": {"force": "1"}}.get(leftover.kind, {})
            self._api.call("DELETE", path, query=query)
        except Refused as error:
            if error.status != 404 and "already in progress" not in error.reason:
                raise

    def _containers(self) -> list[Leftover]:
        query = {"all": "1", **filters(label=_LABELS["container"])}
        return [
            Leftover(
                kind="container",
                id=one["Id"],
                name=(one.get("Names") or [one["Id"][:12]])[0].lstrip("/"),
                created_s=float(one["Created"]),
                size_bytes=0,
                in_use=_owned(one),
                owner=_owner(one),
            )
            for one in self._api.call("GET", "/containers/json", query=query)
        ]

    def _networks(self) -> list[Leftover]:
        found = self._api.call("GET", "/networks", query=filters(label=_LABELS["network"]))
        return [
            Leftover(
                kind="network",
                id=one["Id"],
                name=one["Name"],
                created_s=_when(one.get("Created", "")),
                size_bytes=0,
                in_use=_owned(one),
                owner=_owner(one),
            )
            for one in found
        ]

    def _images(self) -> list[Leftover]:
        """An image is in use while a container of any kind stands on it."""
        used = {one["ImageID"] for one in self._api.call("GET", "/containers/json", query={"all": "1"})}
        found = self._api.call("GET", "/images/json", query=filters(label=_LABELS["image"]))
        return [
            Leftover(
                kind="image",
                id=one["Id"],
                name=(one.get("RepoTags") or [one["Id"]])[0],
                created_s=float(one["Created"]),
                size_bytes=int(one.get("Size", 0)),
                in_use=one["Id"] in used,
                key=(one.get("Labels") or {}).get(owner.KEY, ""),
            )
            for one in found
        ]


def _owner(one: dict[str, Any]) -> str:
    return str((one.get("Labels") or {}).get(owner.OWNER, ""))


def _owned(one: dict[str, Any]) -> bool:
    return owner.alive(_owner(one))


def _when(text: str) -> float:
    try:
        return datetime.fromisoformat(text[:19] + "+00:00").timestamp()
    except ValueError:
        return 0.0
