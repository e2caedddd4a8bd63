"""Documents, commands, messages, issues and manifests: texts that people and their tools write."""

from __future__ import annotations

import contextlib
from datetime import UTC, date, datetime
from typing import Any

from berbench.documents import typed
from berbench.emit import dump
from berbench.engine.dockerfile import excludes_itself, final_base, needs_buildkit
from berbench.environments import (
    as_of_value,
    declared_arguments,
    draft,
    language_image,
    propose_inputs,
    propose_setup,
)
from berbench.environments.dating import dated_arguments
from berbench.errors import BerbenchError
from berbench.landings import closing_issues, mentioned_issues, read_landings
from berbench.model.changes import REGULAR, Change, Commit, Issue, Landing, PullRequest, Repository, Snapshot
from berbench.model.task import Config
from berbench.prompts import Leaks, find_leaks, scrub, write_prompt
from berbench.prompts.cleaning import clean
from berbench.ranking.titles import housekeeping, other_system, tells_a_fix
from berbench.runners import command_warnings, instrument, propose, runner_of
from berbench.runners.shell import Line, insert, parse
from berbench.split import matcher
from berbench.store.taskfolder import read_task_document
from berbench.yamledit import replace_block, set_value
from berbench.yamlio import load

# --- documents ----------------------------------------------------------------------------------------------

_BLOCK = b"validation:\n  task: '7'\n  inputs:\n    prompt: abc\n"


def check_yaml(data: bytes) -> None:
    """A document is read, or refused in one sentence; what was read is written and read again as the same."""
    with contextlib.suppress(BerbenchError):
        task, _ = read_task_document(data, "task.yaml")
        for mode in ("landing", "month"):
            as_of_value(task.source.landed_at, mode)
        for globs in (task.verify.protected_paths, task.hide, task.environment.inputs):
            matcher(globs)("tests/test_a.py")
    tree = load(data, "x.yaml")
    with contextlib.suppress(BerbenchError):
        typed(Config, tree, "config.yaml")
    if isinstance(tree, dict):
        with contextlib.suppress(ValueError):  # a key that is too long, say
            written = dump(tree)
            assert (load(written, "again") or {}) == tree


def check_edit(data: bytes) -> None:
    """An edit is refused, or it says what was meant and keeps every byte before and behind its place."""
    before = load(data, "x.yaml")
    with contextlib.suppress(BerbenchError):
        once = replace_block(data, "validation", _BLOCK)
        _kept_beside(once, before, "validation")
        _same_without(data, once, had=isinstance(before, dict) and "validation" in before)
        other = b"validation:\n  task: other\n"
        assert replace_block(replace_block(once, "validation", other), "validation", _BLOCK) == once
    for path, value in (
        (("verify", "command"), "pytest -q 'a b'"),
        (("harvest", "test_patterns"), ["a, b", "c"]),
    ):
        with contextlib.suppress(BerbenchError):
            after = set_value(data, path, value)
            _kept_beside(after, before, path[0])
            assert load(set_value(after, path, value), "again") == load(after, "once")


def _same_without(old: bytes, new: bytes, *, had: bool) -> None:
    """With the block taken out again, the file is byte for byte what it was without it."""
    without = replace_block(new, "validation", b"")
    if had:
        assert replace_block(old, "validation", b"") == without
    else:
        assert without in (old, old + b"\n", old + b"\r\n")


def _kept_beside(new: bytes, before: Any, key: str) -> None:
    """Every other key says what it said."""
    after = load(new, "y.yaml")
    said = {name: value for name, value in before.items() if name != key} if isinstance(before, dict) else {}
    assert {name: value for name, value in after.items() if name != key} == said


# --- commands -----------------------------------------------------------------------------------------------


def check_shell(data: bytes) -> None:
    """What is read for sure stays so when flags go in, and every word a person wrote is still there in order."""
    text = data[: 1 << 15].decode("utf-8", "surrogateescape")  # it is read a dozen times
    line = parse(text)
    runner_of(text)
    command_warnings(text)
    _offsets(line)
    asked = instrument(text)
    if (
        not line.sure or not asked.runner or asked.runner == "node"
    ):  # Node is asked by lines of their own grammar
        return
    again = parse(asked.command)
    assert again.sure, f"instrumented, it can't be read: {asked.command!r}"
    assert runner_of(asked.command) == asked.runner
    wanted = iter([word.text for command in again.commands for word in command.words])
    for command in line.commands:
        for word in command.words:
            found = any(
                one == word.text or (word.is_assignment and one.startswith(word.text)) for one in wanted
            )
            assert found, f"the word {word.text!r} is gone from {asked.command!r}"


