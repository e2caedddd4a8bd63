"""The only place that writes to the terminal: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PAGE_WIDTH = 140


def printable(text: str) -> str:
    """Text that any stream can take: surrogates (undecodable path bytes) and control characters are escaped."""
    safe = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in safe)


def say(text: str = "") -> None:
    """A line of the result."""
    sys.stdout.write(printable(text) + "\n")


def note(text: str) -> None:
    """A diagnostic line: progress, hints."""
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


def complain(text: str) -> None:
    """A line of an error."""
    sys.stdout.flush()
    note(text)


def emit(document: Mapping[str, Any]) -> None:
    """The one JSON document of a `--json` command. ASCII only, so that no stream encoding can break it."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=True) + "\n")
    sys.stdout.flush()


def console(*, error: bool = False) -> Console:
    """A rich console on either stream; plain text where the stream is no terminal."""
    from rich.console import Console

    # A file or a pipe has no width; a wide page keeps rows on few lines. COLUMNS, where set, decides.
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PAGE_WIDTH
    return Console(stderr=error, highlight=False, soft_wrap=False, width=width)


def show(renderable: RenderableType) -> None:
    """A table or panel on standard output."""
    console().print(renderable)
