from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import pytest

from berbench.engine.door import EngineInfo, Leftover
from berbench.errors import BerbenchError, EngineError, ForgeError, RepositoryError
from berbench.model.task import Config, Harvest
from berbench.stages.doctor import Finding, document, examine
from berbench.store import DataDir, Project
from berbench.store.machine import OldFolder
from taskfiles import make_files

T = TypeVar("T")

INFO = EngineInfo(
    "Docker 20.10.24", "1.41", "7.1.0", "linux/amd64", "overlay2", "unix:///var/run/docker.sock", 10**11
)


@dataclass
class Repo:
    root: Path
    git_version: str = "2.39.5"
    shallow: bool = False

    def is_shallow(self) -> bool:
        return self.shallow


@dataclass
class Docker:
    about: EngineInfo = INFO
    left: tuple[Leftover, ...] = ()

    def info(self) -> EngineInfo:
        return self.about

    def leftovers(self) -> tuple[Leftover, ...]:
        return self.left


@dataclass
class Api:
    credentials: str = "GITHUB_TOKEN"
    failure: BerbenchError | None = None

    def check(self) -> str:
        if self.failure:
            raise self.failure
        return "4,999 of 5,000 requests left"


@dataclass
class Here:
    """A machine in good health."""

    free: int | None = 10**11
    files: int = 65536
    may_write: bool = True
    folders: tuple[OldFolder, ...] = ()

    def free_bytes(self, path: Path) -> int | None:
        return self.free

    def open_file_limit(self) -> int:
        return self.files

    def writable(self, folder: Path) -> bool:
        return self.may_write

    def temporary_folders(self) -> tuple[OldFolder, ...]:
        return self.folders


@dataclass
class Place:
    """A repository in good health. An exception in place of a door is raised when the door is asked for."""

    folder: Path
    repo: Repo | BerbenchError | None = None
    docker: Docker | BerbenchError = field(default_factory=Docker)
    api: Api | None = field(default_factory=Api)

    @property
    def history(self) -> Repo:
        return _opened(self.repo or Repo(self.folder))

    @property
    def main(self) -> str:
        return "refs/heads/main" if self.config else ""

    @property
    def engine(self) -> Docker:
        return _opened(self.docker)

    @cached_property
    def project(self) -> Project:
        return Project(self.history.root, locks=self.folder / "locks")

    @property
    def config(self) -> Config:
        return self.project.read_config()

    @property
    def data(self) -> DataDir:
        return DataDir(self.history.root / "data", "repo", locks=self.folder / "locks")

    def forge(self, *, no_api: bool) -> Api | None:
        assert self.config
        return self.api


def _opened(door: T | BerbenchError) -> T:
    if isinstance(door, BerbenchError):
        raise door
    return door


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.project.write_config(Config(harvest=Harvest(test_patterns=("tests/",))))
    made.project.write_dockerfile("Dockerfile.berbench", b"FROM x\n")
    made.project.create_task(make_files())
    return made


def findings(place: Place, here: Here | None = None) -> dict[str, Finding]:
    found = examine(place, here or Here())  # type: ignore[arg-type]
    assert len({finding.name for finding in found}) == len(found)
    assert all(finding.remedy for finding in found if not finding.ok)
    return {finding.name: finding for finding in found}


def failing(place: Place, here: Here | None = None) -> dict[str, Finding]:
    return {name: finding for name, finding in findings(place, here).items() if not finding.ok}


def test_everything_is_there(place: Place) -> None:
    found = findings(place)
    assert failing(place) == {}
    assert "Docker 20.10.24, API 1.41 (client 7.1.0)" in found["engine"].message
    assert "overlay2" in found["engine"].message
    assert found["forge"].message == "4,999 of 5,000 requests left"
    assert found["tasks"].message == "1, all readable"
    assert document(tuple(found.values()))["ok"] is True


def test_why_a_check_failed_is_told_with_it(place: Place) -> None:
    place.docker = EngineError("No engine answers.", remedy="Start one.", details=["unix:///x: no such file"])
    assert failing(place)["engine"].message == "No engine answers (unix:///x: no such file)."


