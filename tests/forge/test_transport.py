from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from forgeserver import ForgeServer, Reply, Request

from berbench.errors import ForgeDown, ForgeError, NotOnForge, RateLimited
from berbench.forge.credentials import Credentials
from berbench.forge.limits import rate_limit_wait
from berbench.forge.transport import Patience, Transport

TOKEN = "ghp_canary0123456789"


@dataclass
class Clock:
    """Time that passes only by sleeping."""

    now: float = 1_000_000.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Maker:
    """Makes transports to the played server, and closes them all."""

    def __init__(self, server: ForgeServer) -> None:
        self.server = server
        self.made: list[Transport] = []

    def __call__(
        self, cache: Path | None = None, *, clock: Clock | None = None, **limits: float
    ) -> Transport:
        clock = clock or Clock()
        patience = Patience(timeout_s=2.0, deadline_s=4.0, sleep=clock.sleep, clock=lambda: clock.now)
        transport = Transport(
            f"{self.server.url}/api",
            credentials=Credentials("GITHUB_TOKEN", TOKEN),
            headers={"Accept": "application/json"},
            cache=cache,
            patience=replace(patience, **limits),  # type: ignore[arg-type]
        )
        self.made.append(transport)
        return transport


@pytest.fixture
def make(server: ForgeServer) -> Iterator[Maker]:
    maker = Maker(server)
    yield maker
    for transport in maker.made:
        transport.close()


def test_json_arrives_with_the_token_sent(server: ForgeServer, make: Maker) -> None:
    server.routes["/api/x"] = Reply(data={"a": 1})
    transport = make()
    assert transport.get("/x").data == {"a": 1}
    assert server.requests[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert server.requests[0].headers["user-agent"].startswith("berbench/")


def test_pages_follow_the_link_header(server: ForgeServer, make: Maker) -> None:
    def page(request: Request) -> Reply:
        number = int(request.path.rpartition("page=")[2]) if "page=" in request.path else 1
        link = f'<{server.url}/api/list?page={number + 1}>; rel="next", <{server.url}/api/list?page=3>; rel="last"'
        return Reply(data=[number * 10, number * 10 + 1], headers={"Link": link} if number < 3 else {})

    server.routes["/api/list"] = page
    assert list(make().pages("/list")) == [10, 11, 20, 21, 30, 31]


def test_pages_that_go_in_circles_end(server: ForgeServer, make: Maker) -> None:
    server.routes["/api/list"] = lambda _: Reply(
        data=[1], headers={"Link": f'<{server.url}/api/list>; rel="next"'}
    )
    assert len(list(make().pages("/list"))) <= 2


def test_a_page_that_is_no_list_is_an_error(server: ForgeServer, make: Maker) -> None:
    server.routes["/api/list"] = Reply(data={"message": "ok"})
    with pytest.raises(ForgeError, match="a list was expected"):
        list(make().pages("/list"))


def test_an_answer_is_asked_for_again_with_its_etag(server: ForgeServer, make: Maker, tmp_path: Path) -> None:
    server.routes["/api/x"] = Reply(
        data={"a": 1}, headers={"ETag": '"v1"', "Link": f'<{server.url}/api/y>; rel="next"'}
    )
    first = make(tmp_path / "cache").get("/x")
    second = make(tmp_path / "cache").get("/x")
    assert (first.data, first.next_url) == (second.data, second.next_url)
    assert server.requests[1].headers["if-none-match"] == '"v1"'
    server.routes["/api/x"] = Reply(data={"a": 2}, headers={"ETag": '"v2"'})
    assert make(tmp_path / "cache").get("/x").data == {"a": 2}
    assert make(tmp_path / "cache").get("/x", fresh=True).data == {"a": 2}
    assert "if-none-match" not in server.requests[3].headers


def test_a_broken_or_unwritable_cache_loses_nothing(server: ForgeServer, make: Maker, tmp_path: Path) -> None:
    server.routes["/api/x"] = Reply(data={"a": 1}, headers={"ETag": '"v1"'})
    make(tmp_path).get("/x")
    (kept,) = tmp_path.glob("*.json")
    assert kept.stat().st_mode & 0o077 == 0
    for broken in (b"", b"<html>", b'{"schema": "berbench.forge-cache/1"}', b"[]", b"[" * 100_000):
        kept.write_bytes(broken)
        assert make(tmp_path).get("/x").data == {"a": 1}
    (tmp_path / "file").write_text("")
    assert make(tmp_path / "file" / "below").get("/x").data == {"a": 1}
    assert not list(tmp_path.glob("*.part"))


def test_the_token_is_in_no_file_repr_or_error(server: ForgeServer, make: Maker, tmp_path: Path) -> None:
    server.routes["/api/x"] = Reply(data={"a": 1}, headers={"ETag": '"v1"'})
    server.routes["/api/no"] = Reply(401, {"message": "Bad credentials"})
    transport = make(tmp_path)
    transport.get("/x")
    with pytest.raises(ForgeError) as caught:
        transport.get("/no")
    told = f"{transport!r} {Credentials('X', TOKEN)!r} {caught.value!r} {caught.value.remedy} {caught.value.details}"
    assert TOKEN not in told and "GITHUB_TOKEN" in caught.value.message
    assert all(TOKEN.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_M16_a_rate_limit_page_is_waited_out_and_never_data(
    server: ForgeServer, make: Maker, tmp_path: Path
) -> None:
    page = b"<html>You have exceeded a secondary rate limit</html>"
    clock = Clock()
    server.routes["/api/x"] = [
        Reply(403, body=page, content_type="text/html", headers={"Retry-After": "7"}),
        Reply(429, body=page, content_type="text/html", headers={"Retry-After": "5"}),
        Reply(data={"a": 1}, headers={"ETag": '"v"'}),
    ]
    assert make(tmp_path, clock=clock).get("/x").data == {"a": 1}
    assert clock.slept == [7, 5]
    assert all(b"<html>" not in path.read_bytes() for path in tmp_path.iterdir())


def test_M16_a_page_with_status_200_is_an_error(server: ForgeServer, make: Maker, tmp_path: Path) -> None:
    server.routes["/api/x"] = Reply(
        body=b"<html>Log in</html>", content_type="text/html", headers={"ETag": '"v"'}
    )
    with pytest.raises(ForgeError, match="text/html that is no JSON") as caught:
        make(tmp_path).get("/x")
    assert "--no-api" in caught.value.remedy and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1003600"}, 3601),
        (429, {"RateLimit-Remaining": "0", "RateLimit-Reset": "1000900"}, 901),
        (429, {"Retry-After": "300"}, 300),
    ],
)
def test_a_long_wait_is_told_and_not_sat_through(
    server: ForgeServer, make: Maker, status: int, headers: dict[str, str], wait: float
) -> None:
    clock = Clock()
    server.routes["/api/x"] = Reply(status, {"message": "API rate limit exceeded"}, headers=headers)
    with pytest.raises(RateLimited) as caught:
        make(clock=clock).get("/x")
    assert caught.value.wait_s == wait and clock.slept == [] and "--no-api" in caught.value.remedy


