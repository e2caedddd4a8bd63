"""BuildKit builds, through a `docker` client that can: the API alone does not speak BuildKit's protocol."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO

from berbench import process
from berbench.engine import script
from berbench.engine.door import Say
from berbench.errors import EngineError

_STEP = re.compile(r"^#(\d+) \[(?:[^\]]*?)\d+/\d+\] (.*)$")
_ERROR = re.compile(r"^#(\d+) ERROR: (.*)$")
_LAST = re.compile(r"^(?:ERROR|error)(?:: | )(.*)$|^(failed to (?:solve|build).*)$|^(executor failed .*)$")


@dataclass(frozen=True, slots=True)
class Client:
    """A program that builds with BuildKit."""

    program: str
    buildx: bool  # from client 23 on, BuildKit is a plug-in


def find_client(construct: str) -> Client:
    """The first client on PATH that can. EngineError, with what is missing, when none does."""
    seen = []
    for program in process.on_path("docker"):
        version = process.ask([program, "version", "--format", "{{.Client.Version}}"]) or ""
        major = int(found[0]) if (found := re.match(r"\d+", version)) else 0
        if process.ask([program, "buildx", "version"]):
            return Client(program, buildx=True)
        if 18 < major < 23:
            return Client(program, buildx=False)
        seen.append(f"{program}: version {version or 'unknown'}, without the buildx plug-in")
    raise EngineError(
        f"The Dockerfile needs BuildKit ({construct}), and no client here can use it.",
        remedy="install the buildx plug-in (docker-buildx or docker-buildx-plugin), or write it without",
        details=seen or ["there is no docker client on PATH"],
    )


def build(
    client: Client,
    context: IO[bytes],
    sink: Callable[[bytes], object],
    *,
    address: str,
    tag: str,
    labels: Mapping[str, str],
    arguments: Mapping[str, str],
    timeout_s: float,
    stop: threading.Event,
) -> process.Ended:
    """Run the build. Arguments' values go by the environment: one word of a command has 128 KiB at most."""
    argv = [client.program, "build", "--progress", "plain", "--tag", tag, "--file", script.BUILD_FILE]
    if client.buildx:
        argv.append("--load")
    for name, value in labels.items():
        argv += ["--label", f"{name}={value}"]
    env = {**os.environ, "DOCKER_BUILDKIT": "1", **arguments}
    if "DOCKER_HOST" not in os.environ and address.startswith("unix://"):
        env["DOCKER_HOST"] = address
    for name in arguments:
        argv += ["--build-arg", name]
    return process.stream([*argv, "-"], sink, env=env, stdin=context, timeout_s=timeout_s, stop=stop)


class Output:
    """Reads BuildKit's plain progress: which step ran, which failed, the closing error."""

    def __init__(self, say: Say) -> None:
        self.step = ""
        self.error = ""
        self._say = say
        self._steps: dict[str, str] = {}
        self._rest = b""

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._line(line.decode("utf-8", "replace").rstrip("\r"))

    def _line(self, line: str) -> None:
        if step := _STEP.match(line):
            if step[1] not in self._steps:
                self._say(line[:200])
            self._steps[step[1]] = self.step = step[2].strip()
        elif failed := _ERROR.match(line):
            self.step = self._steps.get(failed[1], self.step)
            self.error = failed[2]
        elif last := _LAST.match(line):
            self.error = next(filter(None, last.groups()), "") or self.error
