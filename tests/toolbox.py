"""A few tools for tests: what experiments choose among."""

from __future__ import annotations

from collections.abc import Mapping

from berbench.documents import typed
from berbench.model.cells import ExperimentDocument
from berbench.model.tools import Option, Reach, Step, Telemetry, ToolDocument
from berbench.yamlio import load

AGENT = ToolDocument(
    name="agent",
    version="1.2",
    invoke=("agent", "--file", "{prompt_file}", "{args}", "--last"),
    model_args=("--model", "{model}"),
    effort_args=("--effort={effort}",),
    efforts=("low", "high"),
    env={"HOME": "{home}", "EFFORT": "{effort}"},
    network=Reach(hosts=("api.example.com",)),
    options={
        "fast": Option(args=("--fast",), env={"FAST": "1"}),
        "careful": Option(
            pre=("check {model}",), post=("clean {workdir}",), files={"{config_path}": "Care.\n"}
        ),
    },
    telemetry=Telemetry(format="usage-json", file="{home}/usage.json"),
)
PLAIN = ToolDocument(name="plain", invoke=("plain", "-m", "{model}", "{prompt}"), models=("small", "large"))
FLOW = ToolDocument(
    name="flow",
    type="workflow",
    steps=(
        Step(name="plan", tool="agent", model="m", prompt="Plan in {workdir}: {prompt}"),
        Step(name="build", tool="plain", model="small", prompt="{prompt}\n{handover}"),
    ),
)
CONTROLS = (ToolDocument(name="oracle", type="control"), ToolDocument(name="nop", type="control"))
TOOLS: Mapping[str, ToolDocument] = {tool.name: tool for tool in (AGENT, PLAIN, FLOW, *CONTROLS)}


def experiment(text: str) -> ExperimentDocument:
    """An experiment from YAML."""
    return typed(ExperimentDocument, load(text.encode(), "x.yaml"), "x.yaml")
