"""Begin with a repository: settings guessed from what it holds, and a Dockerfile drafted where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from berbench.environments import draft
from berbench.errors import ConfigError, RepositoryError
from berbench.history.door import History
from berbench.model.changes import Repository, Snapshot
from berbench.model.task import Config, Harvest, Provider
from berbench.split import guess_patterns
from berbench.stages.create import read_snapshot
from berbench.store import Project
from berbench.store.project import CONFIG


@dataclass(frozen=True, slots=True)
class Begun:
    """What was written, what was there already, and what a person should look at."""

    lines: tuple[str, ...]
    review: tuple[str, ...]


def initialise(
    history: History,
    project: Project,
    *,
    remote: str,
    repository: Repository,
    base_image: str,
    today: date,
    main_branch: str = "",
) -> Begun:
    """Write what is missing of `.ber/bench/config.yaml` and the Dockerfile; never overwrite either.

    RepositoryError when there is no main branch. A language that no draft is known for costs only the draft.
    """
    main = _main(history, main_branch, remote)
    snapshot = read_snapshot(history, history.tree_of(main))
    config = Config(
        remote=remote,
        provider=_provider(repository),
        main_branch=main.removeprefix("refs/heads/").removeprefix(f"refs/remotes/{remote}/"),
        harvest=Harvest(test_patterns=guess_patterns(snapshot.paths)),
    )
    lines: list[str] = []
    review: list[str] = []
    if project.write_config(config):
        lines.append(f"wrote {CONFIG}")
        review.append(
            "harvest.test_patterns decides what becomes a hidden test; it was guessed from the tree: "
            + (", ".join(config.harvest.test_patterns) or "nothing looked like a test")
        )
        if config.provider == "none":
            review.append(
                f"the name of {repository.host} does not tell its forge: if it is a GitHub or a GitLab, set provider; "
                "with none, local history serves alone"
            )
    else:
        lines.append(f"kept {CONFIG}, which is there already")
        config = project.read_config()
    drafted = _dockerfile(project, config.dockerfile, snapshot, base_image, today)
    return Begun((*lines, *drafted.lines), (*review, *drafted.review))


def _main(history: History, named: str, remote: str) -> str:
    try:
        return history.main_branch(named, remote)
    except RepositoryError as error:
        # Settings, where it could be named as well, are what is being written.
        raise RepositoryError(
            error.message,
            remedy="Name a branch that has commits: `berbench init --main-branch NAME`.",
        ) from error


def _dockerfile(project: Project, name: str, snapshot: Snapshot, base_image: str, today: date) -> Begun:
    try:
        project.read_dockerfile(name)
    except ConfigError:
        pass
    else:
        return Begun((f"kept {name}, which is there already",), ())
    try:
        drafted = draft(snapshot, base_image=base_image, today=today)
    except ConfigError as error:
        return Begun((f"drafted no {name}: {error.message}",), (error.remedy,))
    project.write_dockerfile(name, drafted.dockerfile.encode())
    return Begun(
        (f"drafted {name}",), (f"{name} is a draft:", *(f"  {reason}" for reason in drafted.reasons))
    )


def _provider(repository: Repository) -> Provider:
    match repository.provider:
        case "github":
            return "github"
        case "gitlab":
            return "gitlab"
        case _:
            return "none" if repository.host else "auto"
