"""The sample's history in order: every way in which a pull request lands, and what only looks like one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from berbench.model.changes import LandedBy
from berbench.sample import later_pulls as later
from berbench.sample import pulls as early
from berbench.sample.project import FIRST_FILES
from berbench.sample.pulls import ADA, BO, CY, TEST_WORDS, WORDS, Edit, Files, Pull, add, drop, put, swap
from berbench.sample.stream import Stream

BOT = "dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>"


@dataclass(frozen=True, slots=True)
class Landed:
    """A pull request that has landed: in which form, and the mark of its landing commit."""

    pull: Pull
    form: str  # for people
    landed_by: LandedBy
    mark: int


@dataclass(slots=True)
class Branch:
    """A branch's tip and its files."""

    name: str
    mark: int
    files: Files


@dataclass(slots=True)
class Story:
    """The stream so far and what landed in it, oldest first."""

    stream: Stream = field(default_factory=Stream)
    landed: list[Landed] = field(default_factory=list)

    def begin(self, name: str, files: Files, message: str) -> Branch:
        """The root commit."""
        return Branch(name, self.stream.commit(name, message, files, author=ADA), dict(files))

    def commit(
        self, on: Branch, message: str, edits: Iterable[Edit], author: str, merged: Sequence[int] = ()
    ) -> int:
        """One commit, a merge where `merged` names more parents; its mark."""
        files = dict(on.files)
        for edit in edits:
            edit(files)
        changed = {path: text for path, text in files.items() if on.files.get(path) != text}
        gone = {path: None for path in on.files if path not in files}
        parents = (on.mark, *merged)
        on.mark = self.stream.commit(on.name, message, {**changed, **gone}, author=author, parents=parents)
        on.files = files
        return on.mark

    def topic(self, off: Branch, pull: Pull) -> Branch:
        """The pull request's own branch with its commits; dropped as forges do after a merge."""
        topic = Branch(pull.branch, off.mark, dict(off.files))
        for step in pull.steps:
            self.commit(topic, step.message, step.edits, pull.author)
        return topic

    def merge(self, into: Branch, topic: Branch, pull: Pull, form: str, message: str) -> None:
        """Land by a two-parent commit."""
        mark = self.commit(into, message, _edits(pull), pull.author, merged=(topic.mark,))
        self.stream.drop(topic.name)
        self.landed.append(Landed(pull, form, LandedBy.MERGE, mark))

    def squash(self, into: Branch, pull: Pull, form: str = "GitHub squash", message: str = "") -> None:
        """Land as one commit."""
        body = "\n".join(pull.steps[-1].message.splitlines()[1:])
        mark = self.commit(
            into, message or f"{pull.title} (#{pull.number})\n{body}", _edits(pull), pull.author
        )
        self.landed.append(Landed(pull, form, LandedBy.SQUASH, mark))

    def rebase(self, into: Branch, pull: Pull, form: str) -> None:
        """Land as a series of commits that each name the pull request."""
        mark = into.mark
        for step in pull.steps:
            subject, _, body = step.message.partition("\n")
            mark = self.commit(into, f"{subject} (#{pull.number})\n{body}", step.edits, pull.author)
        self.landed.append(Landed(pull, form, LandedBy.REBASE, mark))


def tell() -> Story:
    """The whole history."""
    story = Story()
    main = story.begin("main", FIRST_FILES, "Words, lines and lengths of a text")
    story.stream.tag("v0.1.0", main.mark)
    maintenance = _first_release(story, main)
    _other_forges(story, main)
    _what_is_no_task(story, main)
    _maintenance(story, main, maintenance)
    _last_pulls(story, main)
    return story


