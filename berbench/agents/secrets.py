"""What of the given secrets must never be read again in anything that leaves a container."""

from __future__ import annotations

import re
from collections.abc import Iterable

from berbench.errors import ConfigError
from berbench.model.agent import SecretFile

LARGEST = 96 << 10  # bytes of a secret file: it travels in one variable, and one has 128 KiB at most

_WORD = re.compile(r"[A-Za-z0-9_.~+/=-]{16,}")
_PLACE = re.compile(r"/.*\.|\..*/")  # a path or the rest of an address: configuration, and no key


def check_secret_files(files: Iterable[SecretFile]) -> None:
    """ConfigError for one that can't be put into a container."""
    for file in files:
        if len(file.data) > LARGEST or b"\0" in file.data or not file.target.startswith("/"):
            raise ConfigError(
                f"The secret file for {file.target} can't be given to an agent.",
                remedy=f"it must be a text of at most {LARGEST >> 10} KiB with an absolute target",
            )


def secret_words(variables: Iterable[tuple[str, str]], files: Iterable[SecretFile]) -> tuple[str, ...]:
    """The variables' values, and of them and of files the words that look like keys: long, with letters and digits."""
    found = [value for _, value in variables]
    # A value of several lines, or a document, is seldom told as a whole.
    for text in (*found, *(file.data.decode("utf-8", "surrogateescape") for file in files)):
        found += [word for word in _WORD.findall(text) if _is_key(word)]
    return tuple(dict.fromkeys(found))


def _is_key(word: str) -> bool:
    return bool(re.search(r"\d", word) and re.search(r"[A-Za-z]", word)) and not _PLACE.search(word)
