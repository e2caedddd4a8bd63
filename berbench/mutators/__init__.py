"""The one door to `universalmutator`, the library that makes mutants of many languages.

It works line by line with regular expressions and prints what it does; which of its mutants are worth a trial
is for `strength.mutants` to say. Errors: UsageError when it is not installed.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.resources import as_file, files

from berbench.errors import UsageError

# Families of rules by language; the library has more, these are the ones that berbench knows comments and tests of.
_FAMILIES = {
    "python": ("universal.rules", "python.rules"),
    "javascript": ("universal.rules", "javascript.rules", "c_like.rules"),
    "go": ("universal.rules", "go.rules", "c_like.rules"),
    "java": ("universal.rules", "java.rules", "c_like.rules"),
    "rust": ("universal.rules", "rust.rules", "c_like.rules"),
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """One changed line, by its number from 1, and the rule that changed it, as the library writes rules."""

    line: int
    after: str
    rule: str


def require() -> None:
    """UsageError unless the library is there."""
    try:
        import universalmutator.mutator  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "Mutants are made by the library universalmutator, which is not installed.",
            remedy="install it with `pip install 'berbench[audit]'`, or leave --mutants out",
        ) from error


def mutations(language: str, lines: Sequence[str]) -> tuple[Mutation, ...]:
    """Every mutation of the lines (without their ends) that changes one into another one; empty lines have none."""
    require()
    from universalmutator.mutator import mutants_regexp

    source = [f"{line}\n" for line in lines]
    with as_file(files(__name__) / "more.rules") as more, redirect_stdout(io.StringIO()):
        made = mutants_regexp(source, ruleFiles=[*_FAMILIES[language], str(more)], ignorePatterns=[])
    found = []
    for number, after, rule, _ in made:
        text = after.removesuffix("\n")
        if "\n" not in text:
            found.append(Mutation(number, text, rule[0]))
    return tuple(found)
