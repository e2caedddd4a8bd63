"""Real agent CLIs in agents' containers, with a scripted model behind the proxy: what tests of the CLIs stand on.

The CLIs come from the built-in tools' own install lines and are run by the built-in tools' own invocations. Nothing
is changed but the address of the API, whom a client trusts for it, and how often it tries again.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
from docker.models.containers import Container

from berbench.agents import Agents, tool_layer
from berbench.engine.docker_engine import DockerEngine
from berbench.engine.owner import OWNER, this_process
from berbench.experiments import read_tools
from berbench.history import GitHistory
from berbench.matrix.invocation import invocation
from berbench.model.agent import AgentStep, AgentTrial, SecretFile
from berbench.model.cells import AgentFacts, Configuration, Usage
from berbench.model.tools import Option, Reach, ToolDocument
from berbench.model.trial import Image, ImageRecipe
from berbench.telemetry import read_usage

MODEL = Path(__file__).parents[1] / "model_server"
HOST, PORT = "api.model.test", 8000
TRUST = "/root/.scripted-model.pem"
KEY = "sk-scripted-0123456789"
PROMPT = b"Write a greeting.\n"

# Which model a CLI is asked for, and where its key goes.
MODELS = {
    "claude-code": "claude-sonnet-4-5",
    "codex": "gpt-5.5",
    "mini-swe-agent": "openai/gpt-4.1",
    "aider": "openai/gpt-4.1",
    "gemini-cli": "gemini-2.5-pro",
    "opencode": "scripted/gpt-4.1",
}
KEYS = {"claude-code": "ANTHROPIC_API_KEY", "gemini-cli": "GEMINI_API_KEY"}
OTHER_KEY = "OPENAI_API_KEY"


def built_in(name: str) -> ToolDocument:
    """A tool as berbench brings it."""
    nowhere = Path("/nonexistent")
    return read_tools(nowhere, nowhere).documents[name]


def pointed(tool: ToolDocument, script: str, *, tls: bool = False) -> ToolDocument:
    """A tool whose API is the scripted model, in clear or by TLS; for TLS, `TRUST` must be there."""
    place = HOST if tls else f"{HOST}:{PORT}"
    url = f"https://{place}/{script}" if tls else f"http://{place}/{script}"
    env = tool.env | _variables(tool.name, url)
    if tls:
        env |= dict.fromkeys(("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CODEX_CA_CERTIFICATE"), TRUST)
    args = _codex_arguments(url, script) if tool.name == "codex" else ()
    return tool.model_copy(
        update={
            "env": env,
            "network": Reach(hosts=(place,)),
            "options": {**tool.options, "scripted": Option(args=args)},
        }
    )


def _variables(name: str, url: str) -> dict[str, str]:
    """What leads a CLI to another API, and keeps it from trying long."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
        "models": {"gpt-4.1": {}},
    }
    known = {
        "claude-code": {"ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_MAX_RETRIES": "1"},
        "mini-swe-agent": {"OPENAI_API_BASE": f"{url}/v1", "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "1"},
        "aider": {"OPENAI_API_BASE": f"{url}/v1"},
        "gemini-cli": {"GOOGLE_GEMINI_BASE_URL": url},
        "opencode": {"OPENCODE_CONFIG_CONTENT": json.dumps({"provider": {"scripted": provider}})},
    }
    return known.get(name, {})


def _codex_arguments(url: str, script: str) -> tuple[str, ...]:
    if script == "edit":  # its own provider, which asks for WebSockets first
        return ("--config", f'openai_base_url="{url}/v1"')
    provider = (
        f'{{name="scripted", base_url="{url}/v1", wire_api="responses", env_key="CODEX_API_KEY",'
        "request_max_retries=1, stream_max_retries=1, supports_websockets=false}"
    )
    return ("--config", 'model_provider="scripted"', "--config", f"model_providers.scripted={provider}")


@dataclass(frozen=True)
class CliBench:
    """Agents on an image with the CLIs in it."""

    history: GitHistory
    engine: DockerEngine
    image: Image
    tree: str
    model: Container
    trust: bytes  # who vouches for the model

    def asked(self, script: str) -> list[dict[str, Any]]:
        """What the model was asked since it began, in order: `results` of tools, `body`, `key`, …"""
        look = (
            f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{PORT}/_seen').read().decode())"
        )
        seen: list[dict[str, Any]] = json.loads(self.model.exec_run(["python3", "-c", look]).output)["seen"]
        return [one for one in seen if one["script"] == script]

    def run(
        self, name: str, script: str, *, model: str = "", timeout_s: float = 300, prompt: bytes = PROMPT
    ) -> AgentFacts:
        """A CLI at work, its model following a script."""
        tool = pointed(built_in(name), script, tls=True)
        chosen = Configuration(tool, model=model or MODELS[name], options=("scripted",))
        agents = Agents(self.history, self.engine)
        run = invocation(chosen, agents.places(self.image, "CLAUDE.md"), prompt.decode())
        step = AgentStep(
            run.argv, prompt, env=run.env, pre=run.pre, post=run.post, telemetry=run.telemetry.file
        )
        trial = AgentTrial(
            task="clis",
            image=self.image,
            tree=self.tree,
            steps=(step,),
            timeout_s=timeout_s,
            secrets=((KEYS.get(name, OTHER_KEY), KEY),),
            secret_files=(SecretFile(TRUST, self.trust),),
            hosts=tool.network.hosts,
            altered=(),
        )
        return agents.run(trial)

    def left(self, facts: AgentFacts) -> dict[str, bytes]:
        """What the candidate makes of the tree."""
        assert facts.candidate is not None, facts
        tree = self.history.apply(self.tree, facts.candidate) if facts.candidate else self.tree
        return self.history.read(tree, [entry.path for entry in self.history.list_tree(tree)])


def used(name: str, facts: AgentFacts) -> Usage:
    """What its output tells."""
    return read_usage(built_in(name).telemetry.format, facts.telemetry)


@contextmanager
def cli_bench(room: Path, names: Sequence[str]) -> Iterator[CliBench]:
    """A bench with these CLIs. The image is kept for the next run: it is the same as long as the tools are."""
    with scripted_model() as (network, model):
        engine = DockerEngine(outside=network)
        try:
            bench = make_bench(engine, model, room, names)
            try:
                yield bench
            finally:
                bench.history.close()
        finally:
            engine.close()


def make_bench(engine: DockerEngine, model: Container, room: Path, names: Sequence[str]) -> CliBench:
    """A repository, and an image of it that holds the CLIs."""
    repository = room / "repository"
    repository.mkdir()
    (repository / "README.md").write_text("A folder to write in.\n", encoding="utf-8")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True, capture_output=True)
    history = GitHistory(repository)
    tree = history.tree_of("HEAD")
    dockerfile = b"FROM berbench/base\nWORKDIR /work\nCOPY . .\n"
    key = hashlib.sha256(dockerfile + tree.encode()).hexdigest()
    recipe = ImageRecipe(key, dockerfile, "Dockerfile.berbench", (), tree)
    built = engine.build(recipe, lambda: history.files(tree), timeout_s=300, say=print)
    assert built.image is not None, built.log
    image = Agents(history, engine).with_tools(built.image, tool_layer(map(built_in, names)), print)
    trust = model.exec_run(["cat", "/srv/ca.pem"]).output
    return CliBench(history, engine, image, tree, model, trust)


