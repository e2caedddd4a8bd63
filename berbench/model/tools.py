"""A tool: an agent CLI (or a control, or a workflow of several) as data, `berbench.tool/1`.

What a tool is called, how it is put into an image, how it is invoked, what it must be given and may reach, and
where in its output its usage is told. Built-in tools, a project's and a user's are the same documents; a later one
extends or replaces an earlier one of the same name key by key.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from berbench.model.task import Document

TelemetryFormat = Literal[
    "none",
    "claude-stream",
    "codex-jsonl",
    "gemini-json",
    "opencode-jsonl",
    "mini-trajectory",
    "aider-log",
    "usage-json",
]


class Install(Document):
    """How the tool gets into an image: one layer, over any task's image, shared by all cells of its version."""

    run: tuple[str, ...] = ()  # shell lines, as root, with a network; {version} is put in
    env: dict[str, str] = Field(default_factory=dict)
    check: str = ""  # a line that must succeed in the finished layer, such as `claude --version`


class StagedFile(Document):
    """A secret file of the host, put into the agent's container alone, read-only."""

    source: str  # on the host; `~` and variables are expanded
    target: str  # absolute, in the container; `{home}` is the agent's home


class Auth(Document):
    """What the tool is given to prove who pays. Never in an image, a log or a result."""

    env: tuple[str, ...] = ()  # names of host variables: the first of `A|B` that is set; `A?` if it is set
    files: tuple[StagedFile, ...] = ()


class Reach(Document):
    """What the tool's container may talk to, through the proxy: nothing else is reachable."""

    hosts: tuple[str, ...] = ()  # `api.example.com`, `*.example.com`, `host:port`


class Option(Document):
    """A named variation of a tool: more arguments, variables, lines before and after, files of configuration."""

    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    pre: tuple[str, ...] = ()
    post: tuple[str, ...] = ()
    files: dict[str, str] = Field(
        default_factory=dict
    )  # repository path, or {config_path} → text; planted, never the agent's work


class Telemetry(Document):
    """Where tokens, cost, turns and the final message are told."""

    format: TelemetryFormat = "none"
    file: str = ""  # absolute, in the container; empty: standard output


class Step(Document):
    """One step of a workflow: a tool with its own choices, in the same container and work tree."""

    name: str
    tool: str
    model: str = ""
    effort: str = ""
    options: tuple[str, ...] = ()
    prompt: str = "{prompt}"  # {prompt}, {workdir}, {handover}: what the step before said last


class ToolDocument(Document):
    """A tool.

    Placeholders of `invoke`, `env`, `pre` and `post`: {prompt}, {prompt_file}, {model}, {effort}, {workdir}, {home}.
    What is chosen (`model_args`, `effort_args`, the options' `args`) stands where `invoke` has the argument `{args}`,
    or at the end.
    """

    schema_: Annotated[Literal["berbench.tool/1"], Field(alias="schema")] = "berbench.tool/1"
    name: str
    type: Literal["agent", "control", "workflow"] = "agent"
    description: str = ""
    version: str = ""  # of the CLI; part of what decides a cell
    install: Install = Install()
    invoke: tuple[
        str, ...
    ] = ()  # argv; an argument that holds an empty {model} or {effort} is left out with its flag
    model_args: tuple[str, ...] = ()  # added when a model is chosen
    effort_args: tuple[str, ...] = ()  # added when an effort is chosen
    env: dict[str, str] = Field(default_factory=dict)
    models: tuple[str, ...] = ()  # known names; empty: any
    efforts: tuple[str, ...] = ()  # known names; empty: any
    auth: Auth = Auth()
    network: Reach = Reach()
    options: dict[str, Option] = Field(default_factory=dict)
    telemetry: Telemetry = Telemetry()
    steps: tuple[Step, ...] = ()  # of a workflow
    prices: dict[str, tuple[float, float]] = Field(
        default_factory=dict
    )  # model → USD per million tokens in, out
