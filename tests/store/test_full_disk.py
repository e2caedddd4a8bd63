"""Disk full, read-only and forbidden folders: one sentence, and nothing half-written."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from berbench.errors import StoreError
from berbench.model.task import Config
from berbench.model.trial import Evidence, Facts, Verdict, VerdictName
from berbench.store import DataDir, Project
from berbench.store.files import translated
from taskfiles import Trialed, ended, in_child, make_block, make_files

LIBC = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_REMOUNT, MNT_DETACH = 1, 32, 2


def mounted(folder: Path, size: str) -> bool:
    """Put a small file system of its own there; False where that is not allowed."""
    return LIBC.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, f"size={size}".encode()) == 0


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A folder in which little room is left: a tiny disk, or, where none can be mounted, a limit on files."""
    folder = tmp_path / "small"
    folder.mkdir()
    if mounted(folder, "256k"):
        yield folder
        LIBC.umount2(os.fsencode(folder), MNT_DETACH)
    else:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
        yield folder
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_full_disk_leaves_what_was_there(small: Path, tmp_path: Path) -> None:
    project = Project(small / "repo", locks=tmp_path / "locks")
    project.create_task(make_files("7", description="old"))
    before = everything(small)
    big = make_files("7", description="new" * 100_000)
    tests = tuple(f"tests/test_x.py::test_{number}" for number in range(10_000))
    uses: list[Callable[[], object]] = [
        lambda: project.create_task(big, force=True),
        lambda: project.create_task(make_files("8", description="new" * 100_000)),
        lambda: project.write_validation("7", make_block(make_files(), *tests)),
        lambda: project.update_prompt("7", b"x" * 300_000),
    ]
    for use in uses:
        with pytest.raises(StoreError, match=r"the disk is full|would grow beyond") as caught:
            use()
        assert caught.value.remedy
        assert everything(small) == before
    assert project.task_ids() == ("7",)
    project.update_prompt("7", b"there is room for this")


def test_a_record_that_does_not_fit_is_not_half_there(small: Path) -> None:
    data = DataDir(small, "repo", locks=small / "locks")
    facts = Facts("base", 1, log=b"x" * 400_000)
    verdict = Verdict(VerdictName.BASE_PASSES, "why")
    with pytest.raises(StoreError, match=r"the disk is full|would grow beyond"):
        data.save_validation("7", datetime.now(UTC), verdict, {"base": Trialed(facts, Evidence())})
    assert data.validations("7") == ()
    run = data.save_validation("7", datetime.now(UTC), verdict, {})
    assert data.validations("7") == (run,)


def test_a_read_only_disk_is_one_sentence_and_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "read-only"
    folder.mkdir()
    project = Project(folder / "repo", locks=tmp_path / "locks")
    if not mounted(folder, "1m"):  # then only the sentence itself can be tried
        with pytest.raises(StoreError, match="the file system is read-only"), translated("write", folder):
            raise OSError(errno.EROFS, "")
        return
    try:
        project.create_task(make_files())
        flags = MS_REMOUNT | MS_RDONLY
        assert LIBC.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", flags, None) == 0
        for use in (
            lambda: project.create_task(make_files("8")),
            lambda: project.write_validation("7", make_block(make_files())),
            lambda: project.write_config(Config()),
        ):
            with pytest.raises(StoreError, match="the file system is read-only"):
                use()
        assert project.task_ids() == ("7",)
        assert project.read_task("7") == make_files()
    finally:
        LIBC.umount2(os.fsencode(folder), MNT_DETACH)


def test_a_forbidden_folder_is_one_sentence_and_can_be_read() -> None:
    """Root is forbidden nothing, so the deed is done by a child that is nobody."""
    folder = Path(tempfile.mkdtemp(prefix="bb-forbidden-", dir="/tmp"))
    try:
        folder.chmod(0o755)
        Project(folder, locks=folder / "locks").create_task(make_files())
        (folder / "mine").mkdir(mode=0o777)
        (folder / "mine").chmod(0o777)
        for path in (folder / ".ber").rglob("*"):
            path.chmod(0o555 if path.is_dir() else 0o444)

        def try_all() -> None:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            project = Project(folder, locks=folder / "mine" / "locks")
            for use in (
                lambda: project.create_task(make_files("8")),
                lambda: project.create_task(make_files("7"), force=True),
                lambda: project.write_validation("7", make_block(make_files())),
                lambda: project.update_prompt("7", b"x"),
            ):
                with pytest.raises(StoreError, match="permission is denied"):
                    use()
            assert project.read_task("7") == make_files()
            with pytest.raises(StoreError, match="permission is denied"):
                Project(folder, locks=folder / "locks" / "x").update_prompt("7", b"x")

        before = everything(folder / ".ber")
        assert ended(in_child(try_all)) == 0
        assert everything(folder / ".ber") == before
    finally:
        with suppress(OSError):
            for path in (folder / ".ber").rglob("*"):
                path.chmod(0o755)
        shutil.rmtree(folder)
