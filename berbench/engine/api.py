"""The engine's HTTP API: one connection pool, a deadline for each call, every error translated.

The docker package finds the engine (DOCKER_HOST, contexts, TLS), agrees on an API version and speaks over
unix sockets; the calls themselves are made here, each with a time of its own, so that an engine that stops
answering is noticed as such. Errors: EngineError, and its kind `Refused` for an answer that says no.
"""

from __future__ import annotations

import contextlib
import gc
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import docker
import requests
import urllib3
from docker.auth import encode_header
from docker.context import ContextAPI
from docker.errors import DockerException
from docker.utils import kwargs_from_env

from berbench.errors import EngineError

CALL_S = 60.0  # for a call that answers at once on a healthy engine; generous for a busy disk
POOL = 32  # connections kept open at most
CHUNK = 1 << 18
TOLD = 600  # characters of what it says
PLAIN = {"Accept-Encoding": "identity"}  # packing a local stream only costs

REMEDY = "start the engine (in a checkout: `make engine`), or set DOCKER_HOST"

_LOST = (requests.RequestException, urllib3.exceptions.HTTPError, OSError)


class Refused(EngineError):
    """The engine answered, and the answer is an error. `status` is HTTP's."""

    def __init__(self, status: int, message: str) -> None:
        told = (
            message if len(message) <= TOLD else message[:TOLD] + "…"
        )  # a path may be as long as an agent likes
        super().__init__(f"The container engine refused: {told}", remedy="see the engine's own log")
        self.status = status
        self.reason = message


class Reply:
    """An answer that is read piece by piece. Closing it early drops the connection."""

    def __init__(self, response: requests.Response) -> None:
        self._response = response
        self._shut = False
        self._rest = b""

    def pieces(self) -> Iterator[bytes]:
        """The body as it arrives."""
        while piece := self._read(CHUNK, some=True):
            yield piece

    def read(self, size: int = -1, /) -> bytes:
        """Exactly `size` bytes, fewer only at the end; all that is left for a negative size."""
        kept = [self._rest] if self._rest else []
        have = len(self._rest)
        self._rest = b""
        while (size < 0 or have < size) and (piece := self._read(CHUNK, some=True)):
            kept.append(piece)
            have += len(piece)
        data = b"".join(kept)
        if 0 <= size < have:
            data, self._rest = data[:size], data[size:]
        return data

    def stop(self) -> None:
        """Wake a reader in another thread: its next piece is the end."""
        self._shut = True
        with contextlib.suppress(*_LOST, ValueError, RuntimeError, AttributeError):
            self._response.raw.shutdown()

    def close(self) -> None:
        """Let go of the connection."""
        with contextlib.suppress(*_LOST, ValueError):
            self._response.raw.close()
        self._response.close()

    def _read(self, size: int, *, some: bool) -> bytes:
        try:
            data = self._response.raw.read1(size) if some else self._response.raw.read(size)
        except (*_LOST, ValueError, AttributeError) as error:
            if self._shut:
                return b""
            raise EngineError(f"The container engine was lost: {_text(error)}.", remedy=REMEDY) from error
        assert isinstance(data, bytes)
        return data


class Api:
    """Calls to one engine. Safe to use from several threads."""

    def __init__(self) -> None:
        self._client, self.address = _connect()
        self.version: str = self._client.api_version
        self.client_version = f"docker-py {docker.__version__}"
        self._base = f"{self._client.base_url}/v{self.version}"
        adapter = self._client.get_adapter(self._client.base_url)
        adapter_size = getattr(adapter, "max_pool_size", None)
        if adapter_size is not None:
            adapter.max_pool_size = POOL  # type: ignore[attr-defined]

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: object = None,
        data: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = CALL_S,
    ) -> Any:
        """One call; the decoded JSON of the answer, None when it has none."""
        response = self._send(method, path, query, body, data, headers, timeout_s, stream=False)
        if not response.content:
            return None
        try:
            return response.json()
        except ValueError:
            return response.content

    def open(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: object = None,
        data: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = CALL_S,
    ) -> Reply:
        """One call whose answer is a stream. `timeout_s` is the longest silence."""
        return Reply(self._send(method, path, query, body, data, headers, timeout_s, stream=True))

    def registry_header(self) -> dict[str, str]:
        """The user's registry logins, as builds need them to fetch a base image; {} when there are none."""
        try:
            logins = self._client._auth_configs.get_all_credentials()  # type: ignore[attr-defined]
        except (
            DockerException,
            OSError,
            ValueError,
        ):  # a credential program that fails is not the build's fault
            return {}
        return {"X-Registry-Config": encode_header(logins).decode()} if logins else {}

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        body: object,
        data: Any,
        headers: Mapping[str, str] | None,
        timeout_s: float,
        *,
        stream: bool,
    ) -> requests.Response:
        try:
            response = self._client.request(
                method,
                self._base + path,
                params={name: os.fsencode(value) for name, value in (query or {}).items()},
                json=body,
                data=data,
                headers={**PLAIN, **(headers or {})},
                timeout=(min(timeout_s, CALL_S), timeout_s),
                stream=stream,
            )
            if response.status_code >= 400:
                raise Refused(response.status_code, _message(response))
        except requests.Timeout as error:
            raise EngineError(
                f"The container engine did not answer {method} {path} within {timeout_s:.0f} s.",
                remedy="see whether the engine is overloaded or hangs; restart it if so",
            ) from error
        except _LOST as error:
            raise EngineError(f"The container engine was lost: {_text(error)}.", remedy=REMEDY) from error
        return response


def _connect() -> tuple[docker.APIClient, str]:
    problems = []
    for address, options in _candidates():
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ResourceWarning
            )  # the package forgets its socket when nobody answers
            client = None
            try:
                client = docker.APIClient(
                    base_url=address, version="auto", timeout=int(CALL_S), max_pool_size=POOL, **options
                )
            except (DockerException, OSError, ValueError) as error:
                problems.append(f"{address}: {_text(error)}")
            if client is None:
                gc.collect()
                continue
        return client, address
    raise EngineError("No container engine answers.", remedy=REMEDY, details=problems)


def _candidates() -> Iterator[tuple[str, dict[str, Any]]]:
    """Where an engine may answer: the one the user named, else the usual sockets that exist."""
    if named := os.environ.get("DOCKER_HOST"):
        options: dict[str, Any] = dict(kwargs_from_env())
        yield str(options.pop("base_url", named)), options
        return
    with contextlib.suppress(DockerException, OSError, ValueError, KeyError):
        context = ContextAPI.get_current_context()
        if context is not None and context.Name != "default" and context.Host:
            yield context.Host, {"tls": context.TLSConfig} if context.TLSConfig else {}
            return
    runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    home = Path.home()
    sockets = (
        Path("/var/run/docker.sock"),
        Path(runtime, "docker.sock"),
        home / ".docker/run/docker.sock",
        home / ".docker/desktop/docker.sock",
        Path(runtime, "podman/podman.sock"),
        Path("/run/podman/podman.sock"),
    )
    there = [place for place in sockets if place.is_socket()]
    for place in there or sockets[:1]:
        yield f"unix://{place}", {}


def _message(response: requests.Response) -> str:
    try:
        text = response.json().get("message", "")
    except (ValueError, AttributeError):
        text = response.text
    return str(text).strip() or f"HTTP {response.status_code}"


def _text(error: BaseException) -> str:
    """The innermost cause, which is what a person can act on."""
    inner: BaseException = error
    while (cause := inner.__cause__ or inner.__context__) is not None:
        inner = cause
    return (str(inner).splitlines() or [""])[0] or type(inner).__name__
