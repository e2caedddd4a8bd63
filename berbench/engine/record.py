"""What the script in the container noted, read back: a pure function of the record's bytes.

The record may be missing, cut, or written into by code under test, so nothing in it is taken for granted; the
exit code the engine itself saw stands above it.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Step:
    """A set-up line or the command. Times are seconds since boot."""

    began: float
    ended: float | None = None
    code: int | None = None

    @property
    def seconds(self) -> float:
        """How long it took, 0.0 while it has no end."""
        return 0.0 if self.ended is None else max(0.0, self.ended - self.began)


@dataclass(slots=True)
class Record:
    """The record as read."""

    began: bool = False  # whether the script ran at all
    prepared: int | None = None  # exit code of preparing, None when it never ended
    limited: bool = False  # whether the image has a usable `timeout`
    setup: dict[int, Step] = field(default_factory=dict)
    verify: Step | None = None
    kills: tuple[int | None, int | None] = (None, None)  # by the kernel for memory: before, after
    refused: tuple[int | None, int | None] = (None, None)  # processes refused for their number: before, after
    collect_failed: bool = False
    complete: bool = False

    @property
    def out_of_memory(self) -> bool:
        """Whether the kernel killed anything of this trial for memory."""
        return _grew(self.kills)

    @property
    def out_of_processes(self) -> bool:
        """Whether a process could not be started for their number."""
        return _grew(self.refused)


def read_record(data: bytes) -> Record:
    """The record from its bytes; lines that make no sense are passed over."""
    record = Record()
    for line in data.decode("ascii", "replace").splitlines():
        try:
            _read_line(record, line.split())
        except (ValueError, IndexError, KeyError):
            continue
    return record


def _read_line(record: Record, words: list[str]) -> None:
    match words:
        case ["limited", answer]:
            record.began, record.limited = True, answer == "yes"
        case ["prepare", code]:
            record.prepared = int(code)
        case ["setup", number, "began", at]:
            record.setup[int(number)] = Step(_moment(at))
        case ["setup", number, "ended", at, code]:
            step = record.setup[int(number)]
            step.ended, step.code = _moment(at), int(code)
        case ["verify", "began", at]:
            record.verify = Step(_moment(at))
        case ["verify", "ended", at, code] if record.verify:
            record.verify.ended, record.verify.code = _moment(at), int(code)
        case ["counters", when, kills, refused]:
            record.kills = _noted(record.kills, when, kills)
            record.refused = _noted(record.refused, when, refused)
        case ["collect", "failed"]:
            record.collect_failed = True
        case ["end"]:
            record.complete = True


def _moment(text: str) -> float:
    """Seconds since boot. ValueError for what is no time: a record that code under test wrote may say `nan`."""
    seconds = float(text)
    if not 0 <= seconds < 1e10:
        raise ValueError(text)
    return seconds


def _noted(pair: tuple[int | None, int | None], when: str, text: str) -> tuple[int | None, int | None]:
    number = None if text == "-" else int(text)
    return (number, pair[1]) if when == "before" else (pair[0], number)


def _grew(pair: tuple[int | None, int | None]) -> bool:
    before, after = pair
    return after is not None and after > (before or 0)
