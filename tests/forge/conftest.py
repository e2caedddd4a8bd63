from __future__ import annotations

from collections.abc import Iterator

import pytest
from forgeserver import ForgeServer


@pytest.fixture
def server() -> Iterator[ForgeServer]:
    """A forge's API on loopback."""
    played = ForgeServer()
    yield played
    played.close()
