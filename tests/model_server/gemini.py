"""Gemini's generateContent and streamGenerateContent, https://ai.google.dev/api/generate-content."""

from __future__ import annotations

import json

from model_server.reply import Asked, Json, Reply, pieces, shell_call, write_call
from model_server.script import CACHED, INPUT, OUTPUT, Fail, Refuse, Run, Turn, Write

_STATUS = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}


def asked(body: Json, model: str, *, stream: bool) -> Asked:
    """What a request asks for; the model and whether to stream are told by its path."""
    parts = [part for content in body.get("contents", ()) for part in content.get("parts", ())]
    results = tuple(json.dumps(p["functionResponse"]) for p in parts if "functionResponse" in p)
    declared = [f for tool in body.get("tools", ()) for f in tool.get("functionDeclarations", ())]
    tools = {f["name"]: _properties(f) for f in declared}
    return Asked(stream, len(results), tools, results=results, model=model)


def _properties(function: Json) -> Json:
    schema = function.get("parametersJsonSchema") or function.get("parameters") or {}
    return schema.get("properties", {})  # type: ignore[no-any-return]


def reply(turn: Turn, request: Asked, number: int) -> Reply:
    """The answer of a turn."""
    parts: list[Json] = []
    arguments: Json | str
    if isinstance(turn, Run | Write):
        if isinstance(turn, Run):
            if turn.text:
                parts.append({"text": turn.text})
            name, arguments = shell_call(request, turn.command)
        else:
            name, written = write_call(request, turn.path, turn.content)
            arguments = written
        parts.append({"functionCall": {"id": f"call_{number:04}", "name": name, "args": arguments}})
    else:
        parts += [{"text": piece} for piece in pieces(getattr(turn, "text", ""))]
    stop = "SAFETY" if isinstance(turn, Refuse) else "STOP"
    usage = {
        "promptTokenCount": INPUT,
        "cachedContentTokenCount": CACHED,
        "candidatesTokenCount": OUTPUT,
        "totalTokenCount": INPUT + OUTPUT,
    }
    head = {"responseId": f"resp-{number:04}", "modelVersion": request.model}
    whole = {**head, "candidates": [_candidate(parts, stop)], "usageMetadata": usage}
    said: list[Json] = [{**head, "candidates": [_candidate([part], "")]} for part in parts[:-1]]
    said.append({**head, "candidates": [_candidate(parts[-1:], stop)], "usageMetadata": usage})
    return Reply(whole, [("", event) for event in said])


def _candidate(parts: list[Json], stop: str) -> Json:
    finish = {"finishReason": stop} if stop else {}
    return {"index": 0, "content": {"role": "model", "parts": parts}, **finish}


def error(turn: Fail) -> Json:
    """The document of an error."""
    status = _STATUS.get(turn.status, "UNKNOWN")
    return {"error": {"code": turn.status, "message": turn.message, "status": status}}