def test_many_short_waits_come_to_an_end(server: ForgeServer, make: Maker) -> None:
    clock = Clock()
    server.routes["/api/x"] = Reply(429, {"message": "slow down"}, headers={"Retry-After": "0"})
    with pytest.raises(RateLimited):
        make(clock=clock).get("/x")
    assert 0 < sum(clock.slept) <= 60


def test_waits_are_read_from_every_form_of_header() -> None:
    http_date = "Sun, 06 Nov 1994 08:49:37 GMT"
    at = 784111777.0
    assert rate_limit_wait(429, {"retry-after": http_date}, b"", at - 30) == 30
    assert rate_limit_wait(429, {"retry-after": "soon"}, b"", at) == 60
    assert rate_limit_wait(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "x"}, b"", at) == 60
    assert (
        rate_limit_wait(403, {}, b'{"message": "You have triggered an abuse detection mechanism"}', at) == 60
    )
    assert rate_limit_wait(503, {"retry-after": "3"}, b"", at) == 3
    assert rate_limit_wait(403, {"x-ratelimit-remaining": "12"}, b'{"message": "Forbidden"}', at) is None
    assert rate_limit_wait(200, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9"}, b"", at) is None
    assert rate_limit_wait(429, {}, b"", at) == 60


def test_a_server_error_is_tried_again_with_growing_waits(server: ForgeServer, make: Maker) -> None:
    clock = Clock()
    server.routes["/api/x"] = [Reply(500), Reply(502, body=b"<html>"), Reply(data={"a": 1})]
    assert make(clock=clock).get("/x").data == {"a": 1}
    assert clock.slept == [1, 2]


def test_a_server_that_stays_broken_is_given_up(server: ForgeServer, make: Maker) -> None:
    server.routes["/api/x"] = Reply(503, {"message": "down"})
    with pytest.raises(ForgeError, match="fails with status 503: down"):
        make().get("/x")
    assert server.asked("/api/x") == 4


@pytest.mark.parametrize("hide_length", [False, True])
def test_a_truncated_answer_is_asked_for_again(server: ForgeServer, make: Maker, hide_length: bool) -> None:
    whole = Reply(data={"text": "x" * 500})
    server.routes["/api/x"] = [Reply(data=whole.data, cut=100, hide_length=hide_length), whole]
    assert make().get("/x").data == whole.data
    server.routes["/api/y"] = Reply(data=whole.data, cut=100, hide_length=hide_length)
    with pytest.raises(ForgeError, match="broke"):
        make().get("/y")


def test_a_server_that_hangs_or_drips_is_left(server: ForgeServer, make: Maker) -> None:
    started = time.monotonic()
    server.routes["/api/x"] = Reply(hang=True)
    with pytest.raises(ForgeError, match="did not answer within") as caught:
        make(timeout_s=0.2, attempts=2).get("/x")
    assert "--no-api" in caught.value.remedy and server.asked("/api/x") == 2
    server.routes["/api/y"] = Reply(body=b" " * 1000, drip=0.05)
    with pytest.raises(ForgeError, match="did not answer within"):
        make(deadline_s=0.3, attempts=1).get("/y")
    assert time.monotonic() - started < 5


def test_a_forge_that_is_down_or_limits_is_asked_no_further(server: ForgeServer, make: Maker) -> None:
    server.routes["/api/y"] = Reply(data={"a": 1})
    for trouble in (Reply(503, {}), Reply(429, {}, headers={"Retry-After": "900"})):
        server.routes["/api/x"] = trouble
        transport = make()
        with pytest.raises((ForgeDown, RateLimited)) as first:
            transport.get("/x")
        asked = len(server.requests)
        with pytest.raises((ForgeDown, RateLimited)) as second:
            transport.get("/y")
        assert first.value is second.value and len(server.requests) == asked
    assert make().get("/y").data == {"a": 1}


def test_redirects_stay_on_the_host_and_the_token_never_leaves(server: ForgeServer, make: Maker) -> None:
    other = ForgeServer()
    try:
        other.routes["/x"] = Reply(data={"stolen": True})
        server.routes["/api/old"] = Reply(301, {}, headers={"Location": "/api/new"})
        server.routes["/api/new"] = Reply(data={"a": 1})
        assert make().get("/old").data == {"a": 1}
        server.routes["/api/away"] = Reply(302, {}, headers={"Location": f"{other.url}/x"})
        server.routes["/api/list"] = Reply(data=[1], headers={"Link": f'<{other.url}/x>; rel="next"'})
        for ask in (lambda: make().get("/away"), lambda: list(make().pages("/list"))):
            with pytest.raises(ForgeError, match="another host"):
                ask()
        assert other.requests == []
        server.routes["/api/round"] = Reply(302, {}, headers={"Location": "/api/round"})
        with pytest.raises(ForgeError, match="in circles"):
            make().get("/round")
    finally:
        other.close()


@pytest.mark.parametrize("location", ["rttps::/:/[1/xe", "y-:////[::.1][", "http://[::1", "//[x]/"])
def test_a_redirect_to_no_address_is_told(server: ForgeServer, make: Maker, location: str) -> None:
    server.routes["/api/old"] = Reply(301, {}, headers={"Location": location})
    with pytest.raises(ForgeError, match=r"redirects to no address|Invalid URL in location"):
        make().get("/old")


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, ForgeError, "token from GITHUB_TOKEN"),
        (403, ForgeError, "forbids this: Resource not accessible"),
        (404, NotOnForge, "is not there"),
        (410, NotOnForge, "was deleted"),
        (418, ForgeError, "status 418"),
    ],
)
def test_refusals_say_what_to_do(
    server: ForgeServer, make: Maker, status: int, kind: type[ForgeError], words: str
) -> None:
    server.routes["/api/x"] = Reply(status, {"message": "Resource not accessible"})
    with pytest.raises(kind) as caught:
        make().get("/x")
    assert words in caught.value.message and caught.value.remedy
    assert server.asked("/api/x") == 1


def test_no_server_and_no_such_host() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    clock = Clock()
    for url, words in (
        (f"http://127.0.0.1:{port}", "broke"),
        ("http://no-such-host.invalid", "could not be found"),
    ):
        patience = Patience(sleep=clock.sleep, attempts=2, timeout_s=2)
        transport = Transport(url, credentials=Credentials(), headers={}, cache=None, patience=patience)
        with pytest.raises(ForgeError, match=words) as caught:
            transport.get("/x")
        assert "--no-api" in caught.value.remedy
        transport.close()


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:x/list", "http://[::1/list", "/a\x01b", "/" + "a" * 70_000]
)
def test_a_next_page_that_is_no_address_is_told(server: ForgeServer, make: Maker, address: str) -> None:
    server.routes["/api/list"] = Reply(data=[1], headers={"Link": f'<{address}>; rel="next"'})
    with pytest.raises(ForgeError, match="is no address of an API"):
        list(make().pages("/list"))
