from __future__ import annotations

import base64
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from agent_bench import AgentBench, make_bench

from berbench.agents import running, tool_layer
from berbench.engine.fake import FakeEngine
from berbench.errors import ConfigError, EngineError, Interrupted
from berbench.model.agent import PROMPT_FILE, AgentStep, SecretFile
from berbench.model.cells import StepFacts
from berbench.model.changes import EXECUTABLE, REGULAR
from berbench.model.tools import ToolDocument

DOCKERFILE = "FROM x\nWORKDIR /work\nCOPY . .\n"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentBench]:
    engine = FakeEngine()
    bench = make_bench(engine, tmp_path_factory.mktemp("agents"), DOCKERFILE, "fake")
    yield bench
    bench.history.close()
    engine.close()


def test_P37_a_prompt_of_a_megabyte_comes_as_file_and_input(bench: AgentBench):
    prompt = b"".join(b"line %d of a long prompt\n" % number for number in range(40_000))
    facts = bench.run(f"cat >stdin; cp {PROMPT_FILE} file", prompt=prompt)
    left = bench.left(facts)
    assert left == {"stdin": (REGULAR, prompt), "file": (REGULAR, prompt)}


def test_an_exit_code_is_the_agents_own_and_its_work_counts(bench: AgentBench):
    facts = bench.run("echo x >x; echo said; echo complained >&2; exit 3")
    assert (facts.exit_code, facts.timed_out, facts.setup_failed) == (3, False, "")
    assert facts.log == b"said\ncomplained\n"
    assert bench.left(facts) == {"x": (REGULAR, b"x\n")}
    assert facts.image == bench.image.id and facts.engine == "Fake 1"


def test_a_missing_program_is_a_value(bench: AgentBench):
    trial = bench.trial("")
    step = AgentStep(("no-such-program-here", "--x"), b"")
    facts = bench.agents.run(replace(trial, steps=(step,)))
    assert facts.exit_code == 127 and b"no-such-program-here" in facts.log


def test_lines_before_and_after(bench: AgentBench):
    step = AgentStep(
        ("/bin/sh", "-c", "cat before; echo $COLOUR"), b"", env=(("COLOUR", "red"),), pre=("echo $COLOUR >before",),
        post=("echo $COLOUR >after; exit 1", "echo still"),
    )  # fmt: skip
    facts = bench.agents.run(replace(bench.trial(""), steps=(step,)))
    assert facts.exit_code == 0 and facts.log == b"red\nred\nstill\n"
    assert bench.left(facts) == dict.fromkeys(("before", "after"), (REGULAR, b"red\n"))


def test_a_line_before_that_fails_ends_it(bench: AgentBench):
    step = AgentStep(("touch", "ran"), b"", pre=("true", "echo why; exit 4", "touch never"))
    facts = bench.agents.run(replace(bench.trial(""), steps=(step, step)))
    assert facts.setup_failed == "echo why; exit 4" and facts.log == b"why\n"
    assert facts.exit_code == 4 and len(facts.steps) == 1 and bench.left(facts) == {}


def test_a_time_out_asks_first_and_what_was_written_counts(
    bench: AgentBench, monkeypatch: pytest.MonkeyPatch
):
    script = "trap 'echo late >late; exit 0' TERM; echo early >early; while :; do sleep 0.05; done"
    facts = bench.run(script, timeout_s=0.5)
    assert facts.timed_out and facts.exit_code is None
    assert bench.left(facts) == {"early": (REGULAR, b"early\n"), "late": (REGULAR, b"late\n")}


def test_the_time_is_for_all_steps_together(bench: AgentBench):
    steps = tuple(AgentStep(("/bin/sh", "-c", "sleep 0.4"), b"", name=name) for name in "abcd")
    facts = bench.agents.run(replace(bench.trial("", timeout_s=1.0), steps=steps))
    assert facts.timed_out and len(facts.steps) < 4
    assert facts.seconds == pytest.approx(sum(step.seconds for step in facts.steps))


def test_steps_share_the_work_tree_and_hand_over(bench: AgentBench):
    steps = (
        AgentStep(("/bin/sh", "-c", "cat; echo plan >plan"), b"make a plan\n", name="plan"),
        AgentStep(("/bin/sh", "-c", "cat; cat plan"), b"", name="build"),
    )
    seen: list[StepFacts] = []

    def hand_over(step: AgentStep, before: StepFacts) -> AgentStep:
        seen.append(before)
        return replace(step, prompt=b"build what " + before.telemetry)

    facts = bench.agents.run(replace(bench.trial(""), steps=steps), hand_over)
    assert [(one.name, one.log) for one in facts.steps] == [
        ("plan", b"make a plan\n"),
        ("build", b"build what make a plan\nplan\n"),
    ]
    assert seen == [facts.steps[0]] and facts.log == facts.steps[0].log + facts.steps[1].log


