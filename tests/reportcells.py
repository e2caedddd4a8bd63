"""Runs made up for reports: results and evidence of any number of cells, the same on every call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from berbench.model.cells import CellOutcome, CellResult, Usage
from berbench.reports import CellFiles, Planned, Report, RunFacts, Skipped, TaskFacts, TestLine, gather

BEGAN = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
PASS, FAIL, TIMEOUT, TAMPERED, ERROR = CellOutcome


def key_of(*parts: object) -> str:
    """A cell's key: 64 hex digits."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def result(
    task: str = "1",
    label: str = "claude-code/sonnet",
    outcome: CellOutcome = PASS,
    attempt: int = 1,
    **more: Any,
) -> CellResult:
    """A cell's result; `cost` and `tokens` (in, out) go to its usage."""
    tool, _, rest = label.partition("/")
    model, _, effort = rest.partition("/")
    into, out = more.pop("tokens", (None, None))
    usage = Usage(
        input_tokens=into,
        output_tokens=out,
        cost_usd=more.pop("cost", None),
        final_message=more.pop("final", ""),
    )
    values: dict[str, Any] = {
        "fingerprint": key_of("task", task),
        "key": key_of(task, label, attempt),
        "finished_at": BEGAN + timedelta(minutes=attempt),
    }
    return CellResult(
        **{**values, **more},
        task=task,
        label=label,
        tool=tool,
        model=model,
        effort=effort,
        options=(),
        attempt=attempt,
        outcome=outcome,
        usage=usage,
    )


def run_of(results: Iterable[CellResult], *more: Planned, **fields: Any) -> RunFacts:
    """A run that planned just these cells, and more."""
    planned = tuple(Planned(one.key, one.task, one.label, one.attempt) for one in results)
    values: dict[str, Any] = {"id": "20260301T020000Z-ab12-smoke", "experiment": "smoke", "started_at": BEGAN}
    return RunFacts(**{**values, **fields}, planned=planned + more)


def facts_of(results: Iterable[CellResult], **weights: float) -> dict[str, TaskFacts]:
    """The tasks as they were measured."""
    tasks = {one.task: one.fingerprint for one in results}
    return {task: TaskFacts(task, weights.get(f"t{task}", 1.0), mark) for task, mark in tasks.items()}


CONFIGURATIONS: Sequence[tuple[str, float, float | None]] = (
    ("claude-code/claude-opus-4/high", 0.8, 1.4),
    ("claude-code/claude-sonnet-4", 0.65, 0.42),
    ("codex/gpt-5/medium", 0.6, 0.5),
    ("gemini-cli/gemini-pro", 0.45, 0.21),
    ("mini-swe-agent/small", 0.35, 0.04),
    ("aider/local", 0.3, None),
    ("oracle", 1.0, None),
    ("nop", 0.0, None),
)


def many(
    tasks: int, attempts: int, configurations: Sequence[tuple[str, float, float | None]] = CONFIGURATIONS
) -> list[CellResult]:
    """A run's results: each task has a difficulty, each configuration a skill, and chance comes from hashes."""
    made = []
    for number in range(tasks):
        task = str(13_900 + number * 7)
        hard = _chance("hard", task)
        for label, skill, dollars in configurations:
            for attempt in range(1, attempts + 1):
                luck = _chance(task, label, attempt)
                passes = skill == 1.0 or (skill > 0 and luck * 0.5 + hard * 0.6 < skill)
                outcome = PASS if passes else FAIL
                if skill not in (0.0, 1.0) and not passes:
                    outcome = {0: TIMEOUT, 1: TAMPERED, 2: ERROR}.get(int(luck * 40) - 30, FAIL)
                control = skill in (0.0, 1.0)
                made.append(
                    result(
                        task,
                        label,
                        outcome,
                        attempt,
                        cost=None if dollars is None or luck > 0.97 else dollars * (0.4 + luck + hard),
                        tokens=(None, None) if control else (int(9e4 * (1 + luck)), int(7e3 * (1 + luck))),
                        seconds=0.4 if control else 40 + 400 * luck * hard,
                        verify_seconds=4.2,
                        lines_added=0 if label == "nop" else int(4 + 60 * luck),
                        lines_deleted=0 if label == "nop" else int(20 * luck),
                        files_changed=0 if label == "nop" else 1 + int(3 * luck),
                        verdict="" if outcome is ERROR else "pass" if passes else "fail",
                        reasons=("2 of the hidden tests fail.",) if outcome is FAIL else (),
                        error="The model's API answered 500." if outcome is ERROR else "",
                    )
                )
    return made


