"""A configuration → what is run in the agent's container: arguments, variables, lines before and after.

Where nothing was chosen for `{model}` or `{effort}`, the argument that holds it is left out together with the flag
before it, a variable that holds it is not set, and a line of shell that holds it is not run: the tool's own default
decides then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from berbench.errors import ConfigError
from berbench.matrix.placeholders import ARGS, fill, fill_shell, named_in
from berbench.model.cells import Configuration
from berbench.model.tools import Option, Telemetry, ToolDocument

LONGEST_ARGUMENT = (128 << 10) - 1  # bytes; what Linux takes as one argument, its end mark left out
CONFIG_PATH = "{config_path}"  # as the name of an option's file: where the task says that settings go
WORKDIR, HANDOVER = "workdir", "handover"

_CHOSEN = ("model", "effort")
_UNTOLD = Telemetry()


@dataclass(frozen=True, slots=True)
class Places:
    """Where things are in the agent's container. Paths are absolute, `config_path` is the repository's own."""

    prompt_file: str
    workdir: str
    home: str
    config_path: str = "CLAUDE.md"


@dataclass(frozen=True, slots=True)
class Invocation:
    """One run of one tool. `pre` and `post` are lines of shell; `files` are planted, by repository path."""

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    pre: tuple[str, ...] = ()
    post: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    telemetry: Telemetry = _UNTOLD


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A run of a tool in a cell: the only one of an agent, or one of a workflow. `prompt` still has placeholders."""

    name: str
    configuration: Configuration
    prompt: str = "{prompt}"


def planned_steps(configuration: Configuration) -> tuple[PlannedStep, ...]:
    """The runs of a cell, in order. An agent's only one has no name; a control has none."""
    if configuration.tool.type == "control":
        return ()
    if not configuration.steps:
        return (PlannedStep("", configuration),)
    pairs = zip(configuration.tool.steps, configuration.steps, strict=True)
    return tuple(PlannedStep(step.name, chosen, step.prompt) for step, chosen in pairs)


def step_prompt(template: str, *, prompt: str, workdir: str, handover: str) -> str:
    """The text a step is given. `handover` is what the step before it said last, "" for the first."""
    return fill(template, {"prompt": prompt, WORKDIR: workdir, HANDOVER: handover})


def agents_of(configuration: Configuration) -> tuple[ToolDocument, ...]:
    """The tools that a cell runs, each once."""
    found = {step.configuration.tool.name: step.configuration.tool for step in planned_steps(configuration)}
    return tuple(found.values())


def options_of(configuration: Configuration) -> tuple[Option, ...]:
    """The chosen options' documents, in order."""
    return tuple(configuration.tool.options[name] for name in configuration.options)


def install_lines(tool: ToolDocument) -> tuple[str, ...]:
    """The lines of shell that put the tool into an image."""
    return tuple(fill(line, {"version": tool.version}) for line in tool.install.run)


def invocation(configuration: Configuration, places: Places, prompt: str) -> Invocation:
    """How one step is run. ConfigError when the prompt is too long for a tool that takes it as an argument."""
    tool = configuration.tool
    options = options_of(configuration)
    values = {
        "prompt": prompt,
        "prompt_file": places.prompt_file,
        "model": configuration.model,
        "effort": configuration.effort,
        WORKDIR: places.workdir,
        "home": places.home,
    }
    empty = frozenset(name for name in _CHOSEN if not values[name])
    argv = tuple(fill(part, values) for part in _kept(_arguments(configuration, options), empty))
    _check_lengths(tool, argv)
    return Invocation(
        argv=argv,
        env=_variables([tool.env, *(option.env for option in options)], values, empty),
        pre=_lines((line for option in options for line in option.pre), values, empty),
        post=_lines((line for option in options for line in option.post), values, empty),
        files=tuple(
            (places.config_path if path == CONFIG_PATH else path, text)
            for option in options
            for path, text in option.files.items()
        ),
        telemetry=tool.telemetry.model_copy(update={"file": fill(tool.telemetry.file, values)}),
    )


def takes(tool: ToolDocument, choice: str, options: Iterable[Option] = ()) -> bool:
    """Whether a chosen `model` or `effort` changes anything of how the tool is run."""
    if tool.model_args if choice == "model" else tool.effort_args:
        return True
    texts = [*tool.invoke, *tool.env.values()]
    for option in options:
        texts += [*option.args, *option.env.values(), *option.pre, *option.post]
    return choice in named_in(texts)


def _arguments(configuration: Configuration, options: Sequence[Option]) -> list[str]:
    tool = configuration.tool
    chosen = [
        *(tool.model_args if configuration.model else ()),
        *(tool.effort_args if configuration.effort else ()),
        *(arg for option in options for arg in option.args),
    ]
    if ARGS not in tool.invoke:
        return [*tool.invoke, *chosen]
    at = tool.invoke.index(ARGS)
    return [*tool.invoke[:at], *chosen, *tool.invoke[at + 1 :]]


def _kept(arguments: Iterable[str], empty: frozenset[str]) -> list[str]:
    """The arguments without those that wait for a choice nobody made, and without the flag before such a one."""
    kept: list[str] = []
    for argument in arguments:
        if not empty & named_in([argument]):
            kept.append(argument)
        elif kept and kept[-1].startswith("-") and "=" not in kept[-1] and not argument.startswith("-"):
            kept.pop()
    return kept


def _variables(
    layers: Iterable[Mapping[str, str]], values: Mapping[str, str], empty: frozenset[str]
) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for layer in layers:
        found |= {name: fill(text, values) for name, text in layer.items() if not empty & named_in([text])}
    return tuple(sorted(found.items()))


def _lines(lines: Iterable[str], values: Mapping[str, str], empty: frozenset[str]) -> tuple[str, ...]:
    def run() -> Iterator[str]:
        for line in lines:
            if not empty & named_in([line]):
                yield fill_shell(line, values)

    return tuple(run())


def _check_lengths(tool: ToolDocument, argv: Sequence[str]) -> None:
    longest = max((len(part.encode("utf-8", "surrogateescape")) for part in argv), default=0)
    if longest > LONGEST_ARGUMENT:
        raise ConfigError(
            f"The tool {tool.name} takes the prompt as an argument, and {longest} bytes are more than Linux allows "
            f"in one ({LONGEST_ARGUMENT}).",
            remedy="Let `invoke` read it from {prompt_file}.",
        )
