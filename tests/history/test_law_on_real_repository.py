"""The split law over every landing of a repository: the one that BERBENCH_LAW_REPOSITORY names, else a small one."""

from __future__ import annotations

import os
import random
from pathlib import Path

from berbench.history import GitHistory
from berbench.landings import read_landings
from berbench.model.changes import Landing
from berbench.split import classify, guess_patterns, problems
from berbench.stages.patches import cut
from gitrepo import RepoBuilder


def small_repository(path: Path) -> Path:
    """Ten landings of merges, squashes and series that touch both sides."""
    repo, dice = RepoBuilder(path), random.Random(7)
    repo.commit("Start", {"src/a.py": b"0\n", "tests/test_a.py": b"0\n"})
    for number in range(1, 11):
        repo.branch(f"t{number}", at="main")
        for part in range(dice.randint(1, 2)):
            data = b"%d %d\n" % (number, part)
            repo.commit(f"Part {part}", {f"src/{'ab'[part]}.py": data, "tests/test_a.py": data})
        repo.switch("main")
        if number % 2:
            repo.merge(f"t{number}", f"Merge pull request #{number} from o/t{number}")
        else:
            repo.squash(f"t{number}", f"Change (#{number})")
    return path


def test_the_law_holds_for_every_landing(tmp_path: Path) -> None:
    named = os.environ.get("BERBENCH_LAW_REPOSITORY", "")
    proven, broken = 0, []
    with GitHistory(Path(named) if named else small_repository(tmp_path / "r"), scratch=tmp_path) as history:
        main = history.main_branch("", "origin")
        patterns = guess_patterns(entry.path for entry in history.list_tree(main))
        for landing in read_landings(history.walk(main)):
            if not isinstance(landing, Landing):
                continue
            assert set(landing.changes) == set(history.changes(landing.base, landing.commit))
            split = classify(landing.changes, patterns)
            if problems(split):
                continue
            try:
                cut(history, landing, split)
                proven += 1
            except Exception as error:
                broken.append(f"#{landing.pr} {landing.commit[:12]}: {error}")
    assert not broken, "\n".join(broken)
    assert proven >= (1 if named else 10)
