"""Runs an instrumented command on this machine, with the kit and report folders in a temp folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from berbench.evidence import read_evidence
from berbench.model.trial import KIT_DIR, OUT_DIR, Evidence, Facts, ReportFile
from berbench.runners import instrument

PYTHON_FOLDER = str(Path(sys.executable).parent)


def trial_on_host(
    room: Path,
    command: str,
    files: dict[str, str],
    *,
    evidence: str = "auto",
    env: dict[str, str] | None = None,
    shuffle: int | None = None,
    clock: str = "",
) -> tuple[Facts, Evidence]:
    """Facts and evidence of `command` in a fresh folder that holds `files`."""
    work, kit, out = room / "work", room / "kit", room / "out"
    for folder in (work, kit, out):
        folder.mkdir(parents=True)
    asked = instrument(command, evidence, shuffle=shuffle, clock=clock)
    for entry in asked.kit:
        _write(kit / entry.path, entry.data)
    for name, text in files.items():
        _write(work / name, text.encode())
    line = asked.command.replace(KIT_DIR, str(kit)).replace(OUT_DIR, str(out))
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHON", "COV"))}
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=work,
        env={
            **clean,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PATH": f"{PYTHON_FOLDER}:{clean['PATH']}",
            **(env or {}),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    reports = [
        ReportFile(path.relative_to(out).as_posix(), path.read_bytes())
        for path in out.rglob("*")
        if path.is_file()
    ]
    for pattern in asked.collect:
        reports += [ReportFile(f"collected/{p.name}", p.read_bytes()) for p in work.glob(pattern)]
    facts = Facts(
        "base", done.returncode, log=done.stdout, log_bytes=len(done.stdout), reports=tuple(reports)
    )
    return facts, read_evidence(asked, facts)


def outcomes(evidence: Evidence) -> dict[str, str]:
    """Outcome by test id."""
    return {result.id: result.outcome.value for result in evidence.results}


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
