"""The sample repository for the stages' tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sampleplace import SamplePlace, sample_place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[SamplePlace]:
    """A fresh sample repository with settings and no tasks."""
    with sample_place(tmp_path) as opened:
        yield opened
