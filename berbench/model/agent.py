"""What an agent is given: an image, a tree, what to run, what it may reach, and for how long.

Nothing here names a process or a folder of the host, and secrets are shown by no `repr`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from berbench.model.changes import FileEntry
from berbench.model.trial import Image, Limits

# Where an agent finds what it is given, beside the work tree.
ROOM = "/agent"
PROMPT_FILE = f"{ROOM}/prompt.md"


@dataclass(frozen=True, slots=True)
class ToolLayer:
    """What the tools of an experiment add to a task's image: one layer for all of them.

    `run` are lines of shell, run as root with a network; `check` are lines that must succeed in the finished layer,
    run as the image's own user.
    """

    run: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    check: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Destination:
    """What may be reached. `host` may begin with `*.`, which stands for any names before the rest."""

    host: str
    port: int = 443


@dataclass(frozen=True, slots=True)
class SecretFile:
    """A secret file of the host's as it is put into the container, readable by the agent alone."""

    target: str  # absolute, in the container
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One run of a tool. The prompt lies in PROMPT_FILE and is its standard input, whatever its size."""

    argv: tuple[str, ...]
    prompt: bytes
    env: tuple[tuple[str, str], ...] = ()
    pre: tuple[str, ...] = ()  # lines of shell before it; one that fails ends the trial
    post: tuple[str, ...] = ()  # lines of shell after it, whatever its exit code
    telemetry: str = ""  # absolute, the file that tells its usage; "" for its standard output
    name: str = ""


@dataclass(frozen=True, slots=True)
class AgentTrial:
    """An agent at work on a task, once.

    `tree` is what it sees: the base tree without what is hidden. `altered` are paths of the image's own tree that
    its build left otherwise; None when nobody has looked, and then every edited file is looked up in the image.
    """

    task: str
    image: Image  # the task's, with the tools in it
    tree: str
    steps: tuple[AgentStep, ...]
    timeout_s: float  # for all steps together
    run: str = ""  # a label of the container, for people
    planted: tuple[FileEntry, ...] = ()  # configuration by repository path; never the agent's work
    secrets: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # variables
    secret_files: tuple[SecretFile, ...] = ()
    hosts: tuple[str, ...] = ()  # what it may reach: `api.example.com`, `*.example.com`, `host:port`
    forges: tuple[
        str, ...
    ] = ()  # hosts that are refused besides the known forges: where the repository lives
    limits: Limits = field(default_factory=Limits)
    altered: tuple[str, ...] | None = None
    setup: tuple[
        str, ...
    ] = ()  # the task's lines of shell, run before the first step; what they change is nobody's work
    setup_s: float = 600.0  # for each of them; none of it is the agent's time
    keep: tuple[str, ...] = ()  # files or folders that ignore rules don't keep out of the candidate
