"""Captured trials of every runner under data/situations/, as facts and evidence. `capturing/` made them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from berbench.evidence import read_evidence
from berbench.model.trial import Evidence, Facts, Instrumentation, ReportFile, Verdict
from berbench.runners import instrument
from berbench.verdicts import Hidden, Trialed, judge

KEPT = Path(__file__).parent / "data" / "situations"
RUNNERS = tuple(sorted(path.stem for path in KEPT.glob("*.json")))

# situation → the captured trials that are its base and its reference
SITUATIONS = {
    "fair": ("base", "good"),
    "not loaded at base": ("broken", "mended"),
    "filter matches nothing": ("none", "none"),
    "file missing": ("absent", "absent"),
    "all skipped": ("skipped", "skipped"),
    "other tests": ("other-base", "other-good"),
    "no such command": ("gone", "gone"),
    "runner can't start": ("crash", "crash"),
    "package missing": ("lacking", "lacking"),
    "ends itself with 0": ("base", "exits"),
}


@dataclass(frozen=True)
class Capture:
    """What one trial left, and how it was asked."""

    asked: Instrumentation
    facts: Facts

    @property
    def evidence(self) -> Evidence:
        """What berbench reads in it."""
        return read_evidence(self.asked, self.facts)

    @property
    def trialed(self) -> Trialed:
        """Facts and evidence."""
        return Trialed(self.facts, self.evidence)

    def ended(self, code: int) -> Capture:
        """The trial, had it ended with another exit code."""
        return replace(self, facts=replace(self.facts, exit_code=code))

    def silent(self, code: int | None) -> Capture:
        """A trial that left nothing at all."""
        return replace(self, facts=replace(self.facts, log=b"", reports=(), exit_code=code))

    def cut(self, at: int, *, code: int | None) -> Capture:
        """The trial had its report, or its log where that is the report, been cut after `at` bytes."""
        if self.report is None:
            return replace(self, facts=replace(self.facts, log=self.facts.log[:at], exit_code=code))
        reports = tuple(
            replace(one, data=one.data[:at]) if one is self.report else one for one in self.facts.reports
        )
        return replace(self, facts=replace(self.facts, reports=reports, exit_code=code, log=b""))

    @property
    def report(self) -> ReportFile | None:
        """The file that holds the results, None for runners whose log does."""
        return next((one for one in self.facts.reports if one.name != "root"), None)

    @property
    def size(self) -> int:
        """Bytes of what holds the results."""
        return len(self.report.data if self.report else self.facts.log)


@cache
def _document(runner: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((KEPT / f"{runner}.json").read_text(encoding="ascii"))
    return document


def hidden_of(runner: str) -> Hidden:
    """The path of the hidden test file of a runner's project."""
    return Hidden((_document(runner)["hidden"],))


def capture(runner: str, trial: str) -> Capture:
    """One captured trial. Stray bytes were kept as lone surrogates."""
    kept = _document(runner)["trials"][trial]
    reports = tuple(
        ReportFile(name, text.encode("utf-8", "surrogateescape")) for name, text in kept["reports"].items()
    )
    log = kept["log"].encode("utf-8", "surrogateescape")
    facts = Facts(trial, kept["exit_code"], log=log, log_bytes=len(log), reports=reports)
    return Capture(instrument(kept["command"]), facts)


def verdict_on(runner: str, situation: str) -> Verdict:
    """What validation says of a situation."""
    base, reference = SITUATIONS[situation]
    return judge(capture(runner, base).trialed, capture(runner, reference).trialed, hidden_of(runner))
