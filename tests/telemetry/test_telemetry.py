"""What is read from the real output of real CLIs, whose model followed a script, and from output of any kind."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import get_args

import pytest

from berbench.model.cells import Usage
from berbench.model.tools import TelemetryFormat
from berbench.telemetry import read_usage
from berbench.telemetry.endings import REFUSAL, no_answer
from berbench.telemetry.said import MESSAGE

CAPTURES = Path(__file__).parent / "captures"
FORMATS: dict[str, TelemetryFormat] = {
    "claude-code": "claude-stream",
    "codex": "codex-jsonl",
    "gemini-cli": "gemini-json",
    "opencode": "opencode-jsonl",
    "mini-swe-agent": "mini-trajectory",
    "aider": "aider-log",
}
ALL = sorted(path.name for path in CAPTURES.iterdir())


def captured(name: str) -> bytes:
    return (CAPTURES / name).read_bytes()


def read(name: str, data: bytes | None = None) -> Usage:
    return read_usage(FORMATS[name.partition(".")[0]], captured(name) if data is None else data)


def tokens(usage: Usage) -> tuple[int | None, int | None, int | None]:
    return usage.input_tokens, usage.cached_tokens, usage.output_tokens


# --- runs that end well: the script says 1000 tokens in, 600 of them cached, and 50 out, three times ---


@pytest.mark.parametrize("name", [name for name in ALL if name.endswith(".edit") and name[0] != "a"])
def test_a_finished_run_tells_its_tokens_and_last_message(name: str) -> None:
    usage = read(name)
    assert tokens(usage) == (3000, 1800, 150)
    assert usage.final_message == "The greeting is written."
    assert (usage.refused, usage.unanswered) == ("", False)


def test_turns_and_cost_are_told_by_who_knows_them() -> None:
    known = {name: read(f"{name}.edit") for name in FORMATS if f"{name}.edit" in ALL}
    assert {name: usage.turns for name, usage in known.items() if name != "aider"} == {
        "claude-code": 3,
        "codex": None,
        "gemini-cli": 3,
        "opencode": 3,
        "mini-swe-agent": 3,
    }
    assert known["claude-code"].cost_usd == pytest.approx(0.00639)
    assert known["mini-swe-agent"].cost_usd == pytest.approx(0.0045)
    assert known["codex"].cost_usd is None
    assert known["opencode"].cost_usd is None  # it says 0 for a model that it has no price of


# --- runs that end early ---


def test_a_log_for_people_tells_rounded_numbers() -> None:
    usage = read("aider.edit")
    assert (tokens(usage), usage.turns, usage.cost_usd) == ((1000, None, 50), 1, 0.0015)  # 600 were cached
    assert usage.final_message.startswith("greeting.txt\n```")
    line = b"Tokens: 12k sent, 1.1k cache write, 9.5k cache hit, 1,021 received. Cost: $0.02 message, $1.03 session.\n"
    more = read("aider.", captured("aider.edit") + b"\nMore.\n\n" + line)
    assert (tokens(more), more.turns, more.cost_usd) == ((13_000, 9_500, 1071), 2, 1.03)
    assert more.final_message.endswith("More.")


@pytest.mark.parametrize("name", ["claude-code.refuse", "opencode.refuse", "mini-swe-agent.refuse"])
def test_a_refusal_is_told_and_is_no_outage(name: str) -> None:
    usage = read(name)
    assert (usage.refused, usage.unanswered) == (REFUSAL, False)
    assert usage.input_tokens == 1000 * (usage.turns or 0) > 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("claude-code.error-401", "401"),
        ("claude-code.error-429", "429"),
        ("claude-code.late-500", "API Error: 500 The server had an error"),
        ("codex.error-429", "exceeded retry limit, last status: 429 Too Many Requests"),
        ("codex.error-500", "We’re currently experiencing high demand"),
        ("codex.late-500", "We’re currently experiencing high demand"),
        ("codex.cut", "stream disconnected before completion"),
        ("mini-swe-agent.error-500", "InternalServerError"),
        ("mini-swe-agent.late-500", "InternalServerError"),
        ("gemini-cli.error-401", "That key is not known here."),
        ("opencode.error-401", "That key is not known here. (status 401)"),
        ("aider.error-500", "litellm.InternalServerError"),
    ],
)
def test_a_provider_that_gives_no_answer_is_told(name: str, reason: str) -> None:
    usage = read(name)
    assert usage.unanswered
    assert reason in usage.refused
    assert "\n" not in usage.refused


def test_what_was_used_before_an_outage_is_told_only_where_it_is_known() -> None:
    assert tokens(read("claude-code.late-500")) == (1000, 600, 50)
    assert tokens(read("codex.late-500")) == (None, None, None)
    assert tokens(read("mini-swe-agent.late-500")) == (None, None, None)


def test_an_answer_that_was_cut_short_is_in_the_sum() -> None:
    # `result.usage` says 0 here; what was paid for is told by model.
    assert tokens(read("claude-code.cut")) == (1000, 600, 50)


# --- output that is cut, damaged, or of no kind at all ---


@pytest.mark.parametrize("name", ALL)
def test_output_cut_anywhere_tells_nothing_false(name: str) -> None:
    data, whole = captured(name), read(name)
    for end in range(0, len(data), max(1, len(data) // 40)):
        for part in (data[:end], data[end:]):
            usage = read(name, part)
            for told, known in zip(tokens(usage), tokens(whole), strict=True):
                assert told is None or known is None or told <= known
            assert usage.cost_usd is None or usage.cost_usd == whole.cost_usd


@pytest.mark.parametrize("name", ["claude-code.edit", "codex.edit"])
def test_a_run_that_was_killed_has_unknown_tokens(name: str) -> None:
    lines = captured(name).splitlines(keepends=True)
    usage = read(name, b"".join(lines[:-1]))
    assert tokens(usage) == (None, None, None)
    assert usage.cost_usd is None
    assert usage.final_message == "The greeting is written."


@pytest.mark.parametrize("kind", get_args(TelemetryFormat))
def test_output_of_any_kind_is_read_without_an_error(kind: TelemetryFormat) -> None:
    dice = random.Random(7)
    odd = [
        b"",
        b"\0" * 1000,
        dice.randbytes(5000),
        b"{" * 100_000,
        b'{"a":' * 50_000,
        b"[" * 100_000,
        b'{}\n[]\nnull\n1\n"x"\n',
        b'{"type":"result","usage":[],"modelUsage":{"m":3},"num_turns":-1,"total_cost_usd":NaN}\n',
        b'{"type":"result","is_error":true,"errors":7,"result":{}}\n',
        b'{"type":"turn.completed","usage":{"input_tokens":1e400,"output_tokens":true}}\n',
        b'{"stats":{"models":[1,2]},"error":"x"}',
        b'{"info":[],"messages":[{"extra":{"response":{"usage":{"prompt_tokens":"many"}}}},7]}',
        b"Tokens: ,,k sent, . received. Cost: $, message, $... session.\n",
    ]
    for data in odd:
        usage = read_usage(kind, data)
        assert tokens(usage) == (None, None, None)
        assert usage.cost_usd is None


@pytest.mark.parametrize("name", ALL)
def test_damage_never_raises(name: str) -> None:
    dice, data = random.Random(name), captured(name)
    for _ in range(30):
        broken = bytearray(data)
        for _ in range(20):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        read(name, bytes(broken))


def test_a_huge_line_is_read_and_a_long_message_is_cut() -> None:
    words = "x" * 3_000_000
    event = {"type": "item.completed", "item": {"type": "agent_message", "text": words}}
    usage = read("codex.", json.dumps(event).encode() + b"\n" + captured("codex.edit").splitlines()[-1])
    assert len(usage.final_message) == MESSAGE
    assert usage.final_message.endswith("…")
    assert usage.input_tokens == 3000


def test_halves_of_characters_can_be_written_to_any_stream() -> None:
    event = b'{"type":"item.completed","item":{"type":"agent_message","text":"a \\ud83d b"}}\n'
    assert read("codex.", event).final_message == "a ? b"


def test_lines_around_the_events_are_passed_over() -> None:
    noise = b"warning: {not json}\n\xff\xfe\n[berbench: 12 bytes left out]\n"
    lines = captured("claude-code.edit").splitlines(keepends=True)
    assert read("claude-code.", noise + noise.join(lines) + noise) == read("claude-code.edit")


def test_an_agent_that_quotes_an_event_is_not_believed() -> None:
    # What a model says is inside a line of the tool's, so it can't stand as a line of its own.
    forged = '\n{"type":"result","total_cost_usd":0,"modelUsage":{}}\n'
    event = {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": forged}]}}
    assert read("claude-code.", json.dumps(event).encode()).cost_usd is None


# --- what ends a run early ---


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (500, "", True),
        (529, "Overloaded", True),
        (401, "", True),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", False),
        (413, "request too large", False),
        (None, "unexpected status 503 Service Unavailable", True),
        (None, "Your input exceeds the context window of this model.", False),
        (None, "We're currently experiencing high demand", True),
        (None, "error sending request for url (http://model/)", True),
        (None, "invalid_request: flagged as a violation of the usage policy", False),
    ],
)
def test_outages_and_an_agents_own_affairs_are_told_apart(
    status: int | None, message: str, expected: bool
) -> None:
    assert no_answer(status, message) is expected


def test_a_limit_of_turns_is_the_agents_own_affair() -> None:
    event = (
        b'{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":9,"total_cost_usd":1.5}\n'
    )
    usage = read("claude-code.", event)
    assert (usage.refused, usage.unanswered, usage.turns, usage.cost_usd) == (
        "error max turns",
        False,
        9,
        1.5,
    )


def test_a_tool_that_was_still_asking_when_it_was_ended_had_no_answer() -> None:
    lines = captured("claude-code.error-429").splitlines(keepends=True)
    usage = read("claude-code.", b"".join(lines[:2]))
    assert usage.unanswered
    assert usage.refused == "no answer yet: rate_limit (status 429)"
    lines = captured("codex.error-500").splitlines(keepends=True)
    assert read("codex.", b"".join(lines[:3])).unanswered
    went_on = b'{"type":"item.completed","item":{"type":"agent_message","text":"on"}}\n'
    assert read("codex.", b"".join(lines[:3]) + went_on).refused == ""


def test_a_program_of_ones_own_tells_what_it_likes() -> None:
    said = {
        "input_tokens": 12.0,
        "output_tokens": "3",
        "cost_usd": 0,
        "turns": True,
        "final_message": " done ",
    }
    assert read_usage("usage-json", json.dumps(said).encode()) == Usage(
        input_tokens=12, cost_usd=0.0, final_message="done"
    )
    told = {"refused": "the gateway is down", "unanswered": True}
    usage = read_usage("usage-json", json.dumps(told).encode())
    assert (usage.refused, usage.unanswered) == ("the gateway is down", True)
