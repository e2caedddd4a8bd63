"""How errors look: one clear sentence, the remedy, and never a traceback."""

from __future__ import annotations

import tempfile
import traceback
from pathlib import Path

from typer.exceptions import TyperException as CommandLineError

from berbench import __version__
from berbench.cli.console import clipped, complain, sentence
from berbench.errors import BerbenchError

__all__ = ["CommandLineError", "bug", "expected", "usage"]

# Foreign spellings of "the disk said no" that may surface outside the store, e.g. from a temporary folder.
_FILE_SYSTEM = (PermissionError, FileNotFoundError, NotADirectoryError, IsADirectoryError, FileExistsError)


def expected(error: BerbenchError) -> None:
    """An error of the family: message, details, remedy."""
    complain(f"berbench: {error.message}{'.' if error.message[-1:].isalnum() else ''}")
    for line in error.details:
        complain(f"  {clipped(line)}")
    if error.remedy:
        complain(f"  → {sentence(error.remedy)}")


def usage(error: CommandLineError) -> int:
    """A command line that can't be parsed; 2 is the code for usage errors."""
    context = getattr(error, "ctx", None)
    message = error.format_message()
    if message.lstrip().startswith("Usage:"):  # no arguments at all: the help is the message
        complain(message)
        return 2
    complain(f"berbench: {message}")
    command = context.command_path if context is not None else "berbench"
    complain(f"  → `{command} --help` lists what it takes")
    return 2


def bug(error: Exception) -> int:
    """Anything else. The disk's own errors get their sentence; the rest is a bug, kept in a file for the report."""
    if isinstance(error, OSError) and (error.errno is not None or isinstance(error, _FILE_SYSTEM)):
        complain(
            f"berbench: the file system refused: {error.strerror or error} ({error.filename or 'no name'})"
        )
        complain(
            "  → Free some space or fix the permissions, then run the command again; nothing was half-written"
        )
        return 3
    complain(f"berbench: a bug in berbench {__version__}: {type(error).__name__}: {error}")
    text = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            prefix="berbench-bug-",
            suffix=".txt",
            delete=False,
            encoding="utf-8",
            errors="backslashreplace",
        ) as file:
            file.write(f"berbench {__version__}\n\n{text}")
        complain(f"  → Please report it with {Path(file.name)}")
    except OSError:
        complain("  → Please report it; the details could not be written to the temporary folder")
    return 3
