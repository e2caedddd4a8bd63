"""What a tool's document may say beyond its types: names that can be names, placeholders that exist, paths that stay.

Each problem is a sentence that names the key's path. Workflows are looked at with the tools that their steps use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from berbench.matrix.auth import alternatives
from berbench.matrix.hints import hint, shown
from berbench.matrix.invocation import CONFIG_PATH, takes
from berbench.matrix.labels import NAME, may_be_model
from berbench.matrix.placeholders import ARGS, IN_INSTALL, IN_STEPS, IN_TOOLS, slips
from berbench.matrix.reach import refusal
from berbench.model.tools import Option, Step, ToolDocument

CONTROLS = ("oracle", "nop")
DEAREST = 1_000_000  # USD per million tokens; beyond that a number stands in the wrong place

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Where requests go decides what answers them, and a value that is in no key would be measured under another's name.
_DECIDING = re.compile(r"(?:^|_)(?:URL|URI|BASE|HOST|ENDPOINT|MODEL|REGION|EFFORT)$")
_AGENT_KEYS = (
    "install",
    "invoke",
    "model_args",
    "effort_args",
    "env",
    "models",
    "efforts",
    "auth",
    "network",
)
_OTHER_KEYS = ("options", "telemetry", "prices")


def problems_of(tool: ToolDocument, tools: Mapping[str, ToolDocument]) -> tuple[str, ...]:
    """What is wrong with a tool, given all tools that there are."""
    return tuple(_problems(tool, tools))


def _problems(tool: ToolDocument, tools: Mapping[str, ToolDocument]) -> Iterator[str]:
    if not NAME.fullmatch(tool.name):
        yield f"`name` must be letters, digits, `.`, `_` and `-`, not {shown(tool.name)}"
    if tool.name in CONTROLS and tool.type != "control":
        # Reports and gates know controls by their names: an agent in a control's place would be shown as one.
        yield f"`type` is {tool.type}, and {tool.name} is berbench's own control; give the tool another name"
        return
    if tool.type == "workflow":
        yield from _workflow(tool, tools)
        return
    if tool.steps:
        yield f"`steps` are a workflow's, and the type is {tool.type}"
    if tool.type == "control":
        if tool.name not in CONTROLS:
            yield f"`type` is control, and berbench knows no other than {' and '.join(CONTROLS)}"
        for key in _set_keys(tool):
            yield f"`{key}` says nothing of a control, which runs no agent"
        return
    yield from _agent(tool)


def _set_keys(tool: ToolDocument) -> list[str]:
    return [key for key in (*_AGENT_KEYS, *_OTHER_KEYS) if getattr(tool, key) != _DEFAULTS[key]]


_DEFAULTS = {
    key: ToolDocument.model_fields[key].get_default(call_default_factory=True)
    for key in (*_AGENT_KEYS, *_OTHER_KEYS)
}


def _workflow(tool: ToolDocument, tools: Mapping[str, ToolDocument]) -> Iterator[str]:
    for key in _set_keys(tool):
        yield f"`{key}` is a tool's own, and a workflow only has steps"
    if not tool.steps:
        yield "`steps` is missing: a workflow needs at least one"
    seen: set[str] = set()
    for number, step in enumerate(tool.steps):
        where = f"steps[{number}]"
        if not NAME.fullmatch(step.name):
            yield f"`{where}.name` must be letters, digits, `.`, `_` and `-`, not {shown(step.name)}"
        elif step.name in seen:
            yield f"`{where}.name`: {step.name} stands twice"
        seen.add(step.name)
        yield from _placeholders(f"{where}.prompt", step.prompt, IN_STEPS)
        yield from _step(where, step, tools)


def _step(where: str, step: Step, tools: Mapping[str, ToolDocument]) -> Iterator[str]:
    agents = {name: tool for name, tool in tools.items() if tool.type == "agent"}
    if step.tool not in tools:
        yield f"`{where}.tool`: there is no tool {shown(step.tool)}{hint(step.tool, agents)}"
    elif step.tool not in agents:
        yield f"`{where}.tool`: {step.tool} is a {tools[step.tool].type}, and steps are agents'"
    else:
        yield from choice_problems(where, agents[step.tool], step.model, step.effort, step.options)


def choice_problems(
    where: str, tool: ToolDocument, model: str, effort: str, options: tuple[str, ...]
) -> Iterator[str]:
    """What of a choice the tool does not know, or would not heed: a label must never name what had no effect."""
    dot = f"{where}." if where else ""
    known = {name: tool.options[name] for name in options if name in tool.options}
    for name in options:
        if name not in known:
            yield f"`{dot}options`: {tool.name} has no option {shown(name)}{hint(name, tool.options)}"
    for key, chosen, names in (("model", model, tool.models), ("effort", effort, tool.efforts)):
        if not chosen:
            continue
        if not takes(tool, key, known.values()):
            yield f"`{dot}{key}`: {tool.name} takes no {key}, and {shown(chosen)} was chosen"
        elif names and chosen not in names:
            yield f"`{dot}{key}`: {tool.name} knows no {key} {shown(chosen)}{hint(chosen, names)}"
        elif not (may_be_model(chosen) if key == "model" else NAME.fullmatch(chosen)):
            yield f"`{dot}{key}`: {shown(chosen)} can't be a name in a label"


def _agent(tool: ToolDocument) -> Iterator[str]:
    if not tool.invoke:
        yield "`invoke` is missing: there is nothing to run"
    elif not tool.invoke[0].strip():
        yield "`invoke[0]` is empty: it must be a program's name"
    if sum(ARGS in text for text in tool.invoke) != (ARGS in tool.invoke):
        yield "`invoke` must hold {args} as one argument of its own, or not at all"
    for key in ("invoke", "model_args", "effort_args"):
        for number, text in enumerate(getattr(tool, key)):
            yield from _placeholders(f"{key}[{number}]", text, IN_TOOLS)
    for number, line in enumerate(tool.install.run):
        yield from _placeholders(f"install.run[{number}]", line, IN_INSTALL)
    if not tool.version and any("{version}" in line for line in tool.install.run):
        yield "`version` is missing, and `install.run` asks for it"
    yield from _variables("install.env", tool.install.env, ())
    yield from _variables("env", tool.env, IN_TOOLS)
    yield from _auth(tool)
    for number, host in enumerate(tool.network.hosts):
        if why := refusal(host):
            yield f"`network.hosts[{number}]`: {shown(host)} may not be reached: {why}"
    for name, option in tool.options.items():
        yield from _option(name, option)
    file = tool.telemetry.file
    if file and not file.startswith(("/", "{home}/")):
        yield f"`telemetry.file` must be absolute or begin with {{home}}/, not {shown(file)}"
    for name, (into, out) in tool.prices.items():
        if not (0 <= into <= DEAREST and 0 <= out <= DEAREST):
            yield f"`prices.{shown(name)[1:-1]}` must be from 0 to {DEAREST:,} USD per million tokens"


def _auth(tool: ToolDocument) -> Iterator[str]:
    for number, entry in enumerate(tool.auth.env):
        for name in alternatives(entry)[0]:
            if not _VARIABLE.fullmatch(name):
                yield f"`auth.env[{number}]` must be like NAME, NAME|OTHER or NAME?, not {shown(entry)}"
            elif _DECIDING.search(name.upper()):
                yield (
                    f"`auth.env[{number}]`: {name} decides what answers and is no secret; write it under `env`, "
                    "where it is part of what a cell is known by"
                )
    for number, file in enumerate(tool.auth.files):
        if not file.target.startswith(("/", "{home}/")):
            yield f"`auth.files[{number}].target` must be absolute or begin with {{home}}/, not {shown(file.target)}"


def _option(name: str, option: Option) -> Iterator[str]:
    where = f"options.{name}"
    if not NAME.fullmatch(name):
        yield f"`options`: {shown(name)} can't be a name in a label"
    for key in ("args", "pre", "post"):
        for number, text in enumerate(getattr(option, key)):
            yield from _placeholders(f"{where}.{key}[{number}]", text, IN_TOOLS)
    yield from _variables(f"{where}.env", option.env, IN_TOOLS)
    for path in option.files:
        parts = path.split("/")
        if path != CONFIG_PATH and ({"", ".", "..", ".git"} & set(parts) or parts[0] == ".ber"):
            yield f"`{where}.files`: {shown(path)} is no path inside the repository that may be written"


def _variables(where: str, env: Mapping[str, str], known: tuple[str, ...]) -> Iterator[str]:
    for name, text in env.items():
        if not _VARIABLE.fullmatch(name):
            yield f"`{where}`: {shown(name)} is no name of a variable"
        yield from _placeholders(f"{where}.{name}", text, known)


def _placeholders(where: str, text: str, known: tuple[str, ...]) -> Iterator[str]:
    for word, near in slips(text, known):
        yield f"`{where}` holds {{{word}}} (did you mean {{{near}}}?)"
