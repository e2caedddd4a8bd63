"""Runs the projects under their real runners and keeps what they leave: one JSON file per runner.

By hand, where the runners are installed: `python tests/evidence/capturing/capture.py [runner…]`. Tools come from
PATH; `CAPTURE_PYTHON` is a virtual environment with the Python runners, `CAPTURE_NODE` a folder whose node_modules
holds the Node ones. What is kept names no folder of the machine it was made on.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2]), str(HERE)]

from compiled_projects import COMPILED  # noqa: E402 - found on the path that the line above makes
from jvm_projects import JVM  # noqa: E402
from node_projects import NODE  # noqa: E402
from other_projects import OTHER  # noqa: E402
from project import Project, Run  # noqa: E402
from python_projects import PYTHON  # noqa: E402

from berbench.model.trial import KIT_DIR, OUT_DIR  # noqa: E402
from berbench.runners import instrument  # noqa: E402

OPT = {"CAPTURE_PYTHON": "/opt", "CAPTURE_NODE": "/app"}
KEPT = HERE.parent / "data" / "situations"
BUILD_TOOL_FRAMES = re.compile(
    rb"(?:\[ERROR\] )?\tat (?:java\.base/|jdk\.|com\.sun\.|org\.(?:gradle|junit|apache\.maven|codehaus)\.)[^\n]*\n"
)
BARE_TOOLS = ("sh", "env", "uname", "dirname", "basename", "readlink", "pwd", "ls", "cat", "sed", "rm")


def main(wanted: list[str]) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    for project in (*PYTHON, *NODE, *COMPILED, *JVM, *OTHER):
        if wanted and project.runner not in wanted:
            continue
        trials = {name: capture(project, run) for name, run in project.runs.items()}
        document = {"runner": project.runner, "hidden": project.hidden, "trials": trials}
        (KEPT / f"{project.runner}.json").write_text(json.dumps(document, indent=1) + "\n", encoding="ascii")
        print(project.runner, {name: trial["exit_code"] for name, trial in trials.items()})


def capture(project: Project, run: Run) -> dict[str, object]:
    """What one trial leaves: command, exit code, log and reports as text, stray bytes as lone surrogates."""
    room = Path(tempfile.mkdtemp(prefix="capture-"))
    try:
        work, kit, out = room / "work", room / "kit", room / "out"
        for folder in (work, kit, out):
            folder.mkdir()
        state = project.old if run.state == "old" else project.new
        for name, text in {**project.files, **state, **run.files}.items():
            write(work / name, text.encode("utf-8", "surrogateescape"))
        asked = instrument(run.command)
        for entry in asked.kit:
            write(kit / entry.path, entry.data)
        if "CAPTURE_NODE" in os.environ and not run.bare:
            (work / "node_modules").symlink_to(Path(os.environ["CAPTURE_NODE"]) / "node_modules")
        line = asked.command.replace(KIT_DIR, str(kit)).replace(OUT_DIR, str(out))
        # As in a container without a network, which has its loopback.
        done = subprocess.run(
            [
                shutil.which("unshare") or "unshare",
                "--net",
                "sh",
                "-c",
                f"{shutil.which('ip')} link set lo up\n{line}",
            ],
            cwd=work,
            env=environment(room, bare=run.bare),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        )
        reports = {p.relative_to(out).as_posix(): p for p in sorted(out.rglob("*")) if p.is_file()}
        for pattern in asked.collect:
            reports |= {f"collected/{path.name}": path for path in sorted(work.glob(pattern))}
        kept = {name: anonymous(path.read_bytes(), room) for name, path in reports.items()}
        return {
            "command": run.command,
            "exit_code": done.returncode,
            "log": anonymous(done.stdout, room),
            "reports": kept,
        }
    finally:
        shutil.rmtree(room)


def environment(room: Path, *, bare: bool) -> dict[str, str]:
    """A container's environment; a bare one finds the shell's own tools, and Python and Node without packages."""
    path = os.pathsep.join((f"{os.environ.get('CAPTURE_PYTHON', '')}/bin", os.environ["PATH"]))
    if bare:
        tools = room / "bare"
        tools.mkdir()
        for name in (*BARE_TOOLS, "node", "npx", "npm"):
            if found := shutil.which(name):
                (tools / name).symlink_to(found)
        (tools / "python").symlink_to("/usr/bin/python3.11")
        path = str(tools)
    home = room / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in ("CARGO_HOME", "RUSTUP_HOME", "GOCACHE") if name in os.environ}
    always = {
        "HOME": str(home),
        "PATH": path,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    quiet = {"npm_config_update_notifier": "false", "npm_config_fetch_retries": "0"}
    return {**always, **quiet, **kept, "PYTHONDONTWRITEBYTECODE": "1"}


def anonymous(data: bytes, room: Path) -> str:
    """Text with the places of a container in place of this machine's, and without the build tools' own frames."""
    places = [
        (room / "work", "/app"),
        (room / "kit", KIT_DIR),
        (room / "out", OUT_DIR),
        (room / "home", "/root"),
        (room / "bare", "/usr/bin"),
    ]
    places += [(Path(os.environ[n]), place) for n, place in OPT.items() if n in os.environ]
    places += [(Path(sys.base_prefix), "/usr/local")]
    for place, name in places:
        data = data.replace(str(place).encode(), name.encode())
        if not place.is_relative_to(room):
            data = data.replace(os.path.relpath(place, room / "work").encode() + b"/", b"")
    data = re.sub(rb"(?:(?:registry|index)\.)?(?:npmjs\.org|crates\.io)", b"registry.example.org", data)
    data = BUILD_TOOL_FRAMES.sub(b"", data)
    return data.decode("utf-8", "surrogateescape")


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


if __name__ == "__main__":
    main(sys.argv[1:])
