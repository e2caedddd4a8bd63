"""What an image holds: one look per image, in a container of its own, so that no trial's time counts it.

Lines are `name==version`; other ecosystems than Python's carry a prefix (`npm:`, `go:`, `cargo:`, `deb:`,
`apk:`). Best effort: a look that fails or takes too long gives what it had said until then.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import threading
from pathlib import Path

from platformdirs import user_cache_path

from berbench.engine.api import Api
from berbench.engine.capture import Capture, Frames
from berbench.engine.container import Container, fresh, spec
from berbench.engine.owner import TASK, TRIAL
from berbench.errors import EngineError
from berbench.model.trial import Image, Limits

LOOK_S = 60.0
MAX_LINES = 5000

SCRIPT = r"""
exec 2>/dev/null </dev/null
limit() { if timeout -k 1 5 true; then timeout -k 2 20 "$@"; else "$@"; fi; }
for python in python python3; do
  if command -v $python; then
    limit $python -c '
import sys
try: from importlib.metadata import distributions
except ImportError: from importlib_metadata import distributions
print("#python==" + sys.version.split()[0])
for d in distributions():
    if d.metadata["Name"]: print("#" + d.metadata["Name"] + "==" + d.version)'
    break
  fi
done
if command -v node; then
  limit node -e '
const fs = require("fs"), path = require("path")
console.log("#node==" + process.versions.node)
const look = (folder, deep) => {
  let names = []
  try { names = fs.readdirSync(folder) } catch (e) { return }
  for (const name of names) {
    if (name[0] === "@" && !deep) { look(path.join(folder, name), name + "/"); continue }
    try {
      const found = JSON.parse(fs.readFileSync(path.join(folder, name, "package.json"), "utf8"))
      if (found.version) console.log("#npm:" + (deep || "") + name + "==" + found.version)
    } catch (e) {}
  }
}
look("node_modules", "")'
fi
if command -v go; then
  limit go env GOVERSION | { read -r v; echo "#go:go==$v"; }
  if [ -f go.mod ]; then
    export GOFLAGS=-mod=mod GOPROXY=off
    limit go list -m all | while read -r m v; do [ "$v" ] && echo "#go:$m==$v"; done
  fi
fi
if command -v cargo; then
  limit cargo --version | { read -r c v rest; echo "#cargo:cargo==$v"; }
  if [ -f Cargo.lock ]; then
    while read -r k e v; do
      case $k in name) n=$v ;; version) [ "$n" ] && echo "#cargo:$n==$v" | tr -d '"'; n= ;; esac
    done <Cargo.lock
  fi
fi
if command -v dpkg-query; then dpkg-query -W -f '#deb:${Package}==${Version}\n'; fi
if command -v apk; then
  apk list -I | while read -r p rest; do echo "#apk:${p%-*-*}==${p#"${p%-*-*}"-}"; done
fi
"""


def lines_of(output: bytes) -> tuple[str, ...]:
    """The `name==version` lines of the look's output, sorted, each once."""
    text = output.decode("utf-8", "replace")
    found = {line[1:].strip() for line in text.splitlines() if line.startswith("#") and "==" in line}
    return tuple(sorted(found)[:MAX_LINES])


class InstalledCache:
    """The list of an image, kept in memory and in the user's cache folder by image id."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def of(self, image: Image) -> tuple[str, ...]:
        """The list; an empty one where the image could not tell."""
        with self._lock:
            if image.id not in self._known:
                self._known[image.id] = self._from_disk(image) or self._look(image)
            return self._known[image.id]

    def _look(self, image: Image) -> tuple[str, ...]:
        log = Capture(head=2 << 20, tail=0)
        trouble: list[str] = []
        limits = Limits(memory_bytes=1 << 30, cpus=1, pids=256)
        command = ("/bin/sh", "-c", SCRIPT)
        wanted = spec(image, command, labels={TASK: "", TRIAL: "look"}, limits=limits, cpus=1)
        try:
            with fresh(self._api, "look", wanted, trouble) as box:
                _watch(box, log)
        except EngineError:
            return ()  # the trial itself will meet the same trouble and say it better
        found = lines_of(log.value())
        _keep(_place(image), found)
        return found

    def _from_disk(self, image: Image) -> tuple[str, ...]:
        with contextlib.suppress(OSError):
            return tuple(_place(image).read_text(encoding="utf-8").splitlines())
        return ()


def _watch(box: Container, log: Capture) -> None:
    timer = threading.Timer(LOOK_S, box.kill)
    timer.daemon = True
    with contextlib.closing(box.attach(LOOK_S + 30)) as output:
        box.start()
        timer.start()
        try:
            frames = Frames()
            for piece in output.pieces():
                for payload in frames.feed(piece):
                    log.feed(payload)
        finally:
            timer.cancel()


def _place(image: Image) -> Path:
    return user_cache_path("berbench") / "installed" / hashlib.sha256(image.id.encode()).hexdigest()[:32]


def _keep(place: Path, found: tuple[str, ...]) -> None:
    """A cache that can't be written is no trouble."""
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=".new-")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write("\n".join(found))
        Path(name).replace(place)
