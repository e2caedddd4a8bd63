"""One container's life, from create to removal, as calls to the engine's API."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from berbench.engine import archive, owner
from berbench.engine.api import Api, Refused, Reply
from berbench.errors import EngineError
from berbench.model.trial import Image, Limits

REMOVE_S = 30.0  # removing may wait for a busy disk; longer, and the next `clean` does it
HOST_NAME = "berbench"
ADDED, GONE = 1, 2  # kinds of a change, as engines number them

# Tests run as root in most images, unpack, chown, and drop to other users. No raw sockets, devices, mounts.
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")

# The same everywhere, whatever the host says. A name alone removes what the image sets.
ENVIRONMENT = (
    "LANG=C.UTF-8",
    "TZ=UTC",
    "TERM=dumb",
    "NO_COLOR=1",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "PYTHONDONTWRITEBYTECODE=1",
)


def spec(
    image: Image,
    command: tuple[str, ...],
    *,
    env: tuple[str, ...] = (),
    labels: dict[str, str],
    network: str = "none",
    limits: Limits,
    cpus: float,
    user: str | None = None,
) -> dict[str, Any]:
    """What `create` is given: everything a trial may use, and nothing of the host's."""
    return {
        "Image": image.id,
        "Entrypoint": [command[0]],
        "Cmd": list(command[1:]),
        "WorkingDir": image.workdir,
        "User": image.user if user is None else user,
        "Env": [*ENVIRONMENT, *env],
        "Labels": {owner.OWNER: owner.this_process(), **labels},
        "Hostname": HOST_NAME,
        "AttachStdin": False,
        "OpenStdin": False,
        "Tty": False,
        "NetworkDisabled": False,
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": {
            "Init": True,
            "NetworkMode": network,
            "CapDrop": ["ALL"],
            "CapAdd": list(CAPABILITIES),
            "SecurityOpt": ["no-new-privileges"],
            "Memory": limits.memory_bytes,
            "MemorySwap": limits.memory_bytes,
            "NanoCpus": int(cpus * 1e9),
            "PidsLimit": limits.pids,
            "LogConfig": {"Type": "none", "Config": {}},
            # With no network the host's own name would not resolve, and that fails tests that ask for it.
            "ExtraHosts": [f"{HOST_NAME}:127.0.0.1"] if network == "none" else [],
        },
    }


class Container:
    """A container under a name of its own, so it can be found and removed even if `create` never answered."""

    def __init__(self, api: Api, kind: str) -> None:
        self._api = api
        self.name = f"berbench-{kind}-{secrets.token_hex(6)}"
        self._path = f"/containers/{self.name}"

    def create(self, wanted: dict[str, Any]) -> tuple[str, ...]:
        """Create it, not started; the engine's warnings."""
        answer = self._api.call("POST", "/containers/create", query={"name": self.name}, body=wanted)
        return tuple(answer.get("Warnings") or ())

    def put(self, tar: IO[bytes]) -> None:
        """Unpack a tar file at the container's root."""
        self._api.call(
            "PUT",
            f"{self._path}/archive",
            query={"path": "/"},
            data=tar,
            headers={"Content-Type": "application/x-tar"},
            timeout_s=300,
        )

    def take(self, path: str) -> Reply | None:
        """A tar stream of a folder or file; None when there is no such thing."""
        try:
            return self._api.open("GET", f"{self._path}/archive", query={"path": path})
        except Refused as error:
            if error.status == 404:
                return None
            raise

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder; links are not followed, and one that leads to itself is refused by engines."""
        reply = None
        with contextlib.suppress(Refused):
            reply = self.take(path)
        if reply is None:
            return False
        with contextlib.closing(reply):
            return archive.begins_with_a_folder(reply)

    def attach(self, silence_s: float) -> Reply:
        """Its output from now on; ends when it ends."""
        wanted = {"stream": "1", "stdout": "1", "stderr": "1"}
        return self._api.open("POST", f"{self._path}/attach", query=wanted, timeout_s=silence_s)

    def start(self) -> None:
        """Start it."""
        self._api.call("POST", f"{self._path}/start", timeout_s=120)

    def second(self, command: Sequence[str], user: str, workdir: str, env: Sequence[str] = ()) -> str:
        """Add a process, not started; its number. What is in `env` is shown by no description of the container."""
        wanted = {
            "Cmd": list(command),
            "User": user,
            "WorkingDir": workdir,
            "Env": list(env),
            "AttachStdout": True,
            "AttachStderr": True,
        }
        return str(self._api.call("POST", f"{self._path}/exec", body=wanted)["Id"])

    def start_second(self, number: str, silence_s: float) -> Reply:
        """Start it; its output."""
        wanted = {"Detach": False, "Tty": False}
        return self._api.open("POST", f"/exec/{number}/start", body=wanted, timeout_s=silence_s)

    def code_of(self, number: str, otherwise: int) -> int:
        """Its exit code, `otherwise` where the engine lost it."""
        code = self._api.call("GET", f"/exec/{number}/json").get("ExitCode")
        return otherwise if code is None else int(code)

    def is_running(self, number: str) -> bool:
        """Whether a process that was added is still there."""
        return bool(self._api.call("GET", f"/exec/{number}/json").get("Running"))

    def is_up(self) -> bool:
        """Whether it has not ended."""
        return bool(self.describe()["State"].get("Running"))

    def changes(self) -> list[tuple[str, int]]:
        """(absolute path, kind) of everything that differs from the image; 0 modified, 1 added, 2 gone.

        Bytes of a name that are no UTF-8 are lost: each comes as U+FFFD.
        """
        said = self._api.call("GET", f"{self._path}/changes", timeout_s=300) or ()
        return [(one["Path"], int(one["Kind"])) for one in said]

    def describe(self) -> dict[str, Any]:
        """What the engine says of it."""
        said: dict[str, Any] = self._api.call("GET", f"{self._path}/json")
        return said

    def kill(self) -> None:
        """End it at once; nothing is raised when it has ended already or can't be reached."""
        with contextlib.suppress(EngineError):
            self._api.call("POST", f"{self._path}/kill", query={"signal": "KILL"}, timeout_s=20)

    def discard(self) -> None:
        """Remove it at once, started or not, so that it can't be started any more; nothing is raised."""
        with contextlib.suppress(EngineError):
            self.remove()

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        return int(self._api.call("POST", f"{self._path}/wait", timeout_s=60)["StatusCode"])

    def killed_for_memory(self) -> bool:
        """Whether the engine saw the kernel kill in it."""
        return bool(self._api.call("GET", f"{self._path}/json")["State"].get("OOMKilled"))

    def remove(self) -> None:
        """Remove it with its volumes, running or not. EngineError when the engine can't."""
        try:
            self._api.call("DELETE", self._path, query={"force": "1", "v": "1"}, timeout_s=REMOVE_S)
        except Refused as error:
            if error.status != 404 and "already in progress" not in error.reason:
                raise


