"""What an API module makes of a request: the answer as events to stream, or as one document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Asked:
    """A request as far as a script needs it."""

    stream: bool
    answered: int  # tool calls with their results so far
    tools: dict[str, Json] = field(default_factory=dict)  # name → parameter properties
    freeform: frozenset[str] = frozenset()  # tools whose input is plain text
    results: tuple[str, ...] = ()  # what the tools answered
    model: str = ""
    edit_blocks: bool = False  # the client edits by blocks in what is said
    workdir: str = ""  # where the client says it works; tools that write want absolute paths


@dataclass
class Reply:
    """An answer. `events` are (name, document); a name of "" is not sent."""

    whole: Json
    events: list[tuple[str, Json]]
    ending: str = ""  # what a stream ends with beside the events, such as `data: [DONE]`

    def streamed(self, *, cut: bool) -> Iterator[bytes]:
        """The server-sent events; a cut answer loses its second half."""
        events = self.events[: len(self.events) // 2] if cut else self.events
        for name, document in events:
            head = f"event: {name}\n" if name else ""
            yield f"{head}data: {json.dumps(document)}\n\n".encode()
        if self.ending and not cut:
            yield f"{self.ending}\n\n".encode()


_WORKDIR = re.compile(r"working directory(?:\\n|\s|is|:|\*|`)*(/[^\s\"\\\\<`]*)", re.IGNORECASE)


def workdir_in(body: bytes) -> str:
    """The folder that a request names as the client's working directory, "" when it names none."""
    found = _WORKDIR.search(body.decode("utf-8", "replace"))
    return found[1].rstrip("/.") if found else ""


def shell_call(asked: Asked, command: str) -> tuple[str, Json | str]:
    """A tool of the client's that runs a line of shell, and its arguments. LookupError when it has none."""
    if "exec" in asked.freeform:
        return "exec", _program(f"tools.exec_command({json.dumps({'cmd': command})})")
    for name in (
        "Bash",
        "bash",
        "exec_command",
        "shell_command",
        "shell",
        "local_shell",
        "run_shell_command",
    ):
        if name not in asked.tools:
            continue
        properties = asked.tools[name]
        key = "cmd" if "cmd" in properties else "command"
        as_list = properties.get(key, {}).get("type") == "array"
        arguments: Json = {key: ["bash", "-lc", command] if as_list else command}
        if "description" in properties:
            arguments["description"] = "a step of the script"
        return name, arguments
    raise LookupError(f"no shell among the tools {sorted(asked.tools)}")


def write_call(asked: Asked, path: str, content: str) -> tuple[str, Json | str]:
    """A tool that writes a file, and its input (text for a freeform tool); the shell's where there is none."""
    for name, key in (("Write", "file_path"), ("write", "filePath"), ("write_file", "file_path")):
        if name in asked.tools and asked.workdir:
            return name, {key: f"{asked.workdir}/{path}", "content": content}
    if "apply_patch" in asked.freeform:
        return "apply_patch", _patch(path, content)
    if "exec" in asked.freeform:
        return "exec", _program(f"tools.apply_patch({json.dumps(_patch(path, content))})")
    quoted = content.rstrip("\n")
    return shell_call(asked, f"cat > {path} <<'END_OF_FILE'\n{quoted}\nEND_OF_FILE\n")


def _patch(path: str, content: str) -> str:
    lines = "".join(f"+{line}\n" for line in content.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"


def _program(call: str) -> str:
    """A program for a tool that takes JavaScript, which calls one of its own tools."""
    return f"text(JSON.stringify(await {call}));"


def pieces(text: str, size: int = 4000) -> list[str]:
    """The text in the pieces that a stream sends."""
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]
