"""Trees that an audit runs on: the solved tree with a part of the reference left out, or a line of it changed.

Everything is written through the history door, from contents; no work folder is involved.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from berbench.diffs import PatchFile, read_patch
from berbench.history.door import History
from berbench.model.changes import ABSENT, EXECUTABLE, GITLINK, REGULAR, Change
from berbench.mutators import mutations
from berbench.stages.trees import Trees
from berbench.strength.adversaries import Adversary, adversaries
from berbench.strength.cuts import Cut
from berbench.strength.mutants import (
    Mutant,
    added_lines,
    is_worth,
    kind_of,
    language_of,
    sample,
    text_lines,
    to_change,
    with_line,
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A task's reference in its repository: the patch as read, what it changes, and the contents on both sides."""

    history: History
    trees: Trees
    files: tuple[PatchFile, ...]
    changes: tuple[Change, ...]
    old: Mapping[str, bytes]
    new: Mapping[str, bytes]

    def without(self, cut: Cut) -> str:
        """The solved tree without a part of the reference; "" when that part can't be left out alone."""
        changes = [change for change in self.changes if change.path not in cut.paths]
        if cut.content is not None:
            [own] = [change for change in self.changes if change.path == cut.path]
            changes.append(replace(own, new_id=self.history.write_blob(cut.content)))
        tree = self.history.make_tree(self.trees.with_tests, changes)
        # A file in the place of a folder, or the reverse, would take more along than was meant.
        left_out = {change.path for change in self.history.changes(tree, self.trees.solved)}
        return tree if left_out == set(cut.paths) else ""

    def with_contents(self, contents: Mapping[str, bytes]) -> str:
        """The solved tree with other contents of files that the reference changes."""
        own = {change.path: change for change in self.changes}
        changes = [
            replace(own[path], new_id=self.history.write_blob(data)) for path, data in contents.items()
        ]
        return self.history.make_tree(self.trees.solved, changes)

    def candidate(self, adversary: Adversary) -> bytes:
        """An adversary as a patch on the base tree, as anybody would hand it in."""
        entries = {entry.path: entry for entry in self.history.list_tree(self.trees.base)}
        changes = [
            Change(path, entries[path].mode, ABSENT, entries[path].id, "0" * len(entries[path].id))
            for path in adversary.deletes
        ]
        for path, data in adversary.writes.items():
            mode = EXECUTABLE if path in entries and entries[path].mode == EXECUTABLE else REGULAR
            changes.append(Change(path, mode, mode, "", self.history.write_blob(data)))
        return self.history.diff(self.trees.base, self.history.make_tree(self.trees.base, changes))


def read_reference(history: History, trees: Trees, patch: bytes = b"") -> Reference:
    """The reference of a task whose patches apply; its lines are known only where its patch is given."""
    changes = history.changes(trees.with_tests, trees.solved)
    paths = [change.path for change in changes]
    return Reference(
        history,
        trees,
        read_patch(patch),
        changes,
        history.read(trees.with_tests, paths),
        history.read(trees.solved, paths),
    )


def mutants_of(reference: Reference, wanted: int, seed: int) -> tuple[Mutant, ...]:
    """At most so many mutants of the reference's added lines."""
    if not wanted:
        return ()
    candidates = [mutant for file in reference.files for mutant in _mutants(reference, file)]
    return sample(candidates, wanted, seed, lambda mutant: is_worth(mutant, reference.new[mutant.path]))


def _mutants(reference: Reference, file: PatchFile) -> Iterator[Mutant]:
    data = reference.new.get(file.path, b"")
    language = language_of(file.path, data)
    if not language or file.is_binary:
        return
    lines = text_lines(data)
    for made in mutations(language, to_change(file.path, data, added_lines(file))):
        kind = kind_of(made.rule)
        if kind:
            yield Mutant(file.path, made.line, kind, lines[made.line - 1], made.after)


def mutated(reference: Reference, mutant: Mutant) -> str:
    """The solved tree with one line changed."""
    return reference.with_contents({mutant.path: with_line(reference.new[mutant.path], mutant)})


def adversaries_of(reference: Reference) -> tuple[Adversary, ...]:
    """What nobody may pass with."""
    both = {
        change.path: (reference.old.get(change.path, b""), reference.new[change.path])
        for change in reference.changes
        if change.path in reference.new and change.new_mode & 0o170000 == REGULAR & 0o170000
    }
    added = {file.path: added_lines(file) for file in reference.files}
    base = (
        entry.path for entry in reference.history.list_tree(reference.trees.base) if entry.mode != GITLINK
    )
    return adversaries(base, both, added)


def told_paths(paths: tuple[str, ...]) -> str:
    """Some paths in a sentence."""
    names = ", ".join(os.fsencode(path).decode("utf-8", "backslashreplace") for path in paths[:3])
    return names + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
