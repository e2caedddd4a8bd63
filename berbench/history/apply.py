"""Applying a patch to a tree: all or nothing, and the reason read from git's own words when it is nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from berbench.diffs import PatchFile, patch_paths, paths_of, read_headers
from berbench.errors import EmptyPatch, PatchConflict
from berbench.history.git import Answer, Command
from berbench.history.trees import Trees

_FAILED = re.compile(r"^error: patch failed: (?P<path>.+):(?P<line>\d+)$", re.M)
_NAMED = re.compile(
    r"^error: (?:'(?P<quoted>.+?)'|(?P<path>.+?)): "
    r"(?P<why>already exists in .+|does not exist in .+|does not match .+|patch does not apply|"
    r"wrong type|has type .+)$",
    re.M,
)
_OTHER = re.compile(r"^(?:error|fatal): (?P<why>.+)$", re.M)
_QUOTED = re.compile(r"'(.+?)'")


def apply_patch(trees: Trees, command: Command, tree: str, patch: bytes) -> str:
    """Tree id after the patch. `command` runs at the top of an empty work tree: no path is outside."""
    files = refuse_unfit(patch)
    with trees.index(tree) as index:
        answer = command.ask(
            "apply", "--cached", "--binary", "--whitespace=nowarn", "-p1", "-",
            data=patch, env={"GIT_INDEX_FILE": str(index)},
        )  # fmt: skip
        if answer.code != 0:
            raise _conflict(answer, patch)
        result = trees.write_tree(index)
    _as_named(trees, tree, result, files)
    return result


def refuse_unfit(patch: bytes) -> tuple[PatchFile, ...]:
    """The patch's sections. EmptyPatch for what is no patch, PatchConflict where binary content was left out."""
    if not patch.strip():
        raise EmptyPatch("The patch is empty.", remedy="Nothing would change; take the diff again.")
    files = read_headers(patch)
    if not files:
        raise EmptyPatch("The patch holds text, but no change to any file.", remedy="Take the diff again.")
    for file in files:
        if file.is_stub:
            raise PatchConflict(
                f"The patch only says that {file.path!r} differs; its binary content is missing.",
                path=file.path,
                remedy="Take the diff with `git diff --binary --full-index`.",
            )
    return files


def _as_named(trees: Trees, before: str, after: str, files: Sequence[PatchFile]) -> None:
    changed = {change.path for change in trees.changes(before, after)}
    named = paths_of(files)
    if unnamed := changed.difference(named):
        raise PatchConflict(
            f"The patch is written so that its names can't be read for sure: git also changes {min(unnamed)!r}.",
            path=min(unnamed),
            remedy="Take the diff with `git diff --binary --full-index`.",
        )
    for path in named:
        if path not in changed:
            raise PatchConflict(
                f"The patch was read, but its change to {path!r} had no effect.",
                path=path,
                remedy="The tree may hold that change already; take the diff against this tree.",
            )


def _conflict(answer: Answer, patch: bytes) -> PatchConflict:
    """What git said, as a path, a hunk and a sentence."""
    if found := _FAILED.search(answer.err):
        path, hunk = _real_name(found["path"], patch), f"line {found['line']}"
        return PatchConflict(
            f"The patch does not apply: {path!r} differs around {hunk}.",
            path=path,
            hunk=hunk,
            remedy="The patch was taken against another tree.",
        )
    if found := _NAMED.search(answer.err):
        path = _real_name(found["quoted"] or found["path"], patch)
        why = found["why"].replace(" in index", " in the tree")
        return PatchConflict(f"The patch does not apply: {path!r} {why}.", path=path)
    reason = found["why"] if (found := _OTHER.search(answer.err)) else answer.complaint
    named = _QUOTED.search(reason)
    path = _real_name(named[1], patch) if named else _section_at(reason, patch)
    reason = reason if named or not path else f"{reason}, at {path!r}"
    return PatchConflict(f"The patch does not apply: {reason}.", path=path)


def _section_at(reason: str, patch: bytes) -> str:
    """The file section that a message means by a line number: the last to start before that line."""
    found = re.search(r"\bline (\d+)", reason)
    lines = patch.split(b"\n")[: int(found[1]) - 1] if found else []
    header = next((line for line in reversed(lines) if line.startswith(b"diff --git ")), b"")
    return next(iter(patch_paths(header + b"\nold mode 100644\nnew mode 100755\n")), "") if header else ""


def _real_name(shown: str, patch: bytes) -> str:
    """The patch's own path that git meant; git's messages may have lost bytes of it."""
    paths = patch_paths(patch)
    if shown in paths:
        return shown
    alike = [
        path for path in paths if path.encode("utf-8", "surrogateescape").decode("utf-8", "replace") == shown
    ]
    return alike[0] if alike else shown
