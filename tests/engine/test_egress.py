from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import cast

import pytest

from berbench.engine import egress, enclosure, refusals
from berbench.engine.api import Reply
from berbench.errors import EngineError
from berbench.model.agent import Destination

AT = datetime(2026, 1, 1, tzinfo=UTC)


def told(*destinations: Destination, environ: dict[str, str] | None = None) -> dict[str, str]:
    documents = egress.documents("198.18.0.3", destinations, environ or {})
    return {path: text.decode() for path, text in documents.items()}


def denied(line: str) -> tuple[str, int] | None:
    one = refusals.denied(line.encode(), AT)
    return (one.host, one.port) if one else None


def test_refusals_are_read_from_the_log():
    line = 'NOTICE    Nov 30 02:28:55.412 [7]: Proxying refused on filtered url "{}"'
    assert denied(line.format("github.com:443")) == ("github.com", 443)
    assert denied(line.format("http://codeload.github.com/a/b")) == ("codeload.github.com", 80)
    assert denied(line.format("http://[::1]:8080/")) == ("::1", 8080)
    assert denied(line.format("1.2.3.4:22")) == ("1.2.3.4", 22)
    assert denied(line.format("odd:port:443")) == ("odd:port:443", 0)
    assert denied(line.format("http://198.18.0.2:3128https://github.com/x")) == ("github.com", 443)
    assert denied(line.format("http://198.18.0.2:3128ftp://github.com/")) == ("github.com", 21)
    assert denied(line.format("http://198.18.0.2:3128cache_object://github.com/")) == ("github.com", 443)
    assert denied(line.format("http://198.18.0.2:3128github.com:22")) == ("github.com", 22)
    # A long line is cut.
    assert denied(line.format("http://github.com:8080/" + "x" * 700)[:-1]) == ("github.com", 8080)
    said = "INFO      Nov 30 02:28:55.412 [7]: Unknown method (GET) or protocol (https://github.com/x)"
    assert denied(said) == ("github.com", 443)


def test_what_a_program_sends_is_no_word_of_the_proxys():
    request = "CONNECT   Nov 30 02:28:56.037 [7]: Request (file descriptor 5): "
    forged = (
        'Proxying refused on filtered url "forged.test:443"',
        "Unknown method (GET) or protocol (http://forged.test/)",
        "greeting api.test:443 forged.test terminate NONE_NONE/200 - -",
    )
    for one in forged:
        notice = 'NOTICE    Nov 30 02:28:55.412 [7]: Proxying refused on filtered url "x.test:443"'
        for line in (f"{request}GET {one} HTTP/1.1", f"{request}{notice}", f"greeting {one}"):
            assert denied(line) is None, line


def test_refusals_by_the_greeting_are_read_from_the_log():
    def one(line: str) -> tuple[str, int, str] | None:
        found = refusals.denied(f"greeting {line}".encode(), AT)
        return (found.host, found.port, found.reason) if found else None

    named = "named in the greeting of TLS to api.test"
    assert one("api.test:443 github.com terminate NONE_NONE/200 - -") == ("github.com", 443, named)
    assert one("api.test:8443 a%20b terminate NONE_NONE/200 - -") == ("a%20b", 8443, named)
    nameless = "its greeting of TLS names no host"
    assert one("api.test:443 - terminate NONE_NONE/200 - -") == ("api.test", 443, nameless)
    listed = "not among the hosts of the tool"
    assert one("http://github.com/x - - TCP_DENIED/403 ERR_ACCESS_DENIED -") == ("github.com", 80, listed)
    assert one("github.com:443 - - TCP_DENIED/200 ERR_ACCESS_DENIED -") == ("github.com", 443, listed)
    assert one("api.test:443 github.com splice TCP_DENIED/403 ERR_ACCESS_DENIED -") == (
        "github.com",
        443,
        named,
    )
    neither = "it was spoken to neither in TLS nor in HTTP"
    assert one("api.test:8443 - peek TCP_DENIED/403 ERR_ACCESS_DENIED -") == ("api.test", 8443, neither)
    clear = "api.test:443 - peek NONE_NONE/200 ERR_PROTOCOL_UNKNOWN"
    assert one(f"{clear} -") == ("api.test", 443, "it was not spoken to in TLS")
    assert one(f"{clear} yes") is None


