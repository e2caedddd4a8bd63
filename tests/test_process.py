from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

from berbench import process


def test_both_outputs_and_the_code_are_kept():
    ended = process.run(["sh", "-c", "cat; printf err >&2; exit 3"], data=b"\xff in")
    assert (ended.code, ended.stdout, ended.stderr, ended.timed_out) == (3, b"\xff in", b"err", False)


def test_a_command_beyond_its_time_is_ended_with_its_children(tmp_path: Path):
    began = time.monotonic()
    ended = process.run(
        ["sh", "-c", f"(sleep 0.6; touch {tmp_path}/late) & trap '' TERM; sleep 30; sleep 30"], timeout_s=0.3
    )
    assert ended.timed_out and ended.code is None
    assert time.monotonic() - began < 5
    time.sleep(0.6)
    assert not (tmp_path / "late").exists()


def test_a_stream_arrives_in_the_order_it_was_written():
    pieces: list[bytes] = []
    ended = process.stream(["sh", "-c", "echo a; echo b >&2; echo c"], pieces.append, timeout_s=10)
    assert ended.code == 0
    assert b"".join(pieces) == b"a\nb\nc\n"


def test_a_stream_ends_when_asked():
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    began = time.monotonic()
    ended = process.stream(["sleep", "30"], lambda _: None, timeout_s=30, stop=stop)
    assert ended.code is None and not ended.timed_out
    assert time.monotonic() - began < 5


def test_a_child_left_behind_does_not_hold_the_stream_open():
    began = time.monotonic()
    ended = process.stream(["sh", "-c", "sleep 30 & echo done"], lambda _: None, timeout_s=30)
    assert ended.code == 0
    assert time.monotonic() - began < 5


def test_a_missing_program_is_no_answer():
    assert process.ask(["berbench-has-no-such-program"]) is None
    with pytest.raises(FileNotFoundError):
        process.run(["berbench-has-no-such-program"])


def test_a_failing_program_is_no_answer_and_a_good_one_is_trimmed():
    assert process.ask(["false"]) is None
    assert process.ask(["echo", " hello "]) == "hello"


def test_every_program_of_a_name_is_found_once(tmp_path: Path):
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
    for folder in ("a", "b"):
        tool = tmp_path / folder / "tool"
        tool.write_text("#!/bin/sh\n")
        tool.chmod(0o755)
    (tmp_path / "c" / "tool").symlink_to(tmp_path / "a" / "tool")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "tool").write_text("not executable")
    path = ":".join(str(tmp_path / f) for f in ("plain", "a", "b", "c"))
    assert process.on_path("tool", path) == (str(tmp_path / "a/tool"), str(tmp_path / "b/tool"))
    assert process.on_path(Path(sys.executable).name, str(Path(sys.executable).parent))
