"""The key of a cell: the content hash of everything that decides what is measured.

A cell whose key is known was measured already and is never paid for again; any input that changes makes another
cell. What decides nothing is no input: descriptions, lists of known names, prices, telemetry, and who pays (`auth`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from berbench.fingerprint import digest
from berbench.matrix.invocation import options_of, planned_steps
from berbench.matrix.placeholders import fill
from berbench.model.cells import Configuration
from berbench.model.tools import ToolDocument
from berbench.model.trial import Limits

USUAL_PLATFORM = "linux/amd64"
CELL_RECIPE = 1  # raise when cells are run so differently that older results can't stand beside newer ones


def cell_inputs(
    configuration: Configuration,
    *,
    task: str,
    prompt: bytes,
    limits: Limits,
    timeout_s: int,
    image: str,
    attempt: int,
    config_path: str = "CLAUDE.md",
    setup: Sequence[str] = (),
    keep: Sequence[str] = (),
    test_patterns: Sequence[str] = (),
    platform: str = "",
) -> dict[str, str]:
    """Name → SHA-256 (hex) of each input that decides the cell, names in order.

    `task` is the task's fingerprint, `timeout_s` the agent's budget, `image` the key of the task's image,
    `config_path` where the task says that an option's settings go, `setup` its set-up lines, `keep` the
    paths that ignore rules don't keep out of a candidate, `test_patterns` those of the settings, in their order,
    by which a candidate's tests are dropped, `platform` that of the task's proof. `attempt` counts from 1.
    """
    tool = configuration.tool
    values: dict[str, Sequence[str | bytes]] = {
        "attempt": (str(attempt),),
        "effort": (configuration.effort,),
        "env": (_canonical(tool.env),),
        "install": (_canonical(_install(tool)),),
        "invoke": (_canonical(_invoke(tool)),),
        "model": (configuration.model,),
        "network": tuple(sorted(set(tool.network.hosts))),
        "options": (_canonical(_options(configuration, config_path)),),
        "recipe": (str(CELL_RECIPE),),
        "steps": (_canonical(_steps(configuration, config_path)),),
        "timeout": (str(timeout_s),),
        "tool": (tool.name, tool.type),
        "version": (tool.version,),
    }
    if keep:
        values["keep"] = sorted(set(keep))
    seen = task_inputs(
        task=task,
        prompt=prompt,
        limits=limits,
        image=image,
        setup=setup,
        test_patterns=test_patterns,
        platform=platform,
    )
    return dict(sorted((_hashed(values) | seen).items()))


def task_inputs(
    *,
    task: str,
    prompt: bytes,
    limits: Limits,
    image: str,
    setup: Sequence[str] = (),
    test_patterns: Sequence[str] = (),
    platform: str = "",
) -> dict[str, str]:
    """Those of them that are the task's: what a cell measured under an older proof is compared by."""
    values: dict[str, Sequence[str | bytes]] = {
        "image": (image,),
        "limits": (str(limits.memory_bytes), repr(limits.cpus), str(limits.pids)),
        "prompt": (prompt,),
        "task": (task,),
        "test_patterns": tuple(test_patterns),
    }
    # A task without set-up lines has the cells that it had before agents were given any, and one that is proven on
    # the usual platform those that it had before platforms were told apart.
    if setup:
        values["setup"] = tuple(setup)
    if platform not in ("", USUAL_PLATFORM):
        values["platform"] = (platform,)
    return _hashed(values)


def _hashed(values: Mapping[str, Sequence[str | bytes]]) -> dict[str, str]:
    return {name: digest("berbench.cell.input", name, *parts) for name, parts in values.items()}


def cell_key(inputs: Mapping[str, str]) -> str:
    """SHA-256 (hex) over the named input hashes, whatever their order."""
    return digest("berbench.cell", *(part for item in sorted(inputs.items()) for part in item))


def changed_inputs(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the inputs that differ, in order."""
    return tuple(name for name in sorted({*before, *after}) if before.get(name) != after.get(name))


def _install(tool: ToolDocument) -> dict[str, Any]:
    return {"run": tool.install.run, "env": tool.install.env}


def _invoke(tool: ToolDocument) -> dict[str, Any]:
    return {"invoke": tool.invoke, "model_args": tool.model_args, "effort_args": tool.effort_args}


def _options(configuration: Configuration, config_path: str) -> list[Any]:
    """Name and whole content of what was chosen; an option that was not chosen decides nothing."""
    chosen = zip(configuration.options, options_of(configuration), strict=True)
    return [
        {
            "name": name,
            **option.model_dump(mode="json", exclude={"files"}, exclude_defaults=True),
            "files": {fill(path, {"config_path": config_path}): text for path, text in option.files.items()},
        }
        for name, option in chosen
    ]


def _steps(configuration: Configuration, config_path: str) -> list[Any]:
    """Each step of a workflow with all that decides it."""
    if not configuration.steps:
        return []
    return [
        _step(step.name, step.prompt, step.configuration, config_path)
        for step in planned_steps(configuration)
    ]


def _step(name: str, prompt: str, chosen: Configuration, config_path: str) -> dict[str, Any]:
    tool = chosen.tool
    return {
        "name": name,
        "prompt": prompt,
        "tool": [tool.name, tool.version],
        "install": _install(tool),
        "invoke": _invoke(tool),
        "env": tool.env,
        "network": sorted(set(tool.network.hosts)),
        "model": chosen.model,
        "effort": chosen.effort,
        "options": _options(chosen, config_path),
    }


def _canonical(value: Any) -> str:
    """One text for one value; the order of keys means nothing, that of lists does."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
