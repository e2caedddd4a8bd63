"""Patches, archives of the engine, its stream and its record: bytes that code under test can have written."""

from __future__ import annotations

import atexit
import io
import math
import shutil
import tempfile
from functools import cache
from pathlib import Path

from berbench.diffs import patch_paths, read_headers, read_patch
from berbench.engine.archive import Taken, first_file, read_files, unsafe
from berbench.engine.capture import Capture, Frames
from berbench.engine.facts import Seen, facts_of
from berbench.engine.installed import lines_of
from berbench.engine.record import read_record
from berbench.engine.script import RECORD
from berbench.environments import parse_installed
from berbench.errors import PatchConflict
from berbench.history import GitHistory
from berbench.history.seed import create_repository
from berbench.model.changes import Delta
from berbench.model.trial import Image, ReportFile, Trial
from berbench.ranking.signs import read_signs
from berbench.sample.stream import Stream
from berbench.store.records import facts_files, facts_from

_TREE = {
    "x": "one\ntwo\nthree\n",
    "a/b.py": "def b():\n    return 1\n",
    "tests/test_b.py": "from a.b import b\n\n\ndef test_b():\n    assert b() == 1\n",
    "crlf.txt": "one\r\ntwo\r\n",
    "é": "e\n",
}


def check_patch(data: bytes) -> None:
    """Headers are read alike with and without hunks, and a patch's lines are those of the patch."""
    headers = read_headers(data)
    paths = patch_paths(data)
    assert {file.path for file in headers} <= set(paths)
    read_signs(data, set(paths[::2]))
    files = read_patch(data)
    assert [file.path for file in files] == [file.path for file in headers]
    for file in files:
        for hunk in file.hunks:
            assert hunk.old_lines == sum(line[:1] in ("-", " ") for line in hunk.lines)
            assert hunk.new_lines == sum(line[:1] in ("+", " ") for line in hunk.lines)


@cache
def sample_history() -> GitHistory:
    """A small repository whose branch is main."""
    stream = Stream()
    stream.commit("main", "Start", _TREE, author="Ada Marsh <ada@tally.example>")
    folder = tempfile.mkdtemp(prefix="bb-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = Path(folder) / "repository"
    create_repository(root, stream.bytes())
    return GitHistory(root, scratch=Path(folder))


def check_apply(data: bytes) -> None:
    """What git changes is what the patch says to its readers: no path can slip past who looks at names."""
    history = sample_history()
    base = history.tree_of("main")
    try:
        result = history.apply(base, data)
    except PatchConflict:
        return
    changed = {change.path for change in history.changes(base, result)}
    said = set(patch_paths(data))
    assert changed == said, f"git changed {sorted(changed)}, the patch names {sorted(said)}"
    assert history.apply(base, history.diff(base, result)) == result


def check_archive(data: bytes) -> None:
    """Files come out below the folder, within their limits, and nothing is raised whatever stands there."""
    taken = read_files(io.BytesIO(data), max_file=4096, max_total=1 << 20, max_files=20)
    assert len(taken.files) <= 20
    assert all(len(file.data) <= 4096 and not unsafe(file.name) for file in taken.files)
    first_file(io.BytesIO(data), limit=100)


def check_frames(data: bytes) -> None:
    """However a stream is cut, its payloads are the same; a capture keeps the head and the tail that there were."""
    whole = b"".join(Frames().feed(data))
    size = 1 + sum(data[:8]) % 13
    split, kept = Frames(), Capture(head=50, tail=70)
    joined = b""
    for at in range(0, len(data), size):
        for piece in split.feed(data[at : at + size]):
            joined += piece
            kept.feed(piece)
    assert joined == whole
    value = kept.value()
    assert kept.total == len(whole)
    assert value.startswith(whole[:50]) and value.endswith(whole[-70:])
    assert kept.truncated or value == whole


def check_record(data: bytes) -> None:
    """Facts are such as can be kept and read again, whatever code under test wrote into the record."""
    read_record(data)
    text = data.decode("utf-8", "replace")
    lines_of(data)
    parse_installed(text)
    image = Image("sha256:0", "k", "t", "/src", "root")
    trial = Trial("base", "1", image, Delta(), "true", 10.0, setup=("make", "make all"))
    log = Capture()
    log.feed(data)
    files = (ReportFile(RECORD, data), ReportFile("pytest.xml", b"<x/>"))
    for code in (0, 1, 127, None):
        facts = facts_of(trial, Seen(log, Taken(files), code, seconds=1.0))
        assert math.isfinite(facts.seconds) and facts.seconds >= 0
        kept = facts_files(facts)
        assert facts_from(kept.__getitem__) == facts
    facts_from(lambda name: data)
