"""OpenAI's Responses API, https://platform.openai.com/docs/api-reference/responses and .../responses-streaming."""

from __future__ import annotations

import json
from collections.abc import Iterator

from model_server.reply import Asked, Json, Reply, pieces, shell_call, write_call
from model_server.script import CACHED, INPUT, OUTPUT, Fail, Refuse, Run, Turn, Write

_ANSWERS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


def asked(body: Json) -> Asked:
    """What a request asks for."""
    given = body.get("input", [])
    items = given if isinstance(given, list) else []
    results = tuple(_text(item.get("output")) for item in items if item.get("type") in _ANSWERS)
    offered = [tool for tool in _offered(body, items) if "name" in tool]
    tools = {
        t["name"]: t.get("parameters", {}).get("properties", {}) for t in offered if t["type"] == "function"
    }
    freeform = frozenset(tool["name"] for tool in offered if tool["type"] == "custom")
    return Asked(
        bool(body.get("stream")), len(results), tools, freeform, results=results, model=body.get("model", "")
    )


def _offered(body: Json, items: list[Json]) -> Iterator[Json]:
    """Tools stand at the top, or in an item of the input and there in groups."""
    for tool in [*body.get("tools", ()), *(tool for item in items for tool in item.get("tools", ()))]:
        yield from tool.get("tools", ()) if tool["type"] == "namespace" else (tool,)


def _text(output: object) -> str:
    return output if isinstance(output, str) else json.dumps(output)


def reply(turn: Turn, request: Asked, number: int) -> Reply:
    """The answer of a turn."""
    items: list[Json] = []
    arguments: Json | str
    if isinstance(turn, Run | Write):
        if isinstance(turn, Run):
            if turn.text:
                items.append(_message(number, {"type": "output_text", "text": turn.text, "annotations": []}))
            name, arguments = shell_call(request, turn.command)
        else:
            name, written = write_call(request, turn.path, turn.content)
            arguments = written
        items.append(_call(number, name, arguments))
    elif isinstance(turn, Refuse):
        items.append(_message(number, {"type": "refusal", "refusal": turn.text}))
    else:
        text = getattr(turn, "text", "")
        items.append(_message(number, {"type": "output_text", "text": text, "annotations": []}))
    whole: Json = {
        "id": f"resp_{number:04}",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "completed",
        "model": request.model,
        "output": items,
        "usage": {
            "input_tokens": INPUT,
            "input_tokens_details": {"cached_tokens": CACHED},
            "output_tokens": OUTPUT,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": INPUT + OUTPUT,
        },
    }
    return Reply(whole, _events(whole, items))


def _message(number: int, part: Json) -> Json:
    return {
        "id": f"msg_{number:04}",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }


def _call(number: int, name: str, given: Json | str) -> Json:
    call = {"id": f"fc_{number:04}", "call_id": f"call_{number:04}", "name": name, "status": "completed"}
    if isinstance(given, str):
        return {**call, "type": "custom_tool_call", "input": given}
    return {**call, "type": "function_call", "arguments": json.dumps(given)}


def _events(whole: Json, items: list[Json]) -> list[tuple[str, Json]]:
    running = {**whole, "status": "in_progress", "output": [], "usage": None}
    said: list[Json] = [{"type": "response.created", "response": running}]
    for index, item in enumerate(items):
        at = {"item_id": item["id"], "output_index": index}
        opened = {**item, "status": "in_progress"}
        if item["type"] == "message":
            part = item["content"][0]
            opened["content"] = []
            said.append({"type": "response.output_item.added", "output_index": index, "item": opened})
            kind = "refusal" if part["type"] == "refusal" else "output_text"
            text = part.get("text", part.get("refusal", ""))
            said += [
                {"type": f"response.{kind}.delta", **at, "content_index": 0, "delta": piece}
                for piece in pieces(text)
            ]
        else:
            said.append({"type": "response.output_item.added", "output_index": index, "item": opened})
        said.append({"type": "response.output_item.done", "output_index": index, "item": item})
    said.append({"type": "response.completed", "response": whole})
    return [(event["type"], {**event, "sequence_number": n}) for n, event in enumerate(said)]


def error(turn: Fail) -> Json:
    """The document of an error."""
    return {"error": {"type": turn.kind, "code": turn.kind, "message": turn.message, "param": None}}
