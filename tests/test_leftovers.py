"""Runs last (see conftest): nothing that the suite made outside its own folders is still there."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

import engine_probe


def test_no_temp_folder_is_left() -> None:
    assert sorted(path.name for path in Path(tempfile.gettempdir()).glob("berbench-*")) == []


@pytest.mark.docker
def test_no_container_or_network_is_left() -> None:
    assert engine_probe.left_behind() == []
