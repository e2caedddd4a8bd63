"""The HTTP side: which script, which turn, and how the answer leaves."""

from __future__ import annotations

import itertools
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from model_server import chat, gemini, messages, responses
from model_server.reply import Asked, Json, Reply, workdir_in
from model_server.script import SCRIPTS, Cut, Fail, Hang, Say, Turn, turn_at

KEYS = ("authorization", "x-api-key", "x-goog-api-key")


@dataclass(frozen=True)
class Seen:
    """A request that came in: what a test wants to know of it."""

    path: str
    script: str
    answered: int
    results: tuple[str, ...]
    tools: tuple[str, ...]
    model: str
    key: str
    body: str


class ModelServer:
    """Answers on `port` until it is stopped. `seen` has every request for the model, in order."""

    def __init__(
        self, scripts: Mapping[str, tuple[Turn, ...]] = SCRIPTS, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self.scripts = scripts
        self.seen: list[Seen] = []
        self.stopping = threading.Event()
        self._numbers = itertools.count(1)
        self._http = _Server((host, port), _Handler)
        self._http.model = self
        self.port: int = self._http.server_address[1]

    def url(self, script: str) -> str:
        """The base address of a scenario, for a client on this machine."""
        return f"http://127.0.0.1:{self.port}/{script}"

    def serve(self) -> None:
        """Answer until `stop`."""
        self._http.serve_forever(poll_interval=0.05)

    def serve_tls(self, port: int, context: ssl.SSLContext) -> None:
        """Answer by TLS as well, from another thread, until the process ends."""
        secure = _Server(("0.0.0.0", port), _Handler)
        secure.model = self
        # A greeting is waited for by the thread of its connection, not by the one that accepts.
        secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=secure.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """End it, silent connections too."""
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()

    def number(self) -> int:
        """The next answer's number."""
        return next(self._numbers)


@contextmanager
def model_server(scripts: Mapping[str, tuple[Turn, ...]] = SCRIPTS) -> Iterator[ModelServer]:
    """A server on loopback, for a with block."""
    server = ModelServer(scripts)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    model: ModelServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no trouble."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        if self.headers["Upgrade"]:
            self._document(426, {"error": {"message": "no WebSockets here"}})
        elif self.path.endswith("/_seen"):
            self._document(200, {"seen": [asdict(one) for one in self.server.model.seen]})
        else:
            self._document(200, {"object": "list", "data": [], "models": []})

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        script, _, rest = self.path.lstrip("/").partition("/")
        rest = rest.partition("?")[0]
        body = json.loads(data or b"{}")
        if rest.endswith(("count_tokens", ":countTokens")):
            self._document(200, {"input_tokens": 10, "totalTokens": 10})
            return
        if rest.endswith("/messages"):
            api, asked = messages, messages.asked(body)
        elif rest.endswith("responses"):
            api, asked = responses, responses.asked(body)
        elif rest.endswith("chat/completions"):
            api, asked = chat, chat.asked(body)
        elif "enerateContent" in rest:
            model = rest.rpartition("/")[2].partition(":")[0]
            api, asked = gemini, gemini.asked(body, model, stream="stream" in rest)
        else:
            self._document(404, {"error": {"type": "not_found_error", "message": f"nothing at {self.path}"}})
            return
        asked.workdir = workdir_in(data)
        self._answer(api, asked, script, data)

    def _answer(self, api: object, asked: Asked, script: str, data: bytes) -> None:
        model = self.server.model
        key = next((self.headers[name] for name in KEYS if self.headers[name]), "")
        model.seen.append(
            Seen(self.path, script, asked.answered, asked.results, tuple(asked.tools), asked.model, key,
                 data.decode("utf-8", "replace"))
        )  # fmt: skip
        if script not in model.scripts:
            self._document(404, {"error": {"type": "not_found_error", "message": f"no script {script!r}"}})
            return
        turn = turn_at(model.scripts[script], asked.answered)
        if isinstance(turn, Fail):
            describe = getattr(api, "error", responses.error)
            headers = {"Retry-After": turn.retry_after} if turn.retry_after else {}
            self._document(turn.status, describe(turn), headers)
        elif isinstance(turn, Hang):
            model.stopping.wait(turn.seconds)
            self.close_connection = True
        else:
            # A request without tools is a side question, such as for a title.
            tools = asked.tools or asked.freeform or asked.edit_blocks
            if not tools and not isinstance(turn, Say):
                turn = turn if hasattr(turn, "text") and not hasattr(turn, "command") else Say("A title")
            reply: Reply = api.reply(turn, asked, model.number())  # type: ignore[attr-defined]
            if asked.stream:
                self._stream(reply, cut=isinstance(turn, Cut))
            else:
                self._document(200, reply.whole)

    def _stream(self, reply: Reply, *, cut: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in reply.streamed(cut=cut):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _document(self, status: int, document: Json, headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Tests read `seen` instead."""