@contextlib.contextmanager
def fresh(api: Api, kind: str, wanted: dict[str, Any], trouble: list[str]) -> Iterator[Container]:
    """A created container that is removed whatever happens. What goes wrong in that goes to `trouble`."""
    container = Container(api, kind)
    try:
        trouble += container.create(wanted)
        yield container
    finally:
        try:
            container.remove()
        except EngineError as error:
            trouble.append(f"the container {container.name} could not be removed: {error.message}")


@dataclass(frozen=True, slots=True)
class Account:
    """An image's user as the image itself knows it; `home` is "" where it knows none."""

    ids: archive.Ids
    home: str = ""


def account_of(container: Container, user: str) -> Account:
    """An image's user, looked up as the engine does: in the image's own passwd and group."""
    name, _, group = user.partition(":")
    uid, gid, home = int(name) if _is_id(name) else 0, 0, ""
    for fields in _table(container, "/etc/passwd"):
        if len(fields) > 3 and _is_id(fields[3]) and (name or "0") in (fields[0], fields[2]):
            uid, gid = int(fields[2]), int(fields[3])
            home = fields[5] if len(fields) > 5 else ""
            break
    if _is_id(group):
        gid = int(group)
    elif group:
        gid = next((int(f[2]) for f in _table(container, "/etc/group") if len(f) > 2 and f[0] == group), gid)
    return Account(archive.Ids(uid, gid), home)


def ids_of(container: Container, user: str) -> archive.Ids:
    """Numeric ids of an image's user."""
    name, _, group = user.partition(":")
    if name in ("", "0", "root") and not group:
        return archive.Ids()
    if _is_id(name) and _is_id(group):
        return archive.Ids(int(name), int(group))
    return account_of(container, user).ids


def _table(container: Container, path: str) -> list[list[str]]:
    reply = container.take(path)
    if reply is None:
        return []
    with contextlib.closing(reply):
        text = archive.first_file(reply).decode("utf-8", "replace")
    rows = [line.split(":") for line in text.split("\n")]
    return [row for row in rows if len(row) > 2 and _is_id(row[2])]


def _is_id(text: str) -> bool:
    """Whether a text is a number that the kernel could know a user or group by."""
    return text.isascii() and text.isdigit() and len(text) <= 10


def filters(**wanted: list[str]) -> dict[str, str]:
    """The query by which the engine lists things."""
    return {"filters": json.dumps(wanted)}
