"""Addresses of repositories and pull requests: pure reading, no network.

Credentials that stand in an address are never kept. A host with its own port keeps it where the address is
a web address, for the API is served there too; an ssh port says nothing about the API and is dropped.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from berbench.errors import UsageError
from berbench.model.changes import Repository

# Other names of the same forge, as they stand in remotes and in pasted addresses.
_SAME_HOST = {
    "www.github.com": "github.com",
    "ssh.github.com": "github.com",
    "api.github.com": "github.com",
    "redirect.github.com": "github.com",
    "www.gitlab.com": "gitlab.com",
    "altssh.gitlab.com": "gitlab.com",
}
_DEFAULT_PORTS = {"http": 80, "https": 443}
_WEB = ("http", "https")
_SCHEMES = (*_WEB, "ssh", "git", "git+ssh", "git+https", "ssh+git")
_SCP = re.compile(
    r"(?:[^@/\s]+@)?(?P<host>\[[0-9a-fA-F:]+\]|[A-Za-z0-9][A-Za-z0-9._-]*):(?P<path>(?!//)[^\s]+)"
)
_NUMBER = re.compile(r"(?:#|!|GH-|gh-)?(?P<number>[1-9][0-9]{0,9})")
_SHORT = re.compile(r"(?P<slug>[\w.-]+(?:/[\w.-]+)+)[#!](?P<number>[1-9][0-9]{0,9})")
_PULL = re.compile(
    r"(?:/repos)?/(?P<slug>.+?)(?:/-)?/(?:pull|pulls|merge_requests|pull-requests|pullrequest)"
    r"/(?P<number>[1-9][0-9]{0,9})(?:[/.].*)?"
)
_OTHER_PAGE = re.compile(
    r"/(?P<slug>.+?)(?:/-)?/(?P<kind>issues|work_items|commits?|compare|tree|blob)(?:/.*)?"
)


def provider_of(host: str) -> str:
    """`github`, `gitlab`, or "" where the host's name (`git.example.com`) doesn't tell."""
    name = host.partition(":")[0].lower()
    if name == "github.com" or name.endswith(".ghe.com") or name.startswith("github."):
        return "github"
    if name == "gitlab.com" or "gitlab" in name.split("."):
        return "gitlab"
    return ""


def parse_remote(url: str, provider: str = "auto") -> Repository:
    """Where a remote's address points: https, ssh, git and scp forms, with users, ports and sub-groups.

    `provider` is the config's word: `auto` guesses by the host's name, `none` works offline. A local path,
    or an address that can't be read, gives an empty Repository.
    """
    host, path = _host_and_path(url.strip())
    slug = _slug(path)
    if not host or "/" not in slug:
        return Repository()
    guessed = provider_of(host) if provider == "auto" else {"none": ""}.get(provider, provider)
    if guessed == "github" and slug.count("/") != 1:
        guessed = ""
    return Repository(host=host, slug=slug, provider=guessed)


def parse_pull_request(argument: str, repository: Repository) -> int:
    """The number in `12`, `#12`, `!12`, `owner/name#12`, or in the address of a pull or merge request.

    UsageError when it is none of these, or when the address belongs to another repository or host.
    """
    text = argument.strip()
    if match := _NUMBER.fullmatch(text):
        return int(match["number"])
    if match := _SHORT.fullmatch(text):
        _same(repository, repository.host, match["slug"], text)
        return int(match["number"])
    host, path = _web_address(text)
    if not host:
        raise UsageError(
            f"{_shown(argument)} is no pull request",
            remedy="give its number, like 123, or its address; for a plain commit use --commit SHA",
        )
    if match := _PULL.fullmatch(path):
        _same(repository, host, match["slug"], text)
        return int(match["number"])
    if match := _OTHER_PAGE.fullmatch(path):
        kind = {"work_items": "issue", "issues": "issue"}.get(match["kind"], match["kind"])
        raise UsageError(
            f"{_shown(argument)} is the address of a page of kind {kind}, not of a pull request",
            remedy="give the pull request that landed the change, or --commit SHA",
        )
    raise UsageError(
        f"{_shown(argument)} is no address of a pull or merge request",
        remedy="give its number, or an address that ends like /pull/123 or /-/merge_requests/123",
    )


def _host_and_path(url: str) -> tuple[str, str]:
    scheme, separator, _ = url.partition("://")
    if separator:
        if scheme.lower() not in _SCHEMES:
            return "", ""
        return _split(url)
    match = _SCP.fullmatch(url)
    # A one-letter host is a Windows drive: C:\work, C:/work.
    if match is None or len(match["host"]) == 1:
        return "", ""
    return _canonical(match["host"]), match["path"]


def _split(url: str) -> tuple[str, str]:
    """Host (with a port of its own, for web addresses) and path; two empty texts when unreadable."""
    try:
        parts = urlsplit(url)
        name, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return "", ""
    web = parts.scheme.lower().removeprefix("git+") in _WEB
    if web and port and port != _DEFAULT_PORTS.get(parts.scheme.lower().removeprefix("git+")):
        name = f"{name}:{port}"
    return _canonical(name), parts.path


def _web_address(text: str) -> tuple[str, str]:
    if re.search(r"\s", text) or "/" not in text:
        return "", ""
    if "://" not in text:
        if "." not in text.partition("/")[0] and ":" not in text.partition("/")[0]:
            return "", ""
        text = f"https://{text}"
    return _split(text) if text.lower().startswith(("http://", "https://")) else ("", "")


def _canonical(host: str) -> str:
    host = host.lower().rstrip(".")
    return _SAME_HOST.get(host, host)


def _slug(path: str) -> str:
    parts = [part for part in unquote(path).split("/") if part and part != "~"]
    return "/".join(parts).removesuffix(".git")


def _same(repository: Repository, host: str, slug: str, argument: str) -> None:
    slug = unquote(slug).strip("/")
    if not repository.host or not repository.slug:
        raise UsageError(
            f"{_shown(argument)} names a repository, and this one has no remote to compare it with",
            remedy="give the pull request's number alone",
        )
    if (host.lower(), slug.lower()) != (repository.host.lower(), repository.slug.lower()):
        raise UsageError(
            f"{_shown(argument)} belongs to {host}/{slug}, not to {repository.host}/{repository.slug}",
            remedy="give a pull request of this repository, or run in a clone of the other one",
        )


def _shown(argument: str) -> str:
    """An argument as it can be shown: no user or password of an address, no line breaks, not too long."""
    text = re.sub(r"(?<=://)[^/@\s]+@", "", argument.strip())
    return repr(text if len(text) <= 120 else text[:117] + "...")
