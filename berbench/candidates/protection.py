"""Which paths of a tree a candidate may not change, and why: pure, from the task's contract and the base's names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from berbench.candidates.commands import Commands
from berbench.candidates.folders import all_folders, folders
from berbench.candidates.shadows import Shadows, importable
from berbench.candidates.table import Lookup, rows_for
from berbench.split import matcher


class Protection:
    """What is protected in one task.

    `hidden` are the paths that tests.patch changes, `reference` those that the reference changes: the candidate's
    own, whatever they are, but for hidden ones. `base` and `candidate` are all paths of the two trees, `loaded` those
    of `read_loads`.
    """

    def __init__(
        self,
        *,
        hidden: Collection[str],
        reference: Collection[str],
        base: Collection[str],
        candidate: Collection[str] = (),
        protected_paths: Sequence[str] = (),
        test_patterns: Sequence[str] = (),
        commands: Commands | None = None,
        loaded: Collection[str] = (),
    ) -> None:
        commands = commands or Commands()
        self._hidden = frozenset(hidden)
        self._above_hidden = all_folders(hidden)
        self._reference = frozenset(reference)
        self._is_protected = matcher(protected_paths)
        self._is_test = matcher(test_patterns)
        self._named = commands.files
        self._loaded = frozenset(loaded)
        self._row_of = Lookup(rows_for(commands.programs))
        self._base_folders = all_folders(base)
        trees = (frozenset(base), frozenset(candidate or base))
        self._shadows = Shadows(importable(hidden, commands.folders, *trees), base)

    def of_hidden(self, path: str) -> str:
        """Why a path is the hidden tests' own, or in their way; "" when it is not."""
        if path in self._hidden:
            return "is one of the hidden tests' own files"
        if path in self._above_hidden:
            return "stands where the hidden tests need a folder"
        if any(folder in self._hidden for folder in folders(path)):
            return "stands below a path of the hidden tests"
        return ""

    def reason(self, path: str, *, is_link: bool = False) -> str:
        """Why a change of this path does not reach the verifier: a clause that goes on from its name; "" if it does."""
        if found := self.of_hidden(path):
            return found
        if path in self._reference:
            return ""
        if self._is_protected(path):
            return "is protected by verify.protected_paths"
        if self._is_test(path):
            return "is a test by harvest.test_patterns"
        if path in self._named:
            return "is named by the verify command or a set-up line"
        if path in self._loaded:
            return "is loaded with the tests by the runner's settings"
        return self.steering(path, is_link=is_link)

    def steering(self, path: str, *, is_link: bool = False) -> str:
        """Why a file of this name steers the tests, wherever it comes from; "" when it does not."""
        row = self._row_of(path)
        if row and not (row.new_only and self._is_at_home(path)):
            return f"{row.why} ({row.kind})"
        if module := self._shadows.hidden_by(path, is_link=is_link):
            return f"hides the module {module!r} that test runs load"
        return ""

    def _is_at_home(self, path: str) -> bool:
        """Whether the base has files in the path's folder: the project itself is what the row would protect."""
        return path.rpartition("/")[0] in self._base_folders
