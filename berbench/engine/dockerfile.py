"""What can be told of a Dockerfile by reading it: whether it needs BuildKit, what it builds on. Pure."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable

_SYNTAX = re.compile(rb"\A(?:\xef\xbb\xbf)?(?:#[^\n]*\n)*?#[ \t]*syntax[ \t]*=[ \t]*(\S+)", re.I)
_FLAGS = (
    ("RUN", re.compile(r"^RUN\s+(?:--\S+\s+)*--(mount|network|security|device)\b", re.I)),
    (
        "COPY",
        re.compile(
            r"^(?:COPY|ADD)\s+(?:--\S+\s+)*--(link|chmod|exclude|parents|checksum|keep-git-dir)\b", re.I
        ),
    ),
    ("FROM", re.compile(r"^(?:ONBUILD\s+)?(?:ADD)\s+(?:--\S+\s+)*(git@|https?://\S+\.git)\b", re.I)),
)
_HEREDOC = re.compile(r"^(?:RUN|COPY|ADD)\b.*?(?<!<)<<-?(['\"]?)[A-Za-z_]\w*\1(?:\s|$)", re.I)
_GLOBAL_ARGS = re.compile(
    r"\$\{?(TARGETPLATFORM|TARGETOS|TARGETARCH|TARGETVARIANT|BUILDPLATFORM|BUILDOS|BUILDARCH)\b"
)


def needs_buildkit(dockerfile: bytes) -> str:
    """The first construct that the classic builder does not know, as a person would name it; "" for none."""
    if found := _SYNTAX.match(dockerfile):
        return f"# syntax={found[1].decode('utf-8', 'replace')}"
    for line in _instructions(dockerfile.decode("utf-8", "replace")):
        for word, pattern in _FLAGS:
            if flag := pattern.match(line):
                return f"ADD of {flag[1]}" if word == "FROM" else f"{line.split()[0].upper()} --{flag[1]}"
        # To the classic builder the lines after `RUN cat <<EOF` would be instructions.
        if _HEREDOC.match(line):
            return f"{line.split()[0].upper()} <<"
        if platform := _GLOBAL_ARGS.search(line):
            return platform[1]
    return ""


_FROM = re.compile(r"^FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.I)
_ARG = re.compile(r"(?:^|\s)([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|\S*)")
_LONGEST = 4096
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))")


def final_base(dockerfile: bytes, arguments: Iterable[tuple[str, str]]) -> str:
    """The image that the last stage stands on, by way of earlier stages; "" for scratch, or when it can't be told."""
    known: dict[str, str] = {}
    given = dict(arguments)
    stages: dict[str, str] = {}
    base = ""
    for line in _instructions(dockerfile.decode("utf-8", "replace")):
        word = line.split(maxsplit=1)[0].upper()
        if word == "ARG" and not base:
            for name, default in _ARG.findall(line):
                known[name] = given.get(name, _filled(default.strip("\"'"), known))
        elif found := _FROM.match(line):
            reference = _filled(found[1], known | given)
            base = stages.get(reference.lower(), reference)
            stages[str(len(stages))] = base
            if found[2]:
                stages[found[2].lower()] = base
    return "" if base.lower() == "scratch" or "$" in base else base


def _filled(text: str, known: dict[str, str]) -> str:
    """The text with its variables' values; where those grow beyond any name, a `$` stands for what is left out."""
    room = _LONGEST

    def value(found: re.Match[str]) -> str:
        nonlocal room
        text = known.get(found[1] or found[3]) or found[2] or ""
        room -= len(text)
        return text if room >= 0 else "$"

    return _VARIABLE.sub(value, text)


_LONGEST_PATTERN = 250  # beyond that it means no short name, and takes long to read


def excludes_itself(ignore: bytes) -> bool:
    """Whether a .dockerignore names itself: the classic builder then leaves it out of the image."""
    excluded = False
    for raw in ignore.decode("utf-8", "replace").splitlines():
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        keep = line.startswith("!")
        pattern = line.lstrip("!").strip().removeprefix("./").lstrip("/").rstrip("/")
        while pattern.startswith("**/"):
            pattern = pattern[3:]
        if len(pattern) <= _LONGEST_PATTERN and fnmatch.fnmatchcase(".dockerignore", pattern):
            excluded = not keep
    return excluded


def _instructions(text: str) -> list[str]:
    """Instructions as single lines: comments dropped, continuations joined, heredoc bodies not known yet."""
    found: list[str] = []
    open_line = ""
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("#") or (not line and open_line):
            continue
        joined = f"{open_line} {line}".strip() if open_line else line
        if joined.endswith("\\"):
            open_line = joined[:-1].rstrip()
            continue
        open_line = ""
        if joined:
            found.append(joined)
    return [*found, open_line] if open_line else found
