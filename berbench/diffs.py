"""Patches as values, for review, lint and counts. Never the source of bytes that go into a patch.

Headers are read here, because names may be quoted, ambiguous or absent (renames, modes, empty and binary
files); hunks are read by `unidiff`, one file section at a time. Lines end at LF alone: form feeds, CR and
U+2028 are content. Text is decoded from UTF-8 with surrogateescape, so any byte survives.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from berbench.errors import PatchConflict

_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_STUB = re.compile(rb"^Binary files .* differ\r?$")
# The lines of a section's header, as git knows them.
_KEYS = tuple(
    b"--- |+++ |old mode |new mode |deleted file mode |new file mode |copy from |copy to |rename from |rename to "
    b"|rename old |rename new |similarity index |dissimilarity index |index |GIT binary patch".split(b"|")
)
_LONGEST_NUMBER = 18  # digits of a line's number
_MODE = re.compile(rb"[0-7]{1,10}\r?")
_OCTAL = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPES = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk. `lines` keep their leading ` `, `+`, `-` or `\\`, without the newline."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    heading: str
    lines: tuple[str, ...]

    @property
    def added(self) -> tuple[str, ...]:
        """Added lines without their sign."""
        return tuple(line[1:] for line in self.lines if line.startswith("+"))

    @property
    def deleted(self) -> tuple[str, ...]:
        """Deleted lines without their sign."""
        return tuple(line[1:] for line in self.lines if line.startswith("-"))


@dataclass(frozen=True, slots=True)
class PatchFile:
    """One file section of a patch. `old_path` differs from `path` for renames and copies only."""

    path: str
    old_path: str
    old_mode: int | None = None  # as the patch says, None where it is silent
    new_mode: int | None = None
    is_new: bool = False
    is_deleted: bool = False
    is_copy: bool = False
    is_binary: bool = False
    is_stub: bool = False  # binary content that the patch only mentions
    hunks: tuple[Hunk, ...] = ()

    @property
    def is_rename(self) -> bool:
        """Whether the old path is gone and the new one takes its place."""
        return self.old_path != self.path and not self.is_copy

    @property
    def is_mode_only(self) -> bool:
        """Whether nothing but the file's mode changes."""
        changed = self.old_mode is not None and self.new_mode is not None and self.old_mode != self.new_mode
        still = not (self.hunks or self.is_binary or self.is_new or self.is_deleted)
        return changed and still and self.old_path == self.path

    @property
    def added(self) -> int:
        """Number of added lines."""
        return sum(len(hunk.added) for hunk in self.hunks)

    @property
    def deleted(self) -> int:
        """Number of deleted lines."""
        return sum(len(hunk.deleted) for hunk in self.hunks)


@dataclass(slots=True)
class _Section:
    """A file section while it is read."""

    names: bytes = b""  # what follows `diff --git `
    old: bytes | None = None
    new: bytes | None = None
    from_: bytes | None = None
    to: bytes | None = None
    old_mode: int | None = None
    new_mode: int | None = None
    marks: set[str] = field(default_factory=set)
    hunks: list[bytes] = field(default_factory=list)


def read_patch(data: bytes) -> tuple[PatchFile, ...]:
    """All file sections in order; nothing for text that holds none. PatchConflict when one is cut short."""
    files = ((section, _headers(section)) for section in _sections(data))
    return tuple(replace(file, hunks=tuple(_hunks(file.path, section.hunks))) for section, file in files)


def read_headers(data: bytes) -> tuple[PatchFile, ...]:
    """As `read_patch`, with no hunks read: for names and kinds, at a fraction of the time."""
    return tuple(_headers(section) for section in _sections(data))


def patch_paths(data: bytes) -> tuple[str, ...]:
    """Exact paths that the patch changes, both of a rename, sorted and each once."""
    return paths_of(read_headers(data))


def paths_of(files: Iterable[PatchFile]) -> tuple[str, ...]:
    """As `patch_paths`, of file sections that were read already."""
    paths = set()
    for file in files:
        paths.add(file.path)
        if file.is_rename:
            paths.add(file.old_path)
    return tuple(sorted(paths))


def _sections(data: bytes) -> Iterator[_Section]:
    """The file sections that `git apply` sees: a header ends at the first line that is none of its own, and only
    hunks (or binary data) that follow at once belong to it. All else between sections is text."""
    lines = data.split(b"\n")
    section: _Section | None = None
    at, headed = 0, False  # headed: what stands here goes on with the section's header, or its hunks
    while at < len(lines):
        line = lines[at]
        if line.startswith(b"diff --git "):
            if section:
                yield section
            section, headed = _Section(names=line[len(b"diff --git ") :].rstrip(b"\r")), True
        elif section and headed and _HUNK.match(line):
            end = _end_of_hunk(lines, at)
            section.hunks.append(b"\n".join(lines[at:end]) + b"\n")
            at = end
            continue
        elif section and headed and not section.hunks and line.startswith(_KEYS):
            _header(section, line)
            headed = not line.startswith(b"GIT binary patch")
        elif section and headed and not section.hunks and _STUB.match(line):
            section.marks.add("stub")
            headed = False
        elif line.startswith(b"--- ") and _begins_plainly(lines, at):
            if section:
                yield section
            section, headed = _Section(old=line[4:], new=lines[at + 1][4:]), True
            at += 1
        else:
            headed = False
        at += 1
    if section:
        yield section


def _begins_plainly(lines: list[bytes], at: int) -> bool:
    """Whether a section without git's header begins here."""
    return at + 2 < len(lines) and lines[at + 1].startswith(b"+++ ") and lines[at + 2].startswith(b"@@ -")


