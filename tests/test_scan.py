"""`task scan` on real repositories: what it finds, what it refuses and why, and the one document it prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from berbench.cli.show_scan import show_scan
from berbench.errors import ForgeError, NotOnForge, RateLimited
from berbench.history.repository import GitHistory
from berbench.landings import landing_of
from berbench.model.changes import Issue, LandedBy, PullRequest, Repository
from berbench.split import classify
from berbench.stages.patches import obstacles
from berbench.stages.scan import ScanReport, document, scan
from gitrepo import File, RepoBuilder, gitlink, symlink

PATTERNS = ("tests/**",)
START = {
    "src/words.py": b"def words(text):\n    return text.split()\n",
    "tests/test_words.py": b"",
    "README": b"",
}


class ForgeOnPaper:
    """A forge that knows what it is told, and fails where it is told to."""

    credentials = ""

    def __init__(
        self, closes: dict[int, tuple[int, ...]], failures: dict[int, ForgeError] | None = None
    ) -> None:
        self.closes = closes
        self.failures = failures or {}
        self.asked: list[int] = []

    def check(self) -> str:
        return ""

    def pull_request(self, number: int) -> PullRequest:
        self.asked.append(number)
        if number in self.failures:
            raise self.failures[number]
        if number not in self.closes:
            raise NotOnForge(f"there is no pull request {number}")
        closes = self.closes[number]
        return PullRequest(number, f"Pull {number}", "", "", True, "", "", "", "main", 1, closes=closes)

    def issue(self, number: int) -> Issue:
        raise NotOnForge(f"there is no issue {number}")

    def branch_commits(self, number: int) -> tuple[tuple[str, str], ...]:
        return ()

    def pull_requests_of(self, commit: str) -> Sequence[int]:
        return ()

    def close(self) -> None:
        return None


class Story:
    """A repository of squashed pull requests, each with a fix and a test unless told otherwise."""

    def __init__(self, path: Path) -> None:
        self.repo = RepoBuilder(path)
        self.repo.commit("Start", START)
        self.tests = b""

    def fix(self, pr: int, title: str = "Fix words", body: str = "", **more: File) -> str:
        self.tests += b"def test_%d():\n    assert words(%d)\n\n\n" % (pr, pr)
        files: dict[str, File] = {
            "src/words.py": b"def words(text):\n    return text.split(%d)\n" % pr,
            "tests/test_words.py": self.tests,
        }
        return self.repo.commit(f"{title} (#{pr})\n\n{body}", {**files, **more})


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "tally")


@pytest.fixture
def history(story: Story) -> Iterator[GitHistory]:
    opened = GitHistory(story.repo.path)
    yield opened
    opened.close()


def report_of(history: GitHistory, **options: object) -> ScanReport:
    return scan(history, patterns=PATTERNS, main="main", **options)  # type: ignore[arg-type]


def reasons(report: ScanReport) -> dict[int | None, str]:
    return {refused.pr: refused.reason for refused in report.rejected}


def test_candidates_are_ranked_best_first_and_the_rest_refused(story: Story, history: GitHistory) -> None:
    story.fix(3, "Refactor words")
    good = story.fix(5, "Fix words of an empty text", "Fixes #4")
    story.repo.commit("Say more (#6)", {"README": b"more\n"})
    story.repo.commit("Test more (#7)", {"tests/test_words.py": story.tests + b"# more\n"})
    report = report_of(history)
    assert [(found.pr, found.issues) for found in report.candidates] == [(5, (4,)), (3, ())]
    assert report.candidates[0].landing_commit == good
    assert report.candidates[0].score > report.candidates[1].score
    assert reasons(report)[6] == "changes no tests"
    assert reasons(report)[7] == "changes only tests"
    assert report.considered == 4


def test_the_document_is_what_the_reference_says(story: Story, history: GitHistory) -> None:
    base = story.fix(2)
    landing = story.fix(5, "Fix words of an empty text", "Fixes #4")
    made = document(report_of(history, limit=1, repository=Repository("github.com", "o/tally", "github")))
    assert json.loads(json.dumps(made)) == made
    assert list(made) == ["schema", "repository", "head", "considered", "candidates", "rejected"]
    assert (made["schema"], made["repository"], made["head"]) == ("berbench.scan/1", "o/tally", landing)
    (candidate,) = made["candidates"]  # type: ignore[misc]
    assert candidate.pop("reasons")
    assert 0 <= candidate.pop("score") <= 100
    assert candidate.pop("merged_at").startswith("2024-01-")
    assert candidate == {
        "pr": 5,
        "title": "Fix words of an empty text",
        "landing_commit": landing,
        "base_commit": base,
        "landed_by": "squash",
        "issues": [4],
        "tests": {"files": 1, "added": 4, "deleted": 0},
        "reference": {"files": 1, "added": 1, "deleted": 1},
    }


def test_without_a_forge_the_folder_names_the_repository(story: Story, history: GitHistory) -> None:
    story.fix(2)
    assert report_of(history).repository == "tally"


def test_the_limit_ends_the_walk(story: Story, history: GitHistory) -> None:
    for pr in range(10, 30):
        story.fix(pr)
    report = report_of(history, limit=4)
    assert sorted(found.pr or 0 for found in report.candidates) == [26, 27, 28, 29]
    assert report.considered == 4


def test_since_leaves_out_what_is_older(story: Story, history: GitHistory) -> None:
    story.fix(2)
    newest = story.fix(5)
    date = history.commit(newest).committed_at.isoformat()
    assert [found.pr for found in report_of(history, since=date).candidates] == [5]


def test_changes_of_too_many_files_are_refused(story: Story, history: GitHistory) -> None:
    story.fix(2, **{f"src/m{n}.py": b"a = 1\n" for n in range(4)})
    report = report_of(history, max_reference_files=4)
    assert reasons(report)[2] == "changes 5 implementation files, more than the 4 allowed"
    assert report.candidates == ()


def test_P20_P19_what_create_must_refuse_is_no_candidate(story: Story, history: GitHistory) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    story.fix(2, sub=gitlink("1" * 40))
    story.fix(3, sub=gitlink("2" * 40))
    story.fix(4, **{"sub": None, "model.bin": pointer})
    story.fix(5, **{"model.bin": b"no pointer any more\n"})
    story.fix(6, out=symlink("../outside"))
    story.fix(7, out=symlink("/etc/passwd"))
    story.fix(8, out=symlink("src/words.py"))
    report = report_of(history)
    assert [found.pr for found in report.candidates] == [8]
    told = reasons(report)
    for pr, words in {
        2: "moves the submodule 'sub'",
        3: "moves the submodule 'sub'",
        4: "moves the submodule 'sub'",
        5: "changes 'model.bin', whose content is kept in LFS",
        6: "the link 'out' points out of the repository, to '../outside'",
        7: "the link 'out' points out of the repository, to '/etc/passwd'",
    }.items():
        assert words in told[pr], told
    for commit in list(history.walk("main"))[:-1]:
        landing = landing_of([commit], None)
        refused = obstacles(history, landing, classify(landing.changes, PATTERNS))
        assert bool(refused) == ("(#8)" not in commit.subject), commit.subject


def test_a_history_without_pull_requests_gives_an_empty_list(story: Story, history: GitHistory) -> None:
    report = report_of(history)
    assert (report.candidates, report.considered) == ((), 0)


def test_M02_how_many_landed_in_which_form_is_told(
    story: Story, history: GitHistory, capsys: pytest.CaptureFixture[str]
) -> None:
    for pr in (2, 3, 4):
        story.fix(pr)
    story.repo.branch("topic")
    story.fix(5)
    story.repo.switch("main")
    story.repo.merge("topic", "Merge pull request #6 from o/topic\n\nFix words")
    story.repo.commit("Pushed", {"README": b"1\n"})
    report = report_of(history)
    assert report.forms == {LandedBy.SQUASH: 3, LandedBy.MERGE: 1}
    show_scan(report, verbose=False)
    said = capsys.readouterr().out
    assert "those looked into, by form: 3 squash, 1 merge\n" in said
    assert "2 commits name no pull request" in said


def test_M08_direct_pushes_are_counted_and_no_number_is_invented(story: Story, history: GitHistory) -> None:
    story.repo.commit("Push", {"src/words.py": b"a\n", "tests/test_words.py": b"b\n"})
    newest = story.repo.commit("Push again", {"src/words.py": b"c\n", "tests/test_words.py": b"d\n"})
    report = report_of(history)
    assert report.unnamed == 3  # the root commit is one of them
    (refused,) = report.rejected
    assert (refused.pr, refused.commit) == (None, newest)
    assert refused.reason.startswith("3 commits name no pull request")


def test_the_forge_fills_gaps_alone(story: Story, history: GitHistory) -> None:
    story.fix(5, body="Fixes #4")
    story.fix(7)
    forge = ForgeOnPaper({7: (6,)})
    report = report_of(history, forge=forge)
    assert forge.asked == [7]
    assert {found.pr: found.issues for found in report.candidates} == {5: (4,), 7: (6,)}
    assert report.unlinked == 0


def test_a_number_that_is_no_pull_request_is_refused(story: Story, history: GitHistory) -> None:
    story.fix(7)
    report = report_of(history, forge=ForgeOnPaper({}))
    assert reasons(report) == {
        7: "the forge knows no pull request of this number",
        None: reasons(report)[None],
    }


def test_M16_what_was_not_fetched_is_counted_apart_from_what_has_no_issue(
    story: Story, history: GitHistory
) -> None:
    for pr in (5, 6, 7, 8):
        story.fix(pr)
    limited = RateLimited("The forge asks to wait 30 min.", wait_s=1800, remedy="try again then")
    forge = ForgeOnPaper({8: (), 7: (2,)}, {6: limited})
    report = report_of(history, forge=forge)
    assert forge.asked == [8, 7, 6]  # the newest first, and none after the refusal
    assert (report.unlinked, report.not_fetched) == (1, 2)
    assert len(report.candidates) == 4
    assert report.notes == ("The forge was asked no further: The forge asks to wait 30 min; try again then",)
    told = {found.pr: "the forge was not asked for its issue" in found.reasons for found in report.candidates}
    assert told == {8: False, 7: False, 6: True, 5: True}


def test_the_forge_is_asked_for_what_can_become_a_task_and_the_best_first(
    story: Story, history: GitHistory
) -> None:
    story.fix(5, "Fix words of many lines", "It splits at the wrong place. " * 8)
    story.repo.commit(
        "Refactor the words (#6)",
        {
            "src/words.py": b"# words\ndef words(text):\n    return text.split(5)\n",
            "tests/test_words.py": b"#\n",
        },
    )
    story.fix(7, "Clean up words")
    forge = ForgeOnPaper({5: (), 6: (), 7: ()})
    report = report_of(history, forge=forge)
    assert forge.asked == [5, 7]
    assert 6 in reasons(report)


def test_a_forge_that_fails_costs_no_result(story: Story, history: GitHistory) -> None:
    story.fix(5)
    forge = ForgeOnPaper({}, {5: ForgeError("The forge could not be reached.")})
    assert len(report_of(history, forge=forge).candidates) == 1


def test_progress_is_told_through_the_callback(story: Story, history: GitHistory) -> None:
    story.fix(5)
    said: list[str] = []
    report_of(history, say=said.append, forge=ForgeOnPaper({5: ()}))
    assert said[0] == "reading the history of main"
    assert said[-1] == "asking the forge for pull request 5"


def test_texts_come_in_the_order_of_their_pairs(story: Story, history: GitHistory) -> None:
    commits = [history.resolve("main"), *(story.fix(pr) for pr in (2, 3, 4))]
    pairs = [(commits[2], commits[3]), (commits[1], commits[1]), (commits[0], commits[1])]
    with history.comparing() as comparison:
        for old, new in pairs:
            comparison.ask(old, new)
        (_, last), (counts, same), (_, first) = comparison.answers()
    assert b"+def test_4():" in last
    assert counts == ()
    assert b"test_2" not in last
    assert same == b""
    assert b"+def test_2():" in first
