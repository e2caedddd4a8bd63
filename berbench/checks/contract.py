"""Checks of task.yaml's promises: the command, what is protected and hidden, the environment. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from berbench.checks.facts import LintFacts
from berbench.checks.patches import TESTS, Patches, listed, shown
from berbench.model.task import Task, TaskFiles
from berbench.model.trial import Problem
from berbench.runners import command_warnings, runner_of
from berbench.split import matcher

_COMMAND = "task.yaml: verify.command"
_HIDES_STATUS = re.compile(r"exit status|lets the command pass")
_LOCAL = (
    r"(?:localhost|127\.|0\.0\.0\.0|\[::1\]|(?:[\w-]+\.)*example(?:\.(?:com|org|net))?\b"
    r"|[\w.-]+\.(?:test|invalid|local)\b|\{|%)"
)
_NETWORK = re.compile(
    r"httpbin\.org|(?:requests\.\w+|httpx\.\w+|urlopen|fetch|axios(?:\.\w+)?|http\.Get|urlretrieve|create_connection)"
    rf"\([^)\n]{{0,80}}https?://(?!{_LOCAL})"
)


def check_contract(files: TaskFiles, patches: Patches, facts: LintFacts) -> Iterator[Problem]:
    """What is wrong with the verification contract and the environment."""
    task = files.task
    if b"\r" in facts.task_bytes:
        message = "lines end in CR LF, which shells take as part of a command; save it with LF"
        yield Problem("task-crlf", "task.yaml", message, "warning")
    for number, line in enumerate(task.environment.setup, 1):
        if "\r" in line:
            where = f"task.yaml: environment.setup[{number}]"
            yield Problem(
                "command-crlf", where, "a carriage return is part of the line; save task.yaml with LF"
            )
    yield from _command(task, patches)
    yield from _protection(task, patches)
    yield from _globs(task, facts)
    yield from _network(task, patches)
    if task.assert_:
        # A check that is written down and that nothing runs would be taken for a part of every pass.
        message = (
            "checks beside the hidden tests are not run yet, so nothing would hold them; leave the list empty"
        )
        yield Problem("assertions-unsupported", "task.yaml: assert", message)
    if not facts.dockerfile_present:
        yield Problem(
            "dockerfile-missing",
            "task.yaml: environment.dockerfile",
            f"{shown(task.environment.dockerfile)} does not exist; run `berbench init` to draft one, then review it",
        )


def _command(task: Task, patches: Patches) -> Iterator[Problem]:
    command = task.verify.command
    if not command.strip():
        yield Problem(
            "command-empty", _COMMAND, "it is empty; write the narrowest command that runs the hidden tests"
        )
        return
    if "\r" in command:
        yield Problem(
            "command-crlf", _COMMAND, "a carriage return is part of it; run lint --fix", fixable=True
        )
    for warning in command_warnings(command.replace("\r", "")):
        code = "command-hides-status" if _HIDES_STATUS.search(warning) else "command-unwise"
        yield Problem(code, _COMMAND, f"{warning}; see that a failing test fails the command", "warning")
    if patches.hidden and not any(_names_file(command, path) for path in patches.hidden):
        yield Problem(
            "command-misses-tests",
            _COMMAND,
            f"it names none of the hidden tests ({listed(patches.hidden, 4)}); name them, so that they are what runs",
            "warning",
        )
    if not runner_of(command) and task.verify.evidence in ("auto", "none"):
        yield Problem(
            "command-unknown-runner",
            _COMMAND,
            "no known test runner is in it, so a verdict would stand on the log or the exit code alone; "
            "set verify.evidence to junit:<glob>, go-json or tap where the runner can report",
            "warning",
        )


def _names_file(command: str, path: str) -> bool:
    """Whether a command speaks of a file: by its path or name, as a module, or by its folder or package."""
    stem = posixpath.splitext(path)[0]
    dotted = stem.replace("/", ".")
    forms = (path, posixpath.basename(stem), dotted, dotted.partition(".")[2])
    if any(form and re.search(rf"(?<![\w-]){re.escape(form)}(?![\w-])", command) for form in forms):
        return True
    folders = [path[:at] for at, character in enumerate(path) if character == "/"]
    # A folder speaks for its files only where nothing below it is named.
    return any(re.search(rf"(?<![\w-]){re.escape(f)}/?(?:\.\.\.)?(?![\w/.-])", command) for f in folders)


def _protection(task: Task, patches: Patches) -> Iterator[Problem]:
    bare = uncovered(task, patches)
    if bare:
        yield Problem(
            "tests-unprotected",
            "task.yaml: verify.protected_paths",
            f"{listed(bare)} is not covered, so an agent could pass by editing the verifier; add it, or run lint --fix",
            fixable=True,
        )


def uncovered(task: Task, patches: Patches) -> tuple[str, ...]:
    """Hidden paths that no protected path covers, deleted ones included."""
    is_protected = matcher(task.verify.protected_paths)
    return tuple(file.path for file in patches.tests if not is_protected(file.path))


def _globs(task: Task, facts: LintFacts) -> Iterator[Problem]:
    if facts.base_paths is None:
        return
    for glob in task.hide:
        if not any(map(matcher((glob,)), facts.base_paths)):
            message = f"`{glob}` matches nothing at base; correct or drop it"
            yield Problem("glob-matches-nothing", "task.yaml: hide", message, "warning")
    # Proposed inputs name every manifest a project may come to have, so only all of them together can be wrong.
    inputs = task.environment.inputs
    if inputs and not any(map(matcher(inputs), facts.base_paths)):
        message = (
            "it matches nothing at base; correct it, or leave it empty for an image of the whole base tree"
        )
        yield Problem("glob-matches-nothing", "task.yaml: environment.inputs", message)


def _network(task: Task, patches: Patches) -> Iterator[Problem]:
    if task.verify.network != "none":
        yield Problem(
            "network-open",
            "task.yaml: verify.network",
            "tests that need the network change their minds when it does; use none where they can do without",
            "warning",
        )
        return
    users = [
        file.path
        for file in patches.tests
        if any(_NETWORK.search(line) for hunk in file.hunks for line in hunk.added)
    ]
    if users:
        yield Problem(
            "network-use",
            TESTS,
            f"{listed(users)} seems to talk to an outside host, and verify.network is none; deselect those tests",
            "warning",
        )