def _end_of_hunk(lines: list[bytes], start: int) -> int:
    """Index after a hunk's last line, by its own counts."""
    found = _HUNK.match(lines[start])
    assert found is not None
    counts = [found[group] or b"1" for group in (2, 4)]
    if max(map(len, found.groups(b""))) > _LONGEST_NUMBER:
        raise PatchConflict(
            f"The patch has a hunk of impossible numbers at line {start + 1}.", remedy="Take the diff again."
        )
    old, new = map(int, counts)
    at = start + 1
    while old > 0 or new > 0 or (at < len(lines) and lines[at].startswith(b"\\")):
        # The last element of a split is what follows the final newline: no line of the hunk.
        sign = lines[at][:1] if at < len(lines) - 1 or (at < len(lines) and lines[at]) else b"?"
        if sign not in (b" ", b"+", b"-", b"\\", b"", b"\r"):
            raise PatchConflict(
                f"The patch is cut short or damaged at line {at + 1}.",
                hunk=os.fsdecode(lines[start]),
                remedy="Take the diff again, and keep every byte of it, the last newline too.",
            )
        old -= sign in (b" ", b"-", b"", b"\r")
        new -= sign in (b" ", b"+", b"", b"\r")
        at += 1
    return at


def _header(section: _Section, line: bytes) -> None:
    """One line of a section's header."""
    key = next(key for key in _KEYS if line.startswith(key))
    rest = line[len(key) :]
    word = key.decode().strip()
    if word == "---":
        section.old = rest
    elif word == "+++":
        section.new = rest
    elif word.endswith("mode"):
        if not _MODE.fullmatch(rest):
            raise PatchConflict(
                f"The patch has {os.fsdecode(line)!r}, which is no file's mode.",
                remedy="Take the diff again.",
            )
        if word in ("old mode", "deleted file mode"):
            section.old_mode = int(rest, 8)
        else:
            section.new_mode = int(rest, 8)
        section.marks |= {"new file mode": {"new"}, "deleted file mode": {"gone"}}.get(word, set())
    elif word in ("rename from", "copy from", "rename old"):
        section.from_ = rest
    elif word in ("rename to", "copy to", "rename new"):
        section.to = rest
        section.marks.add(word.split()[0])
    elif word == "GIT binary patch":
        section.marks.add("binary")
    elif word == "index" and (mode := re.search(rb" ([0-7]{6})\r?$", line)):
        section.old_mode = section.new_mode = int(mode[1], 8)


def _headers(section: _Section) -> PatchFile:
    old, new = _names(section)
    is_new = "new" in section.marks or old is None
    is_deleted = "gone" in section.marks or new is None
    path = new if new is not None else old
    if path is None:
        raise PatchConflict("A file section of the patch names no file.", remedy="Take the diff again.")
    return PatchFile(
        path=path,
        old_path=path if old is None else old,
        old_mode=section.old_mode,
        new_mode=section.new_mode,
        is_new=is_new,
        is_deleted=is_deleted,
        is_copy="copy" in section.marks,
        is_binary=bool(section.marks & {"binary", "stub"}),
        is_stub="stub" in section.marks and "binary" not in section.marks,
    )


def _names(section: _Section) -> tuple[str | None, str | None]:
    """(old, new); None for /dev/null. The clearest statement in the header wins."""
    if section.from_ is not None and section.to is not None:
        return _decode(_unquote(section.from_)), _decode(_unquote(section.to))
    if section.old is not None and section.new is not None:
        return _side(section.old), _side(section.new)
    name = _common_name(section.names)
    return name, name


def _side(text: bytes) -> str | None:
    """The name of a `---` or `+++` line."""
    name = _unquote(text) if text.startswith(b'"') else text.partition(b"\t")[0].rstrip(b"\r")
    return None if name == b"/dev/null" else _decode(_strip_prefix(name))


def _common_name(text: bytes) -> str | None:
    """The name in `diff --git a/x b/x`, which both halves share (other cases have lines of their own)."""
    if text.startswith(b'"'):
        end = re.match(rb'"(?:[^"\\]|\\.)*"', text)
        return _decode(_strip_prefix(_unquote(end[0]))) if end else None
    half = len(text) // 2
    first, second = _strip_prefix(text[:half]), _strip_prefix(text[half + 1 :])
    if text[half : half + 1] == b" " and first == second:
        return _decode(first)
    return None


def _strip_prefix(name: bytes) -> bytes:
    """Without the `a/`, `b/` (or mnemonic `i/`, `w/`, `c/`, `o/`) in front."""
    return name[2:] if name[1:2] == b"/" and name[:1] in b"abciow" else name


def _unquote(text: bytes) -> bytes:
    """A name as C quotes it, with its real bytes."""
    text = text.rstrip(b"\r") if not text.startswith(b'"') else text
    if not text.startswith(b'"'):
        return text
    return _OCTAL.sub(_byte, text[1 : text.rindex(b'"')])


def _byte(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & 0xFF if len(code) == 3 else _ESCAPES[code[0]]])


def _decode(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _hunks(path: str, raw: list[bytes]) -> Iterator[Hunk]:
    if not raw:
        return
    text = "--- a/file\n+++ b/file\n" + b"".join(raw).decode("utf-8", "surrogateescape")
    try:
        # newline="\n": no other character ends a line, whatever Unicode thinks of it
        [file] = PatchSet(io.StringIO(text, newline="\n"))
    except (UnidiffParseError, ValueError) as error:
        raise PatchConflict(
            f"A hunk of {path!r} can't be read: {error}.", path=path, remedy="Take the diff again."
        ) from error
    for hunk in file:
        yield Hunk(
            hunk.source_start,
            hunk.source_length,
            hunk.target_start,
            hunk.target_length,
            hunk.section_header,
            tuple(f"{line.line_type}{line.value}".removesuffix("\n") for line in hunk),
        )