def _offsets(line: Line) -> None:
    for command in line.commands:
        for word in command.words:
            assert line.text[word.start : word.end] == word.raw
    ends = [word.end for command in line.commands for word in command.words]
    if line.sure and ends:
        more = parse(insert(line.text, [(end, " x") for end in ends[:3]]))
        assert more.sure and sum(len(one.words) for one in more.commands) == len(ends) + len(ends[:3])


# --- messages, issues ---------------------------------------------------------------------------------------


_LEAKS = Leaks(
    repository=Repository("github.com", "acme/tally", "github"),
    pr=7,
    issues=(5, 4321),
    commits=("0123456789abcdef0123456789abcdef01234567",),
    branch="fix-branch",
    module_path="github.com/acme/tally",
)


def _commits(data: bytes) -> list[Commit]:
    """Commits of one line (each third one a merge), with these messages."""
    found = []
    for number, part in enumerate(data.split(b"\n%%%%\n")[:60]):
        subject, _, body = part.decode("utf-8", "replace").partition("\n\n")
        parents = (f"{number + 1:040x}",) if number % 3 else (f"{number + 1:040x}", f"{number + 2:040x}")
        when = datetime(2024, 1, 1, tzinfo=UTC)
        found.append(
            Commit(f"{number:040x}", parents, when, "Ada <a@b>", " ".join(subject.split("\n")), body)
        )
    return found


def check_landings(data: bytes) -> None:
    """Every pull request lands at most once, and numbers are read without limit or not at all."""
    commits = _commits(data)
    for slug in ("", "acme/tally"):
        landed = [one.pr for one in read_landings(commits, slug=slug) if isinstance(one, Landing)]
        assert len(set(landed)) == len(landed)
    text = data.decode("utf-8", "replace")
    assert not set(closing_issues(text)) & set(mentioned_issues(text))
    for commit in commits:
        housekeeping(commit.subject)
        other_system(commit.subject)
        tells_a_fix(commit.subject)


def check_prompts(data: bytes) -> None:
    """Nothing that surely leads to the answer is left, and marks of our own never show."""
    # It is read a dozen times over here.
    title, _, body = data[: 1 << 13].decode("utf-8", "replace").partition("\n%%%%\n")
    cleaned, dropped = clean(body)
    assert dropped >= 0 and "\0" not in cleaned
    left, _ = scrub(body, _LEAKS)
    sure = [leak for leak in find_leaks(left, _LEAKS) if leak.sure]
    assert not sure, f"left: {[left[leak.start : leak.end] for leak in sure]}"
    issue = Issue(5, title, body, "https://github.com/acme/tally/issues/5")
    when = datetime(2024, 1, 1, tzinfo=UTC)
    pull = PullRequest(7, title, body, "u", True, "", "", "fix-branch", "main", 1, merged_at=when)
    for source in ("issue", "commit_message"):
        made = write_prompt((issue,) if source == "issue" else (), pull, body, source, _LEAKS)
        assert not [leak for leak in find_leaks(made.text, _LEAKS) if leak.sure]


# --- files of the repository --------------------------------------------------------------------------------


def check_dockerfile(data: bytes) -> None:
    """A Dockerfile's needs and its base."""
    needs_buildkit(data)
    assert "$" not in final_base(data, (("BASE_IMAGE", "python:3.12"),))
    excludes_itself(data)
    declared_arguments(data)
    dated_arguments(data, Snapshot(("setup.py",)), date(2022, 1, 1))


_MANIFESTS = (
    "pyproject.toml", "setup.cfg", "package.json", "tox.ini", "go.mod", "pom.xml", "build.gradle", "Cargo.toml",
    "setup.py", ".nvmrc", ".python-version", "rust-toolchain.toml", "tests/test_a.py", "test/a.test.js",
)  # fmt: skip
_TESTS = ("tests/test_a.py", "test/a.test.js", "a/b_test.go", "tests/api.rs", "src/test/java/a/BTest.java")


def check_manifests(data: bytes) -> None:
    """Whatever stands in a repository's manifests, a command is proposed or none, and a version is told."""
    names = (
        _MANIFESTS[(data[0] if data else 0) % len(_MANIFESTS)],
        _MANIFESTS[(len(data)) % len(_MANIFESTS)],
    )
    snapshot = Snapshot((*_TESTS, *names, "dist/a.js"), dict.fromkeys(names, data[1:]))
    for path in _TESTS:
        told = propose(snapshot, [Change(path, REGULAR, REGULAR, "0" * 40, "1" * 40)])
        assert bool(told.command) == bool(told.runner)
    propose_inputs(snapshot)
    propose_setup(snapshot)
    language_image(snapshot, date(2022, 6, 1))
    draft(snapshot, today=date(2022, 6, 1))
