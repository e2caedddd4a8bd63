"""The shell scripts that run inside a trial's container, as bytes: POSIX sh, LF, no git, no pipes.

`prepare` turns the image's work tree into the trial's tree: deletions first, then each staged file takes its
place. It runs with the rights of the image's root, since trees are often copied in as root and tested as a
user. `main` runs the set-up lines and the command as the image's user and notes what happened, line by line,
in a record that `record` reads. Every program it uses is in busybox; most are optional.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from berbench.engine.archive import Ids, parents
from berbench.model.changes import Delta
from berbench.model.trial import OUT_DIR, Trial

ROOT = OUT_DIR.rpartition("/")[0]
COLLECTED = "collected"
NOTES = ".trial"  # below OUT_DIR: the record and what preparing said
RECORD = f"{NOTES}/record"
PREPARE_LOG = f"{NOTES}/prepare.log"

# The build context holds the Dockerfile under this name, so `COPY . .` may have put it into the tree.
BUILD_FILE = ".berbench-build.dockerfile"
IGNORE_FILE = ".berbench-build.dockerignore"
OWN_FILES = (BUILD_FILE, IGNORE_FILE)

# Pipes between the script and its keeper.
PREPARED = "prepared"
OVER = "over"

KILL_AFTER_S = 1  # between TERM and KILL, once a command has outrun its time
BATCH = 48 << 10  # bytes of arguments for one program; one argument may have 128 KiB, all together more

EVENTS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
PIDS = ("/sys/fs/cgroup/pids.events", "/sys/fs/cgroup/pids/pids.events")


@dataclass(frozen=True, slots=True)
class Place:
    """Where things are: in a container as the door says, in the fake below a temp folder."""

    root: str = ROOT
    counters: bool = True  # whether the control group's counters are the trial's own

    @property
    def out(self) -> str:
        """OUT_DIR there."""
        return f"{self.root}/{OUT_DIR.rpartition('/')[2]}"


def quote(path: str) -> bytes:
    """A path as one word of the shell, whatever its bytes."""
    return b"'" + os.fsencode(path).replace(b"'", b"'\\''") + b"'"


def limit_of(trial: Trial) -> int:
    """Whole seconds that each set-up line, and the command, may take: what every `timeout` understands."""
    return max(1, math.ceil(trial.timeout_s))


# --- prepare ----------------------------------------------------------------------------------------------

_PREPARE = b"""\
exec >%(log)s 2>&1
fail() { printf '%%s\\n' "$1"; exit 1; }
plain() { if [ -L "$1" ]; then fail "the image has a link where the tree has a folder: $1"; fi; }
folder() {
  plain "$1"
  if [ ! -d "$1" ]; then
    gone "$1"
    mkdir -- "$1" && %(own)s || fail "the work tree refuses the folder $1"
  fi
}
gone() {
  for it; do
    if [ -e "$it" ] || [ -L "$it" ]; then
      rm -rf -- "$@" || fail "the work tree refuses a deletion"
      return
    fi
  done
}
place() { mv -f -- "$@" || fail "the work tree refuses a file"; }
"""


def prepare(delta: Delta, owner: Ids, place: Place) -> bytes:
    """Puts the staged files of a delta in place. The work tree is the current folder."""
    own = b'chown %d:%d "$1"' % (owner.uid, owner.gid) if owner.uid else b"true"
    lines = [_PREPARE % {b"log": quote(f"{place.out}/{PREPARE_LOG}"), b"own": own}]
    above = _folders_above(delta.deletes)
    lines += [b"plain " + quote("./" + folder) + b"\n" for folder in above]
    deletes = ("./" + path for path in (*delta.deletes, *OWN_FILES))
    lines += [b"gone " + words + b"\n" for words in _batches(map(quote, deletes))]
    # git knows no empty folders; one that still holds something stays.
    emptied = (quote("./" + folder) for folder in reversed(above))
    lines += [b"rmdir -- " + words + b" 2>/dev/null\n" for words in _batches(emptied)]
    for folder, names in _by_folder(entry.path for entry in delta.writes).items():
        here = f"./{folder}/" if folder else "./"
        lines += [b"folder " + quote("./" + above) + b"\n" for above in (*parents(folder), folder) if above]
        lines += [b"gone " + words + b"\n" for words in _batches(quote(here + name) for name in names)]
        staged = f"{place.root}/delta/{here[2:]}"
        lines += [
            b"place " + words + b" " + quote(here) + b"\n"
            for words in _batches(quote(staged + name) for name in names)
        ]
    return b"".join(lines) + b"exit 0\n"


def _folders_above(paths: Iterable[str]) -> list[str]:
    """Every folder above the paths once, each before those below it."""
    return list(dict.fromkeys(folder for path in sorted(paths) for folder in parents(path)))


def _by_folder(paths: Iterable[str]) -> dict[str, list[str]]:
    folders: dict[str, list[str]] = {}
    for path in sorted(paths):
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(name)
    return folders


def _batches(words: Iterable[bytes]) -> Iterator[bytes]:
    batch: list[bytes] = []
    size = 0
    for word in words:
        if batch and size + len(word) > BATCH:
            yield b" ".join(batch)
            batch, size = [], 0
        batch.append(word)
        size += len(word) + 1
    if batch:
        yield b" ".join(batch)


# --- main -------------------------------------------------------------------------------------------------

_HEAD = """\
exec 2>&1 </dev/null
note() { printf '%s\\n' "$*" >>{record}; }
now() { read -r up idle </proc/uptime || up=0; }
count() {
  n=
  key=$1
  shift
  for file; do
    if [ -r "$file" ]; then while read -r k v; do if [ "$k" = "$key" ]; then n=$v; fi; done <"$file"; fi
  done
}
counters() { count oom_kill {events}; kills=$n; count max {pids}; note "counters $1 ${kills:--} ${n:--}"; }
if timeout -k 1 5 true; then limited=yes; else limited=no; fi >/dev/null 2>&1
note "limited $limited"
step() {
  if [ $limited = yes ]; then timeout -k {kill} {limit} /bin/sh "$1"; else /bin/sh "$1"; fi
}
finish() { counters after; note "end"; {over}exit $code; }
counters before
"""

_PREPARED_HERE = """\
/bin/sh {root}/prepare.sh
code=$?
"""

_PREPARED_BY_KEEPER = """\
read -r code <{root}/{prepared}
"""

# Ends the container once the script, told by the number of its process, is gone, and whatever it left with it.
_KEEPER = """\
/bin/sh {root}/prepare.sh
echo $? >{root}/{prepared}
read -r pid <{root}/{over}
while kill -0 "$pid" 2>/dev/null; do sleep 0.01 2>/dev/null || sleep 1; done
exit 1
"""

_PREPARED = """\
note "prepare $code"
if [ "$code" != 0 ]; then finish; fi
"""

_SETUP = """\
now; note "setup {number} began $up"
step {root}/setup-{number}.sh
code=$?
now; note "setup {number} ended $up $code"
if [ $code != 0 ]; then finish; fi
"""

_MARK = """\
: >{mark}
sleep 0.02 2>/dev/null || sleep 1
"""

_VERIFY = """\
now; note "verify began $up"
step {root}/command.sh
code=$?
now; note "verify ended $up $code"
"""

# Files older than the mark are the image's or the tree's own: left alone, and never taken for reports.
_COLLECT = """\
counters after
if command -v find >/dev/null; then
  find . -xdev -type f -newer {mark} \\( {paths} \\) -exec /bin/sh {root}/collect.sh {{}} + ||
    note "collect failed"
