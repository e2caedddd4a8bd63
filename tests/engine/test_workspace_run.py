"""How long a command in a workspace is waited for, by an engine that is played."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any, cast

import pytest

from berbench.engine import docker_workspace
from berbench.engine.archive import Ids
from berbench.engine.container import Account, Container
from berbench.engine.docker_workspace import DockerWorkspace
from berbench.engine.workspace import Ran, WorkspaceSpec
from berbench.model.changes import Delta
from berbench.model.trial import Image


class Talker:
    """A container whose command has ended, with an exit code; what it left behind never stops talking."""

    def __init__(self, code: int, *, up: bool = True) -> None:
        self.code, self.up = code, up
        self._stopped = threading.Event()

    def second(self, *_: object) -> str:
        return "1"

    def start_second(self, *_: object) -> Talker:
        return self

    def is_running(self, _: str) -> bool:
        return False

    def is_up(self) -> bool:
        return self.up

    def code_of(self, *_: object) -> int:
        return self.code

    def pieces(self) -> Iterator[bytes]:
        while not self._stopped.wait(0.01):
            yield b"\1\0\0\0\0\0\0\1x"

    def stop(self) -> None:
        self._stopped.set()

    def close(self) -> None:
        self._stopped.set()


def ran(box: Talker) -> Ran:
    image = Image("sha256:0", "key", "tree", "/work", "")
    spec = WorkspaceSpec("t", "r", image, Delta())
    workspace = DockerWorkspace(cast(Container, box), spec, Account(Ids()), None, "played")
    heard: list[Any] = []
    return workspace.run(("x",), lambda *piece: heard.append(piece), timeout_s=20)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_workspace, "LINGER_S", 0.05)
    monkeypatch.setattr(docker_workspace, "CHATTER_S", 0.2)


def test_a_child_that_is_never_silent_does_not_take_an_agents_time() -> None:
    began = time.monotonic()
    assert ran(Talker(4)).code == 4
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(("up", "code"), [(True, 137), (False, None)])
def test_who_ends_itself_is_told_from_who_went_down_with_the_container(up: bool, code: int | None) -> None:
    assert ran(Talker(137, up=up)).code == code
