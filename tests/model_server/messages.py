"""Anthropic's Messages API, https://docs.anthropic.com/en/api/messages and .../messages-streaming."""

from __future__ import annotations

import json
from typing import Any

from model_server.reply import Asked, Json, Reply, pieces, shell_call, write_call
from model_server.script import CACHED, INPUT, OUTPUT, Fail, Refuse, Run, Turn, Write


def asked(body: Json) -> Asked:
    """What a request asks for."""
    results = tuple(
        _text(part.get("content"))
        for message in body.get("messages", ())
        if isinstance(message.get("content"), list)
        for part in message["content"]
        if part.get("type") == "tool_result"
    )
    tools = {t["name"]: t.get("input_schema", {}).get("properties", {}) for t in body.get("tools", ())}
    return Asked(bool(body.get("stream")), len(results), tools, results=results, model=body.get("model", ""))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def reply(turn: Turn, request: Asked, number: int) -> Reply:
    """The answer of a turn."""
    blocks: list[Json] = []
    stop = "end_turn"
    arguments: Json | str
    if isinstance(turn, Run | Write):
        if isinstance(turn, Run):
            if turn.text:
                blocks.append({"type": "text", "text": turn.text})
            name, arguments = shell_call(request, turn.command)
        else:
            name, written = write_call(request, turn.path, turn.content)
            arguments = written
        blocks.append({"type": "tool_use", "id": f"toolu_{number:04}", "name": name, "input": arguments})
        stop = "tool_use"
    elif isinstance(turn, Refuse):
        blocks.append({"type": "text", "text": turn.text})
        stop = "refusal"
    else:
        blocks.append({"type": "text", "text": getattr(turn, "text", "")})
    usage = {
        "input_tokens": INPUT - CACHED,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": CACHED,
        "output_tokens": OUTPUT,
    }
    whole = {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }
    return Reply(whole, _events(whole, blocks, stop, usage))


def _events(whole: Json, blocks: list[Json], stop: str, usage: Json) -> list[tuple[str, Json]]:
    said: list[Json] = [
        {
            "type": "message_start",
            "message": {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}},
        }
    ]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            start: Json = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        else:
            start = {**block, "input": {}}
            written = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(written, 40)]
        said.append({"type": "content_block_start", "index": index, "content_block": start})
        said += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        said.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": stop, "stop_sequence": None}
    said.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": OUTPUT}})
    said.append({"type": "message_stop"})
    return [(event["type"], event) for event in said]


def error(turn: Fail) -> Json:
    """The document of an error."""
    return {"type": "error", "error": {"type": turn.kind, "message": turn.message}}
