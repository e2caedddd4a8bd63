"""Finding the one landing of a pull request: local history first, the forge's word beside it."""

from __future__ import annotations

from dataclasses import replace

from berbench.errors import ForgeError, LandingError, NotOnForge, RepositoryError
from berbench.forge.door import Forge
from berbench.history.door import History
from berbench.landings import Mention, closing_issues, form_of, landing_of, prove, read_landings
from berbench.model.changes import Commit, LandedBy, Landing, NotLanding, PullRequest
from berbench.reverts import reverted


def find_landing(
    history: History, forge: Forge | None, main: str, pr: int | None, commit: str | None, *, slug: str = ""
) -> Landing:
    """The landing of a pull request or of a named commit, proven against `main`, with `changes` and `brought` filled.

    LandingError when it can't be proven: not found, on another branch, landed twice, reverted later, a root
    commit, an octopus merge, or when the forge and local history disagree. A forge that fails is done without
    where local history alone can prove the landing.
    """
    if commit is not None:
        landing = _named(history, main, pr, commit, slug)
    elif pr is not None:
        landing = _by_number(history, forge, main, pr, slug)
    else:
        raise LandingError("Neither a pull request nor a commit was named.", remedy="Give one of them.")
    issues = dict.fromkeys(landing.issues)
    brought = history.between(landing.base, landing.commit)
    for inner in brought:
        issues.update(dict.fromkeys(closing_issues(f"{inner.subject}\n\n{inner.body}", slug)))
    issues.pop(landing.pr or 0, None)
    changes = history.changes(landing.base, landing.commit)
    shas = tuple(commit.sha for commit in brought)
    return replace(landing, issues=tuple(issues), changes=changes, brought=shas)


def _by_number(history: History, forge: Forge | None, main: str, pr: int, slug: str) -> Landing:
    told, trouble = _ask(forge, pr)
    found = [one for one in read_landings(history.messages(main), slug=slug) if one.pr == pr]
    if told is None or not told.landing_commit:
        return _local(history, main, pr, found, trouble)
    there = _known(history, main, pr, told)
    landed = next((one for one in found if one.commit == there.sha), None)
    if isinstance(landed, NotLanding) and not landed.reason.startswith("landed twice"):
        return prove(pr, [landed])
    local = [one for one in found if isinstance(one, Landing)]
    agreed = next((one for one in local if there.sha in one.commits), None)
    if agreed:
        return agreed
    if local:
        raise LandingError(
            f"The forge and local history disagree on where pull request #{pr} landed.",
            remedy=f"Name the right commit: `berbench task create {pr} --commit <SHA>`.",
            details=(
                f"{there.sha[:12]}  {there.subject}  (the forge)",
                *(f"{one.commit[:12]}  {one.title}  (local history)" for one in local),
            ),
        )
    assert forge is not None
    return _not_reverted(history, main, _from_forge(history, forge, there, told), slug)


def _ask(forge: Forge | None, pr: int) -> tuple[PullRequest | None, str]:
    """What the forge tells of the pull request, or why it tells nothing."""
    if forge is None:
        return None, ""
    try:
        told = forge.pull_request(pr)
    except NotOnForge as error:
        raise LandingError(
            f"The forge knows no pull request #{pr}; the number may be an issue's.",
            remedy="Give a pull request's number, or a commit with --commit.",
        ) from error
    except ForgeError as error:
        return None, error.message
    if not told.merged:
        raise LandingError(f"Pull request #{pr} was never merged.", remedy="Choose a merged pull request.")
    return told, ""


def _local(history: History, main: str, pr: int, found: list[Landing | NotLanding], trouble: str) -> Landing:
    """The landing by local history alone."""
    elsewhere: tuple[Commit, ...] = ()
    if not found:
        named = history.search(
            "", [rf"[#!]{pr}([^0-9]|$)", rf"(PR|pull|pulls|merge_requests)[ /]{pr}([^0-9]|$)"]
        )
        matching = [one for one in named if (form := form_of(one)) and form.pr == pr]
        elsewhere = tuple(one for one in matching if not history.is_ancestor(one.sha, main))
    try:
        return prove(pr, found, elsewhere=elsewhere)
    except LandingError as error:
        hints = [f"The forge could not be asked: {trouble}"] if trouble else []
        remedy = error.remedy
        if history.is_shallow():
            remedy = "The clone is shallow; complete it with `git fetch --unshallow`."
        raise LandingError(error.message, remedy=remedy, details=(*error.details, *hints)) from error


