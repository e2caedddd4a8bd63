"""Tools from their three places: built in, the project's, the user's."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pytest

from berbench.documents import typed
from berbench.errors import BerbenchError, ConfigError
from berbench.experiments import Tools, found, host_file, read_tools, user_tools_folder
from berbench.matrix.invocation import LONGEST_ARGUMENT, Places, install_lines, invocation
from berbench.matrix.resolve import resolve
from berbench.model.cells import Configuration, ExperimentDocument, ToolBlock
from berbench.model.tools import Auth, StagedFile, ToolDocument
from berbench.yamlio import load

PLACES = Places("/b/prompt.md", "/src", "/root")
BUILT_IN = (
    "aider",
    "claude-code",
    "codex",
    "command",
    "gemini-cli",
    "mini-swe-agent",
    "nop",
    "opencode",
    "oracle",
)
CLIS = ("aider", "claude-code", "codex", "gemini-cli", "mini-swe-agent", "opencode")
FORGES = re.compile(r"github|gitlab|bitbucket|codeload|gitea|codeberg")


@dataclass
class Place:
    """A repository and a user, each with a folder for tools."""

    root: Path
    user: Path

    @property
    def project(self) -> Path:
        return self.root / ".ber" / "bench" / "tools"

    def write(self, folder: Path, name: str, text: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")

    def read(self) -> Tools:
        return read_tools(self.root, self.user)

    def refused(self) -> BerbenchError:
        with pytest.raises(ConfigError) as caught:
            self.read()
        assert caught.value.remedy and caught.value.exit_code == 2
        return caught.value


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "repository", tmp_path / "user" / "tools")


@pytest.fixture(scope="module")
def built_in() -> Tools:
    return read_tools(Path("/nonexistent"), Path("/nonexistent"))


def test_the_built_in_tools_are_sound(built_in: Tools) -> None:
    assert tuple(sorted(built_in.documents)) == BUILT_IN
    assert set(built_in.layers.values()) == {("built in",)}


@pytest.mark.parametrize("name", CLIS)
def test_each_cli_is_pinned_and_keeps_to_itself(name: str, built_in: Tools) -> None:
    tool = built_in.documents[name]
    assert re.fullmatch(r"\d+\.\d+\.\d+", tool.version)
    assert any(tool.version in line for line in install_lines(tool)), "the version that is told is installed"
    assert all("\n" not in line for line in install_lines(tool))
    assert tool.install.check and tool.auth.env and tool.network.hosts and tool.telemetry.format != "none"
    assert not [host for host in tool.network.hosts if FORGES.search(host) or "*" in host]
    assert tool.prices == {}, "a price that is built in would be wrong within months"


@pytest.mark.parametrize("name", CLIS)
def test_each_cli_takes_a_prompt_of_a_megabyte_and_the_choices(name: str, built_in: Tools) -> None:
    tool = built_in.documents[name]
    effort = tool.efforts[0] if tool.efforts else ""
    made = invocation(Configuration(tool, "vendor/model", effort), PLACES, "x" * (LONGEST_ARGUMENT * 8))
    assert "vendor/model" in made.argv
    assert effort == "" or any(effort in argument for argument in made.argv)
    assert any("/b/prompt.md" in argument for argument in made.argv)
    bare = invocation(Configuration(tool), PLACES, "x").argv
    assert not [argument for argument in bare if re.search(r"\{(model|effort|args|prompt_file)\}", argument)]


def test_lines_of_shell_in_the_built_in_tools_are_shell(built_in: Tools) -> None:
    lines = [line for tool in built_in.documents.values() for line in install_lines(tool)]
    scripts = [
        invocation(Configuration(tool), PLACES, "x").argv[2]
        for tool in built_in.documents.values()
        if tool.invoke[:2] == ("sh", "-c")
    ]
    assert len(scripts) >= 5
    for text in (*lines, *scripts):
        checked = subprocess.run(["sh", "-n", "-c", text], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, (text, checked.stderr)


def test_an_agents_arguments_reach_it_through_the_shell(built_in: Tools, tmp_path: Path) -> None:
    """What stands behind `sh -c script name` is the program's, whatever is in it, and the prompt is its input."""
    (tmp_path / "prompt.md").write_bytes(b"Mend\xff it.\n")
    program = tmp_path / "claude"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\ncat\n', encoding="utf-8")
    program.chmod(0o755)
    made = invocation(
        Configuration(built_in.documents["claude-code"], "a b;c", "high"),
        Places(str(tmp_path / "prompt.md"), "/src", "/root"),
        "",
    )
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    said = subprocess.run(made.argv, env=environ, capture_output=True, check=True).stdout.splitlines()
    assert said[-5:] == [b"--model", b"a b;c", b"--effort", b"high", b"Mend\xff it."]


