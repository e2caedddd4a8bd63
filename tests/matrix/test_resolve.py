from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berbench.documents import typed
from berbench.errors import ConfigError, UsageError
from berbench.matrix import block_of, check_effort, parse_label, resolve
from berbench.matrix.resolve import CONTROLS_EXPERIMENT, MOST_CELLS, MOST_CONFIGURATIONS
from berbench.model.cells import Configuration, ExperimentDocument
from toolbox import AGENT, FLOW, PLAIN, TOOLS, experiment


def labels(text: str) -> list[str]:
    return [one.label for one in resolve(experiment(text), TOOLS).configurations]


def said(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        resolve(experiment(text), TOOLS, name="x.yaml")
    return caught.value


def test_blocks_are_added_and_lists_inside_one_are_crossed_in_their_order() -> None:
    text = """
    tools:
    - tool: agent
      model: [b, a/x]
      effort: [high, low]
      options: [[], fast]
    - tool: [oracle, nop]
    """
    assert labels(text) == [
        "agent/b/high",
        "agent/b/high+fast",
        "agent/b/low",
        "agent/b/low+fast",
        "agent/a/x/high",
        "agent/a/x/high+fast",
        "agent/a/x/low",
        "agent/a/x/low+fast",
        "oracle",
        "nop",
    ]


def test_what_is_left_out_is_left_to_the_tool() -> None:
    assert labels("tools: [{tool: agent}]") == ["agent"]
    assert labels("tools: [{tool: agent, effort: low}]") == ["agent//low"]
    assert labels("tools: [{tool: agent, model: a/b}]") == ["agent/a/b/"]
    assert labels("tools: [{tool: agent, options: [careful+fast]}]") == ["agent+fast+careful"]


def test_a_set_of_options_has_no_order() -> None:
    resolution = resolve(
        experiment("tools: [{tool: agent, model: m, options: [fast+careful, [careful, fast]]}]"), TOOLS
    )
    assert [one.options for one in resolution.configurations] == [("fast", "careful")]
    assert len(resolution.notes) == 1


def test_what_is_named_twice_is_measured_once_with_the_most_attempts() -> None:
    text = "{attempts: 2, tools: [{tool: agent}, {tool: [plain, agent], attempts: 5}, {tool: agent, attempts: 1}]}"
    resolution = resolve(experiment(text), TOOLS)
    assert [(one.configuration.label, one.attempts) for one in resolution.chosen] == [
        ("agent", 5),
        ("plain", 5),
    ]
    assert resolution.notes[:2] == (
        "tools[1] names agent again: it is measured once, with 5 attempts",
        "tools[2] names agent again: it is measured once, with 5 attempts",
    )


def test_a_model_that_is_left_to_the_provider_is_told() -> None:
    def notes(tools: str) -> tuple[str, ...]:
        return resolve(experiment(f"tools: {tools}"), TOOLS).notes

    told = "agent is used without a model: what it takes then may change without a trace in the results"
    assert notes("[{tool: agent}, {tool: agent, effort: low}]") == (told,)
    assert notes("[{tool: flow, steps: {plan: {tool: agent, model: ['']}}}]") == (told,)
    # A control takes none, and a tool that reaches no provider has none to change its mind.
    assert notes("[{tool: agent, model: m}, {tool: plain}, {tool: oracle}, {tool: flow}]") == ()


def test_attempts_of_a_block_stand_above_those_of_the_experiment() -> None:
    resolution = resolve(experiment("{attempts: 3, tools: [{tool: agent, attempts: 1}, {tool: nop}]}"), TOOLS)
    assert [one.attempts for one in resolution.chosen] == [1, 3]


UNKNOWN = {
    "[{tool: agnet}]": "`tools[0].tool`: there is no tool 'agnet' (did you mean agent?)",
    "[{tool: [agent, oracel]}]": "`tools[0].tool`: there is no tool 'oracel' (did you mean oracle?)",
    "[{tool: nop}, {tool: agent, effort: hgh}]": "`tools[1].effort`: agent knows no effort 'hgh' (did you mean high?)",
    "[{tool: plain, model: lrge}]": "`tools[0].model`: plain knows no model 'lrge' (did you mean large?)",
    "[{tool: agent, options: fsat}]": "`tools[0].options`: agent has no option 'fsat' (did you mean fast?)",
    "[{tool: plain, options: fast}]": "`tools[0].options`: plain has no option 'fast'",
    "[{tool: plain, effort: low}]": "`tools[0].effort`: plain takes no effort, and 'low' was chosen",
    "[{tool: oracle, model: m}]": "`tools[0].model`: oracle takes no model, and 'm' was chosen",
    "[{tool: agent, model: 'a b'}]": "`tools[0].model`: 'a b' can't be a name in a label",
    "[{tool: agent, model: a+b}]": "`tools[0].model`: 'a+b' can't be a name in a label",
    "[{tool: agent, steps: {plan: {model: m}}}]": "`tools[0].steps`: agent is no workflow",
    "[{tool: flow, model: m}]": "`tools[0].model`: flow is a workflow; choose it for a step, under `tools[0].steps`",
    "[{tool: flow, steps: {paln: {model: m}}}]": "`tools[0].steps`: flow has no step 'paln' (did you mean plan?)",
    "[{tool: flow, steps: {plan: {tool: nop}}}]": "`tools[0].steps.plan.tool`: there is no agent 'nop'",
    "[{tool: flow, steps: {build: {tool: plane}}}]": "`tools[0].steps.build.tool`: there is no agent 'plane' (did you",
    "[{tool: flow, steps: {build: {model: big}}}]": "`tools[0].steps.build.model`: plain knows no model 'big'",
    "[]": "`tools` names no tool",
    "[{tool: []}]": "`tools[0].tool` names no tool",
}


@pytest.mark.parametrize(("tools", "problem"), UNKNOWN.items())
def test_what_is_not_known_is_named_with_its_place_and_the_nearest_name(tools: str, problem: str) -> None:
    error = said(f"tools: {tools}")
    assert error.message.startswith(f"x.yaml: {problem}")
    assert error.exit_code == 2 and error.remedy


def test_all_problems_are_told_at_once() -> None:
    error = said("tools: [{tool: agnet}, {tool: agent, effort: [hgh, lo]}]")
    assert len(error.details) == 2


def test_a_product_that_nobody_meant_is_refused_before_it_is_made() -> None:
    many = ", ".join(f"m{number}" for number in range(200))
    error = said(
        f"tools: [{{tool: agent, model: [{many}], effort: [low, high], options: [[], fast, careful]}}]"
    )
    assert f"more than {MOST_CONFIGURATIONS} configurations" in error.message
    options = ", ".join(["fast"] * 900)
    error = said(
        f"tools: [{{tool: flow, steps: {{plan: {{options: [{options}]}}, build: {{model: [small, large]}}}}}}]"
    )
    assert f"more than {MOST_CONFIGURATIONS} configurations" in error.message


def test_what_comes_to_more_cells_than_a_run_may_have_is_refused() -> None:
    resolution = resolve(experiment("tools: [{tool: agent, model: [a, b]}, {tool: nop, attempts: 9}]"), TOOLS)
    resolution.check_size(MOST_CELLS // 11, "x.yaml")
    with pytest.raises(ConfigError, match=r"x\.yaml: it comes to 100,001 cells on 9,091 tasks"):
        resolution.check_size(MOST_CELLS // 11 + 1, "x.yaml")


SCALARS = st.sampled_from(
    ["agent", "flow", "nop", "m", "", "null", "0", "-1", "1e9", "low", "fast+careful", "a b", "é"]
)
KEYS = st.sampled_from(
    ["tools", "tool", "model", "effort", "options", "steps", "plan", "attempts", "tasks", "seed", "name", "x"]
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(TREES, max_size=3), st.dictionaries(KEYS, TREES, max_size=2))
def test_any_document_is_resolved_or_refused_in_words(blocks: list[object], more: dict[str, object]) -> None:
    tree = {**more, "tools": [{"tool": "agent", **one} if isinstance(one, dict) else one for one in blocks]}
    try:
        document = typed(ExperimentDocument, tree, "x.yaml")
        assert resolve(document, TOOLS, name="x.yaml").configurations
    except ConfigError as error:
        assert error.message.startswith("x.yaml: ") and error.remedy


# Workflows


def test_the_steps_of_a_workflow_are_axes() -> None:
    text = "tools: [{tool: flow, steps: {build: {model: [large, small]}, plan: {effort: [low, high]}}}]"
    assert labels(text) == [
        "flow,plan=agent/m/low,build=plain/large",
        "flow,plan=agent/m/low",
        "flow,plan=agent/m/high,build=plain/large",
        "flow,plan=agent/m/high",
    ]


def test_another_tool_in_a_step_does_not_inherit_the_choices_for_the_first() -> None:
    resolution = resolve(experiment("tools: [{tool: flow, steps: {build: {tool: [agent, plain]}}}]"), TOOLS)
    builds = [one.steps[1] for one in resolution.configurations]
    assert [(one.tool.name, one.model) for one in builds] == [("agent", ""), ("plain", "small")]


def test_a_workflow_without_axes_is_what_it_says_itself() -> None:
    [one] = resolve(experiment("tools: [{tool: flow}]"), TOOLS).configurations
    assert one.label == "flow"
    assert [(step.tool.name, step.model) for step in one.steps] == [("agent", "m"), ("plain", "small")]


def test_the_controls_need_no_file() -> None:
    assert [one.label for one in resolve(CONTROLS_EXPERIMENT, TOOLS).configurations] == ["oracle", "nop"]


# Labels

MODELS = st.sampled_from(["", "m", "a/b", "x/y/z", "gpt-5=1:2@3", "/lead", "trail/"])
OPTIONS = st.lists(st.sampled_from(["fast", "careful"]), unique=True).map(tuple)


@st.composite
def _plain(draw: st.DrawFn) -> Configuration:
    chosen = draw(OPTIONS)
    ordered = tuple(name for name in AGENT.options if name in chosen)
    return Configuration(AGENT, draw(MODELS), draw(st.sampled_from(["", "low", "high"])), ordered)


@st.composite
def _workflow(draw: st.DrawFn) -> Configuration:
    build = draw(
        st.one_of(_plain(), st.builds(Configuration, st.just(PLAIN), st.sampled_from(["", "large", "small"])))
    )
    return Configuration(FLOW, steps=(draw(_plain()), build))


@given(st.one_of(_plain(), _workflow()))
def test_a_label_is_read_back_as_the_same_configuration(configuration: Configuration) -> None:
    block = block_of(parse_label(configuration.label))
    [read] = resolve(ExperimentDocument(tools=(block,)), TOOLS).configurations
    assert read == configuration


@given(st.one_of(_plain(), _workflow()), st.one_of(_plain(), _workflow()))
def test_two_configurations_never_share_a_label(one: Configuration, other: Configuration) -> None:
    assert (one.label == other.label) == (one == other)


NO_LABELS = {
    "": "a name is missing",
    "/m": "a name is missing",
    "agent+": "a name is missing",
    "agent/a b": "'a b' is no name of a model",
    "agent/m/hi gh": "'hi gh' is no name",
    "agent++fast": "a name is missing",
    "-agent": "'-agent' is no name",
    "flow,plan": "'plan' is no step of a workflow",
    "flow,=agent": "'=agent' is no step of a workflow",
    "flow,plan=agent,plan=plain": "the step plan stands twice",
    "flow/m,plan=agent": "a workflow's model, effort and options are its steps'",
}


@pytest.mark.parametrize(("text", "why"), NO_LABELS.items())
def test_what_is_no_label_says_why(text: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_label(text)
    assert why in caught.value.message and "tool/model/effort+option" in caught.value.remedy


def test_a_model_with_a_slash_that_was_forgotten_is_told_from_an_effort() -> None:
    with pytest.raises(UsageError) as caught:
        check_effort("agent/vendor/m+fast", parse_label("agent/vendor/m+fast"), AGENT)
    assert "agent knows no effort 'm'" in caught.value.message
    assert caught.value.remedy.endswith("agent/vendor/m/+fast")
    check_effort("agent/vendor/low", parse_label("agent/vendor/low"), AGENT)


@given(st.text(max_size=40))
def test_any_text_is_a_label_or_a_usage_error(text: str) -> None:
    try:
        parse_label(text)
    except UsageError as error:
        assert error.exit_code == 2
