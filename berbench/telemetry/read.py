"""One reader for each format that a tool's document may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from berbench.model.cells import Usage
from berbench.model.tools import TelemetryFormat
from berbench.telemetry.aider import aider_log
from berbench.telemetry.claude import claude_stream
from berbench.telemetry.codex import codex_jsonl
from berbench.telemetry.gemini import gemini_json
from berbench.telemetry.mini import mini_trajectory
from berbench.telemetry.opencode import opencode_jsonl
from berbench.telemetry.own import usage_json

_READERS: Mapping[TelemetryFormat, Callable[[bytes], Usage]] = {
    "claude-stream": claude_stream,
    "codex-jsonl": codex_jsonl,
    "gemini-json": gemini_json,
    "opencode-jsonl": opencode_jsonl,
    "mini-trajectory": mini_trajectory,
    "aider-log": aider_log,
    "usage-json": usage_json,
}


def read_usage(kind: TelemetryFormat, output: bytes) -> Usage:
    """What the output tells. Whatever it does not tell is None; nothing is raised for an output of any kind."""
    reader = _READERS.get(kind)
    return reader(output) if reader else Usage()
