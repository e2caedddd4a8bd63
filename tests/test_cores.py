"""When plain `pytest` starts workers, and where it puts its files."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import cores

ROOT = Path(__file__).resolve().parents[1]


def processes(*args: str, xdist: bool = True, **options: Any) -> int:
    usual = {"numprocesses": None, "dist": "no", "tx": [], "capture": "fd", "keyword": "", "lf": False}
    config = SimpleNamespace(
        option=SimpleNamespace(**{**usual, **options}),
        pluginmanager=SimpleNamespace(hasplugin=lambda name: xdist),
        rootpath=ROOT,
        invocation_params=SimpleNamespace(dir=ROOT),
        getini=lambda name: ["tests"],
        args=args,
    )
    return cores.processes(cast(pytest.Config, config))


@pytest.fixture(autouse=True)
def three_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)


@pytest.mark.parametrize("args", [("tests",), (".",), (str(ROOT / "tests"),)])
def test_the_whole_suite_runs_on_all_cores(args: tuple[str, ...]) -> None:
    assert processes(*args) == 3


@pytest.mark.parametrize("args", [("tests/cli",), ("tests", "tests/cli"), ("tests/test_cores.py::test_x",)])
def test_a_choice_runs_in_one_process(args: tuple[str, ...]) -> None:
    assert processes(*args) == 0


@pytest.mark.parametrize(
    "options",
    [
        *({"keyword": "split"}, {"markexpr": "docker"}, {"lf": True}, {"stepwise": True}, {"usepdb": True}),
        *({"capture": "no"}, {"cov_source": [True]}, {"collectonly": True}, {"xdist": False}),
        *({"numprocesses": 0}, {"numprocesses": 2, "dist": "load"}, {"dist": "each"}, {"tx": ["popen"]}),
    ],
    ids=str,
)
def test_what_was_asked_otherwise_is_left_alone(options: dict[str, Any]) -> None:
    assert processes("tests", **options) == 0


def test_many_cores_may_be_a_hosts_and_one_needs_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    assert processes("tests") == cores.MOST
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5})
    assert processes("tests") == 0


def test_files_lie_in_memory_only_where_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cores, "MEMORY", tmp_path)
    monkeypatch.setattr(cores, "ENOUGH", 1)
    assert cores.temp_root("/usual") == str(tmp_path)
    monkeypatch.setattr(cores, "ENOUGH", 1 << 60)
    assert cores.temp_root("/usual") == "/usual"
    monkeypatch.setattr(cores, "MEMORY", tmp_path / "none")
    assert cores.temp_root("/usual") == "/usual"
