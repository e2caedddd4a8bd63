"""Which token goes to which host, and under which name people know it. The value never shows.

A token is sent only to the host it is meant for: GitHub's variables as `gh` reads them (GITHUB_TOKEN is for
github.com alone), GitLab's to the host that GITLAB_HOST names, else to the remote's. An `api_url` in a
committed config can't draw a token to a host of its own choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from berbench.model.changes import Repository

# CI_JOB_TOKEN is left out: GitLab's API for merge requests and issues doesn't take it.
_GITHUB = ("GH_TOKEN", "GITHUB_TOKEN")
_GITHUB_ENTERPRISE = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
_GITLAB = ("GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN", "GL_TOKEN", "OAUTH_TOKEN")
_HOST_VARIABLES = {"github": ("GH_HOST",), "gitlab": ("GITLAB_HOST", "GL_HOST", "CI_SERVER_HOST")}

Ask = Callable[[Sequence[str]], str | None]


@dataclass(frozen=True, slots=True)
class Credentials:
    """A token and where it was found. `note` says why one that exists is not used."""

    source: str = ""
    token: str = field(default="", repr=False)
    note: str = ""


def is_loopback(host: str) -> bool:
    """Whether a host name is this machine itself."""
    name = urlsplit(f"//{host}").hostname or ""
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def find_credentials(
    repository: Repository, api_url: str, environ: Mapping[str, str], ask: Ask
) -> Credentials:
    """The token for requests to `api_url`, from the environment or the forge's own command line tool."""
    api_host = urlsplit(api_url).netloc.rpartition("@")[2].lower()
    host, named = repository.host.lower(), _named_host(repository.provider, environ)
    allowed = bool(named) and _belongs(api_host, named)
    if not (_belongs(api_host, host) or is_loopback(api_host) or allowed):
        variable = _HOST_VARIABLES[repository.provider][0]
        return Credentials(
            note=f"no token is sent to {api_host}, for the remote is on {host}; set {variable} to allow it"
        )
    found = _from_environment(repository.provider, environ, host, "" if allowed else named)
    return found if found.token else _from_tool(repository.provider, host, ask, found.note)


def _belongs(api_host: str, host: str) -> bool:
    return api_host in (host, f"api.{host}")


def _named_host(provider: str, environ: Mapping[str, str]) -> str:
    for variable in _HOST_VARIABLES[provider]:
        if value := environ.get(variable, "").strip().lower():
            return urlsplit(value).netloc if "://" in value else value
    return ""


def _from_environment(provider: str, environ: Mapping[str, str], host: str, only: str) -> Credentials:
    """The first variable that is set; `only` is the one host that self-managed hosts' variables are meant for."""
    public = provider == "github" and (host == "github.com" or host.endswith(".ghe.com"))
    github = _GITHUB if public else _GITHUB_ENTERPRISE
    for variable in _GITLAB if provider == "gitlab" else github:
        token = environ.get(variable, "").strip()
        if not token:
            continue
        if only and host != only and not public:
            return Credentials(note=f"{variable} is kept back, for it is meant for {only} and not for {host}")
        if not _is_token(token):
            return Credentials(note=f"{variable} is not used, for it holds characters that no token has")
        return Credentials(source=variable, token=token)
    meant_elsewhere = next((name for name in _GITHUB if provider == "github" and environ.get(name)), "")
    if meant_elsewhere and not public:
        return Credentials(
            note=f"{meant_elsewhere} is for github.com; for {host} set {_GITHUB_ENTERPRISE[0]}"
        )
    return Credentials()


def _is_token(text: str) -> bool:
    """A token is one printable word; what is none would show up in an error about a header."""
    return text.isascii() and text.isprintable() and " " not in text


def _from_tool(provider: str, host: str, ask: Ask, note: str) -> Credentials:
    name = host.partition(":")[0]
    questions = {
        "github": (("gh", "auth", "token", "--hostname", name),),
        "gitlab": (("glab", "config", "get", "token", "--host", name),),
    }
    for question in questions[provider]:
        answer = (ask(question) or "").strip()
        if answer and _is_token(answer):
            return Credentials(source=" ".join(question[:3]), token=answer)
    return Credentials(note=note)
