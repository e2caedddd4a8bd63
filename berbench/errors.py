"""The one error family: what went wrong, what to do next, and the exit code of the process.

Doors translate foreign exceptions into these, keeping the cause. Only `cli/` prints them.
A failed command (a test, a build, a set-up step) is never one of these: it is a value in the facts.

Exit codes: 0 yes, 1 the honest answer is no, 2 usage, configuration or repository error,
3 engine, forge or file system failed, 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence


class BerbenchError(Exception):
    """Base of the family. `message` is one sentence, `remedy` says what to do next, `details` are more lines."""

    exit_code = 3

    def __init__(self, message: str, *, remedy: str = "", details: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.details = tuple(details)


class Refusal(BerbenchError):
    """The honest answer is no: the input is understood, and what was asked can't be true of it."""

    exit_code = 1


class PatchConflict(Refusal):
    """A patch does not apply to the tree it is meant for. Known before any container starts."""

    def __init__(self, message: str, *, path: str = "", hunk: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.path = path
        self.hunk = hunk


class EmptyPatch(PatchConflict):
    """A patch that holds no change at all: no try at the task, where another conflict may be one gone wrong."""


class UsageError(BerbenchError):
    """The command line can't be meant as it was given."""

    exit_code = 2


class ConfigError(BerbenchError):
    """A document (config, task, experiment) can't be read: names the file and the key's path."""

    exit_code = 2


class RepositoryError(BerbenchError):
    """The repository can't serve: not a repository, shallow, no main branch, no such commit."""

    exit_code = 2


class LandingError(RepositoryError):
    """A pull request's landing can't be proven against local history, or the split law can't be kept."""


class EngineError(BerbenchError):
    """The container engine failed or is missing. Never a task's result."""


class ForgeError(BerbenchError):
    """The forge's API failed, refused or could not be reached."""


class ForgeDown(ForgeError):
    """The forge could not be reached or broke. What it would have said is unknown, so nothing may stand in for it."""


class NotOnForge(ForgeError):
    """The forge answered that no such pull request or issue exists."""


class RateLimited(ForgeError):
    """The forge asks to wait longer than berbench waits by itself. `wait_s` is in seconds."""

    def __init__(self, message: str, *, wait_s: float, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.wait_s = wait_s


class StoreError(BerbenchError):
    """The file system refused: disk full, no permission, a lock that is held."""


class Interrupted(BerbenchError):
    """Ctrl-C or SIGTERM."""

    exit_code = 130
