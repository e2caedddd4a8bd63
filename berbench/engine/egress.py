"""The proxy's side of an agent's network, as pure functions: its image, its rules, its log, and the look from inside.

The proxy is tinyproxy. It is given extended regular expressions of what may be asked for, names and ports
together, and refuses everything else; its log on standard output tells each request and each refusal.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from ipaddress import IPv4Network
from urllib.parse import unquote, urlsplit

from berbench.engine.building import proxy_arguments
from berbench.engine.workspace import Denied
from berbench.errors import EngineError
from berbench.matrix.reach import patterns
from berbench.model.agent import Destination
from berbench.model.trial import ImageRecipe

PORT = 3128
CONFIG = "/etc/tinyproxy/agent.conf"
RULES = "/etc/tinyproxy/agent.rules"
COMMAND = ("tinyproxy", "-d", "-c", CONFIG)
BASES = ("berbench/base", "debian:bookworm-slim")  # the first that is there; the last can be fetched

# Set aside for tests of network equipment (RFC 2544): no host of any real network has such an address, and an engine
# that picks networks by itself runs out of them at about thirty.
SPACE = IPv4Network("198.18.0.0/15")
PREFIX = 28

_CONFIG = """\
Port {port}
Timeout 3600
LogLevel Info
MaxClients 512
DisableViaHeader Yes
Allow {agent}
Filter "{rules}"
FilterURLs On
FilterExtended On
FilterDefaultDeny Yes
"""

_UPSTREAM = re.compile(r"(?i)(http|socks5h?|socks4)://([^/@:\s]*:[^/@\s]*@)?([\w.-]+:[0-9]+)/?")
_PAST = re.compile(r"[\w.-]*[A-Za-z0-9]")

_REFUSED = re.compile(
    rb'Proxying refused on filtered (?:url|domain) "(.*)"|Unknown method \(.*?\) or protocol \((.*?)\)'
)


def recipe(base: str) -> ImageRecipe:
    """The proxy's image on a base image."""
    dockerfile = files("berbench.engine").joinpath("kit/egress.dockerfile").read_bytes()
    key = hashlib.sha256(b"berbench egress 1\0" + dockerfile + base.encode()).hexdigest()
    return ImageRecipe(key, dockerfile, "docker/egress/Dockerfile", (("BASE_IMAGE", base),), "0" * 40)


def subnet(number: int) -> IPv4Network:
    """One of the small networks of SPACE."""
    size = 1 << (32 - PREFIX)
    count = SPACE.num_addresses // size
    return IPv4Network((int(SPACE.network_address) + number % count * size, PREFIX))


def config(agent: str, environ: Mapping[str, str]) -> bytes:
    """The proxy's configuration. It serves the agent's address and no other. Where the host itself goes through a
    proxy, so does this one. EngineError when it can't."""
    plain = _CONFIG.format(port=PORT, agent=agent, rules=RULES)
    return "".join((plain, *(f"{line}\n" for line in _upstreams(environ)))).encode()


