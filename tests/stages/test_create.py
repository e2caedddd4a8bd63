"""Tasks out of pull requests: what lands in the folder, and what is refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from sampleplace import SamplePlace

from berbench.errors import ConfigError, LandingError, UsageError
from berbench.history import GitHistory
from berbench.model.changes import LandedBy, Repository
from berbench.stages.create import Doors, Request, create
from berbench.stages.init import initialise
from berbench.stages.lint import LintDoors
from berbench.stages.scan import scan
from berbench.store import Project
from gitrepo import File, RepoBuilder, gitlink, symlink


def _landed(place: SamplePlace, pr: int) -> object:
    return create(Doors(place.lint, None), Request(pr), lambda line: None)


def test_every_landing_form_becomes_a_task_whose_patches_keep_the_law(place: SamplePlace) -> None:
    forms = set()
    for pull in place.sample.pull_requests:
        created = place.create(pull)
        files = place.project.read_task(created.id)
        source = files.task.source
        forms.add(source.landed_by)
        base = place.history.tree_of(source.base_commit)
        with_tests = place.history.apply(base, files.tests_patch)
        landing = place.history.tree_of(source.landing_commit)
        assert place.history.apply(with_tests, files.reference_patch) == landing, pull.title
        assert files.task.validation is None
    assert forms == set(LandedBy)


def test_a_task_is_ready_for_review(place: SamplePlace) -> None:
    created = place.create(place.pull("Leave words out of top()"))
    task = created.files.task
    assert task.id == "8"
    assert task.verify.command == "python -m pytest tests/test_words.py"
    assert task.verify.protected_paths == ("tests/",)
    assert task.source.version == "v0.2.0"
    assert b"#7" not in created.files.prompt
    assert {path.name for path in created.folder.iterdir()} == {
        "task.yaml",
        "prompt.md",
        "tests.patch",
        "reference.patch",
    }


def test_a_commit_with_no_pull_request_is_named_by_its_id(place: SamplePlace) -> None:
    created = place.create(place.pull("Strip a byte order mark"))
    assert created.id == created.landing.commit[:12]
    assert created.files.task.source.pull_request is None


def test_an_existing_task_is_never_overwritten_without_force(place: SamplePlace) -> None:
    pull = place.pull("Leave words out of top()")
    place.create(pull)
    place.project.update_prompt("8", b"mine\n")
    with pytest.raises(UsageError, match="exists already"):
        place.create(pull)
    assert place.project.read_task("8").prompt == b"mine\n"
    place.create(pull, force=True)
    assert place.project.read_task("8").prompt != b"mine\n"


@pytest.mark.parametrize("pr", [17, 999])
def test_what_is_no_landing_is_refused(place: SamplePlace, pr: int) -> None:
    with pytest.raises(LandingError) as refused:
        _landed(place, pr)
    assert refused.value.remedy
    assert place.project.task_ids() == ()


def test_everything_classified_as_tests_is_refused_with_the_remedy(place: SamplePlace) -> None:
    config = place.project.config_path
    text = config.read_text()
    start = text.index("  test_patterns:")
    config.write_text(text[:start] + "  test_patterns: ['**']\n")
    with pytest.raises(LandingError) as refused:
        _landed(place, 8)
    assert "harvest.test_patterns" in refused.value.remedy


def test_empty_patterns_are_a_configuration_error(place: SamplePlace) -> None:
    config = place.project.config_path
    text = config.read_text()
    config.write_text(text[: text.index("  test_patterns:")] + "  test_patterns: []\n")
    with pytest.raises(ConfigError, match="test_patterns is empty"):
        _landed(place, 8)


def test_create_finds_what_scan_lists_behind_a_release_merge(tmp_path: Path) -> None:
    """Pull requests that came to the main line by the project's own release branch are landings to both verbs."""
    repo = RepoBuilder(tmp_path / "repo")
    repo.commit("Begin", {"a.py": b"x = 1\n", "tests/test_a.py": b"def test_a():\n    assert 1\n"})
    repo.branch("release/9.x")
    test = b"from a import y\n\ndef test_y():\n    assert y\n"
    repo.commit("Add y (#5)", {"a.py": b"x = 1\ny = 2\n", "tests/test_y.py": test})
    repo.switch("main")
    repo.merge("release/9.x", "Merge pull request #6 from owner/release/9.x\n\nRelease 9")
    repository = Repository("github.com", "owner/name", "github")
    with GitHistory(repo.path) as history:
        project = Project(repo.path, locks=tmp_path / "locks")
        initialise(
            history, project, remote="origin", repository=repository, base_image="x", today=date(2026, 1, 2)
        )
        found = scan(
            history, patterns=["tests/**"], main="main", repository=repository, say=lambda line: None
        )
        assert [candidate.pr for candidate in found.candidates] == [5]
        doors = LintDoors(history, project, project.read_config(), repository, "refs/heads/main")
        assert create(Doors(doors, None), Request(5), lambda line: None).id == "5"