@contextmanager
def model_network() -> Iterator[str]:
    """A network of the tests' own with the scripted model on it; its name."""
    with scripted_model() as (network, _):
        yield network


@contextmanager
def scripted_model() -> Iterator[tuple[str, Container]]:
    """The scripted model's network and its container."""
    client = docker.from_env(timeout=120)
    labels = {OWNER: this_process()}
    name = f"berbench-test-model-{time.time_ns()}"
    network = client.networks.create(name, labels=labels)
    box: Container | None = None
    try:
        box = client.containers.create(
            "berbench/base", ["python3", "-m", "model_server", "--port", str(PORT), "--tls", HOST],
            working_dir="/srv", network=name, labels=labels, init=True,
            networking_config={name: client.api.create_endpoint_config(aliases=[HOST])},
        )  # fmt: skip
        box.put_archive("/srv", _packed())
        box.start()
        _wait(box)
        yield name, box
    finally:
        if box is not None:
            box.remove(force=True)
        network.remove()
        client.close()


def _packed() -> bytes:
    room = io.BytesIO()
    with tarfile.open(fileobj=room, mode="w") as tar:
        for path in sorted(MODEL.glob("*.py")):
            tar.add(path, f"model_server/{path.name}")
    return room.getvalue()


def _wait(box: Container) -> None:
    for _ in range(600):
        if b"listening" in box.logs():
            return
        time.sleep(0.1)
    raise AssertionError(f"the scripted model does not listen: {box.logs()!r}")
