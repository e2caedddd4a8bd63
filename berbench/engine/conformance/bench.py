"""What checks are made of: an engine with a ready image, and the list they are put on."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from berbench.engine.door import Engine
from berbench.model.changes import EXECUTABLE, REGULAR, SYMLINK, Delta, FileEntry
from berbench.model.trial import Facts, Image, ImageRecipe, Trial

ODD = ("a b.txt", "it's.txt", 'say "x".txt', "new\nline.txt", "tab\t.txt", "-rf", "*.txt", "$HOME", "\\n.txt")
NON_UTF8 = os.fsdecode(b"latin-\xe9.txt")
ALL_BYTES = bytes(range(256))

# The image of a bench holds these.
TREE = (
    FileEntry("kept.txt", REGULAR, b"kept\r\n"),
    FileEntry("run.sh", EXECUTABLE, b"#!/bin/sh\necho ran\n"),
    FileEntry("folder/deep/one.txt", REGULAR, b"one"),
    FileEntry("folder/two.txt", REGULAR, b"two"),
    FileEntry("swap", REGULAR, b"a file"),
    FileEntry("link", SYMLINK, b"kept.txt"),
    FileEntry(NON_UTF8, REGULAR, b"\xe9"),
    FileEntry(".dockerignore", REGULAR, b"folder\n**/*.txt\n.dockerignore\n"),
)


@dataclass(frozen=True, slots=True)
class Bench:
    """An engine with an image whose work tree is TREE."""

    engine: Engine
    image: Image

    def trial(self, command: str, *, timeout_s: float = 60, network: str = "none", **more: object) -> Facts:
        """Run one command."""
        trial = Trial("probe", "conformance", self.image, Delta(), command, timeout_s, network=network)
        return self.engine.run(replace(trial, **more))  # type: ignore[arg-type]

    def says(self, command: str, **more: object) -> bytes:
        """The log of one command that must end well."""
        facts = self.trial(command, **more)  # type: ignore[arg-type]
        assert facts.exit_code == 0, (facts.exit_code, facts.log)
        return facts.log


@dataclass(frozen=True, slots=True)
class Check:
    """One named check."""

    name: str
    run: Callable[[Bench], None]
    needs: str = ""


CHECKS: list[Check] = []


def check(needs: str = "") -> Callable[[Callable[[Bench], None]], Callable[[Bench], None]]:
    """Put a function on the list."""

    def add(function: Callable[[Bench], None]) -> Callable[[Bench], None]:
        CHECKS.append(Check(function.__name__, function, needs))
        return function

    return add


def recipe(dockerfile: str, key: str) -> ImageRecipe:
    """A recipe for a bench's image."""
    return ImageRecipe(key, dockerfile.encode(), "Dockerfile.berbench", (), "0" * 40)
