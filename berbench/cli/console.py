"""The only place that writes to the terminal: results on standard output, everything else on standard error."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PAGE_WIDTH = 140
LEAST_WIDTH = 72  # narrower than that, tables would have to drop parts of ids and states
LONGEST_QUOTE = 240  # a failing build quotes its whole RUN command; the log has all of it


def prepare() -> None:
    """Make both streams fit for use: one that the caller closed leads nowhere, no character is too much for any."""
    sys.stdout, sys.stderr = _fit(sys.stdout), _fit(sys.stderr)


def _fit(stream: Any) -> Any:
    if stream is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


@contextmanager
def _unless_unheard(stream: IO[str], *unheard: type[OSError]) -> Iterator[None]:
    """Let what nobody can hear lead nowhere from now on: the work goes on, and its exit code stays true."""
    try:
        yield
    except unheard:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _result(text: str, *, flush: bool = False) -> None:
    # `| head` may end the reader at any time; a full disk, though, has lost the result: that is an error.
    with _unless_unheard(sys.stdout, BrokenPipeError):
        sys.stdout.write(text)
        if flush:
            sys.stdout.flush()


def flush() -> None:
    """See that the result has arrived. OSError when it could not."""
    _result("", flush=True)


def printable(text: str) -> str:
    """Text that any stream can take: surrogates (undecodable path bytes) and control characters are escaped."""
    safe = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in safe)


def clipped(text: str, width: int = LONGEST_QUOTE) -> str:
    """One line quoted from a log: without colours, cut where it would bury what matters."""
    from berbench.evidence.reading import without_escapes

    plain = without_escapes(text)
    return plain if len(plain) <= width else plain[: width - 1] + "…"


def sentence(text: str) -> str:
    """Text as a sentence begins, unless it begins with the program's name."""
    return text if text.startswith("berbench") else text[:1].upper() + text[1:]


def one_line(name: str) -> str:
    """A name fit to stand in a line, whatever is in it."""
    return printable(name).replace("\n", "\\n").replace("\t", "\\t")


def say(text: str = "") -> None:
    """A line of the result."""
    _result(printable(text) + "\n")


def note(text: str) -> None:
    """A diagnostic line: progress, hints. That it can't be heard stops no work."""
    with _unless_unheard(sys.stderr, OSError):
        sys.stderr.write(printable(text) + "\n")
        sys.stderr.flush()


def complain(text: str) -> None:
    """A line of an error."""
    with _unless_unheard(sys.stdout, OSError):
        sys.stdout.flush()
    note(text)


def emit(document: Mapping[str, Any]) -> None:
    """The one JSON document of a `--json` command. ASCII only, so that no stream encoding can break it."""
    _result(json.dumps(document, indent=2, ensure_ascii=True) + "\n", flush=True)


def console(*, error: bool = False) -> Console:
    """A rich console on either stream; plain text where the stream is no terminal."""
    from rich.console import Console

    # A file or a pipe has no width; a wide page keeps rows on few lines. COLUMNS, where set, decides.
    given = os.environ.get("COLUMNS", "")
    width = int(given) if given.isdecimal() and int(given) else None
    if width is None and not (sys.stderr if error else sys.stdout).isatty():
        width = PAGE_WIDTH
    made = Console(stderr=error, highlight=False, soft_wrap=False, width=width)
    if made.width < LEAST_WIDTH:
        made.width = LEAST_WIDTH
    return made


def show(renderable: RenderableType) -> None:
    """A table or panel on standard output, and an empty line after it."""
    made = console()
    with made.capture() as captured:
        made.print(renderable)
    _result("".join(line.rstrip() + "\n" for line in captured.get().splitlines()) + "\n")
