from __future__ import annotations

import json

import pytest

from berbench.documents import typed
from berbench.errors import ConfigError, UsageError
from berbench.model.task import Config, Task
from berbench.schemas import schema_of
from berbench.yamlio import load

SOURCE = b"source: {base_commit: 0123456, landing_commit: 1e10, landed_by: squash}\n"


def task(more: bytes = b"") -> Task:
    return typed(Task, load(b"id: 0010\n" + SOURCE + more, "7/task.yaml"), "7/task.yaml")


def said(more: bytes) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        task(more)
    return caught.value


def test_texts_stay_texts_and_numbers_become_numbers() -> None:
    read = task(b"timeout_s: 60\nlimits: {cpus: 1.5}\nenvironment: {build_args: {A: on, B: 010}}\n")
    assert (read.id, read.source.base_commit, read.source.landing_commit) == ("0010", "0123456", "1e10")
    assert (read.timeout_s, read.limits.cpus) == (60, 1.5)
    assert read.environment.build_args == {"A": "on", "B": "010"}


@pytest.mark.parametrize("empty", [b"", b" ''", b' ""'])
def test_an_empty_value_means_the_default(empty: bytes) -> None:
    keys = b"hide:%b\nverify:\n  protected_paths:%b\n  network:%b\nlimits:%b\nconfig_path:%b\ntimeout_s:%b\n"
    assert task(keys % ((empty,) * 6)) == task()


@pytest.mark.parametrize("nothing", [b"", b"null", b"~"])
def test_nothing_is_nothing_where_a_value_may_be_missing(nothing: bytes) -> None:
    assert task(b"validation: " + nothing).validation is None
    text = (
        b"id: x\nsource: {base_commit: aaaa, landing_commit: bbbb, landed_by: merge, pull_request: %b}\n"
        % nothing
    )
    assert typed(Task, load(text, "x"), "x").source.pull_request is None


def test_assertions_hold_texts_and_lists() -> None:
    assert task(b"assert:\n- kind: present\n  paths: [a, b]\n").assert_ == (
        {"kind": "present", "paths": ("a", "b")},
    )


PROBLEMS = {
    b"verfy: {command: x}\n": "`verfy` is no known key (did you mean `verify`?)",
    b"verify: {timeout: 5}\n": "`verify.timeout` is no known key (did you mean `verify.timeout_s`?)",
    b"verify: {zzz: 5}\n": "`verify.zzz` is no known key (known keys are command, timeout_s",
    b"assert_: []\n": "`assert_` is no known key (did you mean `assert`?)",
    b"verify: {timeout_s: soon}\n": "`verify.timeout_s` must be a whole number, not 'soon'",
    b"timeout_s: 0\n": "`timeout_s` must be greater than 0, not '0'",
    b"timeout_s: 99999999999\n": "`timeout_s` must be at most 1000000, not '99999999999'",
    b'verify: {command: "a\\0b"}\n': "`verify.command` holds a NUL character",
    b'hide: [x, "\\0"]\n': "`hide[1]` holds a NUL character",
    b'environment: {build_args: {"\\0": x}}\n': "`environment.build_args` holds a NUL character",
    b"limits: {memory: 1k}\n": "`limits.memory`: '1k' is no memory limit that a container can have",
    b"limits: {memory: 9999999999g}\n": "`limits.memory`: '9999999999g' is no memory limit",
    "limits: {memory: ²g}\n".encode(): "`limits.memory`: '²g' is no memory size",
    b"limits: {cpus: 0.001}\n": "`limits.cpus` must be at least 0.01",
    b"limits: {pids: 99999999999}\n": "`limits.pids` must be at most 4194304",
    b"timeout_s: [1]\n": "`timeout_s` must be a whole number, not a list",
    b"verify: {network: host}\n": "`verify.network` must be 'none' or 'bridge', not 'host'",
    b"verify: {evidence: xml}\n": "`verify.evidence` must look like",
    b"verify: {command: [a]}\n": "`verify.command` must be text, not a list",
    b"verify: [a]\n": "`verify` must be a mapping of keys to values, not a list",
    b"hide: src/\n": "`hide` must be a list, not 'src/'",
    b"hide: [{a: b}]\n": "`hide[0]` must be text, not a mapping",
    b"environment: {build_args: [x]}\n": "`environment.build_args` must be a mapping",
    b"limits: {memory: lots}\n": "`limits.memory`: 'lots' is no memory size; write it like 4g or 512m",
    b"limits: {cpus: nan}\n": "`limits.cpus` must be",
    b"weight: .inf\n": "`weight` must be a number",
    b"weight: inf\n": "`weight` must be a number",
    b"schema: berbench.task/2\n": "this berbench reads 'berbench.task/1'; another version wrote it",
}


@pytest.mark.parametrize("text", PROBLEMS)
def test_a_problem_names_file_path_and_remedy(text: bytes) -> None:
    error = said(text)
    assert error.message.startswith("7/task.yaml: ")
    assert PROBLEMS[text] in error.message
    assert error.message.endswith(".") and "\n" not in error.message
    assert error.remedy


@pytest.mark.parametrize("name", ["HEAD", "main", "--all", "012", "0123456~1", "A123456"])
def test_a_commit_is_named_by_its_id(name: str) -> None:
    source = f"id: x\nsource: {{base_commit: {name}, landing_commit: 0123456, landed_by: merge}}\n"
    with pytest.raises(ConfigError, match=r"`source\.base_commit`: .* is no commit's id"):
        typed(Task, load(source.encode(), "t"), "t")


def test_missing_keys_and_further_problems_are_all_told() -> None:
    with pytest.raises(ConfigError) as caught:
        typed(Task, load(b"timeout_s: x\nsource: {}\n", "t"), "t")
    told = [caught.value.message, *caught.value.details]
    for key in ("id", "source.base_commit", "source.landing_commit", "source.landed_by"):
        assert any(f"`{key}` is missing" in line for line in told)
    assert any("timeout_s" in line for line in told)


@pytest.mark.parametrize("text", [b"- a\n", b"hello\n"])
def test_a_document_that_is_no_mapping_is_refused(text: bytes) -> None:
    with pytest.raises(ConfigError, match="must hold keys and values"):
        typed(Config, load(text, "config.yaml"), "config.yaml")


def test_an_empty_config_is_the_default_one() -> None:
    assert typed(Config, load(b"# nothing yet\n", "config.yaml"), "config.yaml") == Config()


def test_long_and_odd_input_is_shown_short_and_printable() -> None:
    error = said(b'verify: {network: "' + b"x" * 500 + b'\\n"}\n')
    assert len(error.message) < 300
    said(b'verify: {network: "\\U0010FFFDe9"}\n').message.encode("utf-8")


@pytest.mark.parametrize("name", ["task", "config", "validation"])
def test_a_schema_describes_its_document(name: str) -> None:
    schema = schema_of(name)
    json.dumps(schema)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["schema"]["const"] == f"berbench.{name}/1"


def test_an_unknown_schema_is_a_usage_error() -> None:
    with pytest.raises(UsageError) as caught:
        schema_of("tsak")
    assert "config, experiment, task, tool, validation" in caught.value.remedy
