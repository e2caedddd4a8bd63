"""The list of checks, in the order a reviewer reads a task."""

from __future__ import annotations

from berbench.checks.contract import check_contract
from berbench.checks.facts import LintFacts
from berbench.checks.names import check_names
from berbench.checks.patches import check_patches, read_patches
from berbench.checks.prompt import check_prompt
from berbench.model.task import TaskFiles
from berbench.model.trial import Problem


def lint(files: TaskFiles, facts: LintFacts) -> tuple[Problem, ...]:
    """Everything that makes a task unfair or unprovable: errors first, then warnings, each in a stable order.

    An error means that validation would be wrong or pointless; a warning is for a reviewer to judge.
    """
    problems: list[Problem] = []
    if facts.commit_problem:
        problems.append(
            Problem("commit-missing", "task.yaml: source", f"{facts.commit_problem}; fetch the history")
        )
    if facts.law_problem:
        problems.append(
            Problem(
                "split-law",
                "tests.patch, reference.patch",
                f"the patches are not the change that landed: {facts.law_problem}; create the task again with --force",
            )
        )
    if facts.edited_path:
        problems.append(
            Problem(
                "patches-edited",
                "tests.patch, reference.patch",
                f"they were edited: together they leave {facts.edited_path!r} other than it landed; see that the "
                "reference is still the known fix",
                "warning",
            )
        )
    patches, unreadable = read_patches(files)
    problems += unreadable
    problems += check_prompt(files, patches, facts)
    problems += check_patches(patches, facts)
    problems += check_names(files, patches, facts)
    problems += check_contract(files, patches, facts)
    return tuple(sorted(problems, key=lambda problem: problem.severity != "error"))
