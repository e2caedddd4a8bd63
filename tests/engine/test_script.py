from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berbench.engine import script
from berbench.engine.archive import Ids
from berbench.model.changes import REGULAR, Delta, FileEntry
from berbench.model.trial import Image, Trial

SHELLS = [name for name in ("dash", "bash", "busybox") if shutil.which(name)]


def trial(**more: object) -> Trial:
    return Trial("base", "t", Image("i", "k", "t", "/w", ""), Delta(), "true", 0.2, **more)  # type: ignore[arg-type]


def every_script(one: Trial) -> dict[str, bytes]:
    return {
        name: data
        for kept in (False, True)
        for name, data in script.files(one, Ids(1, 1), script.Place(), kept=kept)
    }


def test_P11_scripts_end_their_lines_with_lf_whatever_came_in():
    one = trial(setup=("a\r\nb\r\n",), collect=("**/x",))
    scripts = every_script(one)
    assert {"main.sh", "prepare.sh", "collect.sh", "keeper.sh", "setup-0.sh", "command.sh"} == scripts.keys()
    assert not [name for name, data in scripts.items() if b"\r" in data]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_understands_the_scripts(shell: str, tmp_path: Path):
    one = trial(setup=("true",), collect=("**/it's.xml", "a b/*.xml"))
    delta = Delta((FileEntry("a/b", REGULAR, b""),), ("c/d", os.fsdecode(b"\x81\xff'\n")))
    scripts = every_script(one) | {"more.sh": script.prepare(delta, Ids(5, 5), script.Place())}
    for name, data in scripts.items():
        (tmp_path / name).write_bytes(data)
        argv = [shell, *(["sh"] if shell == "busybox" else []), "-n", str(tmp_path / name)]
        subprocess.run(argv, check=True, timeout=20)


def test_a_limit_is_whole_seconds_and_never_none():
    assert script.limit_of(trial()) == 1


NAME = st.binary(min_size=1, max_size=12).filter(
    lambda b: b"\0" not in b and b"/" not in b and b not in (b".", b"..")
)


@settings(max_examples=15)
@given(st.sets(NAME, min_size=1, max_size=12), st.sets(NAME, max_size=12))
def test_any_names_are_placed_and_deleted(
    tmp_path_factory: pytest.TempPathFactory, new: set[bytes], old: set[bytes]
):
    room = tmp_path_factory.mktemp("names")
    tree, root = room / "tree", room / "root"
    for folder in (tree / "d", root / "delta" / "d", root / "out" / script.NOTES):
        folder.mkdir(parents=True)
    for name in old:
        (tree / "d" / os.fsdecode(name)).write_bytes(b"old")
    for name in new:
        (root / "delta" / "d" / os.fsdecode(name)).write_bytes(name)
    paths = [f"d/{os.fsdecode(name)}" for name in new]
    delta = Delta(
        tuple(FileEntry(path, REGULAR, b"") for path in paths),
        tuple(f"d/{os.fsdecode(name)}" for name in old - new),
    )
    (root / "prepare.sh").write_bytes(
        script.prepare(delta, Ids(os.getuid(), os.getgid()), script.Place(str(root)))
    )
    ended = subprocess.run(["sh", str(root / "prepare.sh")], cwd=tree, timeout=20)
    assert ended.returncode == 0, (root / "out" / script.PREPARE_LOG).read_bytes()
    assert set(os.listdir(os.fsencode(tree / "d"))) == new  # noqa: PTH208
    assert all((tree / "d" / os.fsdecode(name)).read_bytes() == name for name in new)
    shutil.rmtree(room)


def test_many_words_are_cut_into_commands_that_fit():
    delta = Delta((), tuple(f"{'x' * 200}/{number}" for number in range(3000)))
    longest = max(script.prepare(delta, Ids(), script.Place()).splitlines(), key=len)
    assert len(longest) < script.BATCH + 4096
