"""The test files that a command names, for runners whose reports name none."""

from __future__ import annotations

import shlex
from posixpath import basename

from berbench.evidence.names import is_script
from berbench.model.trial import Instrumentation

_RUNNERS = frozenset({"ava", "tape", "qunit"})
_VALUE_FLAGS = frozenset(
    {
        "-r",
        "--require",
        "-m",
        "--match",
        "-f",
        "--filter",
        "-T",
        "--timeout",
        "-c",
        "--concurrency",
        "-s",
        "-i",
    }
    | {"--config", "--module", "--seed", "--import", "--ignore", "--node-arguments"}
)
_GLOB = frozenset("*?[]{}!$`")
_ENDS = frozenset({"&&", "||", ";", "|", "&", ">", ">>", "2>&1"})


def files_named(instrumentation: Instrumentation) -> tuple[str, ...]:
    """Script files, where all that the runner is given is files by name; () where a folder or pattern may say more."""
    if instrumentation.runner not in _RUNNERS:
        return ()
    try:
        words = shlex.split(instrumentation.command.splitlines()[-1])
    except ValueError:
        return ()
    starts = [at for at, word in enumerate(words) if basename(word) == instrumentation.runner]
    if len(starts) != 1:
        return ()
    files: list[str] = []
    skip = False
    for word in words[starts[0] + 1 :]:
        if word in _ENDS:
            break
        if skip or word.startswith("-"):
            skip = not skip and word in _VALUE_FLAGS
        elif not is_script(word) or _GLOB & set(word):
            return ()
        else:
            files.append(word)
    return tuple(files)
