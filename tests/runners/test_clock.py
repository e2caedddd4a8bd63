"""Another date: the lines that move the clock, on a machine with a stand-in library and without one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hosted import trial_on_host

from berbench.runners import clock_trouble, instrument
from berbench.runners.clock import move_clock
from berbench.runners.kits import kit_files


def test_the_lines_stand_before_all_others_and_every_shell_reads_them() -> None:
    for command in ("pytest a.py", "go test", "make"):
        asked = instrument(command, clock="-30d").command
        assert asked.startswith("berbench_clock() {") and "FAKETIME=-30d" in asked
        assert subprocess.run(["sh", "-n"], input=asked, text=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("offset", "seconds"), [("+400d", 34560000), ("-12h", -43200), ("+90m", 5400), ("-5s", -5)]
)
def test_offsets_are_held_against_the_clock_in_seconds(offset: str, seconds: int) -> None:
    assert f"- {seconds}))" in move_clock((), offset).before[0]


def test_without_the_library_the_command_is_not_run(tmp_path: Path) -> None:
    line = instrument("touch ran", clock="+400d").command
    for place in ("/usr/lib/", "/usr/lib64/", "/usr/local/lib/"):
        line = line.replace(place, f"{tmp_path}/none/")
    line = line.replace("/berbench/out", str(tmp_path))
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "could not be moved" in done.stdout
    assert (tmp_path / "clock").read_text() == "install libfaketime in the Dockerfile\n"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("step", "note"), [("34560000", "moved\n"), ("0", "do not hear"), ("3600", "do not hear")]
)
def test_the_clock_counts_as_moved_only_where_date_shows_it(tmp_path: Path, step: str, note: str) -> None:
    """`date` is a stand-in that hears of the library, or does not, or is told something else."""
    library = tmp_path / "lib" / "faketime" / "libfaketime.so.1"
    library.parent.mkdir(parents=True)
    library.touch()
    date = tmp_path / "bin" / "date"
    date.parent.mkdir()
    date.write_text(f'#!/bin/sh\nif [ "$FAKETIME" ]; then echo $((1000 + {step})); else echo 1000; fi\n')
    date.chmod(0o755)
    line = instrument("touch ran", clock="+400d").command.replace("/usr/lib/*", f"{tmp_path}/lib")
    line = line.replace("/berbench/out", str(tmp_path)).replace("LD_PRELOAD", "PRELOAD_STAND_IN")
    env = {"PATH": f"{date.parent}:/usr/bin:/bin"}
    subprocess.run(["sh", "-c", line], cwd=tmp_path, env=env, check=False, capture_output=True)
    assert note in (tmp_path / "clock").read_text()
    assert (tmp_path / "ran").exists() == (note == "moved\n")


def test_a_sleep_that_fails_is_mended_and_the_projects_own_sitecustomize_still_runs(tmp_path: Path) -> None:
    """libfaketime's fault is played by a module that is imported in place of `time`'s own function."""
    (kit,) = kit_files("date/sitecustomize.py")
    fault = "import time\ndef broken(seconds): raise OSError(22, 'Invalid argument')\ntime.sleep = broken\n"
    for name, text in {
        "kit/sitecustomize.py": fault + kit.data.decode(),
        "own/sitecustomize.py": "import builtins\nbuiltins.own = True\n",
    }.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    probe = (
        "import sys, time\nbegan = time.monotonic()\ntime.sleep(0.05)\n"
        "print(own, time.monotonic() - began >= 0.05, [p for p in sys.path if 'kit' in p])\n"
        "try: time.sleep(-1)\nexcept ValueError: print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe],
        env={"PYTHONPATH": f"{tmp_path}/kit:{tmp_path}/own"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True True []\nrefused\n"


def test_a_python_path_of_the_commands_own_is_extended() -> None:
    asked = instrument("PYTHONPATH=lib python -m pytest a.py", clock="+1d").command
    assert asked.splitlines()[-1] == "PYTHONPATH=lib:/berbench/kit/date python -m pytest a.py"


def test_a_python_that_hears_no_variables_is_not_tried() -> None:
    assert "-E or -I" in clock_trouble("python -I -m pytest a.py")


def test_go_is_known_not_to_hear_of_it() -> None:
    assert "Go" in clock_trouble("go test ./...")
    assert clock_trouble("pytest a.py") == clock_trouble("make") == ""


def test_a_trial_in_the_usual_circumstances_leaves_no_notes(tmp_path: Path) -> None:
    facts, _ = trial_on_host(tmp_path, "python -m pytest -q", {"test_x.py": "def test_a(): pass\n"})
    assert facts.exit_code == 0
    assert not {report.name for report in facts.reports} & {"clock", "order"}