def test_codex_takes_either_key(built_in: Tools, tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("x", encoding="utf-8")
    program = tmp_path / "codex"
    program.write_text('#!/bin/sh\nprintf "%s" "$CODEX_API_KEY"\n', encoding="utf-8")
    program.chmod(0o755)
    places = Places(str(tmp_path / "prompt.md"), "/src", "/root")
    made = invocation(Configuration(built_in.documents["codex"]), places, "")
    for given, key in (
        ({"OPENAI_API_KEY": "a"}, b"a"),
        ({"OPENAI_API_KEY": "a", "CODEX_API_KEY": "b"}, b"b"),
    ):
        environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}", **given}
        assert subprocess.run(made.argv, env=environ, capture_output=True, check=True).stdout == key


def test_aider_leaves_no_cache_behind_even_when_its_time_is_up(built_in: Tools, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "aider"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nmkdir .aider.tags.cache.v4\necho up\nexec sleep 30\n", encoding="utf-8")
    program.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    made = invocation(Configuration(built_in.documents["aider"]), PLACES, "")
    running = subprocess.Popen(
        made.argv,
        cwd=work,
        env={"PATH": f"{program.parent}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert running.stdout is not None and running.stdout.readline() == b"up\n"
    os.killpg(running.pid, signal.SIGTERM)
    with running:
        assert running.wait(20) == 128 + signal.SIGTERM
    assert list(work.iterdir()) == []


def test_an_effort_without_a_setting_for_it_is_refused(built_in: Tools) -> None:
    for name in BUILT_IN:
        block = ToolBlock(tool=(name,), effort=("high",))
        if name in ("gemini-cli", "nop", "oracle"):
            with pytest.raises(ConfigError, match=f"{name} takes no effort"):
                resolve(ExperimentDocument(tools=(block,)), built_in.documents)
        else:
            assert resolve(ExperimentDocument(tools=(block,)), built_in.documents).configurations


def test_the_commented_files_are_documents_of_the_printed_schema() -> None:
    for file in (resources.files("berbench") / "tools").iterdir():
        document = typed(ToolDocument, {"name": file.name, **load(file.read_bytes(), file.name)}, file.name)
        assert document.description


# Overlays


def test_the_users_overlay_stands_above_the_projects_and_that_above_the_built_in(place: Place) -> None:
    place.write(
        place.project, "codex.yaml", "version: 1.0.0\nenv: {A: project, B: project}\ndescription: ours\n"
    )
    place.write(place.user, "codex.yaml", "env: {B: user}\nprices: {gpt-5: [1.25, 10]}\n")
    tools = place.read()
    codex = tools.documents["codex"]
    assert (codex.version, codex.description, codex.env) == ("1.0.0", "ours", {"A": "project", "B": "user"})
    assert codex.prices == {"gpt-5": (1.25, 10.0)}
    assert codex.invoke[:2] == ("sh", "-c")
    assert tools.layers["codex"] == ("built in", ".ber/bench/tools/codex.yaml", f"{place.user}/codex.yaml")


def test_null_takes_a_key_out_and_an_empty_value_does_not(place: Place) -> None:
    text = "env:\n  IS_SANDBOX: null\n  DISABLE_TELEMETRY: ''\nauth:\n  env: ~\noptions: {no-memory: null}\n"
    place.write(place.user, "claude-code.yaml", text)
    tool = place.read().documents["claude-code"]
    assert "IS_SANDBOX" not in tool.env
    assert tool.env["DISABLE_TELEMETRY"] == ""
    assert tool.auth.env == () and tool.options == {}


def test_a_name_that_is_new_adds_a_tool(place: Place) -> None:
    place.write(place.project, "mine.yaml", "invoke: [mine, '{prompt_file}']\n")
    place.write(
        place.project, "flow.yaml", "type: workflow\nsteps: [{name: a, tool: mine}, {name: b, tool: codex}]\n"
    )
    documents = place.read().documents
    assert documents["mine"].name == "mine"
    assert [step.tool for step in documents["flow"].steps] == ["mine", "codex"]


PROBLEMS = {
    "enviroment: {}": "`enviroment` is no known key",
    "options: {o: {arg: [x]}}": "`options.o.arg` is no known key (did you mean `options.o.args`?)",
    "install: {runs: [x]}": "`install.runs` is no known key (did you mean `install.run`?)",
    "auth: {files: [{src: x}]}": "`auth.files[0].src` is no known key",
    "telemetry: {format: claude}": "`telemetry.format` must be 'none', 'claude-stream'",
    "invoke: agent": "`invoke` must be a list, not 'agent'",
    "prices: {m: [1]}": "`prices.m",
    "prices: {m: [-1, 2]}": "`prices.m` must be from 0 to 1,000,000 USD per million tokens",
    "prices: {m: [1, 1e300]}": "`prices.m` must be from 0 to",
    "invoke: ['']": "`invoke[0]` is empty",
    "name: other": "`name` is 'other', but the file is mine.yaml",
    "type: agnt": "`type` must be 'agent', 'control' or 'workflow', not 'agnt'",
    "invoke: ['{promt_file}']": "`invoke[0]` holds {promt_file} (did you mean {prompt_file}?)",
    "invoke: [a, 'x {args}']": "`invoke` must hold {args} as one argument of its own",
    "invoke: ['{args}', '{args}']": "`invoke` must hold {args} as one argument of its own",
    "install: {run: ['get =={versoin}']}": "`install.run[0]` holds {versoin} (did you mean {version}?)",
    "install: {run: ['get =={version}']}": "`version` is missing, and `install.run` asks for it",
    "env: {A-B: x}": "`env`: 'A-B' is no name of a variable",
    "env: {A: '{modle}'}": "`env.A` holds {modle} (did you mean {model}?)",
    "auth: {env: ['A B']}": "`auth.env[0]` must be like NAME, NAME|OTHER or NAME?, not 'A B'",
    "auth: {env: [OPENAI_BASE_URL]}": "`auth.env[0]`: OPENAI_BASE_URL decides what answers and is no secret",
    "auth: {env: ['KEY|MY_MODEL?']}": "`auth.env[0]`: MY_MODEL decides what answers",
    "auth: {files: [{source: a, target: b}]}": "`auth.files[0].target` must be absolute or begin with {home}/",
    "network: {hosts: ['https://a.example']}": "`network.hosts[0]`: 'https://a.example' may not be reached: it is an",
    "network: {hosts: [a.example, api.github.com]}": "`network.hosts[1]`: 'api.github.com' may not be reached: github",
    "network: {hosts: [10.0.0.1]}": "`network.hosts[0]`: '10.0.0.1' may not be reached: it is an address",
    "options: {'a b': {}}": "`options`: 'a b' can't be a name in a label",
    "options: {a: {pre: ['x {efort}']}}": "`options.a.pre[0]` holds {efort} (did you mean {effort}?)",
    "options: {a: {files: {/etc/x: y}}}": "`options.a.files`: '/etc/x' is no path inside the repository",
    "options: {a: {files: {a/../../x: y}}}": "`options.a.files`: 'a/../../x' is no path inside the repository",
    "options: {a: {files: {.git/config: y}}}": "`options.a.files`: '.git/config' is no path inside",
    "options: {a: {files: {.ber/bench/x: y}}}": "`options.a.files`: '.ber/bench/x' is no path inside",
    "telemetry: {file: usage.json}": "`telemetry.file` must be absolute or begin with {home}/",
    "steps: [{name: a, tool: codex}]": "`steps` are a workflow's, and the type is agent",
}


@pytest.mark.parametrize(("text", "problem"), PROBLEMS.items())
def test_what_is_wrong_with_a_tool_is_one_sentence_with_the_file_and_the_key(
    text: str, problem: str, place: Place
) -> None:
    base = "" if text.startswith("invoke") else "invoke: [mine]\n"
    place.write(place.user, "mine.yaml", base + text + "\n")
    error = place.refused()
    assert error.message.startswith(f"{place.user}/mine.yaml: {problem}")
    assert "\n" not in error.message


WRONG_WORKFLOWS = {
    "type: workflow": "`steps` is missing: a workflow needs at least one",
    "type: workflow\ninvoke: [x]\nsteps: [{name: a, tool: codex}]": "`invoke` is a tool's own",
    "type: workflow\nsteps: [{name: a, tool: codx}]": "`steps[0].tool`: there is no tool 'codx' (did you mean codex?)",
    "type: workflow\nsteps: [{name: a, tool: oracle}]": "`steps[0].tool`: oracle is a control, and steps are agents'",
    "type: workflow\nsteps: [{name: a, tool: mine}]": "`steps[0].tool`: mine is a workflow, and steps are agents'",
    "type: workflow\nsteps: [{name: a, tool: codex}, {name: a, tool: codex}]": "`steps[1].name`: a stands twice",
    "type: workflow\nsteps: [{name: a, tool: codex, effort: hgh}]": "`steps[0].effort`: codex knows no effort 'hgh'",
    "type: workflow\nsteps: [{name: a, tool: codex, prompt: '{hndover}'}]": "`steps[0].prompt` holds {hndover} (did",
    "type: workflow\nsteps: [{name: a, tool: codex, promt: x}]": "`steps[0].promt` is no known key (did you mean",
    "type: control": "`type` is control, and berbench knows no other than oracle and nop",
}


@pytest.mark.parametrize(("text", "problem"), WRONG_WORKFLOWS.items())
def test_what_is_wrong_with_a_workflow_names_the_step(text: str, problem: str, place: Place) -> None:
    place.write(place.project, "mine.yaml", text + "\n")
    assert place.refused().message.startswith(f".ber/bench/tools/mine.yaml: {problem}")


@pytest.mark.parametrize("name", ["oracle", "nop"])
@pytest.mark.parametrize(
    "text", ["type: agent\ninvoke: [mine]\n", "type: workflow\nsteps: [{name: a, tool: codex}]\n"]
)
def test_nothing_takes_the_place_of_a_control(name: str, text: str, place: Place) -> None:
    """Reports and gates know the controls by their names."""
    place.write(place.project, f"{name}.yaml", text)
    message = place.refused().message
    assert (
        message.startswith(f".ber/bench/tools/{name}.yaml: `type` is ")
        and "berbench's own control" in message
    )
    place.write(place.project, f"{name}.yaml", "description: ours\n")
    assert place.read().documents[name].description == "ours"


def test_an_overlay_that_breaks_a_built_in_tool_is_the_one_that_is_named(place: Place) -> None:
    place.write(place.project, "codex.yaml", "version: 2.0.0\n")
    place.write(place.user, "codex.yaml", "efforts: high\n")
    assert place.refused().message.startswith(f"{place.user}/codex.yaml: `efforts` must be a list")
    place.write(place.user, "codex.yaml", "invoke: null\n")
    assert (
        place.refused().message == f"{place.user}/codex.yaml: `invoke` is missing: there is nothing to run."
    )
    place.write(place.user, "codex.yaml", "env: {A: [x]}\n")
    assert place.refused().message.startswith(f"{place.user}/codex.yaml: `env.A` must be text, not a list")


def test_a_repository_can_not_ask_for_files_of_whoever_clones_it(place: Place) -> None:
    text = "auth: {files: [{source: ~/.ssh/id_ed25519, target: /root/key}]}\n"
    place.write(place.project, "codex.yaml", text)
    assert "a repository can't ask for files of whoever clones it" in place.refused().message
    (place.project / "codex.yaml").unlink()
    place.write(place.user, "codex.yaml", text)
    assert place.read().documents["codex"].auth.files[0].target == "/root/key"


def test_a_file_that_would_be_overlooked_is_an_error(place: Place) -> None:
    place.write(place.project, "codex.yml", "version: 1.0.0\n")
    assert "codex.yml would not be read" in place.refused().message
    (place.project / "codex.yml").rename(place.project / "my codex.yaml")
    assert "my codex.yaml can't give its name to a tool" in place.refused().message


def test_other_files_and_editors_leavings_are_no_tools(place: Place) -> None:
    place.write(place.project, "README.md", "words\n")
    place.write(place.project, ".codex.yaml.swp", "x")
    place.write(place.project, ".#codex.yaml", "x")
    place.write(place.project, "codex.yaml~", "x")
    assert tuple(sorted(place.read().documents)) == BUILT_IN


def test_links_in_the_projects_folder_are_not_followed(place: Place, tmp_path: Path) -> None:
    place.write(tmp_path / "elsewhere", "codex.yaml", "version: 1.0.0\n")
    place.project.parent.mkdir(parents=True)
    place.project.symlink_to(tmp_path / "elsewhere")
    assert "is a link" in place.refused().message
    place.project.unlink()
    place.project.mkdir()
    (place.project / "codex.yaml").symlink_to(tmp_path / "elsewhere" / "codex.yaml")
    assert "is a link" in place.refused().message


def test_the_users_folder_can_be_named(tmp_path: Path) -> None:
    assert user_tools_folder({"BERBENCH_CONFIG_DIR": str(tmp_path)}) == tmp_path / "tools"
    assert user_tools_folder({}) == Path(os.environ["XDG_CONFIG_HOME"]) / "berbench" / "tools"


def test_files_are_looked_for_where_they_are_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("WHERE", "sub")
    (tmp_path / "there").write_text("secret", encoding="utf-8")
    files = (StagedFile(source="~/there", target="/a"), StagedFile(source="~/$WHERE/absent", target="/b"))
    assert host_file("~/$WHERE/x") == tmp_path / "sub" / "x"
    given = found(Auth(env=("KEY", "OTHER?"), files=files), {"KEY": "secret"})
    assert (given.names, given.missing, given.unset) == (("KEY", "~/there"), ("~/$WHERE/absent",), ("OTHER",))
    assert "secret" not in repr(given)


def test_the_docs_overlays_are_overlays(place: Place) -> None:
    """Every YAML of the page that says where it goes is put there, and all of them together are sound."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "tools.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n# \.ber/bench/tools/(\S+)\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 4
    for name, text in blocks:
        place.write(place.project, name, text)
    documents = place.read().documents
    assert shlex.split(documents["my-agent"].install.run[0])[0] == "pip"
    assert [step.name for step in documents["flow"].steps] == ["plan", "build"]
    assert "terse" in documents["claude-code"].options
