"""Reads what a trial left behind: reports, streams and logs become per-test results. No opinion."""

from __future__ import annotations

from berbench.evidence.names import unstable
from berbench.evidence.read import read_evidence

__all__ = ["read_evidence", "unstable"]
