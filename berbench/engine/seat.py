"""The shell scripts that make a container a workspace, as bytes: POSIX sh, LF, run as the container's root."""

from __future__ import annotations

from collections.abc import Sequence

from berbench.engine import script
from berbench.engine.archive import Ids
from berbench.model.agent import ROOM
from berbench.model.changes import Delta

PLACE = script.Place(ROOM)
SECRETS = f"{ROOM}/secrets"  # in memory: what lies there is on no disk
STAY = f"{ROOM}/stay"

# Waits without a program: a pipe that nobody writes to. TERM is for those who work here.
KEEPER = f"trap '' TERM INT HUP; while :; do : <{STAY}; done"

ALL_TERM = "kill -TERM -1"

_SEAT = b"""\
exec 2>&1 </dev/null
/bin/sh %(root)s/prepare.sh || {
  while IFS= read -r line; do printf '%%s\\n' "$line"; done <%(log)s
  exit 1
}
%(own)srm -rf -- %(root)s/delta %(root)s/out %(root)s/prepare.sh %(root)s/seat.sh
%(count)sexit 0
"""

# The agent may change what its image's root laid out. Files that are its own already stay as they are.
_OWN = b"""\
if command -v find >/dev/null; then
  find . -xdev ! -user %(uid)d -exec chown -h %(uid)d:%(gid)d {} +
else
  chown -R -h %(uid)d:%(gid)d .
fi || exit 1
mkdir -p -- %(home)s && chown %(uid)d:%(gid)d %(home)s || exit 1
"""

_COUNT = """\
echo 0
for file in {events}; do
  if [ -r "$file" ]; then
    while read -r k v; do if [ "$k" = oom_kill ]; then echo "$v"; fi; done <"$file"
  fi
done
"""

# One file by its number; its text comes by the environment, so that it is in no argument and no image.
_SECRET = """\
umask 077
target=$1
case $target in */*) mkdir -p -- "${target%/*}" || exit 1 ;; esac
rm -f -- "$target"
printf %s "$BERBENCH_SECRET" >"$2" && chmod 400 "$2" && ln -s -- "$2" "$target"
"""


def files(delta: Delta, ids: Ids, home: str) -> Sequence[tuple[str, bytes]]:
    """(name, contents) of the scripts that lie in ROOM while it is made."""
    root, log = ROOM.encode(), f"{PLACE.out}/{script.PREPARE_LOG}".encode()
    values = {b"uid": ids.uid, b"gid": ids.gid, b"home": script.quote(home)}
    own = _OWN % values if ids.uid else b"mkdir -p -- %s || exit 1\n" % script.quote(home)
    seat = _SEAT % {b"root": root, b"log": log, b"own": own, b"count": _count().encode()}
    return [("seat.sh", seat), ("prepare.sh", script.prepare(delta, ids, PLACE))]


def seat() -> tuple[str, ...]:
    """The command that makes the workspace; its last word is as `count_kills` says."""
    return ("/bin/sh", f"{ROOM}/seat.sh")


def count_kills() -> tuple[str, ...]:
    """The command that tells how often the kernel killed for memory, where it tells."""
    return ("/bin/sh", "-c", _count())


def _count() -> str:
    return _COUNT.format(events=" ".join(script.EVENTS))


def put_secret(target: str, number: int) -> tuple[str, ...]:
    """The command that puts a secret file in its place; its text is in BERBENCH_SECRET."""
    return ("/bin/sh", "-c", _SECRET, "sh", target, f"{SECRETS}/{number}")


def with_input(argv: Sequence[str], path: str) -> tuple[str, ...]:
    """A command that reads a file as its standard input."""
    return ("/bin/sh", "-c", f'exec "$@" <{path or "/dev/null"}', "sh", *argv)


def memory_files() -> dict[str, str]:
    """Folders in memory, as an engine is told of them. Anyone may write there, since not every user is known yet."""
    return {SECRETS: "rw,noexec,nosuid,nodev,size=4m,mode=1777"}


def home_of(told: str, workdir: str) -> str:
    """The home of an agent: the one its image tells, where there can be one outside of the work tree.

    Tools and caches of the image lie there; what an agent's own tool keeps at home is no part of its work.
    """
    plain = "/" + told.strip("/")
    inside = f"{plain}/".startswith(workdir.rstrip("/") + "/")
    if (
        plain == "/"
        or not told.startswith("/")
        or plain.startswith(("/nonexistent", "/dev", "/proc"))
        or inside
    ):
        return f"{ROOM}/home"
    return plain
