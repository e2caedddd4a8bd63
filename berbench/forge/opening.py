"""Opens the forge that a repository lives on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from berbench.errors import ConfigError
from berbench.forge import github, gitlab
from berbench.forge.credentials import Ask, find_credentials, is_loopback
from berbench.forge.door import Forge
from berbench.forge.transport import Patience, Transport
from berbench.model.changes import Repository


def open_forge(
    repository: Repository,
    *,
    api_url: str = "",
    cache: Path | None = None,
    environ: Mapping[str, str],
    ask: Ask,
    patience: Patience | None = None,
) -> Forge:
    """The forge of a repository whose `provider` is known. Nothing is asked over the network yet.

    `api_url` is the config's word for hosts whose API address can't be derived, `cache` a folder for answers.
    `ask` runs a command (such as `gh auth token`) and returns its output, None when it fails or is missing.
    ConfigError when there is no provider, or the address can't carry a token safely.
    """
    if repository.provider not in ("github", "gitlab"):
        raise ConfigError(
            f"no forge is known for {repository.host or 'this repository'}",
            remedy="set provider (github or gitlab) in .ber/bench/config.yaml, or work offline with --no-api",
        )
    kind = github if repository.provider == "github" else gitlab
    url = (api_url or kind.api_url_of(repository.host)).rstrip("/")
    host = _host_of(url)
    credentials = find_credentials(repository, url, environ, ask)
    if credentials.token and url.startswith("http://") and not is_loopback(urlsplit(url).netloc):
        raise ConfigError(
            f"api_url is plain http, and a token for {host} would travel in the open",
            remedy="use https:// in api_url, or unset the token",
        )
    transport = Transport(url, credentials=credentials, headers=kind.HEADERS, cache=cache, patience=patience)
    if repository.provider == "github":
        return github.GitHubForge(repository, transport, credentials)
    return gitlab.GitLabForge(_below_root(repository, url), transport, credentials)


def _host_of(url: str) -> str:
    """The host of an API's address; ConfigError when it is no plain web address."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        plain = (
            parts.scheme in ("http", "https") and bool(host) and parts.port != 0 and "@" not in parts.netloc
        )
    except ValueError:
        host, plain = "", False
    if not plain:
        raise ConfigError(
            "api_url in the config is no plain web address",
            remedy="write it like https://git.example.com/api/v4, with no user or password in it",
        )
    return host


def _below_root(repository: Repository, api_url: str) -> Repository:
    """GitLab may live below a folder of its host; then remotes carry that folder before the path."""
    root = urlsplit(api_url).path.removesuffix("/api/v4").strip("/")
    if root and repository.slug.lower().startswith(f"{root.lower()}/"):
        return replace(repository, slug=repository.slug[len(root) + 1 :])
    return repository