def test_telemetry_is_the_file_that_this_step_wrote(bench: AgentBench):
    steps = (
        AgentStep(("/bin/sh", "-c", "echo one >/agent/usage; echo out"), b"", telemetry="/agent/usage"),
        AgentStep(("/bin/sh", "-c", "echo two"), b"", telemetry="/agent/usage"),
    )
    facts = bench.agents.run(replace(bench.trial(""), steps=steps))
    assert [step.telemetry for step in facts.steps] == [b"one\n", b""]


def test_long_output_is_cut_in_the_middle(bench: AgentBench):
    facts = bench.run("head -c 5000000 /dev/zero | tr '\\0' a; echo; echo end")
    assert facts.log_truncated and len(facts.log) < 2_200_000 and facts.log.endswith(b"aaa\nend\n")


def test_what_an_agent_puts_in_its_telemetrys_place_stops_nothing(bench: AgentBench):
    script = "rm -rf '/agent/us age'; mkdir '/agent/us age'; echo $?"
    step = AgentStep(("/bin/sh", "-c", script), b"", telemetry="/agent/us age")
    facts = bench.agents.run(replace(bench.trial(""), steps=(step, step)))
    assert [(one.exit_code, one.log, one.telemetry) for one in facts.steps] == [(0, b"0\n", b"")] * 2


# --- set-up lines ---

SETUP = (
    "echo made >made; echo 'one = 1  # made' >src/one.py; rm data.bin; mkdir build; echo junk >build/junk",
    'test -z "$API_KEY" && cat made >also; echo more >run.sh; ln -s /etc away',
)


def test_set_up_lines_run_before_the_agent_and_what_they_change_is_nobodys_work(bench: AgentBench):
    secrets = (("API_KEY", "sk-0123456789"),)
    facts = bench.run("cat made also src/one.py build/junk", setup=SETUP, secrets=secrets)
    assert facts.log == b"made\nmade\none = 1  # made\njunk\n" and facts.warnings == ()
    assert facts.candidate == b"" and facts.left_out == ()


def test_an_agents_work_on_what_set_up_made_is_its_own(bench: AgentBench):
    facts = bench.run("echo mine >>made; rm also src/one.py; echo x >data.bin; echo y >run.sh", setup=SETUP)
    assert bench.left(facts) == {
        "made": (REGULAR, b"made\nmine\n"),
        "src/one.py": (0, b""),
        "data.bin": (REGULAR, b"x\n"),
        "run.sh": (EXECUTABLE, b"y\n"),
    }
    facts = bench.run("git checkout -q src/one.py data.bin; rm -r build; echo z >build", setup=SETUP)
    assert bench.left(facts) == {"build": (REGULAR, b"z\n")}  # no folder, so no rule names it
    assert facts.left_out == ()


def test_a_set_up_line_that_fails_is_told_and_the_agent_works(bench: AgentBench):
    facts = bench.run(
        "echo x >x; ls never 2>/dev/null; true", setup=("echo made >made; echo why; exit 3", "touch never")
    )
    assert facts.warnings == (
        "the set-up line 'echo made >made; echo why; exit 3' failed (exit code 3): why",
    )
    assert facts.exit_code == 0 and facts.log == b"" and bench.left(facts) == {"x": (REGULAR, b"x\n")}


def test_a_set_up_line_without_end_is_no_measurement(bench: AgentBench):
    with pytest.raises(EngineError, match="did not end within 1 s"):
        bench.run("true", setup=("sleep 60",), setup_s=1)


# --- secrets ---

SECRET = "sk-canary/123+abc=="


def forms(secret: str) -> list[bytes]:
    plain = secret.encode()
    return [
        plain,
        base64.b64encode(plain),
        quote(secret, safe="").encode(),
        base64.b64encode(b"Bearer " + plain)[12:-4],
    ]


