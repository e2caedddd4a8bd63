"""Another date for a verify command, through libfaketime where the image has it.

Only the command's own processes are told another date: set-up lines, time limits and berbench's scripts keep
the true one. File times stay true as well, so that caches and build tools are not confused. Whether the clock
moved is tried inside the container before the command starts; where it did not, the command is not run.
"""

from __future__ import annotations

from collections.abc import Sequence

from berbench.model.trial import CLOCK_NOTE, KIT_DIR, OUT_DIR
from berbench.runners.altered import Altered, extended, is_deaf
from berbench.runners.recognise import Found, find_runners
from berbench.runners.shell import parse

MOVED = "moved"
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_PLACES = " ".join(
    f"{folder}/{name}"
    for name in ("libfaketimeMT.so.1", "libfaketime.so.1")
    for folder in (
        "/usr/lib/*/faketime",
        "/usr/lib/faketime",
        "/usr/lib64/faketime",
        "/usr/local/lib/faketime",
    )
)
_TOLERANCE_S = 300
_KIT = ("date/sitecustomize.py",)  # mends Python's time.sleep
_PYTHON_PATH = f"{KIT_DIR}/date"

_LINES = f"""\
berbench_clock() {{
  for lib in {_PLACES}; do
    if [ -r "$lib" ]; then break; fi
  done
  if [ ! -r "$lib" ]; then echo 'install libfaketime in the Dockerfile' >{OUT_DIR}/{CLOCK_NOTE}; return 1; fi
  was=$(date +%s)
  export LD_PRELOAD="$lib${{LD_PRELOAD:+ $LD_PRELOAD}}" FAKETIME={{offset}} NO_FAKE_STAT=1
  export FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1
  export PYTHONPATH="{_PYTHON_PATH}${{PYTHONPATH:+:$PYTHONPATH}}"
  is=$(date +%s)
  off=$((${{is:-0}} - ${{was:-0}} - {{seconds}}))
  if [ -n "$was" ] && [ $off -gt -{_TOLERANCE_S} ] && [ $off -lt {_TOLERANCE_S} ]; then
    echo {MOVED} >{OUT_DIR}/{CLOCK_NOTE}
  else
    echo 'libfaketime is there, but the programs of the image do not hear of it' >{OUT_DIR}/{CLOCK_NOTE}
    return 1
  fi
}}
berbench_clock || {{ echo 'berbench: the clock could not be moved, so the command was not run'; exit 1; }}"""


def move_clock(found: Sequence[Found], offset: str) -> Altered:
    """What moves the clock by `offset`: a sign, a whole number, one of s, m, h, d."""
    lines = _LINES.replace("{offset}", offset).replace("{seconds}", str(_seconds(offset)))
    return Altered((lines,), extended(found, {"PYTHONPATH": f":{_PYTHON_PATH}"}), _KIT)


def clock_trouble(command: str) -> str:
    """Why the command's tests can't be told another date; "" when they can, or when only a trial tells."""
    found = find_runners(parse(command))
    if any(one.runner == "go" for one in found):
        return "Go programs ask the kernel for the time"
    if any(is_deaf(one) for one in found):
        return "Python is started with -E or -I, and its time.sleep would fail"
    return ""


def _seconds(offset: str) -> int:
    return int(offset[:-1]) * _UNITS_S[offset[-1]]
