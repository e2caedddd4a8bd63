"""`.ci/browser`, where there is a Chromium and where there is none."""

from __future__ import annotations

import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "browser"


def run(programs: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """The script with these programs alone; its interpreter is found without them."""
    return subprocess.run(
        ["/bin/sh", str(SCRIPT)],
        env={"PATH": str(programs), **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def program(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def test_a_browser_that_is_there_is_enough(tmp_path: Path) -> None:
    program(tmp_path, "google-chrome", "exit 9")
    assert run(tmp_path).returncode == 0
    program(tmp_path, "mine", "exit 9")
    assert run(tmp_path, BERBENCH_CHROMIUM=str(tmp_path / "mine")).returncode == 0


def test_who_may_not_install_is_told_what_to_run(tmp_path: Path) -> None:
    program(tmp_path, "id", "echo 1000")
    done = run(tmp_path)
    assert done.returncode == 1
    assert "apt-get install chromium" in done.stderr and "BERBENCH_CHROMIUM" in done.stderr


def test_root_on_debian_installs_it(tmp_path: Path) -> None:
    program(tmp_path, "id", "echo 0")
    program(tmp_path, "apt-get", f'echo "$*" >> {tmp_path}/asked')
    done = run(tmp_path)
    if not Path("/etc/debian_version").is_file():
        assert done.returncode == 1
        return
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked").read_text(encoding="utf-8").splitlines()
    assert asked[0].startswith("update") and "install" in asked[1] and "chromium" in asked[1]