def test_S08_secrets_are_in_nothing_that_leaves(bench: AgentBench):
    script = (
        'env; printf %s "$API_KEY" | base64; printf \'user:%s\' "$API_KEY" | base64 -w0; echo;'
        " python3 -c \"import os, urllib.parse; print(urllib.parse.quote(os.environ['API_KEY'], safe=str()))\";"
        " cat ~/.tool/auth.json; printf %s $API_KEY >/agent/usage"
    )
    step = AgentStep(("/bin/sh", "-c", script), b"", telemetry="/agent/usage")
    file = SecretFile(
        "/agent/home/.tool/auth.json", b'{"mode": "key", "token": "tok-CANARY-98765432-abcdef"}'
    )
    trial = replace(bench.trial(""), steps=(step,), secrets=(("API_KEY", SECRET),), secret_files=(file,))
    facts = bench.agents.run(trial)
    assert facts.exit_code == 0, facts.log
    assert b"API_KEY=***" in facts.log and b'"token": "***"' in facts.log and facts.telemetry == b"***"
    for data in (facts.log, facts.telemetry, repr(trial).encode()):
        assert not any(form in data for form in [*forms(SECRET), b"tok-CANARY-98765432-abcdef"])


def test_S08_a_secret_in_the_work_is_masked_or_warned_of(bench: AgentBench):
    key = "sk-canary-0123456789"
    script = "printf %s $API_KEY | base64 >note; mkdir build; echo x >build/$API_KEY"
    facts = bench.run(script, secrets=(("API_KEY", key),))
    assert facts.left_out == ("build/***",)
    assert facts.warnings == (running.MASKED,) and bench.left(facts)["note"][1].startswith(b"***")
    short = bench.run("echo as $API_KEY >note", secrets=(("API_KEY", "testing"),))
    assert short.warnings == (running.HELD,) and bench.left(short)["note"][1] == b"as testing\n"
    facts = bench.run("echo x >$API_KEY", secrets=(("API_KEY", key),))
    assert facts.warnings == (running.HELD,)
    assert bench.run("echo x >x", secrets=(("API_KEY", key),)).warnings == ()


def test_S08_a_secret_is_masked_where_the_output_is_cut(bench: AgentBench):
    script = 'i=0; while [ $i -lt 90000 ]; do printf %s "$API_KEY-"; i=$((i+1)); done; printf %s "$API_KEY"'
    facts = bench.run(script, secrets=(("API_KEY", "sk-canary-0123456789-0123456789"),))
    assert b"canary" not in facts.log and b"0123" not in facts.log and facts.log.endswith(b"***-***")


def test_a_secret_file_that_is_no_text_is_refused(bench: AgentBench):
    for data in (b"a\0b", b"x" * 200_000):
        with pytest.raises(ConfigError, match="/agent/home/x"):
            bench.run("true", secret_files=(SecretFile("/agent/home/x", data),))


# --- what goes wrong ---


def test_an_interruption_ends_it(tmp_path: Path):
    engine = FakeEngine()
    bench = make_bench(engine, tmp_path, DOCKERFILE, "interrupted")
    threading.Timer(0.3, engine.interrupt).start()
    began = time.monotonic()
    with pytest.raises(Interrupted):
        bench.run("sleep 30")
    assert time.monotonic() - began < 10
    bench.history.close()
    engine.close()


def test_a_forge_among_the_hosts_is_refused_before_anything_starts(bench: AgentBench):
    with pytest.raises(ConfigError, match="code forge"):
        bench.run("true", hosts=("api.test", "github.com"))
    with pytest.raises(ConfigError, match=r"code\.corp\.example"):
        bench.run("true", hosts=("code.corp.example",), forges=("code.corp.example",))


def test_tools_lie_on_the_tasks_image(bench: AgentBench):
    tool = ToolDocument.model_validate(
        {"schema": "berbench.tool/1", "name": "t", "install": {"run": ["install t"]}}
    )
    image = bench.agents.with_tools(bench.image, tool_layer([tool]), lambda _: None)
    assert image.id != bench.image.id and image.tree == bench.image.tree
    assert image == bench.agents.with_tools(bench.image, tool_layer([tool]), lambda _: None)
    facts = bench.run("cat src/one.py", image=image)
    assert facts.log == b"one = 1\n" and facts.image == image.id
    assert bench.agents.with_tools(bench.image, tool_layer([]), lambda _: None) is bench.image


def test_tools_that_cannot_be_put_in_are_an_engines_error(bench: AgentBench):
    tool = ToolDocument.model_validate(
        {"schema": "berbench.tool/1", "name": "t", "install": {"run": ["# x"], "env": {}}}
    )
    layer = replace(tool_layer([tool]), env=(("X", "1"),), run=("x",))
    broken = replace(bench.image, id="sha256:x\n# fake: fail no such package")
    with pytest.raises(EngineError, match="no such package") as caught:
        bench.agents.with_tools(broken, layer, lambda _: None)
    assert "install" in caught.value.remedy


def test_places_are_the_containers(bench: AgentBench):
    places = bench.agents.places(bench.image, "CLAUDE.md")
    assert (places.prompt_file, places.workdir, places.home) == (PROMPT_FILE, "/work", "/agent/home")
