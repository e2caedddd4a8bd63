"""A workspace: one fresh container in which an agent works, and what can be seen of it from outside.

What an agent does to git, to its shell or to the container's own programs changes nothing of what is told here:
changed paths come from the engine, their bytes from the engine's archive, refused requests from the proxy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Protocol

from berbench.model.agent import Destination, SecretFile
from berbench.model.changes import Delta, FileEntry, TreeEntry
from berbench.model.trial import Image, Limits

STDOUT, STDERR = 1, 2
Sink = Callable[[int, bytes], object]  # (stream, piece)

GRACE_S = 5.0  # between TERM and KILL, once the time is over


@dataclass(frozen=True, slots=True)
class WorkspaceSpec:
    """What a workspace starts with. Paths of `files` are absolute, without the slash they begin with."""

    task: str
    run: str
    image: Image
    delta: Delta  # against the image's tree; may hold a `.git` folder
    files: tuple[FileEntry, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    secrets: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    secret_files: tuple[SecretFile, ...] = ()
    destinations: tuple[Destination, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command in a workspace ended. `code` is None when it was ended with all the rest; a signal of its own
    doing is 128 and the signal's number."""

    code: int | None
    seconds: float
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """A path below the work tree that is not as the image has it.

    `path` is as an engine tells it: bytes that are no UTF-8 are lost, each is a U+FFFD. "" is the work tree itself,
    told only when it is gone: removed, or no folder any more.
    """

    path: str
    gone: bool = False
    added: bool = False  # the image has nothing of this name


@dataclass(frozen=True, slots=True)
class Found:
    """Something in the work tree. `mode` is git's; 0 for what git does not know (pipes, devices) and folders."""

    path: str
    mode: int
    size: int = 0
    body: IO[bytes] | None = None  # of a file; to be read before the next is asked for
    target: str = ""  # of a link
    is_folder: bool = False


@dataclass(frozen=True, slots=True)
class Denied:
    """A request that the proxy refused."""

    host: str
    port: int
    at: datetime
    reason: str = ""


class Workspace(Protocol):
    """One agent's container. EngineError when the engine fails, Interrupted after `interrupt`."""

    def put(self, files: Iterable[FileEntry]) -> None:
        """Write files; paths as in `WorkspaceSpec.files`. They belong to the image's user."""

    def run(self, argv: Sequence[str], sink: Sink, *, stdin: str = "", env: Sequence[tuple[str, str]] = (),
            bare: bool = False, timeout_s: float) -> Ran:  # fmt: skip
        """Run a command in the work tree as the image's user, with the secrets and what leads to the proxy in its
        environment, or `bare` of them. `stdin` is a path.

        At `timeout_s` everything in the container gets TERM, and after GRACE_S the container is ended.
        """

    def read(self, path: str, limit: int) -> bytes | None:
        """The last `limit` bytes of a file by its absolute path; None when there is none."""

    def changed(self) -> tuple[Changed, ...]:
        """What differs from the image below the work tree, `.git` included."""

    def end(self) -> tuple[Changed, ...]:
        """End every process, and then tell what differs."""

    def entries(self, paths: Set[str]) -> Iterator[TreeEntry]:
        """What lies at these paths of the work tree, by its bytes: files and links as git names them.

        Engines go by sizes and times to tell what changed, whole seconds where an image's files have no more: an edit
        that keeps the size and sets the time back is not in `changed`. Nothing is told of files that are too large."""

    def fetch(self, paths: Iterable[str]) -> Iterator[Found]:
        """What lies at these paths of the work tree; links are not followed, nor is a folder's content told. A path
        with a U+FFFD stands for every name that is told so."""

    @property
    def out_of_memory(self) -> bool:
        """Whether the kernel killed anything in it for memory."""

    @property
    def refused(self) -> tuple[Denied, ...]:
        """What the proxy did not let through, once it has ended."""

    @property
    def egress(self) -> bytes:
        """The proxy's log, its head and tail: every request. Empty where there was none."""

    @property
    def engine(self) -> str:
        """Name and version of the engine."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong beside the work."""
