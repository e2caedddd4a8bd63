from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from berbench.errors import BerbenchError, ConfigError, StoreError, UsageError
from berbench.fingerprint import standing
from berbench.model.task import TaskFiles, TaskState
from berbench.store import Project
from taskfiles import make_block, make_files, make_inputs, proven, unprove


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "repo", locks=tmp_path / "locks")


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_task_comes_back_byte_for_byte(project: Project) -> None:
    files = make_files("7", description="a: b # c", hide=("é", "tests/\udce9.py", "off"))
    folder = project.create_task(files)
    assert project.read_task("7") == files
    assert sorted(path.name for path in folder.iterdir()) == [
        "prompt.md",
        "reference.patch",
        "task.yaml",
        "tests.patch",
    ]
    assert folder.stat().st_mode & 0o777 == 0o777 & ~_umask()
    assert (folder / "task.yaml").stat().st_mode & 0o777 == 0o666 & ~_umask()
    assert [path.name for path in folder.parent.iterdir()] == ["7"]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"a \n \n",
        b"\xe9\x00\xff",
        b"a\r\nb\r",
        b"\xef\xbb\xbfx",
        "\u2028\f".encode(),
        b"x" * 1_000_000,
    ],
)
def test_P16_P13_P37_patches_and_prompts_keep_every_byte(project: Project, data: bytes) -> None:
    files = replace(make_files(), prompt=data, tests_patch=data, reference_patch=data)
    project.create_task(files)
    project.write_validation("7", make_block(files))
    read = project.read_task("7")
    assert (read.prompt, read.tests_patch, read.reference_patch) == (data, data, data)
    assert standing(read, make_inputs(files)).state is TaskState.FRESH


def test_P11_a_task_saved_with_crlf_says_the_same(project: Project) -> None:
    files = make_files("7", description="two\nlines\n")
    path = project.create_task(files) / "task.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert project.read_task("7") == files
    project.write_validation("7", make_block(files))
    project.update_verify_command("7", "go test ./...")
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")
    assert project.read_task("7").task.verify.command == "go test ./..."


def test_ids_are_listed_in_natural_order(project: Project) -> None:
    assert project.task_ids() == ()
    for task_id in ("10", "9", "a10", "a9", "0009", "Z"):
        project.create_task(make_files(task_id))
    (project.tasks_folder / "README.md").write_text("not a task")
    (project.tasks_folder / ".hidden").mkdir()
    assert project.task_ids() == ("0009", "9", "10", "Z", "a9", "a10")


@pytest.mark.parametrize(
    "task_id", ["", ".", "..", "../x", "a/b", "-x", ".x", "a b", "x" * 101, "a\n", "é", "a\0b", "\udce9"]
)
def test_an_unsafe_id_is_refused_wherever_it_comes_in(project: Project, task_id: str) -> None:
    uses: list[Callable[[], object]] = [
        lambda: project.read_task(task_id),
        lambda: project.folder(task_id),
        lambda: project.check_free(task_id, force=True),
        lambda: project.create_task(make_files(task_id), force=True),
        lambda: project.update_prompt(task_id, b"x"),
        lambda: project.update_verify_command(task_id, "x"),
    ]
    for use in uses:
        with pytest.raises(UsageError, match="can't be a task's id"):
            use()
    assert not project.root.exists()


def test_D19_ids_that_differ_in_case_only_stay_apart(project: Project) -> None:
    long = "Org__Repo.X-PR_12"
    for task_id in (long, long.lower(), "y" * 100):
        project.create_task(make_files(task_id, description=task_id))
    assert {project.read_task(task_id).task.description for task_id in project.task_ids()} == {
        long,
        long.lower(),
        "y" * 100,
    }


def test_an_existing_task_is_replaced_only_by_force(project: Project) -> None:
    project.create_task(make_files("7", description="old"))
    (project.folder("7") / "prompt.md").write_bytes(b"edited")
    for use in (lambda: project.check_free("7"), lambda: project.create_task(make_files("7"))):
        with pytest.raises(UsageError) as caught:
            use()
        assert "--force" in caught.value.remedy
    assert project.read_task("7").prompt == b"edited"
    project.create_task(proven(make_files("7", description="new")), force=True)
    read = project.read_task("7")
    assert (read.task.description, read.prompt, read.task.validation) == ("new", b"Mend it.\n", None)
    assert [path.name for path in project.tasks_folder.iterdir()] == ["7"]


def test_writing_a_validation_leaves_every_other_byte(project: Project) -> None:
    files = make_files()
    path = project.create_task(files) / "task.yaml"
    above = (
        b"# mine\n" + path.read_bytes().replace(b"weight: 1.0", b"weight:   1.0   # heavy") + b"\n# end\n\n\n"
    )
    path.write_bytes(above)
    path.chmod(0o640)
    project.write_validation("7", make_block(files))
    assert path.read_bytes().startswith(above)
    assert path.stat().st_mode & 0o777 == 0o640
    read = project.read_task("7")
    assert standing(read, make_inputs(read)).state is TaskState.FRESH
    project.write_validation("7", make_block(files, "t::other"))
    assert path.read_bytes().count(b"\nvalidation:") == 1
    unprove(project, "7")
    assert path.read_bytes() == above
    unprove(project, "7")
    assert path.read_bytes() == above


