"""HTTP for the forge door: the only importer of httpx.

What a caller gets is JSON that was fetched whole, or an error of the house. Waits for rate limits when they
are short, retries what a server or the line broke, gives up at a deadline, and follows redirects on its own
host alone, so that a token never travels elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache as once
from pathlib import Path

import certifi
import httpx

import berbench
from berbench.errors import ForgeDown, ForgeError, RateLimited
from berbench.forge.cache import Cached, EtagCache
from berbench.forge.credentials import Credentials, is_loopback
from berbench.forge.limits import graphql_wait, rate_limit_wait
from berbench.forge.refusals import BROKEN, broken_line, rate_limited, refusal

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NO_ADDRESS = (httpx.InvalidURL, ValueError)  # the latter by the standard library, of hosts in brackets
_MOST_BYTES = 64 << 20
_MOST_PAGES = 100
_MOST_REDIRECTS = 5
_MOST_WAITS = 8


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a request may take. Seconds; `attempts` counts tries after server errors and broken lines."""

    longest_wait_s: float = 60.0
    timeout_s: float = 20.0
    deadline_s: float = 90.0
    attempts: int = 4
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.time, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: parsed JSON, the headers (lower-case names), and the next page's address or ""."""

    data: object
    headers: Mapping[str, str]
    next_url: str = ""


@dataclass(frozen=True, slots=True)
class _Raw:
    status: int
    headers: httpx.Headers
    body: bytes


