"""The git command, run so that nothing but its arguments decides what it prints. The only importer of `git`.

The user's and the system's config, the caller's GIT_* variables, attributes of the work tree, replaced
objects, pagers, prompts and fetches on demand are all shut out. Output is bytes, untouched.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

os.environ.setdefault(
    "GIT_PYTHON_REFRESH", "quiet"
)  # a missing git is reported at the first call, not at import

from git.cmd import Git
from git.exc import GitCommandNotFound

from berbench.errors import RepositoryError

_PIPE = -1  # what the standard library calls PIPE
SEND = b""  # a block of input that sends on those before it

# Each line undoes a setting that would change the shape of an answer (local config can't be ignored whole).
_SETTINGS = (
    "safe.directory=*",
    "core.quotePath=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.whitespace=",
    "core.protectNTFS=false",  # or a tree with a backslash in a name could not be read
    "core.protectHFS=false",
    "core.precomposeUnicode=false",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "core.untrackedCache=false",
    "index.sparse=false",
    "apply.whitespace=nowarn",
    "apply.ignoreWhitespace=no",
    "color.ui=false",
    "diff.algorithm=myers",
    "diff.context=3",
    "diff.indentHeuristic=true",
    "diff.interHunkContext=0",
    "diff.mnemonicPrefix=false",
    "diff.noprefix=false",
    "diff.relative=false",
    "diff.renames=false",
    "diff.suppressBlankEmpty=false",
    "diff.submodule=short",
    "diff.ignoreSubmodules=none",
    "grep.patternType=default",
    "i18n.logOutputEncoding=UTF-8",
    "log.showRoot=true",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
)

_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone must not fetch behind our back; git before 2.44
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LANGUAGE": "C",
    "LC_ALL": "C",
    "TZ": "UTC",
}

# Not worth another process at every call: GitPython's own, and where certificates lie, for transports we shut out.
_UNREAD = frozenset({"GIT_PYTHON_REFRESH", "GIT_SSL_CAINFO"})

_PARTIAL = ("promisor", "lazy fetch", "transport '", "not allowed", "could not fetch")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a git command said."""

    code: int
    out: bytes
    err: str

    @property
    def line(self) -> str:
        """The first line of output as text, without its newline."""
        return os.fsdecode(self.out.split(b"\n", 1)[0])

    @property
    def complaint(self) -> str:
        """The last telling line of stderr."""
        lines = [line for line in self.err.splitlines() if line.strip()]
        told = [line for line in lines if line.startswith(("fatal:", "error:"))]
        return (told or lines or ["no message"])[-1]


class _Process(Protocol):
    """What is used of a started process."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]
    returncode: int

    def communicate(self, data: bytes | None) -> tuple[bytes, bytes]: ...
    def wait(self) -> int: ...
    def kill(self) -> None: ...


class Command:
    """git with its arguments fixed to one repository. `env` is added to every call."""

    def __init__(
        self, folder: Path, options: Sequence[str] = (), env: Mapping[str, str] | None = None
    ) -> None:
        self._git = Git(str(folder))
        self._options = tuple(options)
        self._env = {**_ENVIRONMENT, **(env or {})}

    def ask(
        self,
        *args: str,
        data: bytes | None = None,
        file: BinaryIO | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Answer:
        """Run to the end; any exit code is an answer. Its input is `data` or an open `file` from where it stands."""
        process = self._start(args, file if file is not None else _PIPE if data is not None else None, env)
        try:
            out, err = process.communicate(data)
        except BaseException:
            process.kill()
            process.wait()
            raise
        answer = Answer(process.returncode, out, err.decode("utf-8", "replace"))
        if answer.code != 0:
            _refuse_partial_clone(answer)
        return answer

    def run(self, *args: str, data: bytes | None = None, env: Mapping[str, str] | None = None) -> bytes:
        """Output of a command that must succeed; RepositoryError otherwise."""
        answer = self.ask(*args, data=data, env=env)
        if answer.code != 0:
            raise failure(args, answer)
        return answer.out

    @contextmanager
    def stream(
        self, *args: str, feed: Iterable[bytes] | None = None, env: Mapping[str, str] | None = None
    ) -> Iterator[IO[bytes]]:
        """The output of a command while it runs; leaving early ends the process, and is no error.

        `feed` is written to its input from a thread of its own, as fast as git takes it; what comes before a SEND
        reaches git at once, the rest in larger pieces.
        """
        process = self._start(args, _PIPE if feed is not None else None, env)
        complaints: list[bytes] = []
        threads = [threading.Thread(target=_drain, args=(process.stderr, complaints), daemon=True)]
        if feed is not None:
            threads.append(threading.Thread(target=_feed, args=(process.stdin, feed), daemon=True))
        for thread in threads:
            thread.start()
        finished = False
        try:
            yield process.stdout
            finished = process.stdout.read(1) == b""
        finally:
            if not finished:
                process.kill()
            code = process.wait()
            for thread in threads:
                thread.join()
            process.stdout.close()
            process.stderr.close()
        answer = Answer(code, b"", b"".join(complaints).decode("utf-8", "replace"))
        if finished and code != 0:
            _refuse_partial_clone(answer)
            raise failure(args, answer)

    def _start(
        self, args: Sequence[str], stdin: int | BinaryIO | None, env: Mapping[str, str] | None
    ) -> _Process:
        # GitPython hands on the caller's whole environment; `env -u` takes foreign GIT_* out of it.
        kept = {**self._env, **(env or {})}
        foreign = [name for name in os.environ if name.startswith("GIT_") and name not in {*kept, *_UNREAD}]
        prefix = ["env", *(word for name in foreign for word in ("-u", name))] if foreign else []
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        command = [*prefix, "git", "--no-pager", *settings, *self._options, *args]
        try:
            started: Any = self._git.execute(
                command,
                istream=stdin,
                as_process=True,
                env=kept,
                shell=False,
            )
        except (GitCommandNotFound, FileNotFoundError) as error:
            raise RepositoryError(
                "git was not found.", remedy="Install git and make sure it is on PATH."
            ) from error
        except OSError as error:
            raise RepositoryError(f"git could not be started: {error.strerror}.") from error
        process: _Process = started.proc
        started.proc = None  # its finaliser would close streams that are still in use
        return process


def failure(args: Sequence[str], answer: Answer) -> RepositoryError:
    """The error of a git command that had to succeed."""
    verb = next((word for word in args if not word.startswith("-")), "")
    return RepositoryError(
        f"git {verb} failed: {answer.complaint}", details=tuple(answer.err.splitlines()[-10:])
    )


def _refuse_partial_clone(answer: Answer) -> None:
    if any(word in answer.err for word in _PARTIAL):
        raise RepositoryError(
            "The repository is a partial clone: objects that are needed here were never fetched.",
            remedy="Fetch them all with `git fetch --refetch --no-filter`, then try again.",
            details=(answer.complaint,),
        )


def _drain(source: IO[bytes], into: list[bytes]) -> None:
    """Read stderr so that git never blocks on it; the last part is enough to tell what went wrong."""
    for line in source:
        into.append(line)
        del into[:-50]


def _feed(sink: IO[bytes], blocks: Iterable[bytes]) -> None:
    try:
        for block in blocks:
            sink.write(block)
            if block == SEND:
                sink.flush()
    except (ValueError, OSError):
        pass  # git ended first; its exit code tells why
    finally:
        with suppress(ValueError, OSError):  # the same for what was not sent yet
            sink.close()