def test_an_absent_engine_is_one_finding(place: Place) -> None:
    place.docker = EngineError("No container engine answers.", remedy="Run `make engine`.")
    failed = failing(place)
    assert list(failed) == ["engine"]
    assert failed["engine"].remedy == "Run `make engine`."
    assert document(tuple(failed.values())) == {
        "schema": "berbench.doctor/1",
        "ok": False,
        "findings": [
            {
                "name": "engine",
                "ok": False,
                "message": "No container engine answers.",
                "remedy": "Run `make engine`.",
            }
        ],
    }


def test_outside_a_repository_the_rest_is_examined_all_the_same(place: Place) -> None:
    fresh = Place(place.folder, repo=RepositoryError("Not a repository.", remedy="cd into one."))
    found = findings(fresh)
    assert list(failing(fresh)) == ["repository"]
    assert found["engine"].ok
    assert "open files" in found


def test_no_settings_are_told_once(place: Place) -> None:
    place.project.config_path.unlink()
    assert list(failing(place)) == ["settings"]


def test_D17_a_low_limit_of_open_files_is_found(place: Place) -> None:
    assert list(failing(place, Here(files=256))) == ["open files"]
    assert failing(place, Here(files=-1)) == {}


@pytest.mark.parametrize("free", [0, 10**8])
def test_a_disk_that_is_almost_full_is_found(place: Place, free: int) -> None:
    place.docker = Docker(replace(INFO, free_bytes=free))
    assert list(failing(place, Here(free=free))) == ["engine disk", "disk"]
    place.docker = Docker(replace(INFO, free_bytes=None))
    assert failing(place, Here(free=None)) == {}


@pytest.mark.parametrize(
    ("version", "ok"), [("2.31.0", True), ("2.39.5.windows.1", True), ("2.30.9", False), ("3", True)]
)
def test_an_old_git_is_found(place: Place, version: str, ok: bool) -> None:
    place.repo = Repo(place.folder, git_version=version)
    assert findings(place)["git"].ok is ok


def test_a_shallow_clone_is_found(place: Place) -> None:
    place.repo = Repo(place.folder, shallow=True)
    assert "git fetch --unshallow" in failing(place)["repository"].remedy


def test_a_broken_task_is_named(place: Place) -> None:
    for task_id in ("8", "9", "10", "11"):
        place.project.create_task(make_files(task_id))
        (place.project.folder(task_id) / "tests.patch").unlink()
    message = failing(place)["tasks"].message
    assert message.startswith("4 of 5 can't be read: 8 (Task 8 has no tests.patch); 9 ")
    assert message.endswith("and 1 more.")


def test_settings_and_dockerfile_must_say_something(place: Place) -> None:
    place.project.config_path.write_bytes(b"dockerfile: other\n")
    assert list(failing(place)) == ["settings", "Dockerfile"]
    place.project.write_dockerfile("other", b" \n")
    assert "is empty" in failing(place)["Dockerfile"].message


def test_a_data_folder_that_can_not_be_written_is_found(place: Place) -> None:
    assert "BERBENCH_DATA_DIR" in failing(place, Here(may_write=False))["data folder"].remedy


def test_the_forge_is_optional_but_must_work_when_it_is_there(place: Place) -> None:
    place.api = None
    assert findings(place)["forge"].ok
    place.api = Api(credentials="")
    assert findings(place)["forge"].ok
    place.api = Api(credentials="", failure=ForgeError("It can't be seen.", remedy="It needs a token."))
    assert failing(place)["forge"].remedy.startswith("It needs a token; or work offline")
    place.api = Api(failure=ForgeError("401.", remedy="Renew the token in GITHUB_TOKEN."))
    assert list(failing(place)) == ["forge"]


def test_leftovers_are_counted(place: Place) -> None:
    things = [
        ("container", False),
        ("container", False),
        ("network", False),
        ("container", True),
        ("image", False),
    ]
    place.docker = Docker(left=tuple(Leftover(kind, "i", "n", 0, 0, used) for kind, used in things))
    found = failing(place, Here(folders=(OldFolder("temporary", place.folder, 0, 0),)))["leftovers"]
    assert found.message == "2 containers, 1 network, 1 temporary folder"
    assert found.remedy == "Run `berbench clean`."
