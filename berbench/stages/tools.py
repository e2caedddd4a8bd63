"""The tools that there are, as they are listed and shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from berbench.emit import dump
from berbench.errors import UsageError
from berbench.experiments import Tools, found
from berbench.matrix.auth import Given
from berbench.matrix.hints import hint, shown
from berbench.model.tools import ToolDocument

LIST_SCHEMA = "berbench.tools/1"


@dataclass(frozen=True, slots=True)
class ToolOverview:
    """A tool, the layers of its document, and what of the host it would be given. Never a value."""

    tool: ToolDocument
    layers: tuple[str, ...]
    given: Given


def overviews(tools: Tools, environ: Mapping[str, str]) -> tuple[ToolOverview, ...]:
    """Every tool by its name."""
    return tuple(
        ToolOverview(tool, tools.layers[name], found(tool.auth, environ))
        for name, tool in sorted(tools.documents.items())
    )


def one_tool(tools: Tools, name: str) -> tuple[ToolDocument, tuple[str, ...]]:
    """A tool and its layers. UsageError with the nearest name when there is none."""
    tool = tools.documents.get(name)
    if tool is None:
        raise UsageError(
            f"There is no tool {shown(name)}{hint(name, tools.documents)}.",
            remedy="`berbench tool list` shows those there are.",
        )
    return tool, tools.layers[name]


def tool_text(tool: ToolDocument) -> bytes:
    """A tool's YAML; keys that hold their default are left out."""
    said = tool.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return dump({"schema": tool.schema_, "name": tool.name, **said})


def list_document(overviews: Sequence[ToolOverview]) -> dict[str, object]:
    """What `--json` prints of all tools."""
    return {
        "schema": LIST_SCHEMA,
        "tools": [
            {
                "name": one.tool.name,
                "type": one.tool.type,
                "version": one.tool.version,
                "description": one.tool.description,
                "layers": list(one.layers),
                "efforts": list(one.tool.efforts),
                "models": list(one.tool.models),
                "options": list(one.tool.options),
                "hosts": list(one.tool.network.hosts),
                "auth": {"given": list(one.given.names), "missing": list(one.given.missing)},
            }
            for one in overviews
        ],
    }
