"""A real HTTP server on loopback that plays both forges' APIs, with faults on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@dataclass
class Reply:
    """One answer. `cut` sends only so many bytes of the body that the headers promise; `hang` waits instead."""

    status: int = 200
    data: object = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json; charset=utf-8"
    cut: int | None = None
    hide_length: bool = False
    hang: bool = False
    drip: float = 0.0

    def bytes(self) -> bytes:
        return self.body if self.body is not None else json.dumps(self.data).encode()


@dataclass
class Request:
    """What was asked: method, path with its query, headers (lower-case names) and body."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Handler = Callable[[Request], Reply]


class ForgeServer:
    """Routes are paths without a query. A route is an answer, a list of answers (the last repeats), or a function."""

    def __init__(self) -> None:
        self.routes: dict[str, Reply | list[Reply] | Handler] = {}
        self.requests: list[Request] = []
        self.release = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def asked(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(urlsplit(request.path).path == path for request in self.requests)

    def close(self) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: Request) -> Reply:
        self.requests.append(request)
        path = urlsplit(request.path).path
        route = self.routes.get(path)
        if route is None:
            return Reply(404, {"message": "Not Found"})
        if isinstance(route, list):
            return route.pop(0) if len(route) > 1 else route[0]
        return route if isinstance(route, Reply) else route(request)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Played(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._play()

            def do_POST(self) -> None:
                self._play()

            def _play(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(self.command, self.path, headers, self.rfile.read(length))
                reply = server.answer(request)
                if reply.hang:
                    server.release.wait(10)
                    self.close_connection = True
                    return
                etag = reply.headers.get("ETag")
                if etag and request.headers.get("if-none-match") == etag:
                    reply = Reply(304, body=b"", headers=reply.headers)
                body = reply.bytes()
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", reply.content_type)
                if reply.hide_length:
                    self.send_header("Connection", "close")
                else:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if reply.drip:
                    for byte in body:
                        self.wfile.write(bytes([byte]))
                        self.wfile.flush()
                        if server.release.wait(reply.drip):
                            break
                else:
                    self.wfile.write(body[: reply.cut])
                self.close_connection = reply.hide_length or reply.cut is not None or bool(reply.drip)

            def handle(self) -> None:
                try:
                    super().handle()
                except (ConnectionError, BrokenPipeError):
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is printed."""

        return Played
