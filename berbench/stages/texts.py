"""What people wrote about the problem that a pull request solves: its description and the issues it closed."""

from __future__ import annotations

from dataclasses import dataclass

from berbench.errors import ForgeError, NotOnForge
from berbench.forge.door import Forge
from berbench.model.changes import Issue, Landing, PullRequest


@dataclass(frozen=True, slots=True)
class Texts:
    """`linked` are the numbers of all issues that the change closed, those that can't be read among them.

    `notes` tell a reviewer which of them were left out, and why.
    """

    pull_request: PullRequest | None = None
    issues: tuple[Issue, ...] = ()
    linked: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


def read_texts(forge: Forge | None, landing: Landing, issue_text: str | None) -> Texts:
    """The user's own text first (`issue_text`), else what the forge tells; ForgeError when it can't tell."""
    if issue_text is not None:
        pull_request = _known(forge, landing)
        return Texts(None, (_issue_from(issue_text),), _linked(pull_request, landing))
    if forge is None or landing.pr is None:
        named = ", ".join(f"#{number}" for number in landing.issues)
        note = (
            f"the landing names {named}: give its text with --issue-file, and the prompt states the problem"
        )
        return Texts(linked=landing.issues, notes=(note,) if named else ())
    try:
        pull_request = forge.pull_request(landing.pr)
        return _read_issues(forge, pull_request, _linked(pull_request, landing))
    except ForgeError as error:
        offline = "or give the problem's text with --issue-file"
        if "--no-api" not in error.remedy:
            offline += ", or take the commit message with --no-api"
        raise ForgeError(
            error.message, remedy="; ".join(filter(None, (error.remedy.rstrip("."), offline)))
        ) from error


def _known(forge: Forge | None, landing: Landing) -> PullRequest | None:
    """What the forge tells beside the user's own text; that text serves without it as well."""
    try:
        return forge.pull_request(landing.pr) if forge is not None and landing.pr is not None else None
    except ForgeError:
        return None


def _linked(pull_request: PullRequest | None, landing: Landing) -> tuple[int, ...]:
    """The forge's list; where it has none, the closing keywords of local messages."""
    return (pull_request.closes if pull_request else ()) or landing.issues


def _read_issues(forge: Forge, pull_request: PullRequest, numbers: tuple[int, ...]) -> Texts:
    """The issues among the numbers; a number that is another pull request, or gone, tells no problem."""
    issues, linked, notes = [], [], []
    for number in numbers:
        try:
            issue = forge.issue(number)
        except NotOnForge:
            linked.append(number)
            notes.append(
                f"issue {number} is linked, but gone or not to be seen; its text is not in the prompt"
            )
            continue
        if issue.is_pull_request:
            notes.append(f"{number} is linked like an issue, but is a pull request; it is not in the prompt")
            continue
        linked.append(number)
        issues.append(issue)
    return Texts(pull_request, tuple(issues), tuple(linked), tuple(notes))


def _issue_from(text: str) -> Issue:
    """An issue from a person's file: a first line `# Title` is its title."""
    first, _, rest = text.lstrip("\ufeff\n").partition("\n")
    if first.startswith("# "):
        return Issue(0, first[2:].strip(), rest, "")
    return Issue(0, "", text, "")
