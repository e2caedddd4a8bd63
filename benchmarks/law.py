"""The split law on every landing of real repositories: both patches, in either order, give the landing tree.

    python -m benchmarks.law [--commits] [--limit N] [--out report.json] REPOSITORY [REPOSITORY ...]

Every REPOSITORY is a clone or a bare mirror; nothing in it is changed. Each landing is split by the patterns that
berbench guesses for the project. One that is refused for good reason (it changes only one side, say) has the law
tried on it all the same: its paths are dealt to two sides in turn, or a lone path's patch is applied both ways.
`--commits` takes every commit of the main line for a landing, as `task create --commit` would, for projects whose
commits name no pull requests. Prints a row per repository and every landing that breaks the law; the exit code is 1
when one does.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from berbench.errors import BerbenchError, RepositoryError
from berbench.history import GitHistory
from berbench.landings import landing_of, read_landings
from berbench.model.changes import Commit, Landing, Split
from berbench.split import classify, guess_patterns, problems
from berbench.stages.patches import cut, obstacles

# What stands in a refusal → the kind of reason it is.
_KINDS = {
    "only tests": "changes only tests",
    "only implementation": "changes only implementation",
    "changes no file": "changes no file",
    "submodule": "moves a submodule",
    "kept in LFS": "content kept in LFS",
    "points out of": "a link points out of the repository",
    "trade places": "a file and a folder trade places across the split",
    "is missing from the repository": "lacks an object in the clone",
}


@dataclass(slots=True)
class Count:
    """What was seen of one repository."""

    repository: str
    commits: int = 0
    landings: int = 0
    split: int = 0  # by the project's own patterns
    kept: int = 0  # of those
    dealt: int = 0  # refused ones on which the law was tried all the same
    dealt_kept: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    seconds: float = 0.0
    slowest: tuple[float, str] = (0.0, "")


def check(repository: Path, limit: int, *, commits: bool = False) -> Count:
    """The law on every landing (or commit) of the main branch, or on the newest `limit` of them."""
    count = Count(name_of(repository))
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="bb-law-") as scratch,
        GitHistory(repository, scratch=Path(scratch)) as history,
    ):
        main = history.main_branch("", "origin")
        patterns = guess_patterns(entry.path for entry in history.list_tree(main))
        with closing(_counted(history.walk(main), count)) as walk:
            for landing in _first_parents(walk) if commits else read_landings(walk):
                if not isinstance(landing, Landing):
                    continue
                count.landings += 1
                _try(history, landing, classify(landing.changes, patterns), count)
                if count.landings == limit:
                    break
    count.seconds = round(time.monotonic() - began, 1)
    return count


def name_of(repository: Path) -> str:
    """`owner/name` of a mirror kept as `owner+name/repo`, else the folder's name."""
    parts = [part for part in repository.resolve().parts if part not in ("repo", ".git")]
    return parts[-1].replace("+", "/").removesuffix(".git")


def _counted(commits: Iterable[Commit], count: Count) -> Generator[Commit, None, None]:
    for commit in commits:
        count.commits += 1
        yield commit


def _first_parents(commits: Iterable[Commit]) -> Iterator[Landing]:
    """Each commit of the main line as a landing of its own, but the root, which stands on nothing."""
    following = ""
    for commit in commits:
        if commit.parents and following in ("", commit.sha):
            following = commit.parents[0]
            yield landing_of([commit], None)


def _try(history: GitHistory, landing: Landing, split: Split, count: Count) -> None:
    """One landing: split and proven, or refused, and then the law proven in another way."""
    began = time.monotonic()
    try:
        reasons = obstacles(history, landing, split)
    except RepositoryError as error:  # a clone may lack its largest objects
        _refuse(count, _kind(error.message))
        return
    try:
        if reasons:
            _refuse(count, _kind(reasons[0]))
            count.dealt += 1
            _deal(history, landing)
            count.dealt_kept += 1
        else:
            count.split += 1
            cut(history, landing, split)
            count.kept += 1
    except BerbenchError as error:
        count.broken.append(f"#{landing.pr} {landing.commit[:12]}: {error.message}")
    took = time.monotonic() - began
    count.slowest = max(count.slowest, (round(took, 2), landing.commit[:12]))


def _deal(history: GitHistory, landing: Landing) -> None:
    """The law on paths dealt out in turn; on the whole patch, there and back, where there is nothing to deal."""
    split = Split(tests=landing.changes[::2], reference=landing.changes[1::2])
    if split.reference and not any("trade places" in reason for reason in problems(split)):
        cut(history, landing, split)
        return
    base, target = history.tree_of(landing.base), history.tree_of(landing.commit)
    for old, new in ((base, target), (target, base)) if base != target else ():
        if history.apply(old, history.diff(old, new)) != new:
            raise BerbenchError(f"the patch from {old[:12]} gives another tree than {new[:12]}")


def _refuse(count: Count, kind: str) -> None:
    count.refused[kind] = count.refused.get(kind, 0) + 1


def _kind(reason: str) -> str:
    return next((kind for words, kind in _KINDS.items() if words in reason), reason)


def show(count: Count) -> None:
    """The repository's row, its refusals, and what broke the law."""
    print(
        f"{count.repository}: {count.commits} commits, {count.landings} landings, {count.split} split, law kept by "
        f"{count.kept}; {count.dealt} refused and dealt out, law kept by {count.dealt_kept}; {count.seconds:.0f} s, "
        f"slowest {count.slowest[0]} s ({count.slowest[1]})"
    )
    for reason, times in sorted(count.refused.items(), key=lambda item: -item[1]):
        print(f"  {times:>6} {reason}")
    for line in count.broken:
        print(f"  BROKEN {line}")
    sys.stdout.flush()


def main() -> int:
    """Check every repository that is named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="only the newest landings of each")
    parser.add_argument("--commits", action="store_true", help="take every commit of the main line")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    counts = []
    for repository in given.repositories:
        counts.append(check(repository, given.limit, commits=given.commits))
        show(counts[-1])
        if given.out:
            given.out.write_text(json.dumps([asdict(one) for one in counts], indent=2), encoding="utf-8")
    return 1 if any(count.broken for count in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
