"""A task of the sample with a hunk that its hidden tests check, one that they don't, and one that is no code."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

TITLE = "Round the average length"
PROMPT = "# Round the average length\n\nThe average length of words should be rounded to two digits.\n"

CHECKED = "round(sum("  # what the hidden test looks at

_EDITS = {
    "tally/words.py": (
        ('in lower case and in order."""\n', 'in lower case and in order."""\n    text = text or ""\n'),
        ("The longest word; the first one", "The longest of all words; the first one"),
        (
            "return sum(len(word) for word in found) / len(found)",
            "return round(sum(len(word) for word in found) / len(found), 2)",
        ),
    ),
    "README.md": (("Words, lines and lengths of a text.", "Words, lines and lengths of any text."),),
}
_TEST = '\n\ndef test_the_average_is_rounded():\n    assert average_length("a bb bb") == 1.67\n'


def land_unchecked(root: Path) -> str:
    """Commit the change onto the sample's main branch; its id."""
    for name, edits in _EDITS.items():
        path = root / name
        text = path.read_text(encoding="utf-8")
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    tests = root / "tests" / "test_words.py"
    tests.write_text(tests.read_text(encoding="utf-8") + _TEST, encoding="utf-8")
    git(root, "commit", "--quiet", "-m", TITLE, *_EDITS, "tests/test_words.py")
    return git(root, "rev-parse", "HEAD")


def git(root: Path, *args: str) -> str:
    """What one git command prints."""
    who = {
        f"GIT_{role}_{what}": "ada@tally.example"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", "-C", str(root), *args], env={**os.environ, **who}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
