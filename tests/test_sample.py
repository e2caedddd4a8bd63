"""The sample repository is what it says: real git, the same everywhere, every form and every kind of verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from berbench.errors import RepositoryError
from berbench.history.repository import GitHistory
from berbench.landings import read_landings
from berbench.model.changes import LandedBy, Landing, NotLanding
from berbench.model.trial import VerdictName
from berbench.sample import Sample, build, issue_text
from berbench.split import classify, guess_patterns


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return build(tmp_path_factory.mktemp("sample") / "tally")


@pytest.fixture(scope="module")
def found(sample: Sample) -> list[Landing | NotLanding]:
    history = GitHistory(sample.root)
    try:
        return list(read_landings(history.walk("main")))
    finally:
        history.close()


def test_the_sample_is_the_same_on_every_machine(sample: Sample, tmp_path: Path) -> None:
    assert build(tmp_path / "again").pull_requests == sample.pull_requests
    assert sample.pull_requests[0].landing_commit == "32a851292b9fd73d5368740aa79d8ed161ff5aba"


def test_the_work_tree_is_checked_out_and_clean(sample: Sample) -> None:
    assert (sample.root / "tally" / "sentences.py").is_file()
    assert not (sample.root / "tally" / "language.py").exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(RepositoryError, match="not empty"):
        build(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_it_shows_every_verdict_that_a_first_user_meets(sample: Sample) -> None:
    verdicts = [pull.expected_verdict for pull in sample.pull_requests]
    assert len(verdicts) >= 8
    assert verdicts.count(VerdictName.VALIDATED) >= 3
    assert set(verdicts) == {
        VerdictName.VALIDATED,
        VerdictName.BASE_PASSES,
        VerdictName.REFERENCE_FAILS,
        VerdictName.NO_TESTS_RAN,
        VerdictName.PROMPT_LEAKS,
    }
    assert {pull.landed_by for pull in sample.pull_requests} == set(LandedBy)


def test_every_pull_request_but_the_direct_push_has_an_issue_text(sample: Sample) -> None:
    for pull in sample.pull_requests:
        if pull.number is None:
            assert pull.issue_file is None
        else:
            assert issue_text(pull.issue_file or "").startswith("# ")


def test_local_history_tells_every_landing(sample: Sample, found: list[Landing | NotLanding]) -> None:
    told = {item.pr: item for item in found if isinstance(item, Landing)}
    for pull in sample.pull_requests:
        if pull.number is not None:
            assert told[pull.number].commit == pull.landing_commit
            assert told[pull.number].landed_by is pull.landed_by


def test_what_only_looks_like_a_landing_is_none(found: list[Landing | NotLanding]) -> None:
    refused = {item.pr: item.reason for item in found if isinstance(item, NotLanding) and item.pr is not None}
    assert {17, 20, 23, 24} <= refused.keys()  # a bot's bump, taken back later, a backport, the revert
    assert "revert" in refused[20]


def test_each_pull_request_has_both_sides(sample: Sample) -> None:
    history = GitHistory(sample.root)
    try:
        patterns = guess_patterns(tuple(entry.path for entry in history.list_tree("main")))
        for pull in sample.pull_requests:
            first = "~2" if pull.landed_by is LandedBy.REBASE else "^1"
            changes = history.changes(f"{pull.landing_commit}{first}", pull.landing_commit)
            split = classify(changes, patterns)
            assert split.tests, pull
            assert split.reference, pull
            assert all(change.path.startswith("tests/") for change in split.tests)
    finally:
        history.close()
