"""A log of any size in bounded memory: its head, its tail, and how much there was."""

from __future__ import annotations

from collections import deque

HEAD = TAIL = 1 << 20  # bytes kept of either end


class Capture:
    """Keeps the first `head` and the last `tail` bytes of what it is fed."""

    def __init__(self, head: int = HEAD, tail: int = TAIL) -> None:
        self.total = 0
        self._head = bytearray()
        self._head_room = head
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._tail_room = tail

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        self.total += len(piece)
        room = self._head_room - len(self._head)
        if room > 0:
            self._head += piece[:room]
            piece = piece[room:]
        if not piece:
            return
        self._tail.append(piece)
        self._tail_size += len(piece)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._tail_room:
            self._tail_size -= len(self._tail.popleft())

    @property
    def truncated(self) -> bool:
        """Whether bytes between head and tail are gone."""
        return self.total > self._head_room + self._tail_room

    def value(self) -> bytes:
        """What was kept; a line in the middle says how much is missing."""
        tail = b"".join(self._tail)
        tail = tail[max(0, len(tail) - self._tail_room) :]
        if not self.truncated:
            return bytes(self._head) + tail
        gone = self.total - self._head_room - len(tail)
        return bytes(self._head) + b"\n[berbench: %d bytes left out]\n" % gone + tail


class Frames:
    """Takes the engine's attach stream apart: 8 bytes (stream, three zeros, big-endian size), the payload."""

    def __init__(self) -> None:
        self._rest = b""
        self._missing = 0  # bytes of the current payload still to come
        self._number = 0  # of its stream

    def feed(self, data: bytes) -> list[bytes]:
        """The payload pieces that `data` completes or carries on, in order."""
        return [piece for _, piece in self.numbered(data)]

    def numbered(self, data: bytes) -> list[tuple[int, bytes]]:
        """The same with the number of each piece's stream: 1 is standard output, 2 standard error."""
        pieces: list[tuple[int, bytes]] = []
        data = self._rest + data if self._rest else data
        at, end = 0, len(data)
        while True:
            if self._missing:
                piece = data[at : at + self._missing]
                if not piece:
                    break
                pieces.append((self._number, piece))
                at += len(piece)
                self._missing -= len(piece)
            if end - at < 8:
                break
            self._number = data[at]
            self._missing = int.from_bytes(data[at + 4 : at + 8], "big")
            at += 8
        self._rest = data[at:]
        return pieces
