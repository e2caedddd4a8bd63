"""A cell's evidence inside the HTML file: JSON that no tag can end, and long texts cut where it is said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from berbench.model.cells import CellResult
from berbench.reports.markdown import cell_facts
from berbench.reports.marks import plain
from berbench.reports.values import CellFiles

# What the evidence of all cells may come to, in bytes of text; escaping makes a part of it longer.
WHOLE = 32 << 20
MOST, LEAST = 256 << 10, 12 << 10  # of one cell
SHARES: Mapping[str, float] = {"candidate": 0.25, "log": 0.2, "tests": 0.15}  # the transcript has the rest
LONGEST_MESSAGE = 4000  # characters of one message
MOST_REMARKS = 200
_TEST_EXTRA = 40  # bytes around the texts of one test


def allowance(cells: int) -> int:
    """Bytes of evidence that each of so many cells may bring."""
    return max(LEAST, min(MOST, WHOLE // max(1, cells)))


def cell_data(cell: CellResult, files: CellFiles, *, task: int, about: str, allowed: int) -> str:
    """The data of a cell's page. `task` is the number of its task's data, `about` what that task is about."""
    notes: dict[str, str] = {}
    candidate, notes["candidate"] = cut(files.candidate or b"", int(allowed * SHARES["candidate"]))
    log, notes["log"] = cut(files.log, int(allowed * SHARES["log"]))
    tests, notes["tests"] = _tests(files, int(allowed * SHARES["tests"]))
    used = len(candidate) + len(log) + sum(len(part) for test in tests for part in test)
    transcript, notes["transcript"] = cut(files.transcript, max(allowed - used, allowed // 3))
    document = {
        "t": task,
        "key": cell.key,
        "task": cell.task,
        "about": plain(about),
        "label": cell.label,
        "attempt": cell.attempt,
        "outcome": cell.outcome.value,
        "facts": cell_facts(cell),
        "reasons": [*cell.reasons],
        "error": cell.error,
        "refused": cell.usage.refused,
        "final": files.final_message[:LONGEST_MESSAGE],
        "remarks": files.remarks[:MOST_REMARKS],
        "tests": tests,
        "candidate": None if files.candidate is None else candidate,
        "log": log,
        "transcript": transcript,
        "where": files.where,
        "cut": {name: note for name, note in notes.items() if note},
    }
    return script(document)


def task_data(files: CellFiles, *, allowed: int) -> str:
    """The data that all cells of a task share: the reference and the prompt."""
    reference, note = cut(files.reference or b"", allowed)
    prompt, _ = cut(files.prompt, allowed)
    document = {
        "reference": None if files.reference is None else reference,
        "prompt": prompt,
        "cut": note,
    }
    return script(document)


def cut(data: bytes, most: int) -> tuple[str, str]:
    """Text of at most about `most` bytes, its head and its end, and a note of what is left out ("" for nothing)."""
    if len(data) <= most:
        return data.decode("utf-8", "replace"), ""
    head = data[: most // 3]
    tail = data[len(data) - (most - len(head)) :]
    head = head[: head.rfind(b"\n") + 1] or head
    tail = tail[tail.find(b"\n") + 1 :] or tail
    left_out = len(data) - len(head) - len(tail)
    note = f"Shortened: {left_out:,} of {len(data):,} bytes are left out, at the line that says so."
    line = f"\n[… {left_out:,} bytes are left out here …]\n"
    return head.decode("utf-8", "replace") + line + tail.decode("utf-8", "replace"), note


def _tests(files: CellFiles, most: int) -> tuple[list[tuple[str, str, str]], str]:
    """Id, outcome and message of each test, those that did not pass first, as far as they may."""
    ordered = sorted(files.tests, key=lambda test: test.passed)
    kept: list[tuple[str, str, str]] = []
    used = 0
    for test in ordered:
        used += len(test.id) + len(test.message) + _TEST_EXTRA
        if used > most and kept:
            return kept, f"The first {len(kept):,} of {len(ordered):,} tests are shown."
        kept.append((test.id[:2000], test.outcome, test.message[:LONGEST_MESSAGE]))
    return kept, ""


def script(document: Mapping[str, Any]) -> str:
    """JSON to stand inside a `script` element: no `<`, so that nothing in it ends or comments out the element."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
