"""Answers of a forge, byte by byte through the real transport, and addresses as people give them."""

from __future__ import annotations

import contextlib
from typing import Any

import httpx

from berbench.errors import BerbenchError
from berbench.forge.credentials import Credentials
from berbench.forge.github import GitHubForge
from berbench.forge.gitlab import GitLabForge
from berbench.forge.limits import graphql_wait, rate_limit_wait
from berbench.forge.remote import parse_pull_request, parse_remote
from berbench.forge.transport import Patience, Transport
from berbench.model.changes import Repository

_STATUSES = (200, 200, 200, 200, 201, 204, 301, 302, 304, 401, 403, 404, 410, 422, 429, 500, 502, 503)
_HOMES = (
    (GitHubForge, Repository("github.com", "acme/tally", "github")),
    (GitLabForge, Repository("gitlab.com", "acme/a/tally", "gitlab")),
)
_MOST_REQUESTS = 150  # more than these questions can need, with every page and every try


def _forge(number: int, answer: httpx.Response) -> tuple[Any, list[str]]:
    """A forge whose every question gets the same answer, and the list of what was asked."""
    kind, repository = _HOMES[number % len(_HOMES)]
    credentials = Credentials("X", "t")
    patience = Patience(attempts=2, sleep=lambda seconds: None, clock=lambda: 1.7e9)
    transport = Transport(
        "https://api.example/v3", credentials=credentials, headers={}, cache=None, patience=patience
    )
    asked: list[str] = []

    def play(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        assert request.url.host == "api.example", f"a token would go to {request.url.host}"
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    transport.close()
    transport._client = httpx.Client(transport=httpx.MockTransport(play), timeout=1)
    return kind(repository, transport, credentials), asked


def _waits(data: bytes, value: str) -> None:
    for status in (403, 429, 503):
        for name in ("retry-after", "x-ratelimit-reset"):
            wait = rate_limit_wait(status, {name: value, "x-ratelimit-remaining": "0"}, data, 1.7e9)
            assert wait is None or wait >= 1
    graphql_wait({"x-ratelimit-reset": value}, data, 1.7e9)


def check_forge(data: bytes) -> None:
    """Whatever is answered, it becomes a value or a ForgeError, in few questions, and all of them to one host.

    The first byte is the status, the first two lines are a Link and one other header, the rest is the body.
    """
    link, _, rest = data[1:].partition(b"\n")
    other, _, body = rest.partition(b"\n")
    status = _STATUSES[(data[0] if data else 0) % len(_STATUSES)]
    name = (b"location", b"retry-after", b"x-ratelimit-reset", b"etag", b"content-type")[len(other) % 5]
    plain = link.translate(None, b"\r\0"), other.translate(None, b"\r\0")
    headers = [(b"link", plain[0]), (name, plain[1]), (b"x-ratelimit-remaining", b"0")]
    answer = httpx.Response(status, headers=headers, content=body)
    _waits(body, other.decode("latin-1"))
    forge, asked = _forge(len(data), answer)
    for ask in (
        forge.check,
        lambda: forge.pull_request(7),
        lambda: forge.issue(7),
        lambda: forge.branch_commits(7),
        lambda: forge.pull_requests_of("a" * 40),
    ):
        before = len(asked)
        with contextlib.suppress(BerbenchError):
            str(ask()).encode("utf-8")
        assert len(asked) - before <= _MOST_REQUESTS
    forge.close()


def check_addresses(data: bytes) -> None:
    """An address is read or not."""
    text = data.decode("utf-8", "surrogateescape")
    for provider in ("auto", "github", "gitlab", "none"):
        parse_remote(text, provider)
    for repository in (Repository(), Repository("github.com", "acme/tally", "github")):
        with contextlib.suppress(BerbenchError):
            assert parse_pull_request(text, repository) > 0
