"""The scripted model answers as its APIs do: the turn follows from the conversation, streamed or whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from model_server.script import from_json
from model_server.server import ModelServer, model_server

BASH = {"type": "object", "properties": {"command": {"type": "string"}}}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


def ask(server: ModelServer, path: str, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(f"http://127.0.0.1:{server.port}/{path}", json=body, timeout=5, trust_env=False)


def events(answer: httpx.Response) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: {")]
    return [json.loads(line) for line in lines]


def test_messages_call_a_tool_and_then_end(server: ModelServer) -> None:
    body: dict[str, Any] = {
        "model": "m",
        "stream": True,
        "tools": [{"name": "Bash", "input_schema": BASH}],
        "messages": [{"role": "user", "content": "go"}],
    }
    first = events(ask(server, "edit/v1/messages?beta=true", body))
    assert [event["type"] for event in (first[0], first[-1])] == ["message_start", "message_stop"]
    deltas = [event["delta"] for event in first if event["type"] == "content_block_delta"]
    command = json.loads("".join(delta["partial_json"] for delta in deltas))["command"]
    assert command.startswith("cat > greeting.txt")
    done = [{"type": "tool_result", "tool_use_id": "x", "content": "out"}]
    body["messages"] += [{"role": "user", "content": done}] * 2
    last = events(ask(server, "edit/v1/messages", body))
    assert last[-2]["delta"]["stop_reason"] == "end_turn"
    assert server.seen[-1].results == ("out", "out")


def test_responses_call_tools_of_either_place(server: ModelServer) -> None:
    patch = {"type": "custom", "name": "apply_patch"}
    body: dict[str, Any] = {"stream": True, "model": "m", "tools": [patch], "input": []}
    said = events(ask(server, "edit/v1/responses", body))
    call = next(event["item"] for event in said if event["type"] == "response.output_item.done")
    assert (call["type"], call["name"]) == ("custom_tool_call", "apply_patch")
    assert said[-1]["response"]["usage"]["input_tokens_details"] == {"cached_tokens": 600}
    program = {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}
    body |= {"tools": [], "input": [{"type": "additional_tools", "tools": [program]}]}
    said = events(ask(server, "edit/v1/responses", body))
    call = next(event["item"] for event in said if event["type"] == "response.output_item.done")
    assert call["name"] == "exec"
    assert "tools.apply_patch(" in call["input"]


def test_chat_is_streamed_and_whole_alike(server: ModelServer) -> None:
    tools = [{"type": "function", "function": {"name": "shell", "parameters": BASH}}]
    body = {"model": "m", "tools": tools, "messages": [{"role": "user", "content": "go"}]}
    whole = ask(server, "edit/v1/chat/completions", body).json()
    asked = whole["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    said = events(ask(server, "edit/v1/chat/completions", body | {"stream": True}))
    deltas = [event["choices"][0]["delta"] for event in said if event["choices"]]
    pieces = [delta["tool_calls"][0]["function"]["arguments"] for delta in deltas if "tool_calls" in delta]
    assert "".join(pieces) == asked
    assert said[-1]["usage"] == whole["usage"]


def test_a_turn_that_fails_has_its_status_and_header(server: ModelServer) -> None:
    answer = ask(server, "error-429/v1/messages", {"messages": []})
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1")
    assert answer.json()["error"]["type"] == "rate_limit_error"
    path = "error-500/v1beta/models/m:streamGenerateContent?alt=sse"
    assert ask(server, path, {}).json()["error"]["status"] == "INTERNAL"


def test_a_cut_answer_ends_in_the_middle(server: ModelServer) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        ask(server, "cut/v1/responses", {"stream": True, "input": []})


def test_scripts_come_from_json() -> None:
    scripts = from_json({"own": [{"run": {"command": "true"}}, {"say": {"text": "done"}}]})
    with model_server(scripts) as server:
        answer = ask(server, "own/v1/messages", {"messages": [{"role": "user", "content": "hello"}]})
        assert answer.json()["content"] == [{"type": "text", "text": "A title"}]  # no tools: a side question
        assert ask(server, "another/v1/messages", {"messages": []}).status_code == 404
