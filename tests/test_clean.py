from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from berbench.engine.door import Leftover
from berbench.errors import EngineError
from berbench.stages.clean import Cleaned, clean, document
from berbench.store import machine
from berbench.store.machine import OldFolder, record_folders, remove, temporary_folders

DAY = 86400.0
NOW = 100 * DAY


def leftover(kind: str, name: str, *, age: float = 10 * DAY, in_use: bool = False, key: str = "") -> Leftover:
    return Leftover(kind, f"id-{name}", name, NOW - age, 1000, in_use, key)


@dataclass
class Shelf:
    """The part of an engine that `clean` uses."""

    things: list[Leftover]
    stuck: frozenset[str] = frozenset()
    built_on: dict[str, str] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)

    def leftovers(self) -> tuple[Leftover, ...]:
        return tuple(self.things)

    def remove(self, thing: Leftover) -> None:
        if thing.name in self.stuck:
            raise EngineError("the engine says no")
        if any(below == thing.name and above not in self.removed for above, below in self.built_on.items()):
            raise EngineError("image has dependent child images")
        self.removed.append(thing.name)


def run(
    shelf: Shelf | None, folders: tuple[OldFolder, ...] = (), **options: Any
) -> tuple[Cleaned, list[str]]:
    said: list[str] = []
    given = {
        "older_than_s": 7 * DAY,
        "keep_keys": frozenset({"needed"}),
        "now_s": NOW,
        "remove_folder": remove,
    }
    return clean(shelf, folders, say=said.append, **{**given, **options}), said  # type: ignore[arg-type]


THINGS = [
    leftover("container", "dead"),
    leftover("container", "alive", in_use=True),
    leftover("network", "dead-net"),
    leftover("network", "young-net", age=DAY),
    leftover("image", "old", key="forgotten"),
    leftover("image", "needed", key="needed"),
    leftover("image", "young", key="forgotten", age=DAY),
    leftover("image", "unknown"),
]


def test_only_what_is_old_and_unneeded_goes() -> None:
    shelf = Shelf(THINGS)
    cleaned, said = run(shelf)
    assert shelf.removed == ["dead", "dead-net", "old"]
    assert (cleaned.kept, cleaned.failed, said) == (5, (), [])
    assert cleaned.freed_bytes == 3000
    assert cleaned.lines[0] == "container dead (1 kB)"


def test_images_stay_when_it_is_not_known_which_are_needed() -> None:
    shelf = Shelf(THINGS)
    run(shelf, keep_keys=None)
    assert shelf.removed == ["dead", "dead-net"]


def test_what_is_in_use_stays_at_any_age() -> None:
    shelf = Shelf(THINGS)
    run(shelf, older_than_s=0)
    assert "alive" not in shelf.removed
    assert "needed" not in shelf.removed
    assert len(shelf.removed) == 5


def test_a_dry_run_removes_nothing_and_tells_the_same(tmp_path: Path) -> None:
    shelf, folder = Shelf(THINGS), OldFolder("temporary", tmp_path, 0.0, 1)
    cleaned, _ = run(shelf, (folder,), dry_run=True)
    assert shelf.removed == []
    assert tmp_path.exists()
    assert [one.name for one in cleaned.removed] == ["dead", "dead-net", "old", str(tmp_path)]


def test_an_image_that_others_were_built_on_goes_after_them() -> None:
    images = [leftover("image", name, key="forgotten") for name in ("lowest", "lower", "top")]
    shelf = Shelf(images, built_on={"lower": "lowest", "top": "lower"})
    cleaned, said = run(shelf)
    assert shelf.removed == ["top", "lower", "lowest"]
    assert (cleaned.failed, said) == ((), [])


def test_what_refuses_to_go_stops_nothing() -> None:
    shelf = Shelf(THINGS, stuck=frozenset({"dead"}))
    cleaned, said = run(shelf)
    assert shelf.removed == ["dead-net", "old"]
    assert cleaned.failed == ("container dead: the engine says no",)
    assert said == ["could not remove container dead: the engine says no"]
    assert document(cleaned) == {
        "schema": "berbench.clean/1",
        "removed": [
            {"kind": "network", "name": "dead-net", "bytes": 1000},
            {"kind": "image", "name": "old", "bytes": 1000},
        ],
        "kept": 5,
        "failed": ["container dead: the engine says no"],
        "freed_bytes": 2000,
    }


def test_without_an_engine_folders_are_cleaned_all_the_same(tmp_path: Path) -> None:
    old, young = tmp_path / "old", tmp_path / "young"
    for path in (old, young):
        path.mkdir()
    folders = (OldFolder("record", old, NOW - 8 * DAY, 5), OldFolder("temporary", young, NOW - 3600, 5))
    cleaned, _ = run(None, folders, older_than_s=0)
    assert [one.kind for one in cleaned.removed] == ["record"]
    assert (old.exists(), young.exists()) == (False, True)


def test_only_folders_of_berbenchs_own_are_found(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep").write_text("x")
    room = tmp_path / "room"
    mine = room / "berbench-git-x"
    (mine / "inner").mkdir(parents=True)
    (mine / "inner" / "file").write_bytes(b"x" * 10)
    (mine / "link").symlink_to(outside)
    (room / "berbench-git-link").symlink_to(outside)
    (room / "berbench-file").write_text("x")
    (room / "other").mkdir()
    (room / f"berbench-git-{os.getpid()}-alive").mkdir()
    (room / "berbench-git-999999999-dead").mkdir()
    found = temporary_folders(room)
    assert [folder.path.name for folder in found] == ["berbench-git-999999999-dead", "berbench-git-x"]
    assert found[1].size_bytes >= 10
    assert time.time() - found[1].touched_s < 60
    for folder in found:
        remove(folder)
    assert (outside / "keep").exists()
    assert not mine.exists()


def test_folders_of_other_users_are_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "berbench-git-x").mkdir()
    assert len(temporary_folders(tmp_path)) == 1
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert temporary_folders(tmp_path) == ()


def test_records_are_found_half_written_ones_too(tmp_path: Path) -> None:
    for name in (
        "repo-1/validations/7/run",
        "repo-1/validations/7/.new.x.run",
        "repo-1/cache/x",
        "locks/a/b/c",
    ):
        (tmp_path / name).mkdir(parents=True)
    assert {folder.path.name for folder in record_folders(tmp_path)} == {"run", ".new.x.run"}
    assert record_folders(tmp_path / "absent") == ()
    assert temporary_folders(tmp_path / "absent") == ()


def test_the_machine_tells_what_it_can(tmp_path: Path) -> None:
    assert (machine.free_bytes(tmp_path / "not" / "yet") or 0) > 0
    assert machine.open_file_limit() == -1 or machine.open_file_limit() > 0
    assert machine.writable(tmp_path / "not" / "yet")
    (tmp_path / "file").write_text("x")
    assert not machine.writable(tmp_path / "file" / "below")