def test_where_only_data_changed_the_tests_that_name_it_are_run(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "repo")
    reader = b"def test_rows():\n    with open('tests/data/rows.txt') as rows:\n        assert rows.read()\n"
    repo.commit(
        "Begin",
        {
            "a.py": b"x = 1\n",
            "tests/unit/test_rows.py": b"import pytest\n\n" + reader,
            "tests/unit/test_other.py": b"def test_o():\n    assert 1\n",
            "tests/data/rows.txt": b"1\n",
        },
    )
    repo.commit("More rows (#5)", {"a.py": b"x = 2\n", "tests/data/rows.txt": b"1\n2\n"})
    with GitHistory(repo.path) as history:
        project = Project(repo.path, locks=tmp_path / "locks")
        initialise(
            history, project, remote="origin", repository=Repository(), base_image="x", today=date(2026, 1, 2)
        )
        doors = LintDoors(history, project, project.read_config(), Repository(), "refs/heads/main")
        made = create(Doors(doors, None), Request(5), lambda line: None)
    assert made.files.task.verify.command == "python -m pytest tests/unit/test_rows.py"
    assert "only data" in made.proposal.reasons[0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"sub": gitlink("1" * 40)}, "it moves the submodule 'sub'"),
        ({"model": b"version https://git-lfs.github.com/spec/v1\n"}, "whose content is kept in LFS"),
        ({"out": symlink("../x")}, "the link 'out' points out of the repository"),
        ({"a.py": None}, "it changes only tests"),
        ({"tests/test_a.py": b"def test_a():\n    assert 1\n"}, "it changes only implementation"),
    ],
)
def test_P19_P20_what_can_not_keep_the_law_is_refused_by_name(
    tmp_path: Path, more: dict[str, File], said: str
) -> None:
    repo = RepoBuilder(tmp_path / "repo")
    start: dict[str, File] = {"b.py": b"x = 1\n", "tests/test_a.py": b"def test_a():\n    assert 1\n"}
    repo.commit("Begin", start)
    change: dict[str, File] = {"a.py": b"x = 2\n", "tests/test_a.py": b"def test_a():\n    assert 2\n"}
    wanted = {path: data for path, data in (change | more).items() if data is not None}
    repo.commit("Change (#5)", wanted)
    with GitHistory(repo.path) as history:
        project = Project(repo.path, locks=tmp_path / "locks")
        initialise(
            history, project, remote="origin", repository=Repository(), base_image="x", today=date(2026, 1, 2)
        )
        doors = LintDoors(history, project, project.read_config(), Repository(), "refs/heads/main")
        with pytest.raises(LandingError) as refused:
            create(Doors(doors, None), Request(5), lambda line: None)
        assert said in refused.value.message
        assert not project.task_ids()


def test_the_users_repository_is_untouched(place: SamplePlace) -> None:
    def state(folder: Path) -> dict[str, bytes]:
        files = [path for path in sorted((folder / ".git").rglob("*")) if path.is_file()]
        return {str(path): path.read_bytes() for path in files}

    root = place.sample.root
    (root / "tally" / "words.py").write_text("dirty\n")
    before = state(root)
    for pull in place.sample.pull_requests[:3]:
        place.create(pull)
    assert state(root) == before
    assert (root / "tally" / "words.py").read_text() == "dirty\n"