def test_who_does_not_answer_is_read_from_the_log():
    def place(line: str) -> str:
        return refusals.unreached(f"greeting {line}".encode())

    assert place("api.test:443 api.test splice NONE_NONE/503 - -") == "api.test:443"
    assert place("api.test:443 api.test splice NONE_NONE/500 ERR_CANNOT_FORWARD -") == "api.test:443"
    for line in (
        "api.test:443 api.test splice NONE_NONE/200 - -",
        "api.test:443 api.test splice TCP_TUNNEL/500 - -",
        "api.test:443 github.com terminate NONE_NONE/200 - -",
        "error:transaction-end-before-headers - - NONE_NONE/0 ERR_CLIENT_GONE -",
    ):
        assert place(line) == ""


def test_nothing_else_in_the_log_is_a_refusal():
    for line in (
        "greeting api.test:443 api.test splice NONE_NONE/200 - -",
        "greeting api.test:443 api.test splice TCP_TUNNEL/500 - -",
        "greeting api.test:443 - peek NONE_NONE_ABORTED/200 ERR_CLIENT_GONE -",
        "greeting http://api.test:8080/v1 - - TCP_MISS/200 - -",
        "greeting error:transaction-end-before-headers - - NONE_NONE/0 ERR_CLIENT_GONE -",
        "CONNECT   Nov 30 02:28:56.037 [7]: Connect (file descriptor 5): 198.19.123.115",
        "CONNECT   Nov 30 02:28:56.037 [7]: Request (file descriptor 5): CONNECT api.test:443 HTTP/1.1",
        "ERROR     Nov 30 02:28:56.038 [7]: opensock: Could not retrieve address info for api.test:443",
        "",
    ):
        assert denied(line) is None


def test_rules_let_through_names_and_ports_together():
    rules = told(Destination("api.test"), Destination("model.test", 8080))[egress.RULES].split("\n")[:-1]

    def let_through(asked: str) -> bool:
        return any(re.search(rule, asked, re.I) for rule in rules)

    for asked in (
        "api.test:443",
        "API.test:443",
        "model.test:8080",
        "http://model.test:8080/v1",
        "http://model.test:8080",
    ):
        assert let_through(asked), asked
    for asked in (
        "api.test:444", "api.test:80", "http://api.test/", "api.test", "xapi.test:443", "api.testx:443", "apixtest:443",
        "sub.api.test:443", "model.test:443", "http://model.test:8080@evil.test/", "http://evil.test/model.test:8080",
        "http://model.test:80800/", "https://api.test:443/", "api.test:443/../x", "user@api.test:443",
    ):  # fmt: skip
        assert not let_through(asked), asked


def test_the_usual_port_of_plain_requests_may_be_left_out():
    rules = told(Destination("api.test", 80), Destination("model.test", 8080))[egress.RULES].split("\n")[:-1]
    good = (
        "http://api.test/v1",
        "http://api.test",
        "http://api.test:80/",
        "api.test:80",
        "http://model.test:8080/",
    )
    for asked in good:
        assert any(re.search(rule, asked, re.I) for rule in rules), asked
    for asked in (
        "http://model.test/",
        "http://api.test:8080/",
        "http://api.test80/",
        "api.test:443",
        "http://api.test@x/",
    ):
        assert not any(re.search(rule, asked, re.I) for rule in rules), asked


def test_a_greeting_of_tls_must_name_a_host_of_the_list():
    """The helper's own program, as sed runs it: one line in, one line out."""
    names = told(Destination("api.test"), Destination("model.test", 8080), Destination("*.x.test"))[
        egress.NAMES
    ]

    def said(*asked: str) -> list[str]:
        text = "".join(f"{line}\n" for line in asked)
        ran = subprocess.run(
            ["sed", "-u", "-E", names], input=text, capture_output=True, text=True, check=True
        )
        return ran.stdout.splitlines()

    longest = "a." * 123 + "x.test"
    assert len(longest) == 252
    good = (
        "api.test",
        "API.Test",
        "model.test",
        "a.x.test",
        "a.b.x.test",
        "api.test -",
        longest,
        f"b{longest} -",
    )
    assert said(*good) == ["OK"] * len(good)
    bad = ("-", "- -", "", ".", "api.test.", "xapi.test", "apixtest", "api.test%0Agithub.com", "github.com", "x.test",
           "git.x.test", "a.git.x.test", f"bb{longest}",
           f"bb{longest} -", "github.com api.test", "OK", "api.testx", " api.test")  # fmt: skip
    assert said(*bad) == ["ERR"] * len(bad)


