"""The real CLIs at work in agents' containers: each scenario of a scripted model, and what is recorded of it.

One image with the CLIs serves all tests and later runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from cli_bench import KEY, CliBench, cli_bench, used

from berbench.model.cells import AgentFacts, Usage
from berbench.telemetry.endings import REFUSAL
from model_server.script import FORGE, LONG_TEXT

pytestmark = pytest.mark.docker

CLAUDE, CODEX, MINI = "claude-code", "codex", "mini-swe-agent"
BOTH = (CLAUDE, CODEX)
HANG_S = 45.0  # long enough for a CLI to start and write on a busy machine


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CliBench]:
    with cli_bench(tmp_path_factory.mktemp("clis"), (CLAUDE, CODEX, MINI)) as made:
        yield made


def tokens(usage: Usage) -> tuple[int | None, int | None, int | None]:
    return usage.input_tokens, usage.cached_tokens, usage.output_tokens


def check_unreached(facts: AgentFacts) -> None:
    """Neither a request past the proxy's list nor a key in what is kept."""
    assert [one.host for one in facts.refused] == []
    assert KEY.encode() not in facts.log + facts.telemetry + (facts.candidate or b"")


@pytest.mark.parametrize(
    ("name", "model"), [(CLAUDE, ""), (CODEX, ""), (CODEX, "gpt-6.2-sol"), (MINI, "")], ids=str
)
def test_a_cli_edits_a_file_runs_a_command_and_finishes(bench: CliBench, name: str, model: str) -> None:
    facts = bench.run(name, "edit", model=model)
    assert (facts.exit_code, facts.timed_out) == (0, False), facts.log
    left = bench.left(facts)
    assert left["greeting.txt"] == b"hello from the model\n"
    assert left["ran.txt"] == b"ran\n"
    assert sorted(left) == ["README.md", "greeting.txt", "ran.txt"]
    usage = used(name, facts)
    assert tokens(usage) == (3000, 1800, 150)
    assert (usage.final_message, usage.refused) == ("The greeting is written.", "")
    last = bench.asked("edit")[-1]
    assert "hello from the model" in last["results"][-1]  # the command's output came back to the model
    assert last["key"].endswith(KEY)
    check_unreached(facts)


@pytest.mark.parametrize("name", BOTH)
def test_a_refusal_leaves_nothing_and_is_a_measurement(bench: CliBench, name: str) -> None:
    facts = bench.run(name, "refuse")
    usage = used(name, facts)
    assert not usage.unanswered
    assert tokens(usage) == (1000, 600, 50)
    assert facts.candidate == b""
    if name == CLAUDE:
        assert (facts.exit_code, usage.refused) == (1, REFUSAL)
    else:  # Codex passes a refusal over in silence
        assert (facts.exit_code, usage.refused, usage.final_message) == (0, "", "")


@pytest.mark.parametrize("script", ["error-500", "error-429"])
@pytest.mark.parametrize("name", BOTH)
def test_an_api_that_fails_is_no_measurement(bench: CliBench, name: str, script: str) -> None:
    facts = bench.run(name, script)
    usage = used(name, facts)
    assert (facts.exit_code, usage.unanswered) == (1, True), facts.log
    assert usage.refused
    assert facts.candidate == b""


@pytest.mark.parametrize("name", (CLAUDE, CODEX, MINI))
def test_what_was_written_before_an_outage_is_kept_and_the_outage_told(bench: CliBench, name: str) -> None:
    facts = bench.run(name, "late-500")
    assert facts.exit_code == 1, facts.log
    assert used(name, facts).unanswered
    assert bench.left(facts)["greeting.txt"] == b"half\n"


def test_a_model_that_never_answers_runs_into_the_time_limit(bench: CliBench) -> None:
    with ThreadPoolExecutor(3) as pool:
        running = {name: pool.submit(bench.run, name, "hang", timeout_s=HANG_S) for name in (*BOTH, MINI)}
    for name, ran in running.items():
        facts = ran.result()
        assert facts.timed_out
        assert HANG_S - 1 < facts.seconds < HANG_S + 30
        assert bench.left(facts)["greeting.txt"] == b"written before the silence\n"
        # One of them writes down every answer at once.
        assert tokens(used(name, facts)) == ((1000, 600, 50) if name == MINI else (None, None, None))


@pytest.mark.parametrize("name", BOTH)
def test_a_message_of_two_hundred_kilobytes_comes_through(bench: CliBench, name: str) -> None:
    facts = bench.run(name, "long")
    usage = used(name, facts)
    assert facts.exit_code == 0
    assert len(facts.telemetry) > LONG_TEXT
    assert usage.final_message.startswith("0123456789abcde\n0123")
    assert tokens(usage) == (1000, 600, 50)


@pytest.mark.parametrize("name", BOTH)
def test_a_forge_is_refused_and_the_request_recorded(bench: CliBench, name: str) -> None:
    facts = bench.run(name, "forge")
    assert facts.exit_code == 0
    assert {one.host for one in facts.refused} == {FORGE}
    assert "refused.txt" in bench.left(facts)
    assert b"<html" not in bench.left(facts).get("reached.txt", b"")


def test_mini_swe_agent_comes_to_the_same_ends(bench: CliBench) -> None:
    """In one go: it takes its time to start."""
    scripts = ("refuse", "error-500", "error-429", "talk", "forge")
    with ThreadPoolExecutor(3) as pool:
        running = {script: pool.submit(bench.run, MINI, script) for script in scripts}
    ended = {script: ran.result() for script, ran in running.items()}
    usage = {script: used(MINI, facts) for script, facts in ended.items()}
    assert usage["refuse"].refused == REFUSAL and not usage["refuse"].unanswered
    for script in ("error-500", "error-429"):
        assert usage[script].unanswered and usage[script].refused, ended[script].log
    assert all(ended[script].candidate == b"" for script in ("refuse", "error-500", "error-429"))
    assert len(ended["talk"].telemetry) > LONG_TEXT
    assert (usage["talk"].final_message, tokens(usage["talk"])) == ("That was long.", (2000, 1200, 100))
    assert bench.left(ended["talk"])["ran.txt"] == b"ran\n"
    assert {one.host for one in ended["forge"].refused} == {FORGE}
    assert b"<html" not in bench.left(ended["forge"]).get("reached.txt", b"")


@pytest.mark.parametrize("name", BOTH)
def test_a_prompt_of_a_megabyte_arrives_whole(bench: CliBench, name: str) -> None:
    prompt = b"Write a greeting. " * 55_000  # Codex takes 1,048,576 characters at most
    facts = bench.run(name, "edit", prompt=prompt)
    assert facts.exit_code == 0, facts.log[-2000:]
    assert prompt.decode().strip() in bench.asked("edit")[-1]["body"]