def _upstreams(environ: Mapping[str, str]) -> list[str]:
    known = proxy_arguments(dict(environ))
    named = (known.get(name) for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"))
    address = next(filter(None, named), "")
    if not address:
        return []
    found = _UPSTREAM.fullmatch(address if "://" in address else f"http://{address}")
    who = unquote(found[2] or "") if found else ""
    if found is None or who.count("@") > 1 or re.search(r"\s", who):
        raise EngineError(
            "The host's own proxy, as HTTPS_PROXY or ALL_PROXY name it, can't be used by the proxy of an agent.",
            remedy="name one as http://host:port, http://user:password@host:port or socks5://host:port",
        )
    kind, place = found[1].lower().removesuffix("h"), found[3]
    past = known.get("no_proxy", "") or known.get("NO_PROXY", "")
    hosts = (one.strip().removeprefix("*") for one in past.split(","))
    return [
        f"Upstream {kind} {who}{place}",
        *(f'Upstream none "{one}"' for one in hosts if _PAST.fullmatch(one)),
    ]


def rules(destinations: Iterable[Destination]) -> bytes:
    """What may be asked for, one expression a line."""
    return "".join(f"{line}\n" for one in destinations for line in patterns(one)).encode()


def variables(proxy: str) -> dict[str, str]:
    """What leads programs to the proxy, by its address, in all spellings in use."""
    address = f"http://{proxy}:{PORT}"
    here = "localhost,127.0.0.1,::1"
    found: dict[str, str] = {}
    for name, value in (
        ("HTTP_PROXY", address),
        ("HTTPS_PROXY", address),
        ("ALL_PROXY", address),
        ("NO_PROXY", here),
    ):
        found |= {name: value, name.lower(): value}
    # Node's own fetch reads the variables only when it is told to.
    return found | {"NODE_USE_ENV_PROXY": "1"}


def denied(line: bytes, at: datetime | None = None) -> Denied | None:
    """The refusal that a line of the log tells, if it does."""
    found = _REFUSED.search(line)
    if found is None:
        return None
    text = (found[1] or found[2] or b"").decode("utf-8", "replace")
    host, port = _asked(text)
    return Denied(host, port, at or datetime.now(UTC), "not among the hosts of the tool")


def _asked(text: str) -> tuple[str, int]:
    """Host and port of what a request names. Before an address that is no request of plain HTTP the proxy logs the
    place where it was asked."""
    text = re.sub(r"^http://[0-9.]+:[0-9]+(?=[a-z]+://)", "", text)
    try:
        parts = urlsplit(text if "://" in text else f"//{text}")
        default = {"http": 80, "ftp": 21}.get(parts.scheme, 443)
        return parts.hostname or text, parts.port or default
    except ValueError:
        return text[:300], 0


# --- the look from inside ---

# Runs in the agent's own network. It tries each address twice: for a moment, and once more with patience while the
# agent is at work already. First line: `ready`, or what is wrong; last line: `closed`, or what is wrong.
_LOOK = """\
reached() {
  said=$(timeout "$3" bash -c "exec 3<>/dev/tcp/$1/$2" 2>&1) && return 0
  case $said in *refused*) return 0 ;; esac
  return 1
}
all_closed() {
  room=$(mktemp -d)
  for address in $outside; do
    (if reached "${address%:*}" "${address##*:}" "$1"; then
      echo "$address was reached past the proxy" >"$room/$address"
    fi) &
  done
  wait
  for found in "$room"/*; do if [ -f "$found" ]; then cat "$found"; exit 1; fi; done
}
proxy=$1
port=$2
name=$3
shift 3
outside=$*
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  if timeout 0.25 bash -c "exec 3<>/dev/tcp/$proxy/$port" 2>/dev/null; then up=yes; break; fi
  sleep 0.1
done
if [ "$up" != yes ]; then echo "the proxy does not answer"; exit 1; fi
# The host has an address of this kind in every network, and services of its own may answer there.
if [ -r /proc/net/if_inet6 ]; then
  while read -r line; do
    case $line in *" lo") ;; *) echo "its network has IPv6 (${line##* })"; exit 1 ;; esac
  done </proc/net/if_inet6
fi
all_closed 0.25
echo ready
all_closed 3
# A name server of the agent's own (0035 is port 53) may answer; then no name has left.
own() { cat /proc/net/udp /proc/net/udp6 2>/dev/null | grep -qE '^ *[0-9]+: [0-9A-F]+:0035 '; }
if timeout 8 getent hosts "$name" >/dev/null && ! own; then echo "the name $name was resolved inside"; exit 1; fi
echo closed
"""


def look(proxy: str, outside: Sequence[str], name: str) -> tuple[str, ...]:
    """The command that looks out of an agent's network: the proxy answers, `outside` (address:port) can't be reached,
    and `name` is not resolved."""
    return ("/bin/bash", "-c", _LOOK, "look", proxy, str(PORT), name, *outside)
