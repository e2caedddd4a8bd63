"""The proxy's side of an agent's network, as pure functions: its image, and what it is told.

Two programs stand behind each other. tinyproxy is asked, and refuses whatever is not on its list: names and ports
together, as extended regular expressions. What it lets through goes by squid, which reads the name in TLS's greeting
before anything is connected, and drops a connection whose greeting names no host of the list: a program may ask for one
host and mean another that stands behind the same addresses. Nothing is decrypted. Where the host itself reaches the
world through a proxy, a second tinyproxy leads there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from ipaddress import IPv4Network
from urllib.parse import unquote

from berbench.engine.building import proxy_arguments
from berbench.errors import EngineError
from berbench.matrix.reach import HTTPS, name_pattern, patterns
from berbench.model.agent import Destination
from berbench.model.trial import ImageRecipe

PORT = 3128
FRONT = "/etc/tinyproxy/agent.conf"
RULES = "/etc/tinyproxy/agent.rules"
BACK = "/etc/tinyproxy/upstream.conf"
GREETING = "/etc/squid/agent.conf"
NAMES = "/etc/squid/agent.names"
HOSTS = "/etc/squid/agent.hosts"
CLEAR = "/etc/squid/agent.clear"
BASES = ("berbench/base", "debian:bookworm-slim")  # the first that is there; the last can be fetched

# Set aside for tests of network equipment (RFC 2544): no host of any real network has such an address, and an engine
# that picks networks by itself runs out of them at about thirty.
SPACE = IPv4Network("198.18.0.0/15")
PREFIX = 28

_INNER, _OUTER = 3129, 3130

# One that ends takes all with it: a request must not meet half of them. squid listens when all of it stands, and only
# then is the agent let in.
_START = f"""\
if [ -e {BACK} ]; then tinyproxy -d -c {BACK} & fi
squid -N -f {GREETING} &
until (exec 3<>/dev/tcp/127.0.0.1/{_INNER}) 2>/dev/null; do
  kill -0 $! || exit 1
  sleep 0.02
