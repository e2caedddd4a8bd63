"""Inputs from inputs: bytes, lines, numbers and runs are changed, with an eye on what readers trip over."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from benchmarks.fuzz.limits import MAX_BYTES

# What stands in no ordinary file: numbers that no integer takes, deep nesting, odd line ends and characters, runs.
ODD = (
    b"9" * 5000, b"-1", b"0", b"99999999999", b"1e999", b"nan", b"0x1f", "١٢".encode(), "²".encode(),
    b"[" * 3000, b'{"a":' * 3000, b"(" * 500, b"<!--" * 500, b"\0", b"\r", b"\r\n", b"\n", b"\n\n", b"\x0c", b"\x0b",
    b"\x1c", "\u0085".encode(), "\u2028".encode(), b"\xff", b"\xc3", b"\xed\xa0\x80", "\ufeff".encode(),
    "\U0010fffd".encode(), "é".encode(), "İ".encode(), b" ", b"\x1b[31m", b"\x1b]0;", b" " * 3000, b"\t",
    b"/" * 300, b"../", b"'", b'"', b"\\", b"`", b"$(", b"${", b"#", b"%", b"&&", b"||", b"|", b";", b"<<", b">", b":",
    b"null", b"true", b"{}", b"[]", b'""', b"\\u0000", b"\\ud800",
)  # fmt: skip
_LENGTHS = (1 << 10, 1 << 11, 1 << 11, 1 << 13)
_NUMBER = re.compile(rb"\d+")

Mutator = Callable[[random.Random, bytes, Sequence[bytes], Sequence[bytes]], bytes]


def mutate(dice: random.Random, data: bytes, pool: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """The input after a few changes: mostly short, for many are tried then; now and then MAX_BYTES long.

    `words` are the format's own.
    """
    most = dice.choice(_LENGTHS)
    for _ in range(dice.choice((1, 1, 2, 2, 3, 5, 8))):
        data = dice.choice(_WAYS)(dice, data, pool, words)[:most]
    return _stretch(dice, data, pool, words) if dice.random() < 0.03 else data


def _cut(dice: random.Random, data: bytes, most: int = 64) -> tuple[int, int]:
    """A slice's ends: mostly short ones."""
    start = dice.randint(0, len(data))
    return start, min(len(data), start + dice.choice((1, 2, 4, 8, 16, most)))


def _byte(dice: random.Random, data: bytes, pool: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    start, _ = _cut(dice, data)
    return data[:start] + bytes([dice.randrange(256)]) + data[start + dice.randint(0, 1) :]


def _word(dice: random.Random, data: bytes, pool: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    start, end = _cut(dice, data, 16)
    word = dice.choice(words) if words and dice.random() < 0.7 else dice.choice(ODD)
    return data[:start] + word + data[start if dice.random() < 0.6 else end :]


def _delete(dice: random.Random, data: bytes, pool: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    start, end = _cut(dice, data, 512)
    return data[:start] + data[end:]


def _truncate(dice: random.Random, data: bytes, pool: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    at = dice.randint(0, len(data))
    return data[:at] if dice.random() < 0.8 else data[at:]


def _repeat(dice: random.Random, data: bytes, pool: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    start, end = _cut(dice, data, 128)
    return data[:start] + data[start:end] * dice.choice((2, 3, 10, 100)) + data[end:]


def _stretch(dice: random.Random, data: bytes, pool: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """A short slice, or a word, as often as there is room for it: what finds expressions that take for ever."""
    start, end = _cut(dice, data, 8)
    piece = data[start:end]
    if words and dice.random() < 0.3:
        piece = dice.choice(words) + dice.choice((b"", b"", b" ", b"\n"))
    piece = piece or dice.choice((b" ", b"\n", b"a", b"-"))
    room = MAX_BYTES - len(data)
    return data[:start] + piece * (room // len(piece)) + data[end:] if room > 0 else data


def _number(dice: random.Random, data: bytes, pool: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(data[: 1 << 14]))
    if not found:
        return data
    one = dice.choice(found)
    return data[: one.start()] + dice.choice(ODD[:9]) + data[one.end() :]


def _lines(dice: random.Random, data: bytes, pool: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """Lines change places, or come from another input."""
    lines = data.split(b"\n")
    others = dice.choice(pool).split(b"\n") if pool and dice.random() < 0.6 else lines
    start, at = dice.randrange(len(others)), dice.randrange(len(lines) + 1)
    piece = others[start : start + dice.choice((1, 1, 2, 5, 20))]
    gone = dice.choice((0, 0, 1, len(piece)))
    return b"\n".join((*lines[:at], *piece, *lines[at + gone :]))


def _indent(dice: random.Random, data: bytes, pool: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """Lines from somewhere on move in or out: subtests, blocks of YAML."""
    lines = data.split(b"\n")
    start = dice.randrange(len(lines))
    end = start + dice.choice((1, 2, 5, 50))
    by = dice.choice((1, 2, 4, -2, -4))
    moved = [(b" " * by + line) if by > 0 else line[-by:] for line in lines[start:end]]
    return b"\n".join((*lines[:start], *moved, *lines[end:]))


def _splice(dice: random.Random, data: bytes, pool: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    other = dice.choice(pool) if pool else data
    return data[: dice.randint(0, len(data))] + other[dice.randint(0, len(other)) :]


_WAYS: tuple[Mutator, ...] = (
    _byte, _word, _word, _word, _delete, _truncate, _repeat, _number, _lines, _lines, _indent, _splice,
)  # fmt: skip