def _first_release(story: Story, main: Branch) -> Branch:
    """GitHub's three buttons, and a branch that main was merged into; the branch of the release."""
    pull = early.APOSTROPHES
    topic = story.topic(main, pull)
    title = [swap("README.md", "# tally\n", "# tally\n\nMeasures texts.\n")]
    story.commit(main, "Say in the README what tally is for", title, BO)
    story.commit(topic, "Merge branch 'main' into keep-apostrophes", title, ADA, merged=(main.mark,))
    message = f"Merge pull request #2 from ada/keep-apostrophes\n\n{pull.title}\n\nFixes #1"
    story.merge(main, topic, pull, "GitHub merge", message)
    story.squash(main, early.LAST_LINE)
    story.stream.tag("v0.2.0", main.mark)
    maintenance = Branch("0.2.x", main.mark, dict(main.files))
    story.rebase(main, early.TIES, "rebased series")
    return maintenance


def _other_forges(story: Story, main: Branch) -> None:
    pull = early.STOP_WORDS
    see = "See merge request example/tally!8"
    message = f"Merge branch 'stop-words' into 'main'\n\n{pull.title}\n\nCloses #7\n\n{see}"
    story.merge(main, story.topic(main, pull), pull, "GitLab merge", message)
    pull = early.LONGEST
    message = f"Merged in longest-word (pull request #10)\n\n{pull.title}"
    story.merge(main, story.topic(main, pull), pull, "Bitbucket merge", message)
    pull = early.COLUMNS
    story.squash(main, pull, "Azure squash", f"Merged PR 12: {pull.title}\n\nRelated work items: #11")
    story.squash(main, later.COMMAND_LINE)
    pull = later.EMPTY_TEXT
    message = f"{pull.title} (#16)\n\nCloses #15"
    story.merge(main, story.topic(main, pull), pull, "merge with a subject of the project's own", message)


def _what_is_no_task(story: Story, main: Branch) -> None:
    """A bot's bump, one side only, a feature that was taken back."""
    bump = [swap("requirements-dev.txt", "8.1.1", "8.2.0")]
    story.commit(main, "Bump pytest from 8.1.1 to 8.2.0 (#17)", bump, BOT)
    test = 'def test_no_words():\n    assert words("") == []\n'
    story.commit(main, "Test the words of an empty text (#18)", [add(TEST_WORDS, test)], CY)
    faster = swap(WORDS, "    return best", "    return best  # one pass, no sorting")
    story.commit(main, "Say why longest() is a loop (#19)", [faster], BO)
    guess = put("tally/language.py", '"""Guesses."""\n\n\ndef language(text):\n    return "en"\n')
    test_guess = (
        'from tally.language import language\n\n\ndef test_guess():\n    assert language("the") == "en"\n'
    )
    story.commit(main, "Guess the language (#20)", [guess, put("tests/test_language.py", test_guess)], CY)
    taken_back = [drop("tally/language.py"), drop("tests/test_language.py")]
    story.commit(main, 'Revert "Guess the language (#20)" (#24)', taken_back, ADA)


def _maintenance(story: Story, main: Branch, maintenance: Branch) -> None:
    """A fix that reached main by way of the release branch, beside a backport of one that main had."""
    story.squash(maintenance, later.DIGITS, "squash on a maintenance branch")
    story.commit(maintenance, "Backport #6 to 0.2.x (#23)", _edits(early.TIES), CY)
    story.stream.tag("v0.2.1", maintenance.mark)
    story.commit(main, "Merge branch '0.2.x'", _edits(later.DIGITS), ADA, merged=(maintenance.mark,))


def _last_pulls(story: Story, main: Branch) -> None:
    story.squash(main, later.SENTENCES)
    pull = later.BYTE_ORDER_MARK
    mark = story.commit(main, pull.steps[0].message, _edits(pull), pull.author)
    story.landed.append(Landed(pull, "direct push", LandedBy.COMMIT, mark))
    story.commit(main, "Say in the README how to run the tests", [add("README.md", "Tests: `pytest`\n")], BO)


def _edits(pull: Pull) -> tuple[Edit, ...]:
    return tuple(edit for step in pull.steps for edit in step.edits)
