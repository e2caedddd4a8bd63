"""The real Gemini CLI in an agent's container, on a layer of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cli_bench import KEY, CliBench, cli_bench, used

from model_server.script import PROSE

pytestmark = pytest.mark.docker

GEMINI = "gemini-cli"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CliBench]:
    with cli_bench(tmp_path_factory.mktemp("gemini"), (GEMINI,)) as made:
        yield made


def test_gemini_edits_a_file_and_reaches_nothing_else(bench: CliBench) -> None:
    facts = bench.run(GEMINI, "edit")
    assert facts.exit_code == 0, facts.log
    left = bench.left(facts)
    assert (left["greeting.txt"], left["ran.txt"]) == (b"hello from the model\n", b"ran\n")
    usage = used(GEMINI, facts)
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (3000, 1800, 150)
    assert usage.final_message == "The greeting is written."
    assert facts.refused == () and KEY.encode() not in facts.log


def test_a_long_answer_of_geminis_comes_whole(bench: CliBench) -> None:
    """It ends before all of that is read from a pipe."""
    facts = bench.run(GEMINI, "prose")
    assert facts.exit_code == 0, facts.log
    assert len(facts.telemetry) > len(PROSE)
    assert used(GEMINI, facts).final_message[:60] == PROSE[:60]
