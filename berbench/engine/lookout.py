"""The look out of an agent's network: the command that proves, from inside, that nothing but the proxy is reached.

It runs in the agent's own network. Each address is tried twice: for a moment, and once more with patience while the
agent is at work already. First line: `ready`, or what is wrong; last line: `closed`, or what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from berbench.engine.egress import PORT

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
for i in {1..300}; do
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
