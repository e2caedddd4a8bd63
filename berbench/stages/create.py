"""Rebuild one merged pull request as an unvalidated task, then stop for review."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from berbench.environments import ENVIRONMENT_GLOBS, propose_inputs, propose_setup
from berbench.environments.dating import dated_arguments
from berbench.errors import ConfigError, LandingError
from berbench.forge.door import Forge
from berbench.history.door import History
from berbench.model.changes import Change, Landing, PullRequest, Repository, Snapshot, Split
from berbench.model.task import Config, Environment, Source, Task, TaskFiles, Verify
from berbench.model.trial import Problem
from berbench.prompts import Draft, Leaks, write_prompt
from berbench.runners import MANIFEST_GLOBS, Proposal, propose
from berbench.split import classify, matcher, need_patterns
from berbench.stages.landing import find_landing
from berbench.stages.lint import LintDoors, lint_task, module_path
from berbench.stages.patches import cut, obstacles
from berbench.stages.texts import Texts, read_texts
from berbench.store import Project

Say = Callable[[str], None]

_MOST_READERS = 20  # beyond that a name is too common to tell which tests read the data
_MOST_TAKEN = 6  # places told of; the rest are counted


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be rebuilt: a pull request, or a commit, or a pull request by way of a commit."""

    pr: int | None = None
    commit: str = ""
    issue_text: str | None = None  # what the user wrote as the issue, instead of the forge's
    force: bool = False


@dataclass(frozen=True, slots=True)
class Created:
    """A task that waits for review."""

    id: str
    folder: Path
    landing: Landing
    split: Split
    files: TaskFiles
    proposal: Proposal
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Doors:
    """What `create` goes through: what lint does, and the forge, which is None offline."""

    lint: LintDoors
    forge: Forge | None


def create(doors: Doors, request: Request, say: Say) -> Created:
    """Prove the landing, split it, keep the split law, write the prompt, propose the command; nothing is run.

    LandingError when the landing can't be proven or can't be a task, UsageError when the task exists and
    `force` is not given.
    """
    landing = find_landing(
        doors.lint.history,
        doors.forge,
        doors.lint.main,
        request.pr,
        request.commit or None,
        slug=doors.lint.repository.slug,
    )
    task_id = task_id_of(landing)
    doors.lint.project.check_free(task_id, force=request.force)
    split = _split(doors, landing)
    say(f"landing {landing.commit[:12]} ({landing.landed_by}), base {landing.base[:12]}")
    patches = cut(doors.lint.history, landing, split)
    changed_tests = [change.path for change in split.tests]
    snapshot = read_snapshot(doors.lint.history, patches.landing_tree, also=changed_tests)
    proposal = _propose(doors.lint, patches.landing_tree, snapshot, split)
    texts = read_texts(doors.forge, landing, request.issue_text)
    landing = replace(landing, issues=tuple(dict.fromkeys((*texts.linked, *landing.issues))))
    module = module_path(doors.lint.history, patches.base_tree)
    leaks = leaks_of(doors.lint.repository, landing, texts.pull_request, module)
    prompt = write_prompt(
        texts.issues, texts.pull_request, landing.message, doors.lint.config.harvest.prompt_source, leaks
    )
    files = TaskFiles(
        _task(doors, landing, split, snapshot, proposal),
        prompt.text.encode("utf-8", "surrogateescape"),
        patches.tests_patch,
        patches.reference_patch,
    )
    folder = doors.lint.project.create_task(files, force=request.force)
    found = lint_task(doors.lint, files, leaks)
    return Created(task_id, folder, landing, split, files, proposal, _notes(texts, prompt), found)


def _notes(texts: Texts, prompt: Draft) -> tuple[str, ...]:
    """What a reviewer must know of the prompt: doubts, and what was taken out of it."""
    taken = [f"taken out of the prompt: {place}" for place in dict.fromkeys(prompt.removed)]
    if len(taken) > _MOST_TAKEN:
        taken[_MOST_TAKEN:] = [f"and {len(taken) - _MOST_TAKEN} more places"]
    return (*texts.notes, *prompt.warnings, *taken)