done
tinyproxy -d -c {FRONT} &
wait -n
exit 1
"""
COMMAND = ("/bin/bash", "-c", _START)

# An agent may wait for an answer as long as its cell lasts, so nothing ends a silent connection sooner. No cell may
# last longer than this.
LONGEST_S = 1_000_000

_TINYPROXY = f"""\
Port {{port}}
Timeout {LONGEST_S}
LogLevel Info
MaxClients 512
DisableViaHeader Yes
"""

_FRONT = f"""\
Allow {{agent}}
Filter "{RULES}"
FilterURLs On
FilterExtended On
FilterDefaultDeny Yes
Upstream http 127.0.0.1:{_INNER}
"""

# The list is asked here again: what a program sends behind its first plain request comes straight through tinyproxy.
# Addresses are compared after their escapes are undone, so the host is compared by itself too. The certificate is
# needed to listen for greetings at all; nobody is ever shown it. A greeting without a name is held against the host
# that was asked for by squid's own rule for names, so a helper is asked instead, by what stands in the greeting, in
# characters that can't end a line, and no more of them than a name can have and one: many long ones would fill squid's
# memory, and the beginning of a longer one may look like a name. ssl_bump takes a helper that does not answer for
# consent, so http_access, which takes it for a refusal, asks once more before anything is connected. What squid can't
# read as a greeting may be one to a server: only what begins with a capital letter, in base64 with Q to W, is no TLS
# for sure. A company's proxy might tell in its answer to TRACE how it was asked, password and all.
_SQUID = f"""\
http_port 127.0.0.1:{_INNER} ssl-bump generate-host-certificates=off tls-cert=/etc/squid/unused.pem
visible_hostname localhost
external_acl_type names ttl=3600 negative_ttl=60 cache=1024 children-max=2 children-startup=1 queue-size=1024 \
%#.254ssl::>sni /bin/sed -u -E -f {NAMES}
external_acl_type words ttl=3600 children-max=2 children-startup=1 queue-size=1024 \
%.1>handshake /bin/sed -u -E s/^[-Q-W].*/OK/;t;s/.*/ERR/
acl listed url_regex -i "{RULES}"
acl hosts dstdom_regex -n -i "{HOSTS}"
acl asked at_step SslBump1
acl greeted at_step SslBump2
acl named external names
acl words external words
acl echo method TRACE
ssl_bump peek asked
ssl_bump splice named
ssl_bump terminate all
{{clear}}on_unsupported_protocol respond all
http_access deny manager
http_access deny echo
http_access deny greeted !named
http_access deny !greeted !words
http_access allow localhost hosts listed
http_access deny all
global_internal_static off
cache deny all
cache_mem 0
memory_pools off
digest_generation off
via off
forwarded_for delete
read_timeout {LONGEST_S} seconds
client_lifetime {LONGEST_S} seconds
connect_timeout 15 seconds
negative_dns_ttl 1 second
shutdown_lifetime 0
max_filedescriptors 4096
logformat greeting greeting %.1000ru %#.300ssl::>sni %ssl::bump_mode %Ss/%>Hs %err_code %{{{{clear}}}}note
access_log stdio:/dev/stdout logformat=greeting
cache_log stdio:/dev/stderr
debug_options ALL,0
cache_store_log none
pid_filename none
netdb_filename none
pinger_enable off
coredump_dir /
"""

# What is no TLS goes through where plain requests may.
_CLEAR = f"""\
acl clear url_regex -i "{CLEAR}"
acl noted annotate_transaction clear=yes
on_unsupported_protocol tunnel clear noted
"""

_TO_UPSTREAM = f"""\
cache_peer 127.0.0.1 parent {_OUTER} 0 no-query no-digest no-netdb-exchange default
never_direct allow all
"""

_UPSTREAM = re.compile(r"(?i)(http|socks5h?|socks4)://([^/@:\s]*:[^/@\s]*@)?([\w.-]+:[0-9]+)/?")
_PAST = re.compile(r"[\w.-]*[A-Za-z0-9]")


def recipe(base: str) -> ImageRecipe:
    """The proxy's image on a base image."""
    dockerfile = files("berbench.engine").joinpath("kit/egress.dockerfile").read_bytes()
    key = hashlib.sha256(b"berbench egress 2\0" + dockerfile + base.encode()).hexdigest()
    return ImageRecipe(key, dockerfile, "docker/egress/Dockerfile", (("BASE_IMAGE", base),), "0" * 40)


def subnet(number: int) -> IPv4Network:
    """One of the small networks of SPACE."""
    size = 1 << (32 - PREFIX)
    count = SPACE.num_addresses // size
    return IPv4Network((int(SPACE.network_address) + number % count * size, PREFIX))


def documents(
    agent: str, destinations: Sequence[Destination], environ: Mapping[str, str]
) -> dict[str, bytes]:
    """What the proxy is told, by path. It serves the agent's address and no other. Where the host itself goes through
    a proxy, so does this one. EngineError when it can't."""
    upstreams = _upstreams(environ)
    asked = [line for one in destinations for line in patterns(one)]
    clear = [line for one in destinations if one.port != HTTPS for line in patterns(one)]
    names = "|".join(name_pattern(one) for one in destinations)
    squid = _SQUID.format(clear=_CLEAR if clear else "")
    found = {
        FRONT: _TINYPROXY.format(port=PORT) + _FRONT.format(agent=agent),
        RULES: _lines(asked),
        GREETING: squid + (_TO_UPSTREAM if upstreams else ""),
        NAMES: f"/^[^[:space:]]{{254}}/!s/^({names})([[:space:]].*)?$/OK/I\nt\ns/.*/ERR/\n",
        HOSTS: _lines(f"^{name_pattern(one)}$" for one in destinations),
    }
    if clear:
        found[CLEAR] = _lines(clear)
    if upstreams:
        found[BACK] = _TINYPROXY.format(port=_OUTER) + "Listen 127.0.0.1\n" + _lines(upstreams)
    return {path: text.encode() for path, text in found.items()}


def _lines(of: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in of)


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
