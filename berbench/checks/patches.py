"""Checks of tests.patch and reference.patch: can they be read, and does each hold what it should. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from berbench.checks.facts import LintFacts
from berbench.diffs import PatchFile, read_patch
from berbench.errors import PatchConflict
from berbench.model.changes import GITLINK
from berbench.model.task import TaskFiles
from berbench.model.trial import Problem
from berbench.split import matcher

TESTS, REFERENCE = "tests.patch", "reference.patch"

_MANIFEST = re.compile(
    r"pyproject\.toml|setup\.(?:py|cfg)|(?:.*-)?requirements(?:[-_.][-.\w]*)?\.(?:txt|in)|Pipfile(?:\.lock)?|poetry\.lock|uv\.lock"
    r"|environment\.ya?ml|package(?:-lock)?\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|npm-shrinkwrap\.json"
    r"|go\.(?:mod|sum)|Cargo\.(?:toml|lock)|pom\.xml|build\.gradle(?:\.kts)?|libs\.versions\.toml|Gemfile(?:\.lock)?"
    r"|composer\.(?:json|lock)|mix\.(?:exs|lock)"
)
_PROSE = re.compile(
    r"(?:.*\.(?:md|rst|txt|adoc)|(?:CHANGE(?:S|LOG)|HISTORY|NEWS|AUTHORS|LICENSE|README)(?:\..*)?)",
    re.IGNORECASE,
)
_LFS_POINTER = "version https://git-lfs.github.com/spec/v1"


@dataclass(frozen=True, slots=True)
class Patches:
    """Both patches as read; an unreadable one has no files."""

    tests: tuple[PatchFile, ...]
    reference: tuple[PatchFile, ...]

    @property
    def hidden(self) -> tuple[str, ...]:
        """Paths that the hidden tests leave in the tree."""
        return tuple(file.path for file in self.tests if not file.is_deleted)


def read_patches(files: TaskFiles) -> tuple[Patches, tuple[Problem, ...]]:
    """Both patches, and a problem for each that can't be read."""
    problems: list[Problem] = []
    read: list[tuple[PatchFile, ...]] = []
    for name, data in ((TESTS, files.tests_patch), (REFERENCE, files.reference_patch)):
        try:
            read.append(read_patch(data) if data.strip() else ())
            if data.strip() and not read[-1]:
                problems.append(_again("patch-unreadable", name, "it holds text and no patch"))
        except PatchConflict as conflict:
            read.append(())
            problems.append(_again("patch-unreadable", name, f"it can't be read: {conflict.message}"))
    return Patches(read[0], read[1]), tuple(problems)


def check_patches(patches: Patches, facts: LintFacts) -> Iterator[Problem]:
    """What is wrong with the two patches as a split of one change."""
    if not patches.tests:
        yield _again("tests-empty", TESTS, "there is no hidden test, so nothing can be proven")
    elif not patches.hidden:
        yield Problem(
            "tests-only-deleted",
            TESTS,
            "it only deletes files; pick a change that adds or edits tests",
            "warning",
        )
    if not patches.reference:
        yield _again("reference-empty", REFERENCE, "there is no known implementation to prove the tests with")
    elif all(is_prose(file.path) for file in patches.reference):
        yield Problem(
            "reference-no-code",
            REFERENCE,
            "it changes only prose; check harvest.test_patterns, or drop the task",
            "warning",
        )
    yield from _content(TESTS, patches.tests, facts)
    yield from _content(REFERENCE, patches.reference, facts)
    yield from _sides(patches, facts)
    yield from _manifests(patches)


def _content(name: str, files: Sequence[PatchFile], facts: LintFacts) -> Iterator[Problem]:
    for file in files:
        where = f"{name}: {shown(file.path)}"
        if file.is_stub:
            yield _again("patch-stub", where, "only a note stands here in place of binary content")
        if GITLINK in (file.old_mode, file.new_mode):
            yield Problem(
                "patch-submodule",
                where,
                "a submodule moves, and its content is not here; pick another change",
            )
        if _is_pointer(file) or file.path in facts.lfs:
            yield Problem(
                "patch-lfs", where, "its content is kept in LFS, not in this repository; pick another change"
            )


def _is_pointer(file: PatchFile) -> bool:
    """Whether the file is an LFS pointer on either side: that is its first line, not something it speaks of."""
    first = [hunk for hunk in file.hunks if hunk.old_start <= 1 and hunk.new_start <= 1]
    return any(line[1:].startswith(_LFS_POINTER) for hunk in first for line in hunk.lines[:2])


def _sides(patches: Patches, facts: LintFacts) -> Iterator[Problem]:
    for path in sorted({file.path for file in patches.tests} & {file.path for file in patches.reference}):
        yield _again("split-overlap", f"{TESTS}, {REFERENCE}: {shown(path)}", "the path is in both patches")
    if not facts.test_patterns:
        return
    is_test = matcher(facts.test_patterns)
    strangers = [file.path for file in patches.tests if not is_test(file.path)]
    if strangers:
        yield _again(
            "tests-hold-implementation",
            TESTS,
            f"{listed(strangers)}: no test by harvest.test_patterns, and would give part of the answer",
        )
    misfiled = [file.path for file in patches.reference if is_test(file.path)]
    if misfiled:
        yield _again(
            "reference-holds-tests",
            REFERENCE,
            f"{listed(misfiled)}: a test by harvest.test_patterns, and belongs to tests.patch",
        )


def _manifests(patches: Patches) -> Iterator[Problem]:
    changed = [f.path for f in patches.reference if _MANIFEST.fullmatch(posixpath.basename(f.path))]
    if changed:
        yield Problem(
            "manifest-changed",
            REFERENCE,
            f"{listed(changed)} may ask for packages that an image of the base tree lacks, and an agent can't "
            "install them; see that Dockerfile.berbench installs what the landing needs",
            "warning",
        )


def is_prose(path: str) -> bool:
    """Whether a file is text for people: documentation, a change log, a licence."""
    return bool(_PROSE.fullmatch(posixpath.basename(path)))


def shown(path: str) -> str:
    """A path as it can be printed: bytes that are no UTF-8 and control characters are escaped."""
    return "".join(c if c.isprintable() and not "\ud800" <= c <= "\udfff" else ascii(c)[1:-1] for c in path)


def listed(names: Sequence[str], most: int = 6) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown(name) for name in names[:most]) + more


def _again(code: str, where: str, why: str) -> Problem:
    return Problem(code, where, f"{why}; check harvest.test_patterns and create the task again with --force")
