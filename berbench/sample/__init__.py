"""A small real git history, made by code: what `berbench demo` and the tests work on, with no network.

`tally` is a library that measures texts. Its pull requests landed in every form that berbench knows, and each
carries the verdict that its validation must come to.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from berbench.history.seed import create_repository
from berbench.model.changes import LandedBy
from berbench.model.trial import VerdictName
from berbench.sample.story import Landed, tell


@dataclass(frozen=True, slots=True)
class SamplePR:
    """A pull request of the sample, and what must come out of it.

    `number` is None for the direct push, which is taken by `landing_commit`. `issue_file` names package data,
    see `issue_text`. `prompt_edit` is a line that the demo's careless reviewer adds to the drafted prompt.
    """

    number: int | None
    title: str
    landed_by: LandedBy
    form: str
    landing_commit: str
    expected_verdict: VerdictName
    lesson: str
    issue_file: str | None = None
    prompt_edit: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """The repository and its pull requests, in the order in which they landed."""

    root: Path
    pull_requests: tuple[SamplePR, ...]


def build(path: Path) -> Sample:
    """Make the sample repository in a new or empty folder. RepositoryError when it holds anything."""
    story = tell()
    commits = create_repository(path, story.stream.bytes())
    return Sample(path, tuple(_pull_request(landed, commits[landed.mark]) for landed in story.landed))


def issue_text(name: str) -> str:
    """The text of an issue of the sample, as `--issue-file` takes it."""
    return files(__name__).joinpath("issues", name).read_text(encoding="utf-8")


def _pull_request(landed: Landed, commit: str) -> SamplePR:
    pull = landed.pull
    return SamplePR(
        number=pull.number,
        title=pull.title,
        landed_by=landed.landed_by,
        form=landed.form,
        landing_commit=commit,
        expected_verdict=pull.expected,
        lesson=pull.lesson,
        issue_file=f"{pull.issue}.md" if pull.issue else None,
        prompt_edit=pull.hasty_line,
    )
