"""The tools of an experiment as one layer over a task's image: built once, and found again by its content."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable

from berbench.errors import ConfigError
from berbench.matrix.invocation import install_lines
from berbench.model.agent import ToolLayer
from berbench.model.tools import ToolDocument
from berbench.model.trial import Image, ImageRecipe

_RECIPE = 1  # of how a layer is written
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def tool_layer(tools: Iterable[ToolDocument]) -> ToolLayer:
    """What these tools need in an image, in the order of their names, so that one experiment has one layer."""
    each = sorted({tool.name: tool for tool in tools}.values(), key=lambda tool: tool.name)
    env: dict[str, str] = {}
    for tool in each:
        env |= tool.install.env
    return ToolLayer(
        run=tuple(dict.fromkeys(line for tool in each for line in install_lines(tool))),
        env=tuple(env.items()),
        check=tuple(tool.install.check for tool in each if tool.install.check),
    )


def layer_recipe(image: Image, layer: ToolLayer) -> ImageRecipe:
    """The recipe of a task's image with a layer on it. Its context is empty, its tree is the image's own."""
    dockerfile = _dockerfile(image, layer)
    key = hashlib.sha256(f"berbench tools {_RECIPE}\0{image.key}\0".encode() + dockerfile).hexdigest()
    return ImageRecipe(key, dockerfile, "the layer of tools", (), image.tree)


def _dockerfile(image: Image, layer: ToolLayer) -> bytes:
    as_user = image.user.partition(":")[0] not in ("", "0", "root")
    lines = [f"FROM {image.id}", *(["USER root"] if as_user else [])]
    lines += [_env(name, text) for name, text in layer.env]
    lines += [_run("set -e\n" + line) for line in layer.run]
    lines += [f"USER {image.user}"] if as_user else []
    lines += [_run(line) for line in layer.check]
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")


def _run(line: str) -> str:
    """A line of shell, of any form, as an instruction that no quoting or SHELL of the image can change."""
    return f"RUN {json.dumps(['/bin/sh', '-c', line])}"


def _env(name: str, text: str) -> str:
    """A variable; `$NAME` in it stands for what is set so far, as in `/opt/tool/bin:$PATH`."""
    if not _VARIABLE.fullmatch(name) or "\n" in text or "\r" in text:
        raise ConfigError(
            f"The variable {name!r} of a tool's `install.env` can't be set in an image.",
            remedy="give it a plain name and one line of text",
        )
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'ENV {name}="{escaped}"'
