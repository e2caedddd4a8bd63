"""Web addresses in a text, and whether one leads to this repository's changes. Pure.

An address is judged by what it holds after decoding, on whichever host: mirrors, proxies, archives, code browsers
and CI pages all carry `owner/name` in their paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from urllib.parse import unquote

from berbench.model.changes import Repository

_ADDRESS = re.compile(
    r"(?:(?:git\+)?(?:https?|ssh|git)://|(?<![\w@./:-])(?=[\w-]{1,63}+(?:\.[\w-]{1,63}+)++(?::\d{1,5})?/))"
    r"[^\s<>\"'`\[\](){}|\\^]++",
    re.IGNORECASE,
)
_CLOSING = ".,;:!?*_~"
_FORGES = re.compile(
    r"(?:.*\.)?(?:github\.com|githubusercontent\.com|github\.dev|gitlab\.com|gitlab\.[\w.-]+|bitbucket\.org|codeberg\.org"
    r"|gitea\.com|sr\.ht|dev\.azure\.com)"
)
_CHANGE_PAGE = re.compile(
    r"/(?:pull|pulls|merge_requests|pull-requests|pullrequest)/(?P<number>\d+)"
    r"|/(?:commits?|changeset|\+)/(?P<id>[0-9a-f]{7,64})\b|/compare/|\.(?:diff|patch)$"
)
_ISSUE_PAGE = re.compile(r"/(?:issues|work_items|tickets?|discussions)/(?P<number>\d+)")
_FILE_PAGE = re.compile(
    r"/(?:-/)?(?:blob|raw|blame|tree|edit)/(?P<ref>[0-9a-f]{7,64}|main|master|develop|trunk|HEAD|v?\d[\w.]*)/(?P<path>[^?#]+)"
    r"(?:[?#]L(?P<line>\d+))?"
)


class Page(Enum):
    """What an address leads to; the value is the reason as people read it."""

    NONE = ""
    REPOSITORY = "is an address of this repository"
    FORK = "is an address of a fork or an earlier name of this repository"
    CHANGE = "is the address of this change"
    UNKNOWN_CHANGE = "is the address of a change or an issue on a forge"
    FOREIGN_CHANGE = "is the address of another project's change"

    def instead(self, address: str) -> str:
        """Words for the address that keep a sentence readable."""
        if self is Page.FOREIGN_CHANGE:
            return "a change in another project"
        if match := _FILE_PAGE.search(unquote(address)):
            line = f" (line {match['line']})" if match["line"] else ""
            return f"{match['path'].rstrip('/')}{line}"
        if _ISSUE_PAGE.search(address.lower()):
            return "another issue"
        return "another change" if _CHANGE_PAGE.search(address.lower()) else "this repository"


def find_addresses(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of web addresses, with or without a scheme, without a sentence's closing marks."""
    for match in _ADDRESS.finditer(text):
        end = match.end()
        while end > match.start() and text[end - 1] in _CLOSING:
            end -= 1
        yield match.start(), end


def judge_address(
    address: str, repository: Repository, numbers: frozenset[int], commits: tuple[str, ...]
) -> Page:
    """Whether an address leads to this repository, to this change elsewhere, or to another project's change."""
    plain = _decoded(address)
    host, _, rest = re.sub(r"^[\w+]+://(?:[^/@]*@)?", "", plain).partition("/")
    path = f"/{rest}"
    slug = repository.slug.lower()
    if slug and re.search(rf"(?<![\w.-]){re.escape(slug)}(?:\.git)?(?![\w-])(?!\.\w)", path):
        return Page.REPOSITORY
    owner, _, name = slug.rpartition("/")
    if (
        owner
        and re.fullmatch(rf"{re.escape(owner)}\.git(?:hub|lab)\.io", host)
        and re.match(rf"/{re.escape(name)}\b", path)
    ):
        return Page.REPOSITORY
    if any(commit[:10].lower() in path for commit in commits if len(commit) >= 10) or _is_preview(
        plain, numbers
    ):
        return Page.CHANGE
    if not slug and _FORGES.fullmatch(host) and (_CHANGE_PAGE.search(path) or _ISSUE_PAGE.search(path)):
        return Page.UNKNOWN_CHANGE
    if slug and _is_fork(host, path, repository):
        return Page.FORK
    change = _CHANGE_PAGE.search(path)
    known_host = bool(_FORGES.fullmatch(host)) or host == repository.host.lower()
    # A patch to download is a change, whoever keeps it.
    patch = re.search(r"\.(?:diff|patch)$", path)
    return Page.FOREIGN_CHANGE if (change and known_host) or patch else Page.NONE


def _decoded(address: str) -> str:
    """Lower case, with percent escapes undone as often as wrappers nest them."""
    for _ in range(3):
        decoded = unquote(address)
        if decoded == address:
            break
        address = decoded
    return address.lower()


def _is_preview(address: str, numbers: frozenset[int]) -> bool:
    """Previews of a change: deploy-preview-5, project--5.example, /pr-5/, and change pages of mirrors."""
    found = re.findall(
        r"(?:deploy-preview-|--|[/.-]pr[-_/]?|/pulls?/|/merge_requests/|/pull-requests/|[?&]pr=)(\d{1,7})(?!\d)",
        address,
    )
    return any(int(number) in numbers for number in found)


def _is_fork(host: str, path: str, repository: Repository) -> bool:
    home = repository.host.lower()
    if host != home and not (home and host.endswith(f".{home}")) and not _FORGES.fullmatch(host):
        return False
    name = re.escape(repository.slug.lower().rpartition("/")[2])
    owner = r"/(?:repos/)?[\w.-]+" if repository.provider != "gitlab" else r"/(?:[\w.-]+/)*[\w.-]+"
    return bool(re.match(rf"{owner}/{name}(?:\.git)?(?:[/?#].*)?$", path))
