"""Stands between a test and the engine's socket, to make an engine that is lost, or hangs, without touching it."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from pathlib import Path

ENGINE = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")


class EngineProxy:
    """Relays a unix socket. `address` is what DOCKER_HOST should say."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / "engine.sock"
        self.address = f"unix://{self._place}"
        self._hangs: tuple[bytes, ...] = ()
        self._open: list[socket.socket] = []
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(self._place))
        self._server.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def hang_on(self, *starts: bytes) -> None:
        """From now on, requests that begin so are never answered."""
        self._hangs = starts

    def lose(self) -> None:
        """The engine is gone: every connection breaks and no new one is taken."""
        self._place.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for one in list(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    close = lose

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                engine = socket.socket(socket.AF_UNIX)
                engine.connect(ENGINE)
                self._open += [client, engine]
                for source, target, checked in ((client, engine, True), (engine, client, False)):
                    threading.Thread(target=self._relay, args=(source, target, checked), daemon=True).start()

    def _relay(self, source: socket.socket, target: socket.socket, checked: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if checked and data.startswith(self._hangs or (b"\xff\xff",)):
                    continue
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
