from __future__ import annotations

import random
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from berbench.engine.capture import Capture, Frames


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_head_and_tail_are_exact_whatever_the_pieces(pieces: list[bytes], head: int, tail: int):
    capture = Capture(head, tail)
    for piece in pieces:
        capture.feed(piece)
    whole = b"".join(pieces)
    assert capture.total == len(whole)
    if len(whole) <= head + tail:
        assert not capture.truncated and capture.value() == whole
    else:
        gone = len(whole) - head - tail
        end = whole[len(whole) - tail :]
        assert capture.truncated
        assert capture.value() == whole[:head] + b"\n[berbench: %d bytes left out]\n" % gone + end


def test_a_flood_takes_no_memory():
    capture = Capture(1 << 16, 1 << 16)
    piece = bytes(1 << 15)
    tracemalloc.start()
    for _ in range(4000):
        capture.feed(piece)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert capture.total == 4000 << 15
    assert peak < 1 << 20


@given(st.lists(st.binary(max_size=20), max_size=20), st.integers(0, 1 << 30))
def test_frames_come_apart_wherever_the_stream_is_cut(payloads: list[bytes], seed: int):
    stream = b"".join(b"\x01\0\0\0" + len(p).to_bytes(4, "big") + p for p in payloads)
    cuts = random.Random(seed)
    frames, found, at = Frames(), [], 0
    while at < len(stream):
        size = cuts.randint(1, 12)
        found += frames.feed(stream[at : at + size])
        at += size
    assert b"".join(found) == b"".join(payloads)
