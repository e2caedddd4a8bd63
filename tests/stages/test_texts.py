"""What the forge tells of a problem, from the played API to the task's folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from sampleplace import SamplePlace

from berbench.errors import ForgeDown, ForgeError, NotOnForge
from berbench.model.changes import Issue, PullRequest
from berbench.stages.create import Created, Doors, Request, create

ISSUE = Issue(7, "top() counts words of no interest", "`top()` should take `without=`. See #8 and #7.", "")


@dataclass
class ForgeOnPaper:
    """Knows one pull request, and the issues it is given."""

    issues: dict[int, Issue] = field(default_factory=lambda: {7: ISSUE})
    closes: tuple[int, ...] = (7,)
    failure: ForgeError | None = None
    credentials: str = ""

    def check(self) -> str:
        return ""

    def pull_request(self, number: int) -> PullRequest:
        if self.failure:
            raise self.failure
        return PullRequest(
            8, "Leave words out", "", "", True, "", "d" * 40, "leave-words", "main", 1, closes=self.closes
        )

    def issue(self, number: int) -> Issue:
        if number not in self.issues:
            raise NotOnForge(f"no issue {number}")
        return self.issues[number]

    def branch_commits(self, number: int) -> tuple[tuple[str, str], ...]:
        return ()

    def pull_requests_of(self, commit: str) -> Sequence[int]:
        return ()

    def close(self) -> None:
        return None


def _create(place: SamplePlace, forge: ForgeOnPaper, issue_text: str | None = None) -> Created:
    return create(Doors(place.lint, forge), Request(8, issue_text=issue_text), lambda line: None)


def test_the_task_remembers_the_issues_that_only_the_forge_links(place: SamplePlace) -> None:
    gone = ForgeOnPaper(closes=(7, 4040))
    created = _create(place, gone)
    # 4040 can't be read, and its number leads there all the same.
    assert created.files.task.source.issues[:2] == (7, 4040)
    assert place.project.read_task(created.id).task.source.issues[:2] == (7, 4040)
    assert "issue 4040 is linked, but gone or not to be seen" in created.notes[0]
    assert b"should take `without=`" in created.files.prompt


def test_a_pull_request_among_the_issues_is_told_of(place: SamplePlace) -> None:
    other = Issue(9, "Another pull", "", "", is_pull_request=True)
    created = _create(place, ForgeOnPaper(issues={7: ISSUE, 9: other}, closes=(9, 7)))
    assert 9 not in created.files.task.source.issues
    assert any("is a pull request" in note for note in created.notes)


def test_what_was_taken_out_of_the_prompt_is_told(place: SamplePlace) -> None:
    notes = _create(place, ForgeOnPaper()).notes
    assert any(note.startswith("taken out of the prompt: #8") for note in notes)
    many = Issue(7, "Words", "Broken. " + ", ".join(f"#{n}" for n in range(100, 120)), "")
    notes = _create_again(place, ForgeOnPaper(issues={7: many})).notes
    assert sum(note.startswith("taken out") for note in notes) == 6 and "and 14 more places" in notes


def _create_again(place: SamplePlace, forge: ForgeOnPaper) -> Created:
    return create(Doors(place.lint, forge), Request(8, force=True), lambda line: None)


def test_the_users_own_text_serves_with_and_without_the_forge(place: SamplePlace) -> None:
    text = "# Words\n\nThe branch `leave-words` fails, says issue 7."
    created = _create(place, ForgeOnPaper(), text)
    assert created.files.task.source.issues[0] == 7
    down = create(
        Doors(place.lint, ForgeOnPaper(failure=ForgeDown("no answer"))),
        Request(8, issue_text=text, force=True),
        lambda line: None,
    )
    assert b"The branch" in down.files.prompt


def test_a_forge_that_is_down_gives_no_prompt_out_of_less(place: SamplePlace) -> None:
    with pytest.raises(ForgeError, match="no answer") as caught:
        _create(place, ForgeOnPaper(failure=ForgeDown("no answer", remedy="try again later")))
    assert "--issue-file" in caught.value.remedy and place.project.task_ids() == ()
    for remedy in ("try again later", "check the network, or work from local history with --no-api"):
        with pytest.raises(ForgeError) as caught:
            _create(place, ForgeOnPaper(failure=ForgeDown("no answer", remedy=remedy)))
        assert caught.value.remedy.count("--no-api") == 1


def test_T01_what_the_forge_tells_of_the_branch_is_not_told_on(place: SamplePlace) -> None:
    text = f"Try `without=` as the branch leave-words does, at {'d' * 40} and {'d' * 9}."
    prompt = _create(place, ForgeOnPaper(issues={7: Issue(7, "Words of no interest", text, "")})).files.prompt
    assert b"without=" in prompt
    assert b"leave-words" not in prompt and b"ddd" not in prompt
