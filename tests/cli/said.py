"""A command given as a user gives it, and what it left behind."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from berbench.cli.app import main


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Its one JSON document."""
        return json.loads(self.out)


def give(
    root: Path, args: tuple[str, ...], capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
) -> Said:
    """Run `berbench` in this process, on the repository at `root`. No traceback may ever be seen."""
    patch.setattr(sys, "argv", ["berbench", "-C", str(root), *args])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    assert isinstance(ended.value.code, int)
    return Said(ended.value.code, out, err)