def _chance(*parts: object) -> float:
    return int(key_of(*parts)[:8], 16) / 0xFFFFFFFF


PATCH = b"""diff --git a/src/count.py b/src/count.py
index 1111111..2222222 100644
--- a/src/count.py
+++ b/src/count.py
@@ -1,6 +1,6 @@
 import re

 def words(text: str) -> int:
-    return len(text.split())
+    # Apostrophes are inside words.
+    return len(re.findall(r"[\\w']+", text))

--- not a header, but a deleted line
diff --git a/docs/notes.md b/docs/notes.md
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/docs/notes.md
@@ -0,0 +1,2 @@
+# Notes
+<b>not bold</b>
"""


def evidence(cell: CellResult, *, transcript: bytes = b"", size: int = 0) -> CellFiles:
    """The evidence of a cell; `size` bytes more of transcript."""
    lines = [
        {"type": "system", "subtype": "init", "model": cell.model},
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I will look at the counting first."},
                    {"type": "tool_use", "name": "Bash", "input": {"command": "grep -rn 'def words' src"}},
                ],
            },
        },
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [
                    {"type": "tool_result", "content": "src/count.py:3:def words(text: str) -> int:"}
                ],
            },
        },
        {"type": "result", "result": "Done: the words are counted as they should be."},
    ]
    told = "\n".join(json.dumps(line) for line in lines).encode() + b"\n" + transcript
    filler = b"compiling module 17 of 230 ... \x1b[32mok\x1b[0m\n"
    told += filler * (size // len(filler))
    good = cell.outcome is PASS
    tests = (
        TestLine("tests/test_count.py::test_words", "passed"),
        TestLine(
            "tests/test_count.py::test_apostrophe[don't]",
            "passed" if good else "failed",
            message="" if good else "AssertionError: assert 2 == 1",
        ),
        TestLine("tests/test_count.py::test_empty", "passed" if good else "error"),
    )
    return CellFiles(
        transcript=told,
        candidate=b"" if cell.tool == "nop" else PATCH,
        reference=PATCH,
        tests=tests,
        final_message="Done: the words are counted as they should be.",
        log=b"\x1b[1m==== test session starts ====\x1b[0m\ncollected 3 items\n\ntests/test_count.py F.E\n",
        prompt=b'# Apostrophes split words\n\n`words("don\'t")` is 2, and should be 1.\n',
        where=f"/home/person/.local/share/berbench/tally/cells/{cell.key}",
    )


HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m`|*_[a](b)\u202e\x00\udce9'\""
)


def hostile_report() -> tuple[Report, dict[str, CellFiles]]:
    """Everything that comes from outside is hostile."""
    cells = [
        result(HOSTILE, HOSTILE, FAIL, reasons=(HOSTILE,), verdict=HOSTILE),
        result(HOSTILE, "b", ERROR, error=HOSTILE),
        result("2", "b", PASS, cost=0.5),
    ]
    raw = HOSTILE.encode("utf-8", "surrogateescape") + b"\xff\xfe<!-- <script>"
    files = CellFiles(
        transcript=raw,
        candidate=raw,
        reference=raw,
        tests=(TestLine(HOSTILE, "failed", HOSTILE),),
        log=raw,
        prompt=raw,
        final_message=HOSTILE,
        remarks=(HOSTILE,),
        where=HOSTILE,
    )
    skipped = (Skipped(HOSTILE, HOSTILE, (HOSTILE,)),)
    run = run_of(cells, id=HOSTILE, experiment=HOSTILE, skipped=skipped, notes=(HOSTILE,))
    tasks = {HOSTILE: TaskFacts(HOSTILE, description=HOSTILE)}
    return gather(run, cells, tasks), {cell.key: files for cell in cells}
