from __future__ import annotations

import pytest

from berbench.errors import ConfigError
from berbench.matrix.auth import Given, given
from berbench.matrix.invocation import (
    LONGEST_ARGUMENT,
    Invocation,
    Places,
    agents_of,
    install_lines,
    invocation,
    planned_steps,
    step_prompt,
)
from berbench.matrix.overlay import merged
from berbench.model.cells import Configuration
from berbench.model.tools import Auth, Install, Option, ToolDocument
from toolbox import AGENT, FLOW, PLAIN, TOOLS

PLACES = Places("/b/prompt.md", "/src", "/home/a", "AGENTS.md")


def run(configuration: Configuration, prompt: str = "Mend it.") -> Invocation:
    return invocation(configuration, PLACES, prompt)


def test_what_is_chosen_stands_where_the_tool_wants_it() -> None:
    made = run(Configuration(AGENT, "m", "high", ("fast", "careful")))
    assert made.argv == (
        *("agent", "--file", "/b/prompt.md"),
        *("--model", "m", "--effort=high", "--fast"),
        "--last",
    )
    assert made.env == (("EFFORT", "high"), ("FAST", "1"), ("HOME", "/home/a"))
    assert made.pre == ("check m",)
    assert made.post == ("clean /src",)
    assert made.files == (("AGENTS.md", "Care.\n"),)
    assert made.telemetry.file == "/home/a/usage.json"


def test_what_waits_for_a_choice_that_nobody_made_is_left_out() -> None:
    made = run(Configuration(AGENT, options=("careful",)))
    assert made.argv == ("agent", "--file", "/b/prompt.md", "--last")
    assert made.env == (("HOME", "/home/a"),)
    assert made.pre == ()  # it asks for the model
    assert run(Configuration(PLAIN)).argv == ("plain", "Mend it.")  # the flag went with its value


def test_without_a_place_for_them_choices_go_to_the_end() -> None:
    tool = ToolDocument(
        name="t", invoke=("t",), model_args=("-m", "{model}"), options={"o": Option(args=("-o",))}
    )
    assert run(Configuration(tool, "x", "", ("o",))).argv == ("t", "-m", "x", "-o")


def test_what_is_put_in_is_never_read_again() -> None:
    made = run(Configuration(PLAIN, "small"), prompt="print {model} and {home} {args}")
    assert made.argv[-1] == "print {model} and {home} {args}"


def test_shell_lines_get_quoted_values() -> None:
    assert run(Configuration(AGENT, "a;b", "", ("careful",))).pre == ("check 'a;b'",)


@pytest.mark.parametrize("text", ['{"a": 1}', "${model}", "f() { model; }", "\\{model}", "{MODEL}", "{}"])
def test_other_braces_stay_as_they_are(text: str) -> None:
    tool = ToolDocument(name="t", invoke=("t", text))
    assert run(Configuration(tool, "")).argv == ("t", text)


def test_a_prompt_that_is_too_long_for_an_argument_is_refused_in_words() -> None:
    longest = "é" * (LONGEST_ARGUMENT // 2) + "x" * (LONGEST_ARGUMENT % 2)
    assert run(Configuration(PLAIN, "small"), longest).argv[-1] == longest
    with pytest.raises(ConfigError, match="131072 bytes are more than Linux allows") as caught:
        run(Configuration(PLAIN, "small"), longest + "x")
    assert "{prompt_file}" in caught.value.remedy
    assert run(Configuration(AGENT), longest * 8)  # it reads a file


def test_an_agent_has_one_step_a_control_none_and_a_workflow_its_own() -> None:
    agent = Configuration(AGENT)
    assert [(step.name, step.prompt) for step in planned_steps(agent)] == [("", "{prompt}")]
    assert planned_steps(Configuration(TOOLS["nop"])) == ()
    flow = Configuration(FLOW, steps=(agent, Configuration(PLAIN, "small")))
    assert [step.name for step in planned_steps(flow)] == ["plan", "build"]
    assert [tool.name for tool in agents_of(flow)] == ["agent", "plain"]


def test_a_step_is_told_the_task_and_what_the_step_before_said() -> None:
    text = step_prompt(
        "In {workdir}: {prompt}\n{handover}", prompt="{handover}", workdir="/src", handover="done"
    )
    assert text == "In /src: {handover}\ndone"


def test_the_version_is_put_into_the_lines_that_install() -> None:
    tool = ToolDocument(name="t", version="1.2", install=Install(run=("get t=={version}", "echo ${version}")))
    assert install_lines(tool) == ("get t==1.2", "echo ${version}")


# What the host gives


def test_the_first_of_several_variables_that_is_set_is_handed_on() -> None:
    auth = Auth(env=("A|B", "C", "D?", "E?"))
    assert given(auth, {"B": "x", "C": "y", "E": "z"}) == Given(("B", "C", "E"), (), ("D",))
    assert given(auth, {"A": "x", "B": "y", "C": ""}) == Given(("A",), ("C",), ("D", "E"))
    assert given(auth, {}) == Given((), ("A or B", "C"), ("D", "E"))


# Layers


def test_layers_merge_key_by_key() -> None:
    below = {"a": "1", "env": {"X": "1", "Y": "2"}, "invoke": ["a", "b"], "gone": {"k": "v"}}
    above = {"env": {"Y": "", "Z": "3"}, "invoke": ["c"], "gone": "null", "new": {"k": "~", "l": "m"}}
    assert merged(below, above) == {
        "a": "1",
        "env": {"X": "1", "Y": "", "Z": "3"},  # an empty value is a value
        "invoke": ["c"],
        "new": {"l": "m"},
    }
    assert below["env"] == {"X": "1", "Y": "2"}


def test_a_mapping_takes_the_place_of_what_is_none_and_the_other_way_round() -> None:
    assert merged({"a": "1"}, {"a": {"b": "2"}}) == {"a": {"b": "2"}}
    assert merged({"a": {"b": "2"}}, {"a": ["x"]}) == {"a": ["x"]}