def _known(history: History, main: str, pr: int, told: PullRequest) -> Commit:
    """The commit that the forge names, if it is here and on the main branch."""
    short = told.landing_commit[:12]
    try:
        there = history.commit(told.landing_commit)
    except RepositoryError as error:
        raise LandingError(
            f"Pull request #{pr} landed as {short}, which is not in this repository.",
            remedy="Fetch the branch it was merged into"
            + (f": `git fetch <remote> {told.target_branch}`." if told.target_branch else "."),
        ) from error
    if not history.is_ancestor(there.sha, main):
        raise LandingError(
            f"Pull request #{pr} landed on {told.target_branch or 'another branch'}, not on {main}.",
            remedy="Fetch the main branch, or set `main_branch:` in .ber/bench/config.yaml.",
            details=(f"{short}  {there.subject}",),
        )
    return there


def _from_forge(history: History, forge: Forge, there: Commit, told: PullRequest) -> Landing:
    """A landing that local messages don't tell: a merge, a squash, or the last of a rebased series."""
    _single_or_merge(there)
    mention = Mention(told.number, LandedBy.SQUASH, told.title, told.source_branch)
    if len(there.parents) == 2:
        return landing_of([there], replace(mention, landed_by=LandedBy.MERGE))
    try:
        subjects = [subject for _, subject in forge.branch_commits(told.number)]
    except ForgeError as error:
        raise LandingError(
            f"Whether {there.sha[:12]} is a squash or ends a rebased series can't be told: {error.message}",
            remedy=f"Try again later, or name it: `berbench task create {told.number} --commit <SHA>`.",
        ) from error
    series = list(history.first_parents(there.sha, len(subjects)))
    if len(subjects) > 1 and [one.subject for one in reversed(series)] == subjects:
        return landing_of(series, mention)
    if len(subjects) > 1 and there.subject == subjects[-1]:
        raise LandingError(
            f"Pull request #{told.number} ends with {there.sha[:12]}, but those before it are not its own.",
            remedy="Name the commit with --commit if it stands alone.",
            details=tuple(f"{one.sha[:12]}  {one.subject}" for one in series),
        )
    by = LandedBy.REBASE if subjects == [there.subject] else LandedBy.SQUASH
    return replace(landing_of([there], mention), landed_by=by)


def _named(history: History, main: str, pr: int | None, commit: str, slug: str) -> Landing:
    """The landing that a person named by its commit."""
    there = history.commit(commit)
    if not history.is_ancestor(there.sha, main):
        raise LandingError(
            f"{there.sha[:12]} is not on the main branch ({main}).",
            remedy="Name a commit of the main branch, or set `main_branch:` in .ber/bench/config.yaml.",
        )
    _single_or_merge(there)
    mention = form_of(there)
    if pr is not None and mention is not None and mention.pr != pr:
        raise LandingError(
            f"{there.sha[:12]} names pull request #{mention.pr}, not #{pr}.",
            remedy=f"Leave the number out, or give #{mention.pr}.",
        )
    landing = landing_of([there], mention, slug=slug)
    if len(there.parents) == 2:
        landing = replace(landing, landed_by=LandedBy.MERGE)
    if pr is not None:
        landing = replace(landing, pr=pr)
    return _not_reverted(history, main, landing, slug)


def _single_or_merge(commit: Commit) -> None:
    if not commit.parents:
        raise LandingError(
            f"{commit.sha[:12]} is a root commit: there is no state before it.",
            remedy="Choose a later commit.",
        )
    if len(commit.parents) > 2:
        raise LandingError(
            f"{commit.sha[:12]} is an octopus merge of {len(commit.parents) - 1} branches.",
            remedy="Choose a commit that lands one change.",
        )


def _not_reverted(history: History, main: str, landing: Landing, slug: str) -> Landing:
    """The landing, unless a later commit takes it back."""
    reason = reverted(history.between(landing.commit, main), landing)
    if reason:
        raise LandingError(
            f"{landing.commit[:12]} can't be a task: {reason}.", remedy="Choose a change that still stands."
        )
    return landing