class Transport:
    """JSON over HTTP from one API. Errors: ForgeError, ForgeDown, NotOnForge (404, 410), RateLimited.

    After ForgeDown or RateLimited nothing more is sent: the same error comes at once, whatever is asked.
    """

    def __init__(
        self,
        api_url: str,
        *,
        credentials: Credentials,
        headers: Mapping[str, str],
        cache: Path | None,
        patience: Patience | None = None,
    ) -> None:
        self.api_url = api_url.rstrip("/")
        self._origin = _read_url(self.api_url)
        self._credentials = credentials
        self._patience = patience or Patience()
        self._cache = EtagCache(cache)
        self._stopped: ForgeDown | RateLimited | None = None
        host = self._origin.netloc.decode("ascii", "replace")
        self._client = httpx.Client(
            headers={"User-Agent": f"berbench/{berbench.__version__}", **headers},
            timeout=httpx.Timeout(self._patience.timeout_s),
            follow_redirects=False,
            verify=_trust(),
            trust_env=not is_loopback(host),  # a proxy can't reach this machine's own loopback
        )

    def __repr__(self) -> str:
        return f"Transport({self.api_url!r}, token from {self._credentials.source or 'nowhere'})"

    def get(self, path: str, *, fresh: bool = False) -> Answer:
        """The JSON at `path` (relative to the API, or an address on its host); `fresh` skips the cache."""
        url = self._url(path)
        cached = None if fresh else self._cache.load(str(url))
        extra = {"If-None-Match": cached.etag} if cached else {}
        raw = self._ask("GET", url, extra, None)
        if raw.status == 304 and cached is not None:
            return Answer(cached.data, dict(raw.headers), cached.next_url)
        data = self._json(raw, url)
        next_url = _next_link(raw.headers)
        if etag := raw.headers.get("etag"):
            self._cache.store(str(url), Cached(etag, data, next_url))
        return Answer(data, dict(raw.headers), next_url)

    def pages(self, path: str) -> Iterator[object]:
        """Every element of a list that comes in pages."""
        seen: set[str] = set()
        url = path
        while url and url not in seen and len(seen) < _MOST_PAGES:
            seen.add(url)
            answer = self.get(url)
            if not isinstance(answer.data, list):
                raise self._wrong_shape(self._url(url), "a list was expected")
            yield from answer.data
            url = answer.next_url

    def post(self, path: str, body: Mapping[str, object], *, etag: str = "") -> Answer:
        """Send JSON to `path` and read the JSON that comes back. For questions only: it may be sent twice.

        `etag` is the mark of what the question is about: an answer is kept with it, and serves while it is the same.
        """
        url = self._url(path)
        content = json.dumps(body).encode()
        key = f"{url}#{hashlib.sha256(content).hexdigest()}"
        kept = self._cache.load(key) if etag else None
        if kept is not None and kept.etag == etag:
            return Answer(kept.data, {})
        raw = self._ask("POST", url, {"Content-Type": "application/json"}, content)
        data = self._json(raw, url)
        if etag and isinstance(data, dict) and "errors" not in data:
            self._cache.store(key, Cached(etag, data, ""))
        return Answer(data, dict(raw.headers))

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def _url(self, path: str) -> httpx.URL:
        if not path.startswith(("http://", "https://")):
            return _read_url(f"{self.api_url}/{path.lstrip('/')}")
        url = _read_url(path)
        if not self._is_home(url):
            raise ForgeError(
                f"{self._origin.host} sends on to another host, {url.host}, and berbench does not follow",
                remedy="check the remote's address, or set api_url in the config to the API's own address",
            )
        return url

    def _redirected(self, url: httpx.URL, location: str) -> httpx.URL:
        try:
            target = str(url.join(location))
        except _NO_ADDRESS as cause:
            raise _redirects_nowhere(url) from cause
        return self._url(target)

    def _is_home(self, url: httpx.URL) -> bool:
        if url.host != self._origin.host:
            return False
        upgraded = self._origin.scheme == "http" and url.scheme == "https" and url.port is None
        return upgraded or (url.scheme, url.port) == (self._origin.scheme, self._origin.port)

    def _ask(self, method: str, url: httpx.URL, extra: Mapping[str, str], content: bytes | None) -> _Raw:
        """One question, unless an earlier one showed that there is no use in asking."""
        if self._stopped is not None:
            raise self._stopped
        try:
            return self._insist(method, url, extra, content)
        except (ForgeDown, RateLimited) as error:
            self._stopped = error
            raise

    def _insist(self, method: str, url: httpx.URL, extra: Mapping[str, str], content: bytes | None) -> _Raw:
        """One question with its redirects, waits and retries. The status of what returns is 2xx or 304."""
        patience = self._patience
        tries = waits = redirects = 0
        waited = 0.0
        while True:
            try:
                raw = self._send(method, url, extra, content)
            except _LineBroke as broke:
                tries += 1
                if tries >= patience.attempts or not broke.worth_another_try:
                    raise broke.error from broke.__cause__
                patience.sleep(float(2 ** (tries - 1)))
                continue
            if raw.status in _REDIRECTS and "location" in raw.headers:
                redirects += 1
                if redirects > _MOST_REDIRECTS:
                    raise ForgeError(f"{url.host} redirects in circles", remedy="check the remote's address")
                url = self._redirected(url, raw.headers["location"])
                continue
            wait = rate_limit_wait(raw.status, raw.headers, raw.body, patience.clock())
            if wait is None and method == "POST":
                wait = graphql_wait(raw.headers, raw.body, patience.clock())
            if wait is not None:
                waits += 1
                if waited + wait > patience.longest_wait_s or waits > _MOST_WAITS:
                    raise rate_limited(wait, url.host, self._credentials)
                waited += wait
                patience.sleep(wait)
                continue
            if raw.status in BROKEN and tries + 1 < patience.attempts:
                tries += 1
                patience.sleep(float(2 ** (tries - 1)))
                continue
            if not (200 <= raw.status < 300 or raw.status == 304):
                raise refusal(raw.status, raw.body, url.host, url.path, self._credentials)
            return raw

    def _send(self, method: str, url: httpx.URL, extra: Mapping[str, str], content: bytes | None) -> _Raw:
        headers = dict(extra)
        if self._credentials.token:
            headers["Authorization"] = f"Bearer {self._credentials.token}"
        end = time.monotonic() + self._patience.deadline_s
        body = bytearray()
        try:
            with self._client.stream(method, url, headers=headers, content=content) as response:
                for piece in response.iter_bytes():
                    body += piece
                    # httpx bounds each read; a server that drips is bounded here.
                    if time.monotonic() > end:
                        raise httpx.ReadTimeout("the whole answer took too long")
                    if len(body) > _MOST_BYTES:
                        raise ForgeError(
                            f"{url.host} answered with more than {_MOST_BYTES >> 20} MiB", remedy="try later"
                        )
                return self._whole(_Raw(response.status_code, response.headers, bytes(body)), url)
        except httpx.TimeoutException as cause:
            error = ForgeDown(
                f"{url.host} did not answer within {self._patience.timeout_s:g} s",
                remedy="try again later, or work from local history with --no-api",
            )
            raise _LineBroke(error, True) from cause
        except (httpx.TransportError, httpx.DecodingError) as cause:
            raise _LineBroke(*broken_line(url.host, cause)) from cause
        except _NO_ADDRESS as cause:  # httpx reads where a redirect leads, whether it is followed or not
            raise _redirects_nowhere(url) from cause

    def _whole(self, raw: _Raw, url: httpx.URL) -> _Raw:
        """An answer, unless its JSON broke off: a server that closes the line early may not have told its length."""
        if 200 <= raw.status < 300 and "json" in raw.headers.get("content-type", ""):
            try:
                json.loads(raw.body)
            except (ValueError, RecursionError) as cause:
                error = ForgeDown(
                    f"{url.host}{url.path} broke off its answer", remedy="try again later, or use --no-api"
                )
                raise _LineBroke(error, True) from cause
        return raw

    def _json(self, raw: _Raw, url: httpx.URL) -> object:
        """Parsed JSON. A page for people is an error, whatever its status says (log-in, rate limit)."""
        try:
            data: object = json.loads(raw.body)
        except (ValueError, RecursionError) as cause:
            kind = raw.headers.get("content-type", "no content type").partition(";")[0]
            raise ForgeError(
                f"{url.host}{url.path} answered with {kind} that is no JSON",
                remedy="a proxy or a log-in page may stand between: check api_url in the config, or use --no-api",
            ) from cause
        if not isinstance(data, (dict, list)):
            raise self._wrong_shape(url, "an object or a list was expected")
        return data

    def _wrong_shape(self, url: httpx.URL, what: str) -> ForgeError:
        return ForgeError(
            f"{url.host}{url.path} answered with JSON of another shape: {what}",
            remedy="check api_url in the config; it may not be this forge's API",
        )


class _LineBroke(Exception):
    """The line or the server broke; carries the error of the house that it becomes when tries run out."""

    def __init__(self, error: ForgeDown, worth_another_try: bool) -> None:
        super().__init__(error.message)
        self.error = error
        self.worth_another_try = worth_another_try


@once
def _trust() -> ssl.SSLContext:
    """The system's authorities (a company's own among them) and the usual public ones."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _read_url(text: str) -> httpx.URL:
    try:
        return httpx.URL(text)
    except _NO_ADDRESS as cause:
        raise ForgeError(
            f"{text[:120]!r} is no address of an API: {cause}",
            remedy="check the remote's address, or set api_url in the config to the API's own address",
        ) from cause


def _redirects_nowhere(url: httpx.URL) -> ForgeError:
    return ForgeError(f"{url.host} redirects to no address", remedy="check the remote's address")


def _next_link(headers: httpx.Headers) -> str:
    for link in httpx.Response(200, headers=headers).links.values():
        if link.get("rel") == "next":
            return link.get("url", "")
    return ""
