"""Experiments and tools as a user gives them: what is written, what is printed, and the exit code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from said import Said, give

from berbench.documents import typed
from berbench.history import GitHistory
from berbench.model.cells import ExperimentDocument
from berbench.store import Project
from berbench.yamlio import load
from freshtasks import prove, proven_repository
from taskfiles import unprove

KEYS = (
    "ANTHROPIC_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_AUTH_TOKEN",
    "CODEX_API_KEY",
    "OPENAI_API_KEY",
)


class Place:
    """A repository with tasks 7, 8 and 9, all fresh; 8 and 9 have tags."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.root, self._capsys, self._patch = root, capsys, patch
        self.project = proven_repository(root, ("7", "8", "9"), tags={"8": ("slow",), "9": ("slow", "ui")})

    def __call__(self, *args: str) -> Said:
        return give(self.root, args, self._capsys, self._patch)

    @property
    def experiments(self) -> Path:
        return self.root / ".ber" / "bench" / "experiments"

    def write(self, name: str, text: str) -> None:
        self.experiments.mkdir(parents=True, exist_ok=True)
        (self.experiments / name).write_text(text, encoding="utf-8")


@pytest.fixture
def berbench(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Place:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    return Place(tmp_path / "repo", capsys, monkeypatch)


def test_an_experiment_is_written_with_comments_and_reads_back(berbench: Place) -> None:
    said = berbench(
        *(
            "experiment",
            "create",
            "smoke",
            "claude-code/opus/high+no-memory",
            "opencode/vendor/m/",
            "codex//low",
        ),
        *(
            "--attempts",
            "3",
            "--task",
            "7,8",
            "--task",
            "9",
            "--tag",
            "slow",
            "--seed",
            "5",
            "--timeout",
            "90",
        ),
        *("--max-cost", "12.5", "--concurrency", "4", "--description", "A first look: smoke"),
    )
    assert said.code == 0
    assert "next: berbench experiment validate smoke --verbose" in said.out
    text = (berbench.experiments / "smoke.yaml").read_bytes()
    assert b"attempts: 3  # of each configuration on each task" in text
    document = typed(ExperimentDocument, load(text, "smoke"), "smoke")
    assert document.model_dump(exclude={"tools"}) == {
        "schema_": "berbench.experiment/1",
        "name": "smoke",
        "description": "A first look: smoke",
        "tasks": ("7", "8", "9"),
        "tags": ("slow",),
        "attempts": 3,
        "seed": 5,
        "concurrency": 4,
        "cell_timeout_s": 90,
        "max_cost_usd": 12.5,
        "cell_cost_usd": None,
    }
    labels = [
        row["label"]
        for row in berbench("experiment", "validate", "smoke", "--json").document["configurations"]
    ]
    assert labels == ["claude-code/opus/high+no-memory", "opencode/vendor/m/", "codex//low"]


def test_a_workflows_choice_of_nothing_survives_the_file(berbench: Place) -> None:
    tools = berbench.root / ".ber" / "bench" / "tools"
    tools.mkdir(parents=True)
    flow = "type: workflow\nsteps: [{name: build, tool: codex, model: m, effort: low}]\n"
    (tools / "flow.yaml").write_text(flow, encoding="utf-8")
    assert (
        berbench(
            "experiment", "create", "flows", "flow,build=codex", "flow", "flow,build=claude-code//max"
        ).code
        == 0
    )
    rows = berbench("experiment", "validate", "flows", "--json").document["configurations"]
    assert [row["label"] for row in rows] == ["flow,build=codex", "flow", "flow,build=claude-code//max"]
    assert [row["runs"][0]["label"] for row in rows] == ["codex", "codex/m/low", "claude-code//max"]


def test_an_experiment_is_never_overwritten_unless_asked(berbench: Place) -> None:
    assert berbench("experiment", "create", "smoke", "nop").code == 0
    path = berbench.experiments / "smoke.yaml"
    path.write_text(path.read_text() + "# mine\n")
    said = berbench("experiment", "create", "smoke", "oracle")
    assert said.code == 2 and "exists already" in said.err and "--force" in said.err
    assert path.read_text().endswith("# mine\n")
    assert berbench("experiment", "create", "smoke", "oracle", "--force").code == 0
    assert "oracle" in path.read_text() and "# mine" not in path.read_text()


REFUSED = {
    ("smoke", "claud-code/opus"): (
        "claud-code/opus: ",
        "there is no tool 'claud-code' (did you mean claude-code?)",
    ),
    ("smoke", "nop", "claude-code/m/hgh"): (
        "knows no effort 'hgh' (did you mean high?)",
        "claude-code/m/hgh/",
    ),
    ("smoke", "opencode/vendor/m"): ("opencode knows no effort 'm'", "opencode/vendor/m/"),
    ("smoke", "claude-code+memory"): ("claude-code has no option 'memory' (did you mean no-memory?)",),
    ("smoke", "gemini-cli//high"): ("gemini-cli takes no effort",),
    ("smoke", "a b"): ("'a b' is no configuration: 'a b' is no name", "tool/model/effort+option"),
    ("smoke", "nop", "--task", "77"): ("There is no task 77.", "Did you mean 7?"),
    ("smoke", "nop", "--task", ""): ("--task is empty",),
    ("smoke", "nop", "--description", "", "--tag", ""): ("--tag is empty",),
    ("smoke", "nop", "--tag", ","): ("--tag names nothing",),
    ("smoke", "nop", "--tag", "slwo"): ("no task has the tag 'slwo' (did you mean slow?)",),
    ("smoke",): ("CONFIG",),
    ("../smoke", "nop"): ("can't be an experiment's name",),
    ("controls", "nop"): ("The name controls is berbench's own",),
    ("latest", "nop"): ("The name latest is berbench's own",),
    ("smoke", "nop", "--attempts", "0"): ("attempts",),
    ("smoke", "nop", "--max-cost", "nan"): ("max-cost",),
    ("smoke", "nop", "--max-cost", "inf"): ("max-cost",),
}


@pytest.mark.parametrize(("args", "parts"), REFUSED.items(), ids=lambda value: " ".join(value)[:40])
def test_bad_input_is_one_sentence_with_a_remedy_and_writes_nothing(
    args: tuple[str, ...], parts: tuple[str, ...], berbench: Place
) -> None:
    said = berbench("experiment", "create", *args)
    assert said.code == 2 and said.out == ""
    for part in parts:
        assert part in said.err
    assert not berbench.experiments.exists()


@pytest.mark.parametrize("name", ["latest", "list", "cell"])
def test_a_name_that_reports_take_for_a_word_is_refused_in_a_file_too(name: str, berbench: Place) -> None:
    berbench.write(f"{name}.yaml", "tools: [{tool: nop}]\n")
    for verb in (("experiment", "validate"), ("experiment", "show"), ("run",)):
        said = berbench(*verb, name)
        assert said.code == 2 and f"{name}.yaml has a name that is berbench's own" in said.err
    said = berbench("experiment", "list")
    assert said.code == 2 and "a name that is berbench's own" in " ".join(said.out.split())


def test_validate_shows_every_cell_and_what_the_tools_need(
    berbench: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    berbench.write(
        "smoke.yaml", "attempts: 2\ntools: [{tool: claude-code, effort: [low, high]}, {tool: oracle}]\n"
    )
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "sk-canary-123")
    said = berbench("experiment", "validate", "smoke", "--verbose")
    assert said.code == 0
    assert "claude-code: CLAUDE_CODE_OAUTH_TOKEN is there" in said.out
    assert "reaches  api.anthropic.com" in said.out
    assert "--effort high" in said.out and "nothing: it applies the reference patch" in said.out
    assert "3 fresh tasks: 7, 8, 9" in said.out and "18 cells" in said.out
    assert len(re.findall(r"^  [789]  \S+  attempt [12]$", said.out, re.MULTILINE)) == 18
    printed = said.out + said.err + berbench("experiment", "validate", "smoke", "--json").out
    assert "sk-canary" not in printed


def test_validate_prints_one_document_of_the_promised_shape(berbench: Place) -> None:
    berbench.write("smoke.yaml", "tools: [{tool: codex, model: m}, {tool: nop}, {tool: nop}]\ntags: ui\n")
    said = berbench("experiment", "validate", "smoke", "--json")
    assert said.code == 1
    document = said.document
    assert list(document) == [
        *(
            "schema",
            "name",
            "file",
            "configurations",
            "tools",
            "tasks",
            "skipped",
            "cells",
            "notes",
            "problems",
        )
    ]
    assert document["schema"] == "berbench.experiment-check/1"
    assert document["file"] == ".ber/bench/experiments/smoke.yaml"
    assert [row["label"] for row in document["configurations"]] == ["codex/m", "nop"]
    [tool] = document["tools"]
    assert tool["auth"] == {"given": [], "missing": ["CODEX_API_KEY or OPENAI_API_KEY"]}
    assert document["tasks"] == ["9"]
    assert document["cells"] == [
        {"task": "9", "configuration": "codex/m", "attempt": 1},
        {"task": "9", "configuration": "nop", "attempt": 1},
    ]
    assert document["notes"] == ["tools[2] names nop again: it is measured once, with 1 attempt"]
    assert document["problems"] == ["codex needs CODEX_API_KEY or OPENAI_API_KEY, which is not there"]


def test_tasks_that_are_not_fresh_are_skipped_by_name_with_the_reason(berbench: Place) -> None:
    folder = berbench.root / ".ber" / "bench" / "tasks"
    (folder / "7" / "prompt.md").write_text("Other words.\n")
    unprove(berbench.project, "8")
    document = berbench("experiment", "validate", "controls", "--json").document
    assert document["tasks"] == ["9"]
    assert [(row["task"], row["state"], row["changed"]) for row in document["skipped"]] == [
        ("7", "stale", ["prompt"]),
        ("8", "unvalidated", []),
    ]
    (folder / "9" / "task.yaml").write_text("id: 9\nnonsense: 1\n")
    said = berbench("experiment", "validate", "controls")
    assert said.code == 1
    assert "skipped: 9 is broken: " in said.out
    assert "problem: there is no fresh task to run on: all 3 are skipped" in said.out
    history = GitHistory(berbench.root)
    prove(berbench.project, history, "7")
    history.close()
    assert berbench("experiment", "validate", "controls").code == 0


def test_the_controls_need_no_file_and_no_task_but_fresh_ones(berbench: Place) -> None:
    said = berbench("experiment", "validate", "controls")
    assert said.code == 0 and "6 cells" in said.out
    berbench.write("controls.yaml", "tools: [{tool: codex}]\n")
    said = berbench("experiment", "validate", "controls")
    assert said.code == 2 and "has a name that is berbench's own" in said.err


SELECTIONS = {
    "tasks: [7, 70]": "`tasks`: there is no task '70' (did you mean 7?)",
    "tags: slwo": "`tags`: no task has the tag 'slwo' (did you mean slow?)",
    "attempts: none": "`attempts` must be a whole number, not 'none'",
    "concurrency: 0": "`concurrency` must be greater than 0, not '0'",
    "max_cost: 5": "`max_cost` is no known key (did you mean `max_cost_usd`?)",
    "name: other": "`name` is 'other', but the file is smoke.yaml",
    "schema: berbench.experiment/2": "`schema` is 'berbench.experiment/2', and this berbench reads",
}


@pytest.mark.parametrize(("text", "problem"), SELECTIONS.items())
def test_what_an_experiment_asks_for_and_is_not_there_is_an_error(
    text: str, problem: str, berbench: Place
) -> None:
    berbench.write("smoke.yaml", f"tools: [{{tool: nop}}]\n{text}\n")
    said = berbench("experiment", "validate", "smoke")
    assert said.code == 2 and said.out == ""
    assert said.err.startswith(f"berbench: .ber/bench/experiments/smoke.yaml: {problem}")


@pytest.mark.parametrize("name", ["smoke.yml", "my smoke.yaml", "ä.yaml", "-x.yaml"])
def test_a_file_that_is_never_read_is_told(name: str, berbench: Place) -> None:
    berbench.write(name, "tools: [{tool: nop}]\n")
    berbench.write(".hidden.yaml", "of an editor")
    berbench.write("notes.txt", "of a person")
    said = berbench("experiment", "list", "--json")
    told = {one["name"]: one["problem"] for one in said.document["experiments"] if one["problem"]}
    assert said.code == 2 and list(told) == [name] and "is not read" in told[name]


def test_an_experiment_with_the_other_ending_is_named(berbench: Place) -> None:
    berbench.write("smoke.yml", "tools: [{tool: nop}]\n")
    for verb in (("experiment", "validate"), ("run",)):
        said = berbench(*verb, "smoke")
        assert said.code == 2 and "smoke.yml is not read" in said.err and "Name it smoke.yaml" in said.err


def test_a_list_names_some_of_many_configurations_and_how_many_more_there_are(berbench: Place) -> None:
    models = ", ".join(f"m{number}" for number in range(40))
    berbench.write("smoke.yaml", f"tools: [{{tool: codex, model: [{models}]}}]\n")
    said = berbench("experiment", "list")
    assert "codex/m11\n" in said.out and "codex/m12" not in said.out and "and 28 more\n" in said.out
    assert len(berbench("experiment", "list", "--json").document["experiments"][1]["configurations"]) == 40


def test_more_cells_than_anybody_can_mean_are_refused(berbench: Place) -> None:
    models = ", ".join(f"m{number}" for number in range(40))
    berbench.write("smoke.yaml", f"tools: [{{tool: codex, model: [{models}]}}]\nattempts: 1000\n")
    for verb in (("experiment", "validate"), ("run",)):
        said = berbench(*verb, "smoke")
        assert said.code == 2 and said.out == ""
        assert "smoke.yaml: it comes to 120,000 cells on 3 tasks, and a run may have 100,000." in said.err
    assert berbench("experiment", "show", "smoke").code == 0


def test_an_experiment_that_is_not_there_is_told_with_the_nearest(berbench: Place) -> None:
    berbench.write("smoke.yaml", "tools: [{tool: nop}]\n")
    for verb in ("validate", "show"):
        said = berbench("experiment", verb, "smok")
        assert (
            said.code == 2
            and "There is no experiment smok." in said.err
            and "Did you mean smoke?" in said.err
        )


def test_the_list_tells_of_every_experiment_even_of_one_that_can_not_be_read(berbench: Place) -> None:
    said = berbench("experiment", "list")
    assert said.code == 0 and "controls" in said.out
    berbench.write("good.yaml", "tools: [{tool: nop}]\ndescription: fine\n")
    berbench.write("bad.yaml", "tools: [{tool: npo}]\n")
    said = berbench("experiment", "list")
    assert said.code == 2 and "did you mean nop?" in said.out and "good" in said.out
    rows = berbench("experiment", "list", "--json").document["experiments"]
    assert [row["name"] for row in rows] == ["controls", "bad", "good"]
    assert rows[2] == {
        "name": "good",
        "file": ".ber/bench/experiments/good.yaml",
        "description": "fine",
        "configurations": [{"label": "nop", "attempts": 1}],
        "problem": "",
    }


def test_an_experiment_is_shown_with_its_defaults(berbench: Place) -> None:
    berbench.write("smoke.yaml", "tools: [{tool: nop}]\ncell_timeout_s: 60\n")
    said = berbench("experiment", "show", "smoke")
    assert said.code == 0
    assert re.search(r"agent's budget +60 s", said.out) and re.search(r"tasks +every fresh one", said.out)
    document = berbench("experiment", "show", "smoke", "--json").document
    assert document["schema"] == "berbench.experiment/1" and document["attempts"] == 1


def test_tools_are_listed_with_their_layers_and_shown_merged(
    berbench: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = berbench.root / ".ber" / "bench" / "tools"
    folder.mkdir(parents=True)
    (folder / "codex.yaml").write_text("version: 9.9.9\nenv: {A: b}\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-123")
    monkeypatch.delenv("COLUMNS", raising=False)  # a narrow page breaks the path in two
    said = berbench("tool", "list")
    assert said.code == 0 and ".ber/bench/tools/codex.yaml" in said.out and "sk-canary" not in said.out
    rows = {row["name"]: row for row in berbench("tool", "list", "--json").document["tools"]}
    assert rows["codex"]["version"] == "9.9.9"
    assert rows["codex"]["auth"] == {"given": ["OPENAI_API_KEY"], "missing": []}
    said = berbench("tool", "show", "codex")
    assert said.out.startswith(
        "# built in < .ber/bench/tools/codex.yaml\nschema: berbench.tool/1\nname: codex\n"
    )
    shown = load(said.out.encode(), "shown")
    assert isinstance(shown, dict) and shown["env"] == {"A": "b"} and shown["version"] == "9.9.9"
    assert berbench("tool", "show", "codex", "--json").document["version"] == "9.9.9"
    said = berbench("tool", "show", "cdex")
    assert said.code == 2 and "did you mean codex?" in said.err


def test_what_is_shown_of_a_tool_can_be_written_as_an_overlay(berbench: Place) -> None:
    before = berbench("tool", "show", "mini-swe-agent", "--json").document
    folder = berbench.root / ".ber" / "bench" / "tools"
    folder.mkdir(parents=True)
    (folder / "mini-swe-agent.yaml").write_text(berbench("tool", "show", "mini-swe-agent").out)
    assert berbench("tool", "show", "mini-swe-agent", "--json").document == before


@pytest.mark.parametrize("name", ["experiment", "tool"])
def test_the_schemas_are_printed(name: str, berbench: Place) -> None:
    schema = berbench("schema", name).document
    assert schema["properties"]["schema"]["const"] == f"berbench.{name}/1"
    assert schema["additionalProperties"] is False


def test_projects_may_have_no_tasks_at_all(berbench: Place, tmp_path: Path) -> None:
    empty = Project(berbench.root, locks=tmp_path / "locks")
    for task_id in empty.task_ids():
        unprove(berbench.project, task_id)
    said = berbench("experiment", "validate", "controls")
    assert said.code == 1 and "0 cells" in said.out
