from __future__ import annotations

from pathlib import Path

import pytest

from berbench.errors import ConfigError
from berbench.model.task import Config, Harvest
from berbench.store import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "repo", locks=tmp_path / "locks")


def test_settings_come_back_as_they_were_written(project: Project) -> None:
    config = Config(main_branch="trunk", harvest=Harvest(test_patterns=("tests/**", "*_test.go", "é'\"")))
    assert project.write_config(config)
    assert project.read_config() == config
    assert b"issue | pr_description | commit_message" in project.config_path.read_bytes()


def test_settings_are_never_overwritten(project: Project) -> None:
    project.write_config(Config())
    project.config_path.write_bytes(b"remote: mine # by hand\n")
    assert not project.write_config(Config())
    assert project.config_path.read_bytes() == b"remote: mine # by hand\n"
    assert project.read_config().remote == "mine"


def test_no_settings_yet_says_how_to_get_some(project: Project) -> None:
    with pytest.raises(ConfigError) as caught:
        project.read_config()
    assert "berbench init" in caught.value.remedy


def test_a_typo_names_file_key_and_the_nearest_key(project: Project) -> None:
    project.config_path.parent.mkdir(parents=True)
    project.config_path.write_bytes(b"harvest:\r\n  test_pattern: [a]\r\n")
    with pytest.raises(ConfigError, match=r"config\.yaml: `harvest\.test_pattern`.*`harvest\.test_patterns`"):
        project.read_config()


def test_a_link_in_the_way_is_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    project.root.mkdir()
    (project.root / ".ber").symlink_to(tmp_path / "elsewhere")
    for use in (project.read_config, project.task_ids, lambda: project.write_config(Config())):
        with pytest.raises(ConfigError, match="is a link"):
            use()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_dockerfile_is_read_from_inside_the_repository_only(project: Project, tmp_path: Path) -> None:
    (project.root / "docker").mkdir(parents=True)
    (tmp_path / "secret").write_bytes(b"x")
    (project.root / "way out").symlink_to(tmp_path / "secret")
    (project.root / "inside").symlink_to("docker/Dockerfile")
    assert project.write_dockerfile("docker/Dockerfile", b"FROM a\r\n")
    assert not project.write_dockerfile("docker/Dockerfile", b"FROM b\n")
    assert project.read_dockerfile("docker/Dockerfile") == project.read_dockerfile("inside") == b"FROM a\r\n"
    for name in ("../secret", str(tmp_path / "secret"), "way out", "docker/../../secret", ""):
        with pytest.raises(ConfigError, match="is no path inside"):
            project.read_dockerfile(name)
    with pytest.raises(ConfigError, match=r"There is no Dockerfile\.berbench"):
        project.read_dockerfile("Dockerfile.berbench")
    with pytest.raises(ConfigError, match="no plain file"):
        project.read_dockerfile("docker")
