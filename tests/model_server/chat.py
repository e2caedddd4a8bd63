"""OpenAI's Chat Completions API, https://platform.openai.com/docs/api-reference/chat and .../chat-streaming."""

from __future__ import annotations

import json
from typing import Any

from model_server.reply import Asked, Json, Reply, pieces, shell_call, write_call
from model_server.script import CACHED, INPUT, OUTPUT, Refuse, Run, Say, Turn, Write


def asked(body: Json) -> Asked:
    """What a request asks for."""
    results = tuple(_text(m.get("content")) for m in body.get("messages", ()) if m.get("role") == "tool")
    functions = [tool["function"] for tool in body.get("tools", ()) if "function" in tool]
    tools = {f["name"]: f.get("parameters", {}).get("properties", {}) for f in functions}
    return Asked(
        bool(body.get("stream")),
        len(results),
        tools,
        results=results,
        model=body.get("model", ""),
        edit_blocks="SEARCH/REPLACE" in json.dumps(body),
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def reply(turn: Turn, request: Asked, number: int) -> Reply:
    """The answer of a turn."""
    message: Json = {"role": "assistant", "content": None}
    stop = "stop"
    arguments: Json | str
    if isinstance(turn, Say) and set(request.tools) == {"bash"}:
        # mini-swe-agent knows no other end than this command, whose further output is its last word.
        turn = Run(
            f"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\ncat <<'END_OF_TEXT'\n{turn.text}\nEND_OF_TEXT"
        )
    if isinstance(turn, Write) and request.edit_blocks:
        # aider offers no tools: it edits by what the model says.
        edit = f"<<<<<<< SEARCH\n=======\n{turn.content}>>>>>>> REPLACE"
        turn = Say(f"{turn.path}\n```\n{edit}\n```\n")
    if isinstance(turn, Run | Write):
        if isinstance(turn, Run):
            message["content"] = turn.text or None
            name, arguments = shell_call(request, turn.command)
        else:
            name, written = write_call(request, turn.path, turn.content)
            arguments = written
        function = {"name": name, "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": f"call_{number:04}", "type": "function", "function": function}]
        stop = "tool_calls"
    elif isinstance(turn, Refuse):
        message |= {"content": turn.text, "refusal": turn.text}
        stop = "content_filter"
    else:
        message["content"] = getattr(turn, "text", "")
    usage = {
        "prompt_tokens": INPUT,
        "prompt_tokens_details": {"cached_tokens": CACHED},
        "completion_tokens": OUTPUT,
        "total_tokens": INPUT + OUTPUT,
    }
    head = {"id": f"chatcmpl-{number:04}", "created": 1_700_000_000, "model": request.model}
    choice = {"index": 0, "message": message, "finish_reason": stop}
    whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    return Reply(whole, _events(head, message, stop, usage), "data: [DONE]")


def _events(head: Json, message: Json, stop: str, usage: Json) -> list[tuple[str, Json]]:
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in pieces(message["content"] or "")]
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        named = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        deltas.append({"tool_calls": [named]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in pieces(function["arguments"], 40)
        ]
    choices: list[Json] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": stop})
    chunk = {**head, "object": "chat.completion.chunk"}
    said = [("", {**chunk, "choices": [choice], "usage": None}) for choice in choices]
    return [*said, ("", {**chunk, "choices": [], "usage": usage})]