def test_edits_of_a_task_keep_comments(project: Project) -> None:
    path = project.create_task(make_files()) / "task.yaml"
    before = path.read_bytes()
    command = "pytest 'a b' # x\nnext"
    project.update_verify_command("7", command)
    project.update_protected_paths("7", ["tests/", "a, b"])
    project.update_prompt("7", b"\xff new\r\n")
    read = project.read_task("7")
    assert read.task.verify.command == command
    assert read.task.verify.protected_paths == ("tests/", "a, b")
    assert read.prompt == b"\xff new\r\n"
    kept = [
        line
        for line in before.splitlines()
        if line.startswith((b"timeout_s", b"hide", b"  evidence", b"assert"))
    ]
    assert [line for line in path.read_bytes().splitlines() if line in kept] == kept


def spoil(project: Project, name: str, data: bytes | None) -> None:
    path = project.folder("7") / name
    path.unlink()
    if data is not None:
        path.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("tests.patch", None, "Task 7 has no tests.patch"),
        ("prompt.md", None, "Task 7 has no prompt.md"),
        ("task.yaml", None, "Task 7 has no task.yaml"),
        ("task.yaml", b"", "`id` is missing"),
        ("task.yaml", b"id: 7\n\tx: y\n", "7/task.yaml, line 2"),
        ("task.yaml", b"id: 7\nid: 7\n", "stands twice"),
        ("task.yaml", b"caf\xe9", "not UTF-8"),
    ],
)
def test_a_broken_task_says_what_is_wrong(project: Project, name: str, data: bytes | None, said: str) -> None:
    project.create_task(make_files())
    spoil(project, name, data)
    with pytest.raises(ConfigError) as caught:
        project.read_task("7")
    assert said in caught.value.message
    assert caught.value.remedy


def test_a_copied_folder_is_refused(project: Project) -> None:
    project.create_task(make_files())
    project.folder("7").rename(project.folder("8"))
    with pytest.raises(ConfigError, match="`id` is '7', but the folder is '8'"):
        project.read_task("8")


@pytest.mark.parametrize(
    "name", ["../../config.yaml", "reference.patch", "tests.patch", "task.yaml", "/etc/passwd", "a/b"]
)
def test_the_prompt_is_a_file_of_its_own(project: Project, name: str) -> None:
    path = project.create_task(make_files()) / "task.yaml"
    path.write_bytes(path.read_bytes().replace(b"file: prompt.md", b"file: '" + name.encode() + b"'"))
    with pytest.raises(ConfigError, match=r"prompt\.file"):
        project.read_task("7")


@pytest.mark.parametrize("name", ["task.yaml", "prompt.md", "tests.patch", "reference.patch"])
@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_links_and_pipes_among_the_files_are_refused(
    project: Project, tmp_path: Path, name: str, kind: str
) -> None:
    path = project.create_task(make_files()) / name
    (tmp_path / "outside").write_bytes(path.read_bytes())
    path.unlink()
    if kind == "link":
        path.symlink_to(tmp_path / "outside")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    uses: list[Callable[[], object]] = [lambda: project.read_task("7")]
    if name == "task.yaml":
        uses.append(lambda: project.write_validation("7", make_block(make_files())))
    for use in uses:
        with pytest.raises(ConfigError, match="is a link" if kind == "link" else "no plain file"):
            use()


def test_a_linked_task_folder_is_refused(project: Project, tmp_path: Path) -> None:
    project.create_task(make_files("7"))
    project.folder("7").rename(tmp_path / "7")
    project.folder("7").symlink_to(tmp_path / "7")
    before = everything(tmp_path / "7")
    uses: list[Callable[[], object]] = [
        lambda: project.read_task("7"),
        lambda: project.create_task(make_files("7"), force=True),
        lambda: project.write_validation("7", make_block(make_files())),
        lambda: project.update_prompt("7", b"x"),
    ]
    for use in uses:
        with pytest.raises(ConfigError, match="link"):
            use()
    assert everything(tmp_path / "7") == before


def test_an_unknown_task_suggests_a_near_one(project: Project) -> None:
    project.create_task(make_files("13964"))
    uses: list[Callable[[], object]] = [
        lambda: project.read_task("13946"),
        lambda: project.update_verify_command("13946", "x"),
    ]
    for use in uses:
        with pytest.raises(UsageError, match=r"no task 13946") as caught:
            use()
        assert "13964" in caught.value.remedy


def test_a_file_where_a_folder_should_be_is_one_sentence(project: Project) -> None:
    project.root.mkdir()
    (project.root / ".ber").write_text("x")
    with pytest.raises(StoreError, match="a file stands where a folder should be"):
        project.create_task(make_files())


def test_many_tasks_are_read_without_an_engine(project: Project) -> None:
    files = proven(make_files("1"))
    project.create_task(files)
    project.write_validation("1", make_block(files))
    text = everything(project.folder("1"))
    for number in range(2, 101):
        folder = project.tasks_folder / str(number)
        folder.mkdir()
        for name, data in text.items():
            (folder / name).write_bytes(data.replace(b"id: '1'", b"id: '%d'" % number))
    states = []
    for task_id in project.task_ids():
        read: TaskFiles | BerbenchError = project.read_task(task_id)
        assert isinstance(read, TaskFiles)
        states.append(standing(read, make_inputs(read)).state)
    assert states == [TaskState.FRESH] + [TaskState.FORGED] * 99
