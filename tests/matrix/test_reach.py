from __future__ import annotations

import re
from itertools import product

import pytest

from berbench.errors import ConfigError
from berbench.matrix.reach import FORGES, destinations, patterns, refusal
from berbench.model.agent import Destination

LET_THROUGH = (
    "api.anthropic.com", "api.openai.com:443", "generativelanguage.googleapis.com", "*.openai.azure.com",
    "bedrock-runtime.us-east-1.amazonaws.com", "*.bedrock-runtime.us-east-1.amazonaws.com", "model:8080",
    "api.githubcopilot.com", "models.github.ai", "openrouter.ai", "digital.example.com", "legit.example.com",
    "api.model.test:8443",
)  # fmt: skip

FORGE_HOSTS = (
    "github.com", "GitHub.com", "github.com.", "github.com:443", "github.com:22", "www.github.com", "api.github.com",
    "codeload.github.com", "objects.githubusercontent.com", "raw.githubusercontent.com", "*.githubusercontent.com",
    "gist.github.com", "uploads.github.com", "pages.github.io", "ghcr.io", "gitlab.com", "registry.gitlab.com",
    "bitbucket.org", "api.bitbucket.org", "codeberg.org", "git.sr.ht", "dev.azure.com", "ssh.dev.azure.com",
    "org.visualstudio.com", "gitee.com", "sourceforge.net", "git.launchpad.net", "salsa.debian.org",
    "gitlab.corp.example", "github.corp.example", "git.corp.example", "bitbucket.corp.example", "gitea.home.example",
    "my-gitlab.example", "kkgithub.com", "gerrit.example.org", "git-codecommit.us-east-1.amazonaws.com",
    "cdn.jsdelivr.net", "web.archive.org", "api.github.ai", "android.googlesource.com",
)  # fmt: skip


@pytest.mark.parametrize("entry", LET_THROUGH)
def test_model_apis_are_let_through(entry: str):
    assert refusal(entry) == ""


@pytest.mark.parametrize("entry", [*FORGE_HOSTS, *FORGES, *(f"x.y.{forge}" for forge in FORGES)])
def test_code_forges_are_refused_wherever_they_are_written(entry: str):
    assert "code forge" in refusal(entry)
    with pytest.raises(ConfigError, match="code forge"):
        destinations(["api.anthropic.com", entry])


@pytest.mark.parametrize(
    "entry",
    [
        "1.2.3.4",
        "1.2.3.4:443",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "140.82.121.4",
        "*.1.2",
    ],
)
def test_addresses_are_refused(entry: str):
    assert "address" in refusal(entry)


@pytest.mark.parametrize(
    "entry",
    ["", "*", "*.", ".", "::1", "[::1]:443", "a b", "http://api.test", "api.test/v1", "user@api.test", "api.test:0",
     "api.test:65536", "api.test:x", "-a.test", "a..test", "a.*.test", "ünï.test", "a.test\n", "a.test#", "x" * 254,
     "^.*$", "api|github.com"],
)  # fmt: skip
def test_what_is_no_host_is_refused(entry: str):
    assert refusal(entry) if entry != "a.test\n" else "\n" not in destinations([entry])[0].host


@pytest.mark.parametrize("entry", ["localhost", "x.localhost:80", "host.docker.internal"])
def test_the_host_itself_is_refused(entry: str):
    assert "this machine" in refusal(entry)


@pytest.mark.parametrize(
    "entry", ["*.com", "*.azure.com", "*.amazonaws.com", "*.kernel.org", "*.debian.org", "*.net"]
)
def test_a_star_may_cover_no_forge(entry: str):
    assert "its star covers" in refusal(entry) or "code forge" in refusal(entry)


def test_where_the_repository_lives_is_refused_as_well():
    assert refusal("code.corp.example") == ""
    for entry in ("code.corp.example", "api.code.corp.example", "*.corp.example", "CODE.corp.example:8443"):
        assert "code.corp.example" in refusal(entry, ["code.corp.example", ""])


def test_ports_are_kept_and_repeats_are_not():
    found = destinations(["api.test", "API.test:443", "model.test:8080", "*.x.test"])
    assert found == (
        Destination("api.test", 443),
        Destination("model.test", 8080),
        Destination("*.x.test", 443),
    )


def test_a_star_stands_for_any_names_without_git_in_them():
    [rule] = patterns(Destination("*.x.test"))
    for length in range(1, 7):
        for letters in product("gita", repeat=length):
            word = "".join(letters)
            assert bool(re.fullmatch(rule, f"{word}.x.test:443")) == ("git" not in word), word
    assert re.fullmatch(rule, "eu-1.my_own.x.test:443")
    assert not re.fullmatch(rule, "gitlab.eu.x.test:443") and not re.fullmatch(rule, "x.test:443")