else
  note "collect failed"
fi
"""

_COLLECTOR = """\
bad=0
for file; do
  to={out}/{collected}/${{file%/*}}
  mkdir -p -- "$to" && mv -f -- "$file" "$to/" || bad=1
done
exit $bad
"""


def main(trial: Trial, place: Place, *, kept: bool) -> bytes:
    """Set-up lines, command, collection. `kept`: a keeper prepares, says so by a pipe, and waits for the end."""
    root = place.root
    record, mark = f"{place.out}/{RECORD}", f"{place.out}/{NOTES}/mark"
    head = _HEAD
    for name, value in (
        ("record", record),
        ("events", " ".join(EVENTS) if place.counters else ""),
        ("pids", " ".join(PIDS) if place.counters else ""),
        ("kill", str(KILL_AFTER_S)),
        ("limit", str(limit_of(trial))),
    ):
        head = head.replace("{" + name + "}", value)
    head = head.replace("{over}", f"echo $$ >{root}/{OVER}; " if kept else "")
    prepared = (_PREPARED_BY_KEEPER if kept else _PREPARED_HERE).format(root=root, prepared=PREPARED)
    parts = [head, prepared, _PREPARED]
    parts += [_SETUP.format(number=number, root=root) for number in range(len(trial.setup))]
    if trial.collect:
        parts.append(_MARK.format(mark=mark))
    parts.append(_VERIFY.format(root=root))
    if trial.collect:
        paths = " -o ".join(f"-path {_find_pattern(glob)}" for glob in trial.collect)
        parts.append(_COLLECT.format(mark=mark, paths=paths, root=root))
    return "".join((*parts, "finish\n")).encode("utf-8", "surrogateescape")


def keeper(place: Place) -> bytes:
    """What root does in a container whose script runs as someone else."""
    return _KEEPER.format(root=place.root, prepared=PREPARED, over=OVER).encode()


def collector(place: Place) -> bytes:
    """Moves what `find` found to where reports are fetched from."""
    return _COLLECTOR.format(out=place.out, collected=COLLECTED).encode()


def files(trial: Trial, owner: Ids, place: Place, *, kept: bool) -> Sequence[tuple[str, bytes]]:
    """(name, contents) of all scripts of a trial, to lie in the root folder."""
    return [
        ("main.sh", main(trial, place, kept=kept)),
        *([("keeper.sh", keeper(place))] if kept else []),
        ("prepare.sh", prepare(trial.delta, owner, place)),
        ("collect.sh", collector(place)),
        *lines(trial),
    ]


def lines(trial: Trial) -> Sequence[tuple[str, bytes]]:
    """Set-up lines and command: files, since one argument has 128 KiB at most."""
    setup = [(f"setup-{number}.sh", line) for number, line in enumerate(trial.setup)]
    return [
        (name, line.replace("\r\n", "\n").encode("utf-8", "surrogateescape") + b"\n")
        for name, line in (*setup, ("command.sh", trial.command))
    ]


def _find_pattern(glob: str) -> str:
    """A wider pattern for `find -path`, where `*` crosses folders; the exact match is made afterwards."""
    return os.fsdecode(quote("./" + glob.replace("**/", "*")))
