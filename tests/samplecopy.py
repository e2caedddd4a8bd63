"""The sample repository, built once a session and copied for each test."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from berbench.sample import Sample, build


@cache
def _template() -> Sample:
    # Below the session's own temporary folder, which goes with it.
    return build(Path(tempfile.mkdtemp(prefix="sample-")) / "tally")


def sample_at(path: Path) -> Sample:
    """The sample repository at `path`."""
    shutil.copytree(_template().root, path, symlinks=True)
    return replace(_template(), root=path)
