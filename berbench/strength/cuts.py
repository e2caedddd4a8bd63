"""What can be left out of the reference: each hunk and each file, as contents to the byte. Pure.

Cutting happens in contents, not in the text of a patch: the file as it was and the hunks to keep give the file
without the others, at exactly the lines that the patch names. Where the hunks don't rebuild the solved file to
the byte, and where there is more than lines to a change, the file is one unit.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from berbench.diffs import Hunk, PatchFile
from berbench.model.changes import GITLINK, SYMLINK, Change
from berbench.strength.nocode import no_code, only_hints

HUNK, FILE = "hunk", "file"
LINES_SHOWN = 4

# Written by tools, whole: a part of one makes no sense.
_LOCKS = frozenset(
    {"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock"}
    | {"Pipfile.lock", "Cargo.lock", "go.sum", "composer.lock", "Gemfile.lock", "mix.lock"}
)


class Misfit(ValueError):
    """Hunks that are not of this content."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of the reference to be left out.

    `paths` are taken back to what they were (both of a rename), or, where `content` is given, the one path
    holds that instead. `header` and `lines` tell which part it is; `no_code` that no test could notice.
    """

    kind: str  # HUNK | FILE
    paths: tuple[str, ...]
    header: str  # "@@ -1,3 +1,4 @@ def f", or what kind of change the file is
    lines: tuple[str, ...]  # the first changed lines, with their sign
    added: int
    deleted: int
    content: bytes | None = None
    no_code: bool = False
    only_hints: bool = (
        False  # annotations of functions alone: a test that passes without them is not to blame
    )

    @property
    def path(self) -> str:
        """The path that people know it by."""
        return self.paths[-1]


def cuts_of(
    files: Sequence[PatchFile],
    changes: Sequence[Change],
    old: Mapping[str, bytes],
    new: Mapping[str, bytes],
) -> tuple[Cut, ...]:
    """Every hunk, then every file. Where a file is one unit, its hunk says so in the header.

    `changes` are those of the reference between the trees of `old` and `new` contents.
    """
    by_path = {change.path: change for change in changes}
    hunks: list[Cut] = []
    whole: list[Cut] = []
    for file in files:
        paths = tuple(dict.fromkeys(path for path in (file.old_path, file.path) if path in by_path))
        if not paths:
            continue
        apart = tuple(_hunks(file, by_path[paths[-1]], old, new)) if len(paths) == 1 else ()
        before, after = old.get(paths[-1], b""), new.get(paths[-1], b"")
        idle = all(cut.no_code for cut in apart) if apart else _idle(file, before, after)
        hints = bool(before and after) and only_hints(file.path, after, before)
        one = Cut(
            FILE,
            paths,
            _kind(file, by_path),
            _first_lines(file.hunks),
            file.added,
            file.deleted,
            no_code=idle,
        )
        whole.append(one)
        hunks.extend(
            apart or [Cut(HUNK, paths, one.header, one.lines, one.added, one.deleted, None, idle, hints)]
        )
    return (*hunks, *whole)


def rebuilt(old: bytes, hunks: Sequence[Hunk], *, without: Collection[int] = ()) -> bytes:
    """The content after the hunks, those at the indexes of `without` left out. Misfit when one is not of it."""
    lines = old.splitlines(keepends=True) if b"\r" not in old else _split(old)
    made: list[bytes] = []
    at = 0
    for index, hunk in enumerate(hunks):
        start = hunk.old_start - (hunk.old_lines > 0)
        before, after = _sides(hunk)
        end = start + len(before)
        if start < at or lines[start:end] != before:
            raise Misfit(f"line {hunk.old_start}")
        made += lines[at:start]
        made += before if index in without else after
        at = end
    return b"".join([*made, *lines[at:]])


def _split(data: bytes) -> list[bytes]:
    """Lines that end at LF alone."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return [line for line in lines if line]


def _sides(hunk: Hunk) -> tuple[list[bytes], list[bytes]]:
    """The lines that a hunk takes away and those it puts there, context in both."""
    before: list[bytes] = []
    after: list[bytes] = []
    last: list[list[bytes]] = []
    for line in hunk.lines:
        if line.startswith("\\"):  # "No newline at end of file" speaks of the line before
            for side in last:
                side[-1] = side[-1].removesuffix(b"\n")
            continue
        last = {"-": [before], "+": [after]}.get(line[:1], [before, after])
        for side in last:
            side.append(line[1:].encode("utf-8", "surrogateescape") + b"\n")
    return before, after


def _hunks(
    file: PatchFile, change: Change, old: Mapping[str, bytes], new: Mapping[str, bytes]
) -> Iterator[Cut]:
    """The file's hunks, none where it is one unit."""
    still = change.status == "M" and change.old_mode == change.new_mode
    lines_only = still and change.new_mode not in (SYMLINK, GITLINK)
    if not lines_only or file.is_binary or posixpath.basename(change.path) in _LOCKS:
        return
    before, after = old[change.path], new[change.path]
    try:
        if rebuilt(before, file.hunks) != after:
            return
    except Misfit:
        return
    for index, hunk in enumerate(file.hunks):
        content = rebuilt(before, file.hunks, without={index})
        yield Cut(
            HUNK,
            (change.path,),
            header(hunk),
            _first_lines([hunk]),
            len(hunk.added),
            len(hunk.deleted),
            content,
            no_code(change.path, after, content, (*hunk.added, *hunk.deleted)),
            only_hints(change.path, after, content),
        )


def header(hunk: Hunk) -> str:
    """The line that begins the hunk."""
    ranges = f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@"
    return f"{ranges} {hunk.heading.strip()}".rstrip()


def _idle(file: PatchFile, before: bytes, after: bytes) -> bool:
    changed = [line for hunk in file.hunks for line in (*hunk.added, *hunk.deleted)]
    return bool(file.hunks) and not file.is_deleted and no_code(file.path, after, before, changed)


def _first_lines(hunks: Sequence[Hunk]) -> tuple[str, ...]:
    changed = [line for hunk in hunks for line in hunk.lines if line[:1] in ("+", "-") and line[1:].strip()]
    return tuple(changed[:LINES_SHOWN])


def _kind(file: PatchFile, changes: Mapping[str, Change]) -> str:
    """What kind of change a file is, for people."""
    change = changes.get(file.path)
    if file.is_rename:
        return f"renamed from {file.old_path}"
    if change is None or change.status == "D":
        return "deleted file"
    if change.status == "A":
        return "new file"
    if change.status == "T":
        return "type changed"
    if change.old_mode != change.new_mode:
        return "mode and content" if file.hunks else "mode changed"
    if file.is_binary:
        return "binary file"
    return f"{len(file.hunks)} hunk{'s' * (len(file.hunks) != 1)}"
