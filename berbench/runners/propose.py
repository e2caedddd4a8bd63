"""The narrowest verify command for a pull request's changed tests, from the manifests as they were then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from posixpath import splitext

from berbench.model.changes import ABSENT, GITLINK, SYMLINK, Change, Snapshot
from berbench.runners.proposal import Proposal
from berbench.runners.propose_go import propose_go
from berbench.runners.propose_jvm import propose_jvm
from berbench.runners.propose_node import propose_node
from berbench.runners.propose_python import propose_python
from berbench.runners.propose_rust import propose_rust

__all__ = ["Proposal", "propose"]

_LANGUAGES: dict[str, str] = {
    **dict.fromkeys((".py", ".pyi", ".pyx"), "python"),
    **dict.fromkeys(
        (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".snap"), "node"
    ),
    ".go": "go",
    ".rs": "rust",
    **dict.fromkeys((".java", ".kt", ".groovy", ".scala"), "jvm"),
}
_ROOT_MANIFESTS = (
    ("python", ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini")),
    ("go", ("go.mod",)),
    ("rust", ("Cargo.toml",)),
    ("jvm", ("pom.xml", "build.gradle", "build.gradle.kts")),
    ("node", ("package.json",)),
)
_BY_LANGUAGE: dict[str, Callable[[Snapshot, tuple[str, ...]], Proposal]] = {
    "python": propose_python,
    "node": propose_node,
    "go": propose_go,
    "rust": propose_rust,
    "jvm": propose_jvm,
}


def propose(snapshot: Snapshot, test_changes: Sequence[Change]) -> Proposal:
    """A command for the added and changed test files, to be run in the tree of `snapshot` (the landing's).

    `snapshot.contents` should hold the files that MANIFEST_GLOBS match, and the changed tests where at hand.
    The command is "" when none can be told; `reasons` then says why.
    """
    changed = tuple(
        change.path for change in test_changes if change.new_mode not in (ABSENT, GITLINK, SYMLINK)
    )
    if not changed:
        links = any(change.new_mode == SYMLINK for change in test_changes)
        what = "changes only links" if links else "only deletes tests"
        return Proposal("", "", (f"the pull request {what}, so no changed test file is left to run",))
    language = _language(snapshot, changed)
    if not language:
        return Proposal("", "", ("no language with a known test runner among the changed tests",))
    proposal = _BY_LANGUAGE[language](snapshot, changed)
    others = {_LANGUAGES.get(splitext(path)[1], language) for path in changed} - {language}
    if proposal.command and others:
        note = f"changed tests in {', '.join(sorted(others))} are not run by it"
        return Proposal(proposal.command, proposal.runner, (*proposal.reasons, note))
    return proposal


def _language(snapshot: Snapshot, changed: tuple[str, ...]) -> str:
    """That of most changed tests; where only data changed, that of the root's manifest."""
    votes = [_LANGUAGES[extension] for path in changed if (extension := splitext(path)[1]) in _LANGUAGES]
    if votes:
        return max(sorted(set(votes)), key=votes.count)
    paths = set(snapshot.paths)
    for language, names in _ROOT_MANIFESTS:
        if any(name in paths for name in names):
            return language
    return ""
