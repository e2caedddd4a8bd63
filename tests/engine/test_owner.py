from __future__ import annotations

import os
import subprocess
import sys

from berbench.engine import owner

SAY = "from berbench.engine import owner; print(owner.this_process(), flush=True); input()"


def test_this_process_is_alive():
    assert owner.alive(owner.this_process())


def test_a_process_is_alive_until_it_is_killed():
    child = subprocess.Popen(
        [sys.executable, "-c", SAY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout is not None
        label = child.stdout.readline().strip()
        assert owner.alive(label)
        child.kill()
        child.wait()
        assert not owner.alive(label)


def test_a_number_used_again_is_another_process():
    host, boot, pid, start = owner.this_process().rsplit("/", 3)
    assert not owner.alive(f"{host}/{boot}/{pid}/{int(start) + 1}")


def test_before_this_boot_nothing_is_alive():
    host, _, pid, start = owner.this_process().rsplit("/", 3)
    assert not owner.alive(f"{host}/another-boot/{pid}/{start}")


def test_what_cannot_be_looked_up_stays():
    _, boot, _, _ = owner.this_process().rsplit("/", 3)
    assert owner.alive(f"another-host/{boot}/{os.getpid()}/1")
    assert owner.alive("") and owner.alive("someone else's label") and owner.alive("a/b/c/d")
