"""What an agent may reach: hosts by name, and never a place where code is hosted, whoever asks for it.

A task's answer lies on the forge its repository lives on, and copies of it lie on others. So every forge that is
known is refused, with all below it, wherever it is written: there is no setting that lets one through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from berbench.errors import ConfigError
from berbench.model.agent import Destination

HTTP, HTTPS = 80, 443

# Forges, what they serve code from, and well-known copies of them.
FORGES = (
    "github.com", "githubusercontent.com", "githubassets.com", "github.io", "github.dev", "ghcr.io",
    "gitlab.com", "gitlab.io", "gitlab-static.net", "bitbucket.org", "bitbucket.io",
    "codeberg.org", "codeberg.page", "gitea.com", "gitea.io", "forgejo.org", "gitee.com", "gitcode.com",
    "gogs.io", "notabug.org", "pagure.io", "sr.ht", "srht.site", "sourceforge.net", "sf.net",
    "launchpad.net", "savannah.gnu.org", "savannah.nongnu.org", "googlesource.com", "kernel.org",
    "salsa.debian.org", "sources.debian.org", "invent.kde.org", "framagit.org", "opendev.org",
    "dev.azure.com", "visualstudio.com", "codecommit.amazonaws.com", "radicle.xyz", "tangled.sh",
    "jsdelivr.net", "statically.io", "githack.com", "ghproxy.com", "deps.dev", "sourcegraph.com", "grep.app",
    "searchcode.com", "softwareheritage.org", "archive.org", "archive.ph", "archive.is",
)  # fmt: skip

# In any label of a name: forges of one's own, and mirrors.
_WORDS = re.compile(
    r"github(?!copilot\b)|gitlab|gitea|gitee|gitcode|gitmirror|codeload|(?:^|[.-])git(?:[.-]|$)"
    r"|bitbucket|codeberg|forgejo|sourceforge|codecommit|gerrit"
)
_MODELS = ("githubcopilot.com", "models.github.ai")  # model APIs, and nothing else, under such a name

_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)")
_LOCAL = ("localhost", "host.docker.internal", "gateway.docker.internal", "host.containers.internal")


def refusal(entry: str, forges: Iterable[str] = ()) -> str:
    """Why an entry of a tool's hosts is refused; "" when it is not. `forges` are refused besides the known ones."""
    try:
        destination = _read(entry)
    except ValueError as error:
        return str(error)
    star = destination.host.startswith("*.")
    host = destination.host.removeprefix("*.")
    if star and "." not in host:
        return "its star covers a whole top-level domain"
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        return "it is an address, and only names are let through"
    if any(host == local or host.endswith("." + local) for local in _LOCAL):
        return "it is this machine itself"
    for forge in (*FORGES, *(name.lower().strip(".") for name in forges if name)):
        if host == forge or host.endswith("." + forge):
            return f"{forge} is a code forge"
        if star and forge.endswith("." + host):
            return f"its star covers {forge}, a code forge"
    if _WORDS.search(host) and not any(host == one or host.endswith("." + one) for one in _MODELS):
        return "by its name it is a code forge"
    return ""


def destinations(entries: Iterable[str], forges: Iterable[str] = ()) -> tuple[Destination, ...]:
    """What the proxy is to let through. ConfigError for an entry that never is."""
    told = tuple(forges)
    for entry in entries:
        if why := refusal(entry, told):
            raise ConfigError(
                f"An agent may not reach {entry!r}: {why}.",
                remedy="take it out of the tool's `network.hosts`; what a task needs belongs into its image",
            )
    return tuple(dict.fromkeys(_read(entry) for entry in entries))


def patterns(destination: Destination) -> tuple[str, ...]:
    """Extended regular expressions of the requests that reach it: what a CONNECT names, and the address of a plain
    request where the port is not that of HTTPS. A star stands for any names without `git` in them."""
    place = f"{name_pattern(destination)}:{destination.port}"
    found = [f"^{place}$"]
    if destination.port != HTTPS:
        # Nobody writes the usual port of a plain request.
        plain = f"{name_pattern(destination)}(:80)?" if destination.port == HTTP else place
        found.append(f"^http://{plain}(/.*)?$")
    return tuple(found)


def name_pattern(destination: Destination) -> str:
    """The extended regular expression of its name, to be anchored."""
    host = destination.host
    found = re.escape(host.removeprefix("*.")).replace("\\-", "-")
    return f"({_WITHOUT_GIT}\\.)+{found}" if host.startswith("*.") else found


# A label in which `git` nowhere stands, for a dialect that can't say "not".
_G = "g(g|ig)*"
_WITHOUT_GIT = f"([a-fh-z0-9_-]|{_G}([a-fhj-z0-9_-]|i[a-fh-su-z0-9_-]))*({_G}i?)?"


def _read(entry: str) -> Destination:
    """ValueError, with the reason, for what is no host."""
    host, colon, port = entry.strip().lower().partition(":")
    if "://" in entry or "/" in entry or "@" in entry:
        raise ValueError("it is an address of a page; write the host alone")
    if colon and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError("it is no host, or its port is none")
    host = host.rstrip(".")
    if not _NAME.fullmatch(host.removeprefix("*.")) or len(host) > 253:
        raise ValueError("it is no host's name")
    return Destination(host, int(port) if colon else HTTPS)
