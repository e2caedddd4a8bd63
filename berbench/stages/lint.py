"""What is wrong with a task's text, before anything runs; and the mends that can be derived."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from berbench.checks import LEAK_CODES, LintFacts, fix, lint, names_in_question
from berbench.errors import BerbenchError, ConfigError, RepositoryError
from berbench.history.door import History
from berbench.landings import form_of
from berbench.model.changes import Repository
from berbench.model.task import Config, TaskFiles
from berbench.model.trial import Problem
from berbench.prompts import Leaks
from berbench.store import Project

SCHEMA = "berbench.lint/1"

_MODULE = re.compile(rb"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LintDoors:
    """What lint looks things up in."""

    history: History
    project: Project
    config: Config
    repository: Repository
    main: str


def lint_task(doors: LintDoors, files: TaskFiles, leaks: Leaks | None = None) -> tuple[Problem, ...]:
    """Everything that makes the task unfair or unprovable, errors first. `leaks` adds to what the task tells."""
    return lint(files, _facts(doors, files, leaks))


def fix_task(doors: LintDoors, task_id: str) -> tuple[str, ...]:
    """Mend what can be derived; a line for each mend."""
    with doors.project.lock(task_id):
        files = doors.project.read_task(task_id)
        facts = _facts(doors, files, None)
        problems = lint(files, facts)
        fixes = fix(files, problems, facts)
        if fixes.prompt is not None:
            doors.project.update_prompt(task_id, fixes.prompt)
        if fixes.command is not None:
            doors.project.update_verify_command(task_id, fixes.command)
        if fixes.protected_paths is not None:
            doors.project.update_protected_paths(task_id, fixes.protected_paths)
    mended = [problem for problem in problems if problem.code in fixes.done and problem.fixable]
    return tuple(f"mended {p.where}: {p.message.partition('; ')[0]}" for p in mended)


def leaks_in(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The errors that say where the answer is: they make the verdict `prompt-leaks`."""
    return tuple(p for p in problems if p.severity == "error" and p.code in LEAK_CODES)


def document(task_id: str, problems: Sequence[Problem]) -> dict[str, object]:
    """The problems as `--json` prints them."""
    return {
        "schema": SCHEMA,
        "id": task_id,
        "problems": [
            {
                "code": problem.code,
                "severity": problem.severity,
                "where": problem.where,
                "message": problem.message,
                "fixable": problem.fixable,
            }
            for problem in problems
        ],
    }


def _facts(doors: LintDoors, files: TaskFiles, leaks: Leaks | None) -> LintFacts:
    source = files.task.source
    patterns = doors.config.harvest.test_patterns
    present = _dockerfile_present(doors, files)
    try:
        base = doors.history.tree_of(source.base_commit)
        landing = doors.history.commit(source.landing_commit)
    except RepositoryError as error:
        known = leaks or leaks_of_task(doors, files)
        return LintFacts(
            known, patterns, commit_problem=error.message.rstrip("."), dockerfile_present=present
        )
    entries = doors.history.list_tree(base)
    law_problem, edited_path = _law(doors.history, files, base, doors.history.tree_of(landing.sha))
    return LintFacts(
        leaks=leaks or leaks_of_task(doors, files, module_path(doors.history, base)),
        test_patterns=patterns,
        law_problem=law_problem,
        edited_path=edited_path,
        base_paths=frozenset(entry.path for entry in entries),
        names_at_base=doors.history.words_in(base, names_in_question(files)),
        dockerfile_present=present,
        landing_message=f"{landing.subject}\n\n{landing.body}",
        task_bytes=doors.project.read_task_bytes(files.task.id),
    )


def leaks_of_task(doors: LintDoors, files: TaskFiles, module: str = "") -> Leaks:
    """What the prompt must not tell, as far as the task and local history remember it."""
    source = files.task.source
    commits = {source.base_commit, source.landing_commit}
    branch = ""
    with suppress(RepositoryError):  # lint says by itself that a commit is missing
        form = form_of(doors.history.commit(source.landing_commit))
        branch = form.source_branch if form else ""
        commits |= {commit.sha for commit in doors.history.between(source.base_commit, source.landing_commit)}
    return Leaks(
        repository=doors.repository,
        pr=source.pull_request,
        issues=source.issues,
        commits=tuple(sorted(commits)),
        branch=branch,
        module_path=module,
    )


def module_path(history: History, tree: str) -> str:
    """The name by which Go code imports this repository, "" where it has none: code may keep it."""
    found = _MODULE.search(history.read(tree, ["go.mod"]).get("go.mod", b""))
    return found[1].decode("utf-8", "replace") if found else ""


def _dockerfile_present(doors: LintDoors, files: TaskFiles) -> bool:
    try:
        doors.project.read_dockerfile(files.task.environment.dockerfile)
    except ConfigError:
        return False
    return True


def _law(history: History, files: TaskFiles, base: str, landing: str) -> tuple[str, str]:
    """Why the patches don't apply, and a path that they leave other than it landed; "" each when all is well."""
    try:
        with_tests = history.apply(base, files.tests_patch)
        solved = history.apply(with_tests, files.reference_patch)
    except BerbenchError as error:
        return error.message.rstrip("."), ""
    return "", history.changes(solved, landing)[0].path if solved != landing else ""
