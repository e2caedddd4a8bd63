"""A workspace in a container of Docker's.

Its first process is root's and only waits; all that is run is added to it as the image's user. Secrets are in the
environment of what is added, which no description of the container shows, and in files of a memory file system.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import IO, Any

from berbench.engine import members, seat
from berbench.engine.api import Refused, Reply
from berbench.engine.archive import Writer, read_files
from berbench.engine.capture import Frames
from berbench.engine.container import ADDED, GONE, Account, Container
from berbench.engine.enclosure import Enclosure
from berbench.engine.watching import Beside, Limit, Reader
from berbench.engine.workspace import GRACE_S, Changed, Denied, Found, Ran, Sink, WorkspaceSpec
from berbench.errors import EngineError, Refusal
from berbench.model.agent import ROOM
from berbench.model.changes import EXECUTABLE, FileEntry, TreeEntry

SPOOL = 8 << 20
SILENCE_S = 3600.0
SMALL_STEP_S = 120.0  # for berbench's own steps in a container, on a busy disk
SIGNALLED = (137, 143)  # exit codes of what got KILL or TERM
WENT_DOWN_TRIES = 10
ENDED = "the container was ended, from within or from outside"
LINGER_S = 1.0  # silence after a command's end in which what it left behind may still hold its output
CHATTER_S = 5.0  # the same, of what it left behind and is never silent


class DockerWorkspace:
    """See `workspace.Workspace`."""

    def __init__(
        self,
        box: Container,
        spec: WorkspaceSpec,
        account: Account,
        enclosure: Enclosure | None,
        engine: str,
    ) -> None:
        self._box = box
        self._spec = spec
        self._ids = account.ids
        self._home = account.home
        self._engine = engine
        self._enclosure = enclosure
        self._user = spec.image.user
        self._workdir = spec.image.workdir
        self._env: dict[str, str] = {}
        self._bare: dict[str, str] = {}
        self._ended = False
        self._finishing: Beside | None = None
        self._killed_before = 0
        self._out_of_memory = False
        self.trouble: list[str] = []

    # --- from created to ready ---

    def start(self) -> None:
        """Put everything into the created container, and start it."""
        refuse_place(self._workdir)
        refuse_volumes(self._box.describe(), self._workdir)
        with tempfile.SpooledTemporaryFile(SPOOL, prefix="berbench-") as tar:
            self._pack(tar)
            self._box.put(tar)
        self._box.start()

    def lay_out(self, network: Mapping[str, str]) -> None:
        """Make the started container a workspace. `network` are the variables that lead to the proxy."""
        code, said = self._as_root(seat.seat())
        if code != 0:
            told = said.decode("utf-8", "replace").strip().splitlines()
            raise EngineError(
                f"The workspace could not be laid out: {told[-1] if told else f'exit code {code}'}.",
                remedy="the image needs /bin/sh, mv, mkdir, rm and chown; see its Dockerfile",
                details=told[-10:],
            )
        self._killed_before = _number(said)
        self._bare = {**dict(self._spec.env), "HOME": self._home}
        self._env = {**self._bare, **network, **dict(self._spec.secrets)}
        for number, file in enumerate(self._spec.secret_files):
            env = [f"BERBENCH_SECRET={file.data.decode('utf-8', 'surrogateescape')}"]
            code, _ = self._small_step(seat.put_secret(file.target, number), self._user, env)
            if code != 0:
                raise EngineError(f"The secret file {file.target} could not be put into the container.")

    def _pack(self, tar: IO[Any]) -> None:
        writer = Writer(tar, self._ids, int(time.time()))
        room = ROOM.lstrip("/")
        for folder in ("delta", "out/.trial"):
            writer.folder(f"{room}/{folder}")
        for entry in self._spec.delta.writes:
            writer.entry(f"{room}/delta/{entry.path}", entry)
        for name, data in seat.files(self._spec.delta, self._ids, self._home):
            writer.file(f"{room}/{name}", data, 0o755)
        for entry in self._spec.files:
            writer.file(entry.path, entry.data, 0o755 if entry.mode == EXECUTABLE else 0o644)
        writer.pipe(seat.STAY.lstrip("/"))
        writer.close()
        tar.seek(0)

    # --- at work ---

    def put(self, files: Iterable[FileEntry]) -> None:
        """Write files."""
        with tempfile.SpooledTemporaryFile(SPOOL, prefix="berbench-") as tar:
            writer = Writer(tar, self._ids, int(time.time()))
            for entry in files:
                writer.entry(entry.path, entry, folders=False)
            writer.close()
            tar.seek(0)
            self._box.put(tar)

    def run(
        self,
        argv: Sequence[str],
        sink: Sink,
        *,
        stdin: str = "",
        env: Sequence[tuple[str, str]] = (),
        bare: bool = False,
        timeout_s: float,
    ) -> Ran:
        """Run a command as the image's user."""
        given = self._bare if bare else self._env
        variables = [f"{name}={value}" for name, value in {**given, **dict(env)}.items()]
        try:
            number = self._box.second(seat.with_input(argv, stdin), self._user, self._workdir, variables)
        except Refused as error:
            if error.status != 409:
                raise
            self.trouble.append(ENDED)
            return Ran(None, 0.0)
        began = time.monotonic()
        limit = Limit(timeout_s, self.term, self.kill)
        with contextlib.closing(self._box.start_second(number, timeout_s + GRACE_S + 60)) as output:
            reader = Reader(output, sink)
            with limit:
                over = 0.0
                while not reader.wait(LINGER_S):
                    # A child in the background may hold the output open; the command itself is what counts.
                    if not self._box.is_running(number):
                        over = over or time.monotonic()
                        if reader.silent_for(LINGER_S) or time.monotonic() - over > CHATTER_S:
                            output.stop()
            seconds = time.monotonic() - began
            reader.finish()
        code = self._box.code_of(number, -1)
        if not limit.passed and (code == -1 or (code in SIGNALLED and self._went_down())):
            self.trouble.append(ENDED)
            code = -1
        return Ran(None if limit.passed or code == -1 else code, seconds, timed_out=limit.passed)

    def _went_down(self) -> bool:
        """Whether the container has ended. One that was killed says so a moment later than the command in it."""
        for _ in range(WENT_DOWN_TRIES):
            if not self._box.is_up():
                return True
            time.sleep(0.1)
        return False

    def term(self) -> None:
        """Ask everything in it to end."""
        with contextlib.suppress(EngineError):
            self._as_root(("/bin/sh", "-c", seat.ALL_TERM))

    def kill(self) -> None:
        """End it at once."""
        self._box.kill()

    def read(self, path: str, limit: int) -> bytes | None:
        """The end of a file; None also where the engine refuses what the agent put in its place."""
        reply = None
        with contextlib.suppress(Refused):
            reply = self._box.take(path)
        if reply is None:
            return None
        with contextlib.closing(reply):
            taken = read_files(reply, max_file=members.LARGEST, max_files=1, named=False).files
        return taken[0].data[-limit:] if taken else None

    # --- afterwards ---

    def end(self) -> tuple[Changed, ...]:
        """End every process; what differs."""
        if not self._ended:
            with contextlib.suppress(EngineError):  # it may have ended by itself
                self._out_of_memory = self._kills() > self._killed_before
            self._box.kill()
            self._box.wait()
            self._out_of_memory = self._out_of_memory or self._box.killed_for_memory()
            self._ended = True
            if self._enclosure is not None:
                self._finishing = Beside(self._enclosure.finish)
        return self.changed()

    def changed(self) -> tuple[Changed, ...]:
        """What differs from the image below the work tree."""
        top = self._workdir.rstrip("/") + "/"
        changed = tuple(
            Changed(path[len(top) :], gone=kind == GONE, added=kind == ADDED)
            for path, kind in self._box.changes()
            if path.startswith(top)
        )
        # Of a folder that is there something is told, its own repository if nothing else, unless all of that is gone.
        if changed or self._box.is_folder(self._workdir):
            return changed
        self.trouble.append("the work tree itself was removed or replaced")
        return (Changed("", gone=True),)

    def settle(self) -> None:
        """Wait for what goes on beside the end. EngineError when isolation was found not to hold."""
        if self._finishing is not None:
            self._finishing.join()

    def entries(self, paths: Set[str]) -> Iterator[TreeEntry]:
        """What lies at these paths, by its bytes."""
        return members.entries(self._archive, paths)

    def fetch(self, paths: Iterable[str]) -> Iterator[Found]:
        """What lies at these paths."""
        return members.fetch(self._archive, paths)

    @property
    def out_of_memory(self) -> bool:
        """Whether the kernel killed anything in it for memory."""
        return self._out_of_memory

    @property
    def refused(self) -> tuple[Denied, ...]:
        """What the proxy did not let through."""
        return self._enclosure.denied if self._enclosure else ()

    @property
    def egress(self) -> bytes:
        """The proxy's log."""
        return self._enclosure.log if self._enclosure else b""

    @property
    def engine(self) -> str:
        """Name and version of the engine."""
        return self._engine

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong beside the work."""
        return (*self.trouble, *(self._enclosure.warnings if self._enclosure else ()))

    # --- within ---

    def _archive(self, path: str) -> Reply | None:
        return self._box.take(f"{self._workdir.rstrip('/')}/{path}" if path else self._workdir)

    def _as_root(self, command: Sequence[str]) -> tuple[int, bytes]:
        return self._small_step(command, "0:0", ())

    def _small_step(self, command: Sequence[str], user: str, env: Sequence[str]) -> tuple[int, bytes]:
        number = self._box.second(command, user, self._workdir, env)
        said = bytearray()
        frames = Frames()
        with contextlib.closing(self._box.start_second(number, SMALL_STEP_S)) as output:
            for piece in output.pieces():
                for payload in frames.feed(piece):
                    said += payload[: max(0, (1 << 20) - len(said))]
        return self._box.code_of(number, -1), bytes(said)

    def _kills(self) -> int:
        code, said = self._as_root(seat.count_kills())
        return _number(said) if code == 0 else 0


def _number(said: bytes) -> int:
    """The number that a script said last."""
    words = said.split()
    return int(words[-1]) if words and words[-1].isdigit() else 0


def refuse_place(workdir: str) -> None:
    """Refusal when the work tree is no folder of its own: the whole system would be the agent's work."""
    top = workdir.rstrip("/") + "/"
    if f"{ROOM}/".startswith(top) or top.startswith((f"{ROOM}/", "/proc/", "/sys/", "/dev/")):
        raise Refusal(
            f"The image's working folder is {workdir}, and no agent can be given that as its work tree.",
            remedy="name a folder of its own as WORKDIR in the task's Dockerfile, such as /src",
        )


def refuse_volumes(said: Mapping[str, Any], workdir: str) -> None:
    """Refusal when the image keeps a part of the work tree in a volume: what changes there is told by no engine."""
    top = workdir.rstrip("/") + "/"
    for mount in said.get("Mounts") or ():
        at = str(mount.get("Destination", "")).rstrip("/") + "/"
        if mount.get("Type") == "volume" and (at.startswith(top) or top.startswith(at)):
            raise Refusal(
                f"The image declares VOLUME {at.rstrip('/')}, and what an agent changes there could not be seen.",
                remedy="take the VOLUME line out of the task's Dockerfile",
            )