def test_what_is_no_tls_goes_through_where_plain_requests_may():
    assert egress.CLEAR not in told(Destination("api.test"))
    assert "on_unsupported_protocol tunnel" not in told(Destination("api.test"))[egress.GREETING]
    both = told(Destination("api.test"), Destination("model.test", 8080))
    assert both[egress.CLEAR].split() == ["^model\\.test:8080$", "^http://model\\.test:8080(/.*)?$"]
    assert "on_unsupported_protocol tunnel clear" in both[egress.GREETING]


def test_networks_are_small_and_never_those_of_a_real_host():
    seen = {egress.subnet(number) for number in range(1 << 13)}
    assert len(seen) == 1 << 13
    assert all(one.prefixlen == egress.PREFIX and one.subnet_of(egress.SPACE) for one in seen)


def test_where_the_host_goes_through_a_proxy_so_does_the_agents():
    def lines(**environ: str) -> list[str]:
        documents = told(Destination("api.test"), environ=environ)
        through = "cache_peer 127.0.0.1 parent" in documents[egress.GREETING]
        assert through == (egress.BACK in documents)
        assert "Upstream http 127.0.0.1:3129" in documents[egress.FRONT]
        return [line for line in documents.get(egress.BACK, "").splitlines() if "Upstream" in line]

    assert lines() == [] == lines(HTTPS_PROXY="http://127.0.0.1:3128")
    assert lines(
        https_proxy="http://me:p%23ss@proxy.corp:8080/", NO_PROXY="localhost,.corp, *.test,10.0.0.0/8"
    ) == [
        "Upstream http me:p#ss@proxy.corp:8080",
        'Upstream none "localhost"',
        'Upstream none ".corp"',
        'Upstream none ".test"',
    ]
    assert lines(ALL_PROXY="socks5h://proxy.corp:1080") == ["Upstream socks5 proxy.corp:1080"]
    for address in (
        "https://proxy.corp:8080",
        "http://proxy.corp",
        "http://me:p%40s@p:1",
        "http://me:%0a@p:1",
        'http://a b"\n:1',
    ):
        with pytest.raises(EngineError, match="HTTPS_PROXY"):
            lines(HTTPS_PROXY=address)


def test_the_proxy_serves_its_own_agent_alone():
    assert "\nAllow 198.18.0.3\n" in told()[egress.FRONT]


def test_programs_find_the_proxy_by_its_address():
    found = egress.variables("198.18.0.2")
    assert found["HTTPS_PROXY"] == found["https_proxy"] == "http://198.18.0.2:3128"
    assert found["no_proxy"] == "localhost,127.0.0.1,::1"


def test_the_base_decides_the_proxys_image():
    one, other = egress.recipe("berbench/base"), egress.recipe("debian:bookworm-slim")
    assert one.key != other.key and one.build_args == (("BASE_IMAGE", "berbench/base"),)
    assert b"tinyproxy" in one.dockerfile


def test_refusals_beyond_those_that_are_kept_are_counted(monkeypatch: pytest.MonkeyPatch):
    class Said:
        def pieces(self) -> Iterator[bytes]:
            for number in range(7):
                line = (
                    b'NOTICE    Nov 30 02:28:55.412 [7]: Proxying refused on filtered url "%d.test:443"\n'
                    % number
                )
                yield b"\1\0\0\0" + len(line).to_bytes(4, "big") + line

    monkeypatch.setattr(enclosure, "MOST_DENIED", 3)
    log = enclosure._Log(cast(Reply, Said()))
    log.wait()
    assert [one.host for one in log.denied] == ["0.test", "1.test", "2.test"] and log.more == 4
