"""Test runners: how a command is recognised, asked for a report, proposed and narrowed.

One row a runner in `table`; `shell` reads command lines, `instrument` adds the report request, `propose` writes
the narrowest command for changed tests, `narrow` deselects tests, `cautions` says what is unwise in a command.
"""

from __future__ import annotations

from berbench.runners.cautions import command_warnings
from berbench.runners.clock import clock_trouble
from berbench.runners.instrument import instrument
from berbench.runners.manifests import MANIFEST_GLOBS
from berbench.runners.narrow import narrow
from berbench.runners.order import order_trouble
from berbench.runners.propose import Proposal, propose
from berbench.runners.recognise import runner_of

__all__ = [
    "MANIFEST_GLOBS",
    "Proposal",
    "clock_trouble",
    "command_warnings",
    "instrument",
    "narrow",
    "order_trouble",
    "propose",
    "runner_of",
]
