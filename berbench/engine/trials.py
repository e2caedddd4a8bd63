"""A trial in a created container, from the first byte put in to the last one taken out.

Most images run as root, and then the container's main process is the script itself. In an image with a user of
its own, root keeps the container: it puts the trial's files into a work tree that the user may not even write
to, and the script is a second process that runs as that user. (The other way round, a root process added to a
user's container would have no rights there: `no-new-privileges` sees to that.)
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import IO, Any

from berbench.engine import failures, script
from berbench.engine.api import Refused, Reply
from berbench.engine.archive import Ids, Taken, Writer, read_files
from berbench.engine.capture import Capture, Frames
from berbench.engine.container import Container
from berbench.engine.facts import Seen
from berbench.model.trial import OUT_DIR, Image, Trial

# Beyond the limits inside: for starting, preparing and collecting, and for the kill after TERM.
SLACK_S = 20.0
COLLECT_SLACK_S = 40.0
SPOOL = 8 << 20  # bytes of a delta held in memory; larger ones go to a temp file

MAIN = ("/bin/sh", f"{script.ROOT}/main.sh")
KEEPER = ("/bin/sh", f"{script.ROOT}/keeper.sh")


def has_user(image: Image) -> bool:
    """Whether the image runs as someone else than root."""
    return image.user.partition(":")[0] not in ("", "0", "root")


def observe(box: Container, trial: Trial, ids: Ids) -> Seen:
    """Run the trial in the container. EngineError when the engine fails; all else is in what is returned."""
    kept = has_user(trial.image)
    with tempfile.SpooledTemporaryFile(SPOOL, prefix="berbench-") as tar:
        _pack(tar, trial, ids, kept=kept)
        box.put(tar)
    limit = script.limit_of(trial) * (2 if trial.setup else 1) + SLACK_S
    if trial.collect:
        limit += COLLECT_SLACK_S
    log, deadline = Capture(), _Deadline(box)
    began = time.monotonic()
    try:
        with deadline.of(limit), _output(box, trial, limit + 60, kept=kept) as (output, second):
            began = time.monotonic()
            _read(output, log)
            seconds = time.monotonic() - began
    except Refused as error:
        fault = failures.image_fault(error.reason)
        if not fault and kept and error.status == 409 and box.wait() in (126, 127):
            fault = "the image has no usable /bin/sh"  # the keeper has ended before the script could join it
        if fault:
            log.feed(f"{fault} ({error.reason})\n".encode())
            return Seen(log, Taken(), None, refused=fault)
        if failures.too_little_memory(error.reason):
            log.feed(error.reason.encode() + b"\n")
            return Seen(
                log, Taken(), None, out_of_memory=True, refused="its memory limit is too low to start"
            )
        raise
    if second:
        box.kill()  # the script is gone; what it left behind would hold the keeper
    code = box.wait()
    if second:
        code = box.code_of(second, code)
    out = _take(box)
    killed_for_memory = box.killed_for_memory()
    return Seen(log, out, code, killed=deadline.passed, out_of_memory=killed_for_memory, seconds=seconds)


@contextlib.contextmanager
def _output(box: Container, trial: Trial, silence_s: float, *, kept: bool) -> Iterator[tuple[Reply, str]]:
    """The started script's output, and the number of its process where it is the container's second."""
    if not kept:
        with contextlib.closing(box.attach(silence_s)) as output:
            box.start()
            yield output, ""
        return
    box.start()
    second = box.second(MAIN, trial.image.user, trial.image.workdir)
    with contextlib.closing(box.start_second(second, silence_s)) as output:
        yield output, second


class _Deadline:
    """Kills a container when its time is over, from a thread of its own."""

    def __init__(self, box: Container) -> None:
        self._box = box
        self.passed = False

    @contextlib.contextmanager
    def of(self, seconds: float) -> Iterator[None]:
        """The time allowed for the block."""
        timer = threading.Timer(seconds, self._pass)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _pass(self) -> None:
        self.passed = True
        self._box.kill()


def _pack(tar: IO[Any], trial: Trial, ids: Ids, *, kept: bool) -> None:
    """The tar file that makes a container a trial's: kit, scripts, staged files of the delta."""
    writer = Writer(tar, ids, int(time.time()))
    root = script.ROOT.lstrip("/")
    for folder in ("kit", "delta", f"out/{script.NOTES}"):
        writer.folder(f"{root}/{folder}")
    for entry in trial.kit:
        writer.entry(f"{root}/kit/{entry.path}", entry)
    for entry in trial.delta.writes:
        writer.entry(f"{root}/delta/{entry.path}", entry)
    for name, data in script.files(trial, ids, script.Place(), kept=kept):
        writer.file(f"{root}/{name}", data, 0o755)
    if kept:
        writer.pipe(f"{root}/{script.PREPARED}")
        writer.pipe(f"{root}/{script.OVER}")
    writer.close()
    tar.seek(0)


def _read(output: Reply, log: Capture) -> None:
    frames = Frames()
    for piece in output.pieces():
        for payload in frames.feed(piece):
            log.feed(payload)


def _take(box: Container) -> Taken:
    reply = box.take(OUT_DIR)
    if reply is None:
        return Taken(complete=False)
    with contextlib.closing(reply):
        return read_files(reply)