def _propose(doors: LintDoors, tree: str, snapshot: Snapshot, split: Split) -> Proposal:
    """The command for the changed tests; where only data changed, for the test files that name that data."""
    proposal = propose(snapshot, split.tests)
    if proposal.command:
        return proposal
    is_test = matcher(doors.config.harvest.test_patterns)
    stems = {PurePosixPath(change.path).stem for change in split.tests if change.status != "D"}
    named = [path for path in doors.history.files_with(tree, stems) if is_test(path)]
    if not 0 < len(named) <= _MOST_READERS:
        return proposal
    entries = {entry.path: entry for entry in doors.history.list_tree(tree)}
    readers = [Change(e.path, e.mode, e.mode, e.id, e.id) for e in map(entries.__getitem__, named)]
    again = propose(read_snapshot(doors.history, tree, also=named), readers)
    if not again.command:
        return proposal
    return replace(
        again, reasons=("only data that tests read is changed; these files name it", *again.reasons)
    )


def read_snapshot(history: History, tree: str, *, also: Iterable[str] = ()) -> Snapshot:
    """All names of a tree, and the contents of what runners and environments are read from: manifests, and `also`."""
    paths = tuple(entry.path for entry in history.list_tree(tree))
    is_manifest = matcher((*MANIFEST_GLOBS, *ENVIRONMENT_GLOBS))
    wanted = [path for path in paths if is_manifest(path)]
    wanted += set(also).difference(wanted).intersection(paths)
    return Snapshot(paths, history.read(tree, wanted))


def _split(doors: Doors, landing: Landing) -> Split:
    patterns = doors.lint.config.harvest.test_patterns
    need_patterns(patterns)
    split = classify(landing.changes, patterns)
    reasons = obstacles(doors.lint.history, landing, split)
    if reasons:
        raise LandingError(
            f"{_name(landing)} can't be a task: {reasons[0]}.",
            remedy="correct harvest.test_patterns if the split is wrong; else choose another pull request",
            details=reasons[1:],
        )
    return split


def _name(landing: Landing) -> str:
    return f"Pull request {landing.pr}" if landing.pr is not None else f"Commit {landing.commit[:12]}"


def leaks_of(
    repository: Repository,
    landing: Landing,
    pull_request: PullRequest | None = None,
    module: str = "",
) -> Leaks:
    """What the prompt must not tell of this change."""
    commits = {landing.base, landing.commit, *landing.commits, *landing.brought}
    branch = landing.source_branch
    if pull_request is not None:
        commits |= {pull_request.head_commit, pull_request.landing_commit} - {""}
        branch = pull_request.source_branch or branch
    return Leaks(
        repository=repository,
        pr=landing.pr,
        issues=landing.issues,
        commits=tuple(sorted(commits)),
        branch=branch,
        module_path=module,
    )


def _task(doors: Doors, landing: Landing, split: Split, snapshot: Snapshot, proposal: Proposal) -> Task:
    config = doors.lint.config
    source = Source(
        remote=doors.lint.history.remote_url(config.remote),
        pull_request=landing.pr,
        issues=landing.issues,
        base_commit=landing.base,
        landing_commit=landing.commit,
        landed_by=landing.landed_by,
        landed_at=landing.merged_at,
        version=doors.lint.history.describe(landing.base),
    )
    environment = Environment(
        dockerfile=config.dockerfile,
        build_args=_dated(doors.lint.project, config.dockerfile, snapshot, landing),
        setup=propose_setup(snapshot),
        inputs=propose_inputs(snapshot),
    )
    return Task(
        id=task_id_of(landing),
        source=source,
        environment=environment,
        verify=Verify(command=proposal.command, protected_paths=protected_paths(split.tests, config)),
    )


def task_id_of(landing: Landing) -> str:
    """The pull request's number, or the start of the commit's id where there is none."""
    return str(landing.pr) if landing.pr is not None else landing.commit[:12]


def _dated(project: Project, dockerfile: str, snapshot: Snapshot, landing: Landing) -> dict[str, str]:
    try:
        text = project.read_dockerfile(dockerfile)
    except ConfigError:
        return {}  # lint says that it is missing
    return dated_arguments(text, snapshot, landing.merged_at.date())


def protected_paths(tests: Iterable[Change], config: Config) -> tuple[str, ...]:
    """The folders of the hidden tests where a whole folder is tests by the patterns, else the files themselves."""
    is_test = matcher(config.harvest.test_patterns)
    found = dict.fromkeys(_protected(change.path, is_test) for change in tests)
    folders = [path for path in found if path.endswith("/")]
    return tuple(
        path for path in found if not any(path != folder and path.startswith(folder) for folder in folders)
    )


def _protected(path: str, is_test: Callable[[str], bool]) -> str:
    parts = path.split("/")
    for depth in range(1, len(parts)):
        folder = "/".join(parts[:depth]) + "/"
        # A name that no pattern of file names can know: then it is the folder that makes it a test.
        if is_test(f"{folder}any-name-at-all"):
            return folder
    return path
